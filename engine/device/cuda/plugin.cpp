// The plugin's one exported function.
#include "engine/device/plugin.h"

#include "engine/device/cuda/context.h"
#include "engine/device/cuda/cuda_device.h"

namespace foxhunt::device {
namespace {

std::unique_ptr<Device> open(int index, const DeviceOptions& options) {
  return std::make_unique<cuda::CudaDevice>(index, options);
}

constexpr Plugin kPlugin = {kInterfaceVersion, &cuda::list_gpus, &open};

}  // namespace
}  // namespace foxhunt::device

extern "C" __attribute__((visibility("default"))) const foxhunt::device::Plugin* foxhunt_device_plugin();

extern "C" const foxhunt::device::Plugin* foxhunt_device_plugin() {
  return &foxhunt::device::kPlugin;
}
