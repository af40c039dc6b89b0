// What a device plugin exports: one C function returning this table.
#pragma once

#include <memory>
#include <vector>

#include "engine/device/device.h"
#include "engine/device/registry.h"

namespace foxhunt::device {

struct Plugin {
  std::uint32_t interface_version;  // kInterfaceVersion of its build; nothing below is read when it differs
  std::vector<DeviceInfo> (*list)();
  std::unique_ptr<Device> (*open)(int index, const DeviceOptions& options);
};

inline constexpr const char* kPluginEntry = "foxhunt_device_plugin";  // extern "C" const Plugin* ()

}  // namespace foxhunt::device
