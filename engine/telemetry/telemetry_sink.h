// Where the recorder puts what it has drained. Calls are serialised; they come from the recorder's thread or from the
// thread that flushes it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "engine/telemetry/snapshot_reader.h"

namespace foxhunt::telemetry {

// One step, with the wall time at which it was drained (seconds since 1970 UTC).
struct StepRow {
  double wall = 0;
  StepRecord record{};
};

// Consecutive steps as one row: every step of [first_step, last_step] that was not missed counts, `count` of them.
struct StepBucket {
  double wall = 0;
  std::uint32_t first_step = 0, last_step = 0, count = 0;
  // Per word of the record. Values that are not finite are left out of mean, min and max and counted in `not_finite`;
  // a word without any finite value has NaN in all three.
  std::array<double, kernels::kStepWords> mean{}, min{}, max{};
  std::array<std::uint32_t, kernels::kStepWords> not_finite{};
};

class TelemetrySink {
 public:
  virtual ~TelemetrySink() = default;
  virtual void step_rows(std::span<const StepRow> rows) = 0;
  virtual void step_bucket(const StepBucket& bucket) = 0;
  virtual void signals_row(double wall, std::uint32_t step, std::span<const float> signals) = 0;  // [160]
  virtual void health_row(double wall, const HealthDiag& health) = 0;
  virtual void missed_steps(double wall, std::uint64_t count) = 0;  // overwritten before they were drained
};

// Values of all words, in the table's order; `out` has as many.
void word_values(const StepRecord& record, std::span<double> out);
void word_values(const HealthDiag& health, std::span<double> out);

StepBucket make_bucket(double wall, std::span<const StepRow> rows);

}  // namespace foxhunt::telemetry
