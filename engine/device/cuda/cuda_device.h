// The CUDA backend of the device interface.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/device/cuda/context.h"
#include "engine/device/cuda/graph.h"
#include "engine/device/cuda/memory.h"
#include "engine/device/cuda/modules.h"
#include "engine/device/cuda/products.h"
#include "engine/device/registry.h"

namespace foxhunt::device::cuda {

class CudaStream final : public Stream {
 public:
  CudaStream(std::shared_ptr<Context> context, CUstream stream) : context_(std::move(context)), handle(stream) {}
  ~CudaStream() override;  // abandons a capture that was begun on it and never ended
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  const Context* context() const { return context_.get(); }

 private:
  std::shared_ptr<Context> context_;

 public:
  const CUstream handle;
  bool capture_origin = false;
};

class CudaEvent final : public Event {
 public:
  CudaEvent(std::shared_ptr<Context> context, CUevent event) : context_(std::move(context)), handle(event) {}
  ~CudaEvent() override {
    if (context_->enter_quietly()) FH_CU_QUIET(*context_, cuEventDestroy, handle);
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  bool done() const override;
  const Context* context() const { return context_.get(); }

 private:
  std::shared_ptr<Context> context_;

 public:
  const CUevent handle;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(int index, const DeviceOptions& options);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const DeviceInfo& info() const override { return context_->info; }
  Counters counters() const override;

  void* allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override { memory_.release(memory); }
  Mapped allocate_mapped(std::size_t bytes) override;
  void release(const Mapped& memory) noexcept override { memory_.release_mapped(memory.host); }

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
  std::string pinned_algorithms() const override { return products_.pinned(); }

  void begin_capture(Stream& stream) override;
  std::unique_ptr<Graph> end_capture(Stream& stream) override;
  std::unique_ptr<Graph> create_graph() override;
  NodeId add_child(Graph& parent, const std::string& name, const Graph& child, std::span<const NodeId> after) override;
  NodeId add_event_record(Graph& parent, Event& event, std::span<const NodeId> after) override;
  // From CUDA 12.4 on; older drivers are not opened at all.
  bool conditional_nodes() const override { return true; }
  Condition create_condition(Graph& parent, std::uint32_t initial) override;
  NodeId add_while(Graph& parent, const Condition& condition, std::span<const NodeId> after, Graph** body) override;
  NodeId add_if(Graph& parent, const Condition& condition, std::span<const NodeId> after, Graph** body) override;
  std::unique_ptr<Executable> instantiate(const Graph& graph) override;
  void launch(Executable& executable, Stream& stream) override;

 private:
  struct Count {
    std::atomic<std::uint64_t> launches = 0, copies = 0, staging = 0, synchronisations = 0, allocations = 0;
  };

  CudaStream& own(const char* call, Stream& stream) const;
  CudaEvent& own(const char* call, Event& event) const;
  CudaGraph& own(const char* call, Graph& graph) const;
  void check_copy(const char* call, const void* to, const void* from, std::size_t bytes, bool from_mapped) const;

  Count count_;
  std::shared_ptr<Context> context_;
  Memory memory_;
  Modules modules_;
  Products products_;
  std::vector<ModuleSet> captured_sets_;            // whose kernels were recorded by captures that are open
  std::vector<CapturedProduct> captured_products_;  // of captures that are open
};

}  // namespace foxhunt::device::cuda
