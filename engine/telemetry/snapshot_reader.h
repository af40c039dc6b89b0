// Reads signal bus and HealthDiag from the mapped envelope, from any one thread, without ever blocking the writer.
#pragma once

#include <chrono>
#include <cstdint>

#include "engine/telemetry/tables.h"

namespace foxhunt::telemetry {

// One whole envelope.
struct Snapshot {
  float signals[kernels::kSignals] = {};
  HealthDiag health{};
  std::uint32_t signal_step = 0;        // low word of the step of the signals; health.step says its own
  float q_epoch_mean = 0;               // mean of HealthDiag word 26 over the epoch's steps so far
  std::uint32_t q_epoch_steps = 0;      // those steps
  std::uint32_t reference_updates = 0;  // epochs that slots 16 to 21 have seen
  std::uint32_t health_snapshots = 0;   // HealthDiag snapshots taken; 0: `health` is all zero
};

class SnapshotReader {
 public:
  explicit SnapshotReader(const kernels::MappedTelemetry& mapped) : mapped_(mapped) {}

  // False when the writer was in the way 64 times in a row (`out` is left alone) or nothing was published yet.
  bool read(Snapshot& out);

  std::uint64_t reads() const { return reads_; }
  std::uint64_t torn() const { return torn_; }  // copies thrown away because the writer was in the way

 private:
  const kernels::MappedTelemetry& mapped_;
  std::uint64_t reads_ = 0, torn_ = 0;
};

// The words that are polled.
struct Pulse {
  std::uint32_t completed = 0;  // low word of the last step whose record is whole
  std::uint32_t halt = 0;       // Control::halt bits
  std::uint32_t nan_flags = 0;
  std::uint32_t publishes = 0;  // launches published, halted ones included
};
Pulse read_pulse(const kernels::MappedTelemetry& mapped);

// Data age: how long ago the device published last, by the reader's clock.
class Heartbeat {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kStalled{10};

  explicit Heartbeat(const kernels::MappedTelemetry& mapped, Clock::time_point now = Clock::now());
  Clock::duration age(Clock::time_point now = Clock::now());
  bool stalled(Clock::time_point now = Clock::now()) { return age(now) >= kStalled; }

 private:
  const kernels::MappedTelemetry& mapped_;
  std::uint32_t publishes_;
  Clock::time_point since_;
};

}  // namespace foxhunt::telemetry
