// A thread that looks at GPU and host about once a second, so that nobody waits for the driver.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/telemetry/host_metrics.h"
#include "engine/telemetry/system_metrics.h"

namespace foxhunt::telemetry {

struct SystemSample {
  double wall = 0;           // seconds since 1970 UTC; 0: none was taken yet
  std::uint64_t number = 0;  // of the sample, from 1
  std::string gpu_name;      // empty without a driver
  std::string gpu_problem;   // why there is nothing to read of a GPU: a sentence, or empty
  SystemMetrics gpu;
  HostMetrics host;
};

class SystemSampler {
 public:
  // `gpu`: as in "cuda:0" where the driver shows all GPUs; CUDA_VISIBLE_DEVICES is heeded. `library`: of the driver.
  explicit SystemSampler(unsigned gpu = 0, double seconds = 1, std::string library = "libnvidia-ml.so.1");
  ~SystemSampler();
  SystemSampler(const SystemSampler&) = delete;
  SystemSampler& operator=(const SystemSampler&) = delete;

  // A copy of the newest; from any thread, never waits for the driver.
  SystemSample latest() const;
  // Looks at another GPU from the next sample on.
  void watch(unsigned gpu);

 private:
  void run();

  const double seconds_;
  const std::string library_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  SystemSample latest_;
  unsigned gpu_;
  bool stopping_ = false;
  std::thread thread_;
};

// The driver's number of the GPU that CUDA calls `gpu`, where `visible` is CUDA_VISIBLE_DEVICES (null: not set). Names
// in place of numbers are taken for the order they stand in.
unsigned driver_index(unsigned gpu, const char* visible);

}  // namespace foxhunt::telemetry
