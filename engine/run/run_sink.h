// From the telemetry recorder into a run's history.
#pragma once

#include <vector>

#include "engine/run/run_store.h"
#include "engine/telemetry/telemetry_sink.h"

namespace foxhunt {

// Columns of steps, health and signals, from the telemetry tables: points of the names become '_', "progress." is left
// away, reserved words and the second step number are no columns.
TelemetryColumns telemetry_columns();

// The store must outlive it.
class RunStoreSink : public telemetry::TelemetrySink {
 public:
  explicit RunStoreSink(RunStore& store) : store_(store) {}

  void step_rows(std::span<const telemetry::StepRow> rows) override;
  // A count or number (u32 word) of a bucket is its greatest: the last step, all flags that stood.
  void step_bucket(const telemetry::StepBucket& bucket) override;
  void signals_row(double wall, std::uint32_t step, std::span<const float> signals) override;
  void health_row(double wall, const telemetry::HealthDiag& health) override;
  void missed_steps(double wall, std::uint64_t count) override;  // an event

 private:
  RunStore& store_;
  std::uint32_t step_ = 0, fold_ = 0, epoch_ = 0;  // of the last row of steps
  std::vector<double> words_, values_;
};

}  // namespace foxhunt
