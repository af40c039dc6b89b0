// The device list and the choice of a device by name.
#include "engine/device/registry.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/base/log.h"
#include "engine/device/host/host_device.h"
#include "engine/device/plugin_loader.h"

namespace foxhunt::device {
namespace {

const LoadedPlugin& cuda_plugin() {
  static const LoadedPlugin loaded = [] {
    LoadedPlugin out = load_plugin(plugin_folders());
    if (!out.plugin) log_info("no CUDA device: {}", out.reason);
    return out;
  }();
  return loaded;
}

// "cuda:N" -> N. Errors: usage_error.
int device_index(const std::string& name) {
  int index = -1;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 5, end, index);
  if (error != std::errc{} || stop != end || index < 0)
    throw usage_error(fmt::format("device '{}' is unknown; allowed: auto, cpu, cuda, cuda:N", name),
                      {.field = "device"});
  return index;
}

std::unique_ptr<Device> open_cuda(const std::string& name, const DeviceOptions& options) {
  const int wanted = name == "cuda" ? -1 : device_index(name);
  std::string reason;
  int index = 0;
  for (const DeviceInfo& device : plugin_devices(cuda_plugin())) {
    if (device.available && (wanted < 0 || wanted == index)) return cuda_plugin().plugin->open(index, options);
    if (!device.available && reason.empty()) reason = device.reason;
    ++index;
  }
  if (reason.empty()) reason = fmt::format("there are {} CUDA devices", index);
  throw usage_error(fmt::format("device '{}' cannot be used: {}", name, reason),
                    {.field = "device", .hint = "--device cpu runs everywhere"});
}

}  // namespace

std::string default_plan_cache() {
  const auto folder = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::filesystem::path(value ? value : "");
  };
  std::filesystem::path cache = folder("XDG_CACHE_HOME");
  if (cache.empty() && !folder("HOME").empty()) cache = folder("HOME") / ".cache";
  return cache.empty() ? std::string() : (cache / "foxhunt" / "products.json").string();
}

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> all = {host::host_info()};
  for (DeviceInfo& device : plugin_devices(cuda_plugin())) all.push_back(std::move(device));
  return all;
}

std::unique_ptr<Device> open_device(const std::string& name, const DeviceOptions& options) {
  if (name == "cpu") return host::open_host_device(options);
  if (name == "cuda" || name.starts_with("cuda:")) return open_cuda(name, options);
  if (name != "auto")
    throw usage_error(fmt::format("device '{}' is unknown; allowed: auto, cpu, cuda, cuda:N", name),
                      {.field = "device"});
  for (const DeviceInfo& device : list_devices())
    if (device.kind == DeviceKind::cuda && device.available) return open_cuda(device.name, options);
  return host::open_host_device(options);
}

}  // namespace foxhunt::device
