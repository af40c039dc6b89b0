// A device plugin for the registry's tests: FH_FAKE_ENTRY is the function it exports, FH_FAKE_VERSION the interface it
// claims; its list throws.
#include <stdexcept>

#include "engine/device/device.h"

namespace foxhunt::device {

struct DeviceOptions;

// The layout of engine/device/plugin.h, repeated because its header needs the program's log.
struct Plugin {
  std::uint32_t interface_version;
  std::vector<DeviceInfo> (*list)();
  std::unique_ptr<Device> (*open)(int index, const DeviceOptions& options);
};

}  // namespace foxhunt::device

namespace {

std::vector<foxhunt::device::DeviceInfo> list() {
  throw std::runtime_error("the bus is on fire");
}

std::unique_ptr<foxhunt::device::Device> open(int, const foxhunt::device::DeviceOptions&) {
  return nullptr;
}

}  // namespace

extern "C" const foxhunt::device::Plugin* FH_FAKE_ENTRY() {
  static const foxhunt::device::Plugin plugin{FH_FAKE_VERSION, list, open};
  return &plugin;
}
