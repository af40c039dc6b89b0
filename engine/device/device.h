// The one interface through which engine code reaches a processor: memory, streams, events, kernels, matrix products,
// graphs. Backends: host (always there) and cuda (a plugin). The host backend refuses whatever CUDA would refuse.
//
// Threads: a device and everything made by it belong to the thread that uses them; only `Counters`, mapped memory and
// `Event::done` may be read from others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/device/product.h"
#include "kernels/kernel_ids.h"

namespace foxhunt::kernels {
template <class Args>
struct KernelTraits;  // kernels/families.h
}

namespace foxhunt::device {

// Raised whenever anything below changes; checked before a plugin is used.
inline constexpr std::uint32_t kInterfaceVersion = 1;

enum class DeviceKind { host, cuda };

struct DeviceInfo {
  std::string name;  // "cpu", "cuda:0"
  DeviceKind kind = DeviceKind::host;
  std::string description;  // processor or GPU model
  std::string library;      // product library with version and core name
  std::string driver;       // empty on the host
  int threads = 1;          // host: threads of the pool; cuda: multiprocessors
  std::uint64_t memory_bytes = 0;
  bool available = true;
  std::string reason;  // why it is not available, as a sentence
};

// Of host-side calls since construction. A graph launch counts as one launch whatever it holds.
struct Counters {
  std::uint64_t launches = 0;          // graphs and single kernels
  std::uint64_t copies = 0;            // explicit copies and fills outside graphs
  std::uint64_t staging = 0;           // copies out of a mapped staging buffer (uploads)
  std::uint64_t synchronisations = 0;  // waits for a stream or event
  std::uint64_t allocations = 0;       // device, mapped and workspace memory
};

// Memory visible to both sides: no copy is ever needed. `device` is the address kernels use.
struct Mapped {
  void* host = nullptr;
  void* device = nullptr;
};

class Stream {
 public:
  virtual ~Stream() = default;
};

class Event {
 public:
  virtual ~Event() = default;
  virtual bool done() const = 0;  // never blocks
};

// A graph under construction; immutable once instantiated.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual int nodes() const = 0;           // kernels, products, copies; those of children included
  virtual int critical_nodes() const = 0;  // longest dependent chain, children included
};

class Executable {
 public:
  virtual ~Executable() = default;
};

// A condition of one parent graph. Kernels receive `word` and set it through kernels::set_condition.
struct Condition {
  std::uint64_t word = 0;
};

// Separate instances of the kernels' modules: a kernel of a captured module must not be launched eagerly while a
// capture is open.
enum class ModuleSet { graph, eager, evaluation };

struct Launch {
  std::uint32_t grid_x = 1, grid_y = 1;
  std::uint32_t threads = 128;      // a block; the host runs 1
  std::uint32_t team_scratch = 0;   // bytes of scratch a team (on CUDA: a warp; on the host: the only thread)
  std::uint32_t block_scratch = 0;  // bytes of scratch a block; used instead of team_scratch
};

// A node of a parent graph, as the parent's edges name it.
using NodeId = int;

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual Counters counters() const = 0;

  // Zero-filled, 256-byte aligned. Refused while a capture is open. Errors: Error naming the bytes asked for and what
  // is free.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual Mapped allocate_mapped(std::size_t bytes) = 0;
  virtual void release(const Mapped& memory) noexcept = 0;

  // priority: 0 normal, negative more urgent.
  virtual std::unique_ptr<Stream> create_stream(int priority = 0) = 0;
  virtual std::unique_ptr<Event> create_event(bool timing = false) = 0;
  virtual void record(Event& event, Stream& stream) = 0;
  virtual void wait(Stream& stream, Event& event) = 0;  // the stream waits, the caller does not
  virtual void synchronise(Stream& stream) = 0;
  virtual void synchronise(Event& event) = 0;
  virtual float elapsed_ms(Event& from, Event& to) = 0;

  // `args` is copied before return. Validated: grid, argument size, thread count.
  virtual void launch(Stream& stream, ModuleSet set, kernels::KernelId kernel, const Launch& launch, const void* args,
                      std::size_t bytes) = 0;
  virtual void copy(Stream& stream, void* to, const void* from, std::size_t bytes) = 0;  // within the device
  virtual void stage(Stream& stream, void* to, const void* from,
                     std::size_t bytes) = 0;  // from mapped memory; counted as staging
  virtual void fill(Stream& stream, void* to, int byte, std::size_t bytes) = 0;

  // A lane is a workspace: two products that no edge orders must be made in different lanes. The plan picks its
  // algorithm now.
  virtual std::unique_ptr<Product> plan(const ProductShape& shape, const std::string& lane) = 0;
  virtual void multiply(Stream& stream, const Product& product, const ProductOperands& operands) = 0;
  // Pinned algorithms of every plan made so far, for checkpoints (JSON text; the host's is its partition rule and core
  // name).
  virtual std::string pinned_algorithms() const = 0;

  // Thread-local capture on the engine's thread; other streams join through events, as in CUDA.
  virtual void begin_capture(Stream& stream) = 0;
  virtual std::unique_ptr<Graph> end_capture(Stream& stream) = 0;
  virtual std::unique_ptr<Graph> create_graph() = 0;
  virtual NodeId add_child(Graph& parent, const std::string& name, const Graph& child,
                           std::span<const NodeId> after) = 0;
  virtual NodeId add_event_record(Graph& parent, Event& event, std::span<const NodeId> after) = 0;
  virtual bool conditional_nodes() const = 0;
  virtual Condition create_condition(Graph& parent, std::uint32_t initial) = 0;
  // The body runs while / if the condition's word is not 0; returned graph is owned by the parent. Parents only, never
  // inside a child.
  virtual NodeId add_while(Graph& parent, const Condition& condition, std::span<const NodeId> after, Graph** body) = 0;
  virtual NodeId add_if(Graph& parent, const Condition& condition, std::span<const NodeId> after, Graph** body) = 0;
  virtual std::unique_ptr<Executable> instantiate(const Graph& graph) = 0;
  virtual void launch(Executable& executable, Stream& stream) = 0;

  template <class Args>
  void launch(Stream& stream, ModuleSet set, const Launch& shape, const Args& args) {
    launch(stream, set, kernels::KernelTraits<Args>::id, shape, &args, sizeof(Args));
  }
};

}  // namespace foxhunt::device
