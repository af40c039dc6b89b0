// Opening a GPU, error sentences, and memory that is released while a capture is open.
#include "engine/device/cuda/context.h"

#include <algorithm>
#include <array>
#include <utility>

namespace foxhunt::device::cuda {
namespace {

// The call of the interface that this thread is in: what a sentence begins with.
thread_local const char* current_call = "open";

constexpr int kLeastCapability = 80;  // the oldest architecture of the fatbins

// After these the context answers every call with the same error: only a new process helps.
bool sticky(CUresult status) {
  switch (status) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
      return true;
    default:
      return false;
  }
}

const char* hint(CUresult status) {
  switch (status) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "choose a smaller batch or replay capacity, or close other programs that use the GPU";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return "the kernels were not built for this GPU and driver: update the driver";
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
      return "every side stream must be joined before the capture ends";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
      return "a call that a capture forbids was made while one was open";
    case CUDA_ERROR_CAPTURED_EVENT:
      return "the event was last recorded inside a capture";
    default:
      return "";
  }
}

DeviceInfo describe(const Api& api, int index) {
  DeviceInfo info;
  info.name = fmt::format("cuda:{}", index);
  info.kind = DeviceKind::cuda;
  info.driver = api.driver_version;
  if (!api.product_version.empty()) info.library = "cuBLASLt " + api.product_version;
  CUdevice device = 0;
  std::array<char, 128> name{};
  std::size_t memory = 0;
  int processors = 0, major = 0, minor = 0;
  if (api.cuDeviceGet(&device, index) != CUDA_SUCCESS ||
      api.cuDeviceGetName(name.data(), static_cast<int>(name.size()), device) != CUDA_SUCCESS ||
      api.cuDeviceTotalMem(&memory, device) != CUDA_SUCCESS ||
      api.cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) != CUDA_SUCCESS ||
      api.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) != CUDA_SUCCESS ||
      api.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) != CUDA_SUCCESS) {
    info.available = false;
    info.reason = fmt::format("the NVIDIA driver cannot describe GPU {}; check nvidia-smi", index);
    return info;
  }
  info.description = name.data();
  info.memory_bytes = memory;
  info.threads = processors;
  if (major * 10 + minor < kLeastCapability) {
    info.available = false;
    info.reason =
        fmt::format("{} has compute capability {}.{}, and 8.0 or newer is needed", info.description, major, minor);
  } else if (!api.usable()) {
    info.available = false;
    info.reason = api.product_missing;
  }
  return info;
}

}  // namespace

std::vector<DeviceInfo> list_gpus() {
  const Api& table = api();
  if (!table.driver_missing.empty()) {
    DeviceInfo info;
    info.name = "cuda:0";
    info.kind = DeviceKind::cuda;
    info.driver = table.driver_version;
    info.available = false;
    info.reason = table.driver_missing;
    return {info};
  }
  std::vector<DeviceInfo> devices;
  for (int index = 0; index < table.gpus; ++index) devices.push_back(describe(table, index));
  return devices;
}

Context::Context(int index, std::shared_ptr<spdlog::logger> logger) : api(cuda::api()), log(std::move(logger)) {
  if (!api.driver_missing.empty()) throw usage_error(api.driver_missing);
  const std::vector<DeviceInfo> devices = list_gpus();
  if (index < 0 || index >= static_cast<int>(devices.size())) {
    throw usage_error(fmt::format("there is no GPU cuda:{}; the driver lists {}", index, devices.size()));
  }
  info = devices[static_cast<std::size_t>(index)];
  if (!info.available) throw usage_error(fmt::format("{} cannot be used: {}", info.name, info.reason));
  FH_CU(*this, cuDeviceGet, &device, index);
  FH_CU(*this, cuDevicePrimaryCtxRetain, &handle, device);
  FH_CU(*this, cuCtxSetCurrent, handle);
  FH_CU(*this, cuCtxGetStreamPriorityRange, &relaxed, &urgent);
  warp = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  max_shared = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  capability = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
               attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  FH_CU(*this, cuStreamCreateWithPriority, &setup, CU_STREAM_NON_BLOCKING, relaxed);
}

Context::~Context() {
  if (enter_quietly()) {
    captures_ = 0;
    release_deferred();
    FH_CU_QUIET(*this, cuStreamDestroy, setup);
  }
}

int Context::attribute(CUdevice_attribute which) const {
  int value = 0;
  if (api.cuDeviceGetAttribute(&value, which, device) != CUDA_SUCCESS) {
    throw Error(fmt::format("{}: the driver does not tell device attribute {}", info.name, static_cast<int>(which)));
  }
  return value;
}

void Context::enter(const char* call) {
  current_call = call;
  if (broken_) throw Error(fmt::format("{}: {}", call, why_broken_));
  CUcontext current = nullptr;
  FH_CU(*this, cuCtxGetCurrent, &current);
  if (current != handle) FH_CU(*this, cuCtxSetCurrent, handle);
}

void Context::enter_outside_capture(const char* call) {
  enter(call);
  if (captures_ > 0) refuse_in_capture(call, "make everything before begin_capture");
}

void Context::refuse_in_capture(const std::string& call, const std::string& advice) {
  if (refused_.empty()) refused_ = call;
  throw Error(fmt::format("{} is forbidden while a capture is open on {}", call, info.name), {.hint = advice});
}

bool Context::enter_quietly() noexcept {
  current_call = "release";
  if (broken_) return false;
  CUcontext current = nullptr;
  if (api.cuCtxGetCurrent(&current) != CUDA_SUCCESS) return false;
  return current == handle || api.cuCtxSetCurrent(handle) == CUDA_SUCCESS;
}

std::string Context::sentence(CUresult status, const char* call) const {
  const char* name = nullptr;
  const char* text = nullptr;
  api.cuGetErrorName(status, &name);
  api.cuGetErrorString(status, &text);
  return fmt::format("{}: {} failed on {} with {} ({})", current_call, call, info.name,
                     name ? name : "an unknown error", text ? text : fmt::format("code {}", static_cast<int>(status)));
}

void Context::check(CUresult status, const char* call) {
  if (status == CUDA_SUCCESS) return;
  const std::string what = sentence(status, call);
  if (sticky(status) && !broken_) {
    why_broken_ = fmt::format("the device is unusable since an earlier failure ({}); restart the program", what);
    broken_ = true;
  }
  throw Error(what, {.hint = hint(status)});
}

bool Context::check_quietly(CUresult status, const char* call) noexcept {
  if (status == CUDA_SUCCESS) return true;
  try {
    check(status, call);
  } catch (const std::exception& error) {
    if (log) log->error("{}", error.what());
  }
  return false;
}

void Context::check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(fmt::format("{}: {} failed on {} with {} ({})", current_call, call, info.name,
                          api.cublasLtGetStatusName(status), api.cublasLtGetStatusString(status)));
}

bool Context::capturing(CUstream stream) {
  if (captures_ == 0) return false;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  FH_CU(*this, cuStreamIsCapturing, stream, &status);
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

std::string Context::capture_closed() {
  --captures_;
  release_deferred();
  return captures_ == 0 ? std::exchange(refused_, {}) : refused_;
}

void Context::release_deferred() noexcept {
  if (captures_ > 0) return;
  for (void* memory : deferred_device_) FH_CU_QUIET(*this, cuMemFree, reinterpret_cast<CUdeviceptr>(memory));
  for (void* memory : deferred_mapped_) FH_CU_QUIET(*this, cuMemFreeHost, memory);
  deferred_device_.clear();
  deferred_mapped_.clear();
}

void Context::free_device(void* memory) noexcept {
  if (!memory || !enter_quietly()) return;
  deferred_device_.push_back(memory);
  release_deferred();
}

void Context::free_mapped(void* host) noexcept {
  if (!host || !enter_quietly()) return;
  deferred_mapped_.push_back(host);
  release_deferred();
}

}  // namespace foxhunt::device::cuda
