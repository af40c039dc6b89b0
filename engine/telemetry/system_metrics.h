// Use, memory, clocks, power and temperature of an NVIDIA GPU, read through the driver's own library, which is loaded
// at run time: without a driver there is a sentence instead of numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace foxhunt::telemetry {

// What the driver would not tell is empty.
struct SystemMetrics {
  std::optional<double> gpu_use;                           // share of the last sample period, 0 to 1
  std::optional<double> memory_use;                        // share of the time in which memory was read or written
  std::optional<std::uint64_t> memory_used, memory_total;  // bytes
  std::optional<double> sm_clock, memory_clock;            // MHz
  std::optional<double> power, power_limit;                // W
  std::optional<double> temperature;                       // degrees Celsius
};

class SystemMonitor {
 public:
  // `index`: as in "cuda:0". `library`: of the driver. Never throws: problem() says why there is nothing to read.
  explicit SystemMonitor(unsigned index = 0, const std::string& library = "libnvidia-ml.so.1");
  ~SystemMonitor();
  SystemMonitor(SystemMonitor&&) noexcept;
  SystemMonitor& operator=(SystemMonitor&&) noexcept;

  bool available() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }  // a sentence, or empty
  const std::string& name() const { return name_; }        // of the GPU
  // Some tens of microseconds; all empty where nothing is available. One thread at a time.
  SystemMetrics read() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::string problem_, name_;
};

}  // namespace foxhunt::telemetry
