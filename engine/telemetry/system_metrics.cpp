// The few functions of NVML that are used, declared here: its header comes with the toolkit, its library with the
// driver.
#include "engine/telemetry/system_metrics.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace foxhunt::telemetry {
namespace {

// Of nvml.h, all versions since 2013.
using Result = int;
using DeviceHandle = void*;
struct Utilization {
  unsigned gpu, memory;  // percent
};
struct Memory {
  unsigned long long total, free, used;  // bytes
};
constexpr Result kSuccess = 0;
constexpr int kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;

}  // namespace

struct SystemMonitor::Library {
  void* handle = nullptr;
  bool begun = false;
  DeviceHandle device = nullptr;
  Result (*init)() = nullptr;
  Result (*shutdown)() = nullptr;
  const char* (*error)(Result) = nullptr;
  Result (*by_index)(unsigned, DeviceHandle*) = nullptr;
  Result (*name)(DeviceHandle, char*, unsigned) = nullptr;
  Result (*utilization)(DeviceHandle, Utilization*) = nullptr;
  Result (*memory)(DeviceHandle, Memory*) = nullptr;
  Result (*clock)(DeviceHandle, int, unsigned*) = nullptr;
  Result (*power)(DeviceHandle, unsigned*) = nullptr;        // mW
  Result (*power_limit)(DeviceHandle, unsigned*) = nullptr;  // mW
  Result (*temperature)(DeviceHandle, int, unsigned*) = nullptr;

  ~Library() {
    if (begun) shutdown();
    if (handle) dlclose(handle);
  }
  template <class Function>
  bool find(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(dlsym(handle, symbol));
    return function != nullptr;
  }
  // Name of the first function that is missing, or null.
  const char* find_all() {
    if (!find(init, "nvmlInit_v2")) return "nvmlInit_v2";
    if (!find(shutdown, "nvmlShutdown")) return "nvmlShutdown";
    if (!find(error, "nvmlErrorString")) return "nvmlErrorString";
    if (!find(by_index, "nvmlDeviceGetHandleByIndex_v2")) return "nvmlDeviceGetHandleByIndex_v2";
    if (!find(name, "nvmlDeviceGetName")) return "nvmlDeviceGetName";
    if (!find(utilization, "nvmlDeviceGetUtilizationRates")) return "nvmlDeviceGetUtilizationRates";
    if (!find(memory, "nvmlDeviceGetMemoryInfo")) return "nvmlDeviceGetMemoryInfo";
    if (!find(clock, "nvmlDeviceGetClockInfo")) return "nvmlDeviceGetClockInfo";
    if (!find(power, "nvmlDeviceGetPowerUsage")) return "nvmlDeviceGetPowerUsage";
    if (!find(power_limit, "nvmlDeviceGetEnforcedPowerLimit")) return "nvmlDeviceGetEnforcedPowerLimit";
    if (!find(temperature, "nvmlDeviceGetTemperature")) return "nvmlDeviceGetTemperature";
    return nullptr;
  }
};

SystemMonitor::SystemMonitor(unsigned index, const std::string& library) : library_(std::make_unique<Library>()) {
  Library& l = *library_;
  l.handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!l.handle) {
    problem_ = fmt::format("no metrics of the GPU: {} cannot be loaded, so there is no NVIDIA driver", library);
    return;
  }
  if (const char* missing = l.find_all()) {
    problem_ = fmt::format("no metrics of the GPU: {} has no function {}", library, missing);
    return;
  }
  Result result = l.init();
  l.begun = result == kSuccess;
  if (l.begun) result = l.by_index(index, &l.device);
  if (result != kSuccess) {
    problem_ = fmt::format("no metrics of GPU {}: the driver says \"{}\"", index, l.error(result));
    return;
  }
  char text[96] = {};
  if (l.name(l.device, text, sizeof text) == kSuccess) name_ = text;
}

SystemMonitor::~SystemMonitor() = default;
SystemMonitor::SystemMonitor(SystemMonitor&&) noexcept = default;
SystemMonitor& SystemMonitor::operator=(SystemMonitor&&) noexcept = default;

SystemMetrics SystemMonitor::read() const {
  SystemMetrics m;
  if (!available()) return m;
  const Library& l = *library_;
  Utilization use{};
  if (l.utilization(l.device, &use) == kSuccess) {
    m.gpu_use = use.gpu / 100.0;
    m.memory_use = use.memory / 100.0;
  }
  Memory memory{};
  if (l.memory(l.device, &memory) == kSuccess) {
    m.memory_used = memory.used;
    m.memory_total = memory.total;
  }
  unsigned value = 0;
  if (l.clock(l.device, kClockSm, &value) == kSuccess) m.sm_clock = value;
  if (l.clock(l.device, kClockMemory, &value) == kSuccess) m.memory_clock = value;
  if (l.power(l.device, &value) == kSuccess) m.power = value * 1e-3;
  if (l.power_limit(l.device, &value) == kSuccess) m.power_limit = value * 1e-3;
  if (l.temperature(l.device, kTemperatureGpu, &value) == kSuccess) m.temperature = value;
  return m;
}

}  // namespace foxhunt::telemetry
