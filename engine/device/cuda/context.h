// The primary context of one GPU, shared by everything made on it: makes itself current, turns driver errors into
// sentences, and refuses what an open capture forbids before the driver would invalidate the capture.
#pragma once

#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/cuda/api.h"
#include "engine/device/device.h"

namespace foxhunt::device::cuda {

// FH_CU(context, cuMemFree, pointer): a driver call whose failure is an Error naming it.
#define FH_CU(context, function, ...) (context).check((context).api.function(__VA_ARGS__), #function)
// The same where nothing may be thrown: a failure is logged.
#define FH_CU_QUIET(context, function, ...) (context).check_quietly((context).api.function(__VA_ARGS__), #function)

class Context {
 public:
  // Errors: Error when the GPU cannot be used (compute capability below 8.0, no context).
  Context(int index, std::shared_ptr<spdlog::logger> log);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // First of every call of the interface: the context becomes current. Errors: Error once the device is broken.
  void enter(const char* call);
  // The same, and Error where a capture is open; the refused call spoils the capture, as it would in the driver.
  void enter_outside_capture(const char* call);
  [[noreturn]] void refuse_in_capture(const std::string& call, const std::string& hint);
  // For destructors and queries of other threads; false once the device is broken.
  bool enter_quietly() noexcept;

  // Throws unless `status` is success; an error that the driver keeps marks the device as broken.
  void check(CUresult status, const char* call);
  bool check_quietly(CUresult status, const char* call) noexcept;
  void check(cublasStatus_t status, const char* call);

  // True where `stream` records into a graph.
  bool capturing(CUstream stream);
  bool capture_open() const { return captures_ > 0; }
  void capture_opened() { ++captures_; }
  // What was refused while the capture was open; empty when nothing was.
  std::string capture_closed();
  // Freed now, or when the last open capture ends: cuMemFree inside a capture would invalidate it.
  void free_device(void* memory) noexcept;
  void free_mapped(void* host) noexcept;

  const Api& api;
  std::shared_ptr<spdlog::logger> log;
  DeviceInfo info;
  CUdevice device = 0;
  CUcontext handle = nullptr;  // retained for the life of the process: cuBLASLt keeps state in it
  CUstream setup = nullptr;    // for zero-filling, uploads of graphs and timing of products
  int warp = 32;
  int capability = 0;           // 90 for 9.0
  int max_shared = 0;           // bytes of shared memory a block may have, static and dynamic
  int urgent = 0, relaxed = 0;  // range of stream priorities: the least number is the most urgent

 private:
  std::string sentence(CUresult status, const char* call) const;
  int attribute(CUdevice_attribute which) const;
  void release_deferred() noexcept;

  int captures_ = 0;
  std::string refused_;  // the first call refused while a capture was open
  std::atomic<bool> broken_ = false;
  std::string why_broken_;
  std::vector<void*> deferred_device_, deferred_mapped_;
};

// What the plugin lists: every GPU, or one entry with the reason why there is none.
std::vector<DeviceInfo> list_gpus();

}  // namespace foxhunt::device::cuda
