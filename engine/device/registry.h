// The devices of this machine: the host, always, and what the CUDA plugin reports.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/base/log.h"
#include "engine/device/device.h"

namespace foxhunt::device {

// Where the algorithms of matrix products are pinned, so that every process computes the same bits:
// $XDG_CACHE_HOME/foxhunt/products.json, else ~/.cache/foxhunt/products.json; empty when neither variable is set.
std::string default_plan_cache();

struct DeviceOptions {
  int threads = 0;         // host pool; 0: all cores
  std::string plan_cache;  // file of pinned algorithms; empty: none is read or written
  // The program's log: a plugin has none of its own.
  std::shared_ptr<spdlog::logger> log = logger();
};

// Never throws: a device that cannot be used is listed with the reason.
std::vector<DeviceInfo> list_devices();

// name: "auto" (the first CUDA device, else the host), "cpu", "cuda", "cuda:N". Errors: usage_error with the reason.
std::unique_ptr<Device> open_device(const std::string& name, const DeviceOptions& options = {});

}  // namespace foxhunt::device
