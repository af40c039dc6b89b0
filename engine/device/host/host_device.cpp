// The host device: memory, streams, events and eager work.
#include "engine/device/host/host_device.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/base/error.h"

namespace foxhunt::device::host {
namespace {

constexpr int kMostThreads = 1024;

std::string processor_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) {
      const std::size_t colon = line.find(':');
      if (colon != std::string::npos && colon + 2 < line.size()) return line.substr(colon + 2);
    }
  return "unnamed processor";
}

int pool_threads(int asked) {
  if (asked < 0 || asked > kMostThreads)
    throw usage_error(
        fmt::format("the cpu device was asked for {} threads; allowed: 0 (all cores) to {}", asked, kMostThreads),
        {.field = "threads"});
  return asked > 0 ? asked : std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
}

}  // namespace

DeviceInfo host_info(int threads) {
  const char* isa = nullptr;
  kernels::host_table(&isa);
  DeviceInfo info;
  info.name = "cpu";
  info.kind = DeviceKind::host;
  info.description = processor_model();
  info.library = fmt::format("{}, {} core; kernels for {}", blas_library(), blas_core(), isa);
  info.threads = pool_threads(threads);
  info.memory_bytes = total_memory();
  return info;
}

std::unique_ptr<Device> open_host_device(const DeviceOptions& options) {
  return std::make_unique<HostDevice>(options.threads);
}

HostDevice::HostDevice(int threads) : info_(host_info(threads)), pool_(info_.threads) {}

Counters HostDevice::counters() const {
  Counters out;
  out.launches = counters_.launches.load(std::memory_order_relaxed);
  out.copies = counters_.copies.load(std::memory_order_relaxed);
  out.staging = counters_.staging.load(std::memory_order_relaxed);
  out.synchronisations = counters_.synchronisations.load(std::memory_order_relaxed);
  out.allocations = counters_.allocations.load(std::memory_order_relaxed);
  return out;
}

void* HostDevice::allocate(std::size_t bytes) {
  refuse_in_capture("allocate");
  void* memory = memory_.allocate(bytes, false, "allocate");
  counters_.allocations.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

// Allowed while a capture is open, or an exception in a recording could not unwind.
void HostDevice::release(void* memory) noexcept {
  free_memory(memory, false);
}

Mapped HostDevice::allocate_mapped(std::size_t bytes) {
  refuse_in_capture("allocate_mapped");
  void* memory = memory_.allocate(bytes, true, "allocate_mapped");
  counters_.allocations.fetch_add(1, std::memory_order_relaxed);
  return {memory, memory};
}

void HostDevice::release(const Mapped& memory) noexcept {
  free_memory(memory.host, true);
}

void HostDevice::free_memory(void* memory, bool mapped) noexcept {
  for (HostStream* stream : *streams_) stream->drain();
  memory_.release(memory, mapped);
}

HostStream& HostDevice::own(const char* call, Stream& stream) const {
  auto* host = dynamic_cast<HostStream*>(&stream);
  if (!host || host->device() != this) throw Error(fmt::format("{}: the stream belongs to another device", call));
  return *host;
}

HostEvent& HostDevice::own(const char* call, Event& event) const {
  auto* host = dynamic_cast<HostEvent*>(&event);
  if (!host || host->device() != this) throw Error(fmt::format("{}: the event belongs to another device", call));
  return *host;
}

std::unique_ptr<Stream> HostDevice::create_stream(int) {
  refuse_in_capture("create_stream");
  return std::make_unique<HostStream>(this, pool_, streams_);
}

std::unique_ptr<Event> HostDevice::create_event(bool timing) {
  refuse_in_capture("create_event");
  return std::make_unique<HostEvent>(this, timing);
}

void HostDevice::record(Event& event, Stream& stream) {
  HostStream& on = own("record", stream);
  EventState& state = *own("record", event).state();
  if (on.capture) {
    state.set_captured(on.capture, on.frontier);
    return;
  }
  Task task;
  task.record = state.next();
  on.push(std::move(task));
}

void HostDevice::wait(Stream& stream, Event& event) {
  HostStream& on = own("wait", stream);
  HostEvent& what = own("wait", event);
  if (on.capture || what.state()->captured()) return wait_captured(on, what);
  Task task;
  task.wait = what.state()->latest();
  if (task.wait) on.push(std::move(task));  // an event never recorded is waited for by nobody
}

void HostDevice::synchronise(Stream& stream) {
  HostStream& on = own("synchronise", stream);
  refuse_in_capture("synchronise");
  counters_.synchronisations.fetch_add(1, std::memory_order_relaxed);
  on.drain();
}

void HostDevice::synchronise(Event& event) {
  const EventState& state = *own("synchronise", event).state();
  refuse_in_capture("synchronise");
  if (state.captured()) throw Error("synchronise: the event was last recorded in a capture, so it never happens");
  counters_.synchronisations.fetch_add(1, std::memory_order_relaxed);
  if (const std::shared_ptr<Completion> latest = state.latest()) latest->wait();
}

float HostDevice::elapsed_ms(Event& from, Event& to) {
  const auto finished = [&](Event& event, const char* which) {
    const EventState& state = *own("elapsed_ms", event).state();
    if (!state.timing) throw Error(fmt::format("elapsed_ms: the {} event was created without timing", which));
    const std::shared_ptr<Completion> latest = state.latest();
    if (state.captured() || !latest) throw Error(fmt::format("elapsed_ms: the {} event was not recorded", which));
    if (!latest->done()) throw Error(fmt::format("elapsed_ms: the {} event has not happened yet", which));
    return latest->nanoseconds();
  };
  const std::int64_t begin = finished(from, "first"), end = finished(to, "second");
  return static_cast<float>(static_cast<double>(end - begin) * 1e-6);
}

void HostDevice::submit(HostStream& stream, Work work) {
  auto shared = std::make_shared<const Work>(std::move(work));
  if (stream.capture) {
    const auto* product = std::get_if<ProductWork>(shared.get());
    const auto* kernel = std::get_if<KernelWork>(shared.get());
    GraphNode node;
    node.name = kernel ? kernel->entry->name : (product ? product->plan->text : "copy or fill");
    node.after = stream.frontier;
    node.work = std::move(shared);
    stream.frontier = {stream.capture->graph->add("capture", std::move(node))};
    return;
  }
  Task task;
  task.work = std::move(shared);
  stream.push(std::move(task));
}

void HostDevice::launch(Stream& stream, ModuleSet set, kernels::KernelId kernel, const Launch& launch, const void* args,
                        std::size_t bytes) {
  HostStream& on = own("launch", stream);
  KernelWork work = make_kernel(set, kernel, launch, args, bytes);
  if (on.capture) {
    on.capture->sets.push_back(set);
  } else {
    for (const std::weak_ptr<Capture>& weak : captures_) {
      const std::shared_ptr<Capture> open = weak.lock();
      if (!open || !open->open) continue;
      if (set == ModuleSet::graph || std::find(open->sets.begin(), open->sets.end(), set) != open->sets.end())
        refuse_in_capture(fmt::format("launch of kernel {} of a captured module", work.entry->name).c_str());
    }
    counters_.launches.fetch_add(1, std::memory_order_relaxed);
  }
  submit(on, std::move(work));
}

void HostDevice::copy(Stream& stream, void* to, const void* from, std::size_t bytes) {
  HostStream& on = own("copy", stream);
  CopyWork work = make_copy("copy", to, from, bytes, memory_, false);
  if (!on.capture) counters_.copies.fetch_add(1, std::memory_order_relaxed);
  submit(on, work);
}

void HostDevice::stage(Stream& stream, void* to, const void* from, std::size_t bytes) {
  HostStream& on = own("stage", stream);
  refuse_in_capture("stage");
  submit(on, make_copy("stage", to, from, bytes, memory_, true));
  counters_.staging.fetch_add(1, std::memory_order_relaxed);
}

void HostDevice::fill(Stream& stream, void* to, int byte, std::size_t bytes) {
  HostStream& on = own("fill", stream);
  FillWork work = make_fill(to, byte, bytes, memory_);
  if (!on.capture) counters_.copies.fetch_add(1, std::memory_order_relaxed);
  submit(on, work);
}

std::unique_ptr<Product> HostDevice::plan(const ProductShape& shape, const std::string& lane) {
  refuse_in_capture("plan");
  auto product = std::make_unique<HostProduct>(shape, lane);
  plans_.push_back(product->plan());
  return product;
}

void HostDevice::multiply(Stream& stream, const Product& product, const ProductOperands& operands) {
  HostStream& on = own("multiply", stream);
  const auto* host = dynamic_cast<const HostProduct*>(&product);
  if (!host) throw Error("multiply: the product was planned by another device");
  check_operands(*host->plan(), operands, memory_);
  if (!on.capture) counters_.launches.fetch_add(1, std::memory_order_relaxed);
  submit(on, ProductWork{host->plan(), operands});
}

std::string HostDevice::pinned_algorithms() const {
  nlohmann::ordered_json out;
  out["device"] = "cpu";
  out["library"] = blas_library();
  out["core"] = blas_core();
  out["partition_rule"] = kPartitionRule;
  out["products"] = nlohmann::ordered_json::array();
  for (const auto& plan : plans_)
    out["products"].push_back(
        {{"shape", plan->text}, {"batch", plan->shape.batch}, {"lane", plan->lane}, {"pieces", plan->pieces.size()}});
  return out.dump();
}

}  // namespace foxhunt::device::host
