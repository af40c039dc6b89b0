// The host device, "cpu" to users: every call of the device interface on this machine's processor.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "engine/device/device.h"
#include "engine/device/host/capture.h"
#include "engine/device/host/memory.h"
#include "engine/device/host/thread_pool.h"
#include "engine/device/registry.h"

namespace foxhunt::device::host {

// What the device list shows. threads: of the pool; 0: all cores.
DeviceInfo host_info(int threads = 0);
// Errors: usage_error when options.threads is out of range.
std::unique_ptr<Device> open_host_device(const DeviceOptions& options);

class HostDevice : public Device {
 public:
  explicit HostDevice(int threads);
  const DeviceInfo& info() const override { return info_; }
  Counters counters() const override;

  void* allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  Mapped allocate_mapped(std::size_t bytes) override;
  void release(const Mapped& memory) noexcept override;

  std::unique_ptr<Stream> create_stream(int priority) override;
  std::unique_ptr<Event> create_event(bool timing) override;
  void record(Event& event, Stream& stream) override;
  void wait(Stream& stream, Event& event) override;
  void synchronise(Stream& stream) override;
  void synchronise(Event& event) override;
  float elapsed_ms(Event& from, Event& to) override;

  void launch(Stream& stream, ModuleSet set, kernels::KernelId kernel, const Launch& launch, const void* args,
              std::size_t bytes) override;
  void copy(Stream& stream, void* to, const void* from, std::size_t bytes) override;
  void stage(Stream& stream, void* to, const void* from, std::size_t bytes) override;
  void fill(Stream& stream, void* to, int byte, std::size_t bytes) override;
  std::unique_ptr<Product> plan(const ProductShape& shape, const std::string& lane) override;
  void multiply(Stream& stream, const Product& product, const ProductOperands& operands) override;
  std::string pinned_algorithms() const override;

  void begin_capture(Stream& stream) override;
  std::unique_ptr<Graph> end_capture(Stream& stream) override;
  std::unique_ptr<Graph> create_graph() override;
  NodeId add_child(Graph& parent, const std::string& name, const Graph& child, std::span<const NodeId> after) override;
  NodeId add_event_record(Graph& parent, Event& event, std::span<const NodeId> after) override;
  bool conditional_nodes() const override { return true; }
  Condition create_condition(Graph& parent, std::uint32_t initial) override;
  NodeId add_while(Graph& parent, const Condition& condition, std::span<const NodeId> after, Graph** body) override;
  NodeId add_if(Graph& parent, const Condition& condition, std::span<const NodeId> after, Graph** body) override;
  std::unique_ptr<Executable> instantiate(const Graph& graph) override;
  void launch(Executable& executable, Stream& stream) override;

 private:
  struct AtomicCounters {
    std::atomic<std::uint64_t> launches{0}, copies{0}, staging{0}, synchronisations{0}, allocations{0};
  };

  // The objects of this device behind the interface's; errors name the call.
  HostStream& own(const char* call, Stream& stream) const;
  HostEvent& own(const char* call, Event& event) const;
  HostGraph& own(const char* call, Graph& graph) const;

  // Frees after the streams' queued work, as CUDA does.
  void free_memory(void* memory, bool mapped) noexcept;
  bool capturing();
  // Throws, and spoils every open capture, as CUDA does.
  void refuse_in_capture(const char* call);
  void wait_captured(HostStream& stream, HostEvent& event);
  // To the stream's capture, else to its queue.
  void submit(HostStream& stream, Work work);
  NodeId add_conditional(const char* call, NodeKind kind, Graph& parent, const Condition& condition,
                         std::span<const NodeId> after, Graph** body);

  DeviceInfo info_;
  AtomicCounters counters_;
  MemoryTable memory_;
  ThreadPool pool_;
  std::shared_ptr<StreamList> streams_ = std::make_shared<StreamList>();
  std::vector<std::weak_ptr<Capture>> captures_;  // those that may be open
  std::vector<std::shared_ptr<const ProductPlan>> plans_;
};

}  // namespace foxhunt::device::host
