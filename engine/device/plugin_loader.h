// Finds and checks the CUDA plugin; apart from the registry so that its failures can be tested.
#pragma once

#include <string>
#include <vector>

#include "engine/device/plugin.h"

namespace foxhunt::device {

inline constexpr const char* kPluginFile = "libfoxhunt_cuda.so";

struct LoadedPlugin {
  const Plugin* plugin = nullptr;  // null: `reason` says why
  std::string reason;
};

// Looks in `folders` in order and takes the first file there is. Never throws, never unloads what it loaded.
LoadedPlugin load_plugin(const std::vector<std::string>& folders);

// The folder of the running program and the install folder.
std::vector<std::string> plugin_folders();

// What the plugin lists, or one entry that says why there is nothing. Never throws.
std::vector<DeviceInfo> plugin_devices(const LoadedPlugin& loaded);

}  // namespace foxhunt::device
