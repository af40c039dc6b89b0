// Drains the mapped step ring from another thread than the writer's. Every step is either delivered once, in order, or
// counted as missed.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/telemetry/tables.h"

namespace foxhunt::telemetry {

class StepRingReader {
 public:
  // next_step: the first step wanted (a session passes its own last step + 1). 0: what comes after the newest record;
  // when nothing was published yet, the first step that will be.
  explicit StepRingReader(const kernels::MappedTelemetry& mapped, std::uint64_t next_step = 0);

  // Appends the records published since the last call; returns how many. Never blocks the writer.
  int drain(std::vector<StepRecord>& out);

  // The session's step number went back, as when a checkpoint was loaded: goes on at `next_step`.
  void restart(std::uint64_t next_step) { next_ = next_step; }

  std::uint64_t next_step() const { return next_; }
  std::uint64_t delivered() const { return delivered_; }
  std::uint64_t missed() const { return missed_; }    // steps overwritten before they were read
  std::uint64_t torn() const { return torn_; }        // of those, steps caught in the middle of being overwritten
  std::uint64_t rewinds() const { return rewinds_; }  // step numbers that went back without restart()

 private:
  std::uint64_t head() const;
  bool read(std::uint64_t step, StepRecord& out) const;

  const kernels::MappedTelemetry& mapped_;
  std::uint64_t next_ = 0;  // 0: nothing was published when this reader began
  std::uint64_t delivered_ = 0, missed_ = 0, torn_ = 0, rewinds_ = 0;
};

}  // namespace foxhunt::telemetry
