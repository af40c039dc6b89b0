// Wall time as telemetry, events and run folders write it.
#pragma once

#include <chrono>

namespace foxhunt {

// Seconds since 1970 UTC.
inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Seconds of a clock that never goes back, for durations.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace foxhunt
