// Loading of the CUDA plugin.
#include "engine/device/plugin_loader.h"

#include <dlfcn.h>

#include <filesystem>

#include "engine/base/error.h"

namespace foxhunt::device {
namespace {

std::string last_error() {
  const char* text = dlerror();
  return text ? text : "no reason given";
}

}  // namespace

LoadedPlugin load_plugin(const std::vector<std::string>& folders) {
  LoadedPlugin out;
  for (const std::string& folder : folders) {
    const std::filesystem::path file = std::filesystem::path(folder) / kPluginFile;
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) continue;
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      out.reason = fmt::format("{} could not be loaded: {}", file.string(), last_error());
      return out;
    }
    const auto entry = reinterpret_cast<const Plugin* (*)()>(dlsym(library, kPluginEntry));
    if (!entry) {
      out.reason = fmt::format("{} is not a device plugin: {}", file.string(), last_error());
      return out;
    }
    const Plugin* plugin = entry();
    if (!plugin || plugin->interface_version != kInterfaceVersion) {
      out.reason = fmt::format("{} was built for device interface {}; this program has {}", file.string(),
                               plugin ? plugin->interface_version : 0, kInterfaceVersion);
      return out;
    }
    out.plugin = plugin;
    return out;
  }
  out.reason = fmt::format("{} was not found in {}", kPluginFile, fmt::join(folders, " or "));
  return out;
}

std::vector<std::string> plugin_folders() {
  std::vector<std::string> folders;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(program.parent_path().string());
  folders.emplace_back(FOXHUNT_INSTALL_LIBDIR);
  return folders;
}

std::vector<DeviceInfo> plugin_devices(const LoadedPlugin& loaded) {
  DeviceInfo missing;
  missing.name = "cuda";
  missing.kind = DeviceKind::cuda;
  missing.available = false;
  missing.reason = loaded.reason;
  if (!loaded.plugin) return {missing};
  try {
    std::vector<DeviceInfo> found = loaded.plugin->list();
    if (!found.empty()) return found;
    missing.reason = "the plugin found no GPU";
  } catch (const std::exception& error) {
    missing.reason = fmt::format("the plugin could not list its GPUs: {}", error.what());
  } catch (...) {
    missing.reason = "the plugin could not list its GPUs: unknown error";
  }
  return {missing};
}

}  // namespace foxhunt::device
