// Load of the processor and memory of this process and the machine, from /proc.
#pragma once

#include <cstdint>
#include <optional>

namespace foxhunt::telemetry {

// What the system would not tell is empty; shares of time need two reads.
struct HostMetrics {
  std::optional<double> cpu_use;                           // share of all cores' time since the read before, 0 to 1
  std::optional<double> process_cores;                     // cores that this process kept busy since then
  int cores = 0;                                           // 0: unknown
  std::optional<std::uint64_t> process_memory;             // resident bytes
  std::optional<std::uint64_t> memory_used, memory_total;  // bytes of the machine
};

// One thread at a time.
class HostMonitor {
 public:
  HostMetrics read();

 private:
  double busy_ = 0, all_ = 0;             // clock ticks of the machine at the read before
  double process_ticks_ = 0, since_ = 0;  // of the process; steady seconds
  bool known_ = false;
};

}  // namespace foxhunt::telemetry
