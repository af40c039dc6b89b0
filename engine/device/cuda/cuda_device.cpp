// The CUDA device: memory, streams, events and eager work.
#include "engine/device/cuda/cuda_device.h"

#include <algorithm>

namespace foxhunt::device::cuda {
namespace {

CUdeviceptr address(const void* memory) {
  return reinterpret_cast<CUdeviceptr>(memory);
}

}  // namespace

CudaStream::~CudaStream() {
  if (!context_->enter_quietly()) return;
  if (capture_origin) {
    CUgraph graph = nullptr;
    context_->api.cuStreamEndCapture(handle, &graph);  // fails where the capture was spoilt, and ends it all the same
    if (graph) FH_CU_QUIET(*context_, cuGraphDestroy, graph);
    context_->capture_closed();
  }
  FH_CU_QUIET(*context_, cuStreamDestroy, handle);
}

bool CudaEvent::done() const {
  context_->enter("done");
  const CUresult status = context_->api.cuEventQuery(handle);
  if (status == CUDA_ERROR_NOT_READY) return false;
  context_->check(status, "cuEventQuery");
  return true;
}

CudaDevice::CudaDevice(int index, const DeviceOptions& options)
    : context_(std::make_shared<Context>(index, options.log)),
      memory_(context_),
      modules_(context_),
      products_(context_, &modules_, &memory_, options.plan_cache) {}

CudaDevice::~CudaDevice() {
  // Modules and memory go next: nothing may still use them.
  if (context_->enter_quietly()) FH_CU_QUIET(*context_, cuCtxSynchronize);
}

Counters CudaDevice::counters() const {
  Counters out;
  out.launches = count_.launches;
  out.copies = count_.copies;
  out.staging = count_.staging;
  out.synchronisations = count_.synchronisations;
  out.allocations = count_.allocations + products_.workspaces();
  return out;
}

CudaStream& CudaDevice::own(const char* call, Stream& stream) const {
  auto* mine = dynamic_cast<CudaStream*>(&stream);
  if (!mine || mine->context() != context_.get()) {
    throw Error(fmt::format("{}: the stream belongs to another device", call));
  }
  return *mine;
}

CudaEvent& CudaDevice::own(const char* call, Event& event) const {
  auto* mine = dynamic_cast<CudaEvent*>(&event);
  if (!mine || mine->context() != context_.get()) {
    throw Error(fmt::format("{}: the event belongs to another device", call));
  }
  return *mine;
}

void* CudaDevice::allocate(std::size_t bytes) {
  context_->enter_outside_capture("allocate");
  void* memory = memory_.allocate(bytes);
  ++count_.allocations;
  return memory;
}

Mapped CudaDevice::allocate_mapped(std::size_t bytes) {
  context_->enter_outside_capture("allocate_mapped");
  const Mapped memory = memory_.allocate_mapped(bytes);
  ++count_.allocations;
  return memory;
}

std::unique_ptr<Stream> CudaDevice::create_stream(int priority) {
  context_->enter_outside_capture("create_stream");
  CUstream stream = nullptr;
  FH_CU(*context_, cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING,
        std::clamp(priority, context_->urgent, context_->relaxed));
  return std::make_unique<CudaStream>(context_, stream);
}

std::unique_ptr<Event> CudaDevice::create_event(bool timing) {
  context_->enter_outside_capture("create_event");
  CUevent event = nullptr;
  FH_CU(*context_, cuEventCreate, &event, timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
  return std::make_unique<CudaEvent>(context_, event);
}

void CudaDevice::record(Event& event, Stream& stream) {
  context_->enter("record");
  FH_CU(*context_, cuEventRecord, own("record", event).handle, own("record", stream).handle);
}

void CudaDevice::wait(Stream& stream, Event& event) {
  context_->enter("wait");
  FH_CU(*context_, cuStreamWaitEvent, own("wait", stream).handle, own("wait", event).handle, 0);
}

void CudaDevice::synchronise(Stream& stream) {
  context_->enter_outside_capture("synchronise");
  ++count_.synchronisations;
  FH_CU(*context_, cuStreamSynchronize, own("synchronise", stream).handle);
}

void CudaDevice::synchronise(Event& event) {
  context_->enter_outside_capture("synchronise");
  ++count_.synchronisations;
  FH_CU(*context_, cuEventSynchronize, own("synchronise", event).handle);
}

float CudaDevice::elapsed_ms(Event& from, Event& to) {
  context_->enter("elapsed_ms");
  float milliseconds = 0;
  FH_CU(*context_, cuEventElapsedTime, &milliseconds, own("elapsed_ms", from).handle, own("elapsed_ms", to).handle);
  return milliseconds;
}

void CudaDevice::launch(Stream& stream, ModuleSet set, kernels::KernelId kernel, const Launch& launch, const void* args,
                        std::size_t bytes) {
  context_->enter("launch");
  CudaStream& on = own("launch", stream);
  const bool capturing = context_->capturing(on.handle);
  if (!context_->capture_open()) {
    captured_sets_.clear();
  } else if (capturing) {
    captured_sets_.push_back(set);
  } else if (set == ModuleSet::graph ||
             std::find(captured_sets_.begin(), captured_sets_.end(), set) != captured_sets_.end()) {
    context_->refuse_in_capture(
        fmt::format("launch of kernel {} of a captured module", modules_.kernel(set, kernel).name),
        "use another module set outside of the capture");
  }
  modules_.launch(on.handle, set, kernel, launch, args, bytes);
  if (!capturing) ++count_.launches;
}

void CudaDevice::check_copy(const char* call, const void* to, const void* from, std::size_t bytes,
                            bool from_mapped) const {
  if (bytes == 0) throw Error(fmt::format("{}: 0 bytes; at least 1 is copied", call));
  memory_.check(call, "the destination", to, bytes);
  memory_.check(call, "the source", from, bytes, from_mapped);
  if (address(to) < address(from) + bytes && address(from) < address(to) + bytes) {
    throw Error(fmt::format("{}: source and destination of {} bytes overlap", call, bytes));
  }
}

void CudaDevice::copy(Stream& stream, void* to, const void* from, std::size_t bytes) {
  context_->enter("copy");
  CudaStream& on = own("copy", stream);
  check_copy("copy", to, from, bytes, false);
  FH_CU(*context_, cuMemcpyAsync, address(to), address(from), bytes, on.handle);
  if (!context_->capturing(on.handle)) ++count_.copies;
}

void CudaDevice::stage(Stream& stream, void* to, const void* from, std::size_t bytes) {
  context_->enter_outside_capture("stage");
  CudaStream& on = own("stage", stream);
  check_copy("stage", to, from, bytes, true);
  FH_CU(*context_, cuMemcpyAsync, address(to), address(from), bytes, on.handle);
  ++count_.staging;
}

void CudaDevice::fill(Stream& stream, void* to, int byte, std::size_t bytes) {
  context_->enter("fill");
  CudaStream& on = own("fill", stream);
  if (bytes == 0) throw Error("fill: 0 bytes; at least 1 is filled");
  if (byte < 0 || byte > 255) throw Error(fmt::format("fill: byte value {}; allowed: 0 to 255", byte));
  memory_.check("fill", "the destination", to, bytes);
  const auto value = static_cast<unsigned char>(byte);
  if (bytes % 4 == 0 && address(to) % 4 == 0) {
    FH_CU(*context_, cuMemsetD32Async, address(to), value * 0x01010101u, bytes / 4, on.handle);
  } else {
    FH_CU(*context_, cuMemsetD8Async, address(to), value, bytes, on.handle);
  }
  if (!context_->capturing(on.handle)) ++count_.copies;
}

std::unique_ptr<Product> CudaDevice::plan(const ProductShape& shape, const std::string& lane) {
  context_->enter_outside_capture("plan");
  return products_.plan(shape, lane);
}

void CudaDevice::multiply(Stream& stream, const Product& product, const ProductOperands& operands) {
  context_->enter("multiply");
  CudaStream& on = own("multiply", stream);
  const bool capturing = context_->capturing(on.handle);
  products_.multiply(on.handle, capturing, product, operands);
  if (!capturing) {
    ++count_.launches;
    return;
  }
  CUstreamCaptureStatus status{};
  CapturedProduct recorded;
  const CUgraphNode* last = nullptr;
  const CUgraphEdgeData* data = nullptr;
  std::size_t count = 0;
  FH_CU(*context_, cuStreamGetCaptureInfo, on.handle, &status, &recorded.capture, nullptr, &last, &data, &count);
  FH_CHECK(count == 1, "a captured product ends in {} nodes", count);
  recorded.node = last[0];
  const auto& made = dynamic_cast<const CudaProduct&>(product);
  recorded.lane = made.lane;
  recorded.text = made.text();
  captured_products_.push_back(std::move(recorded));
}

}  // namespace foxhunt::device::cuda
