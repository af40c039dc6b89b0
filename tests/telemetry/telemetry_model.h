// What signal bus, HealthDiag, step record and envelope must hold after any sequence of steps, epochs and folds: a
// plain model in double, fed with the same buffers as the kernels.
#pragma once

#include <array>
#include <map>
#include <string>

#include "engine/telemetry/snapshot_reader.h"
#include "tests/telemetry/fake_step.h"

namespace foxhunt::test {

class TelemetryModel {
 public:
  // Before a step runs on `step` as it stands: device_time is that of the last published step.
  void step(const FakeStep& step, const CollectorSignals& collector, double device_time);
  // Of the same step again: its words alone, as at an epoch's end.
  void end_epoch(const FakeStep& step, const EpochWords& words);
  void begin_fold();
  // [rows, 4] greedy actions.
  void validation(const Shared<std::int32_t>& greedy, int rows);

  const std::array<double, kSignals>& signals() const { return signals_; }
  const std::map<std::string, double>& health() const { return health_; }  // of the last snapshot; empty before
  const std::map<std::string, double>& record() const { return record_; }  // of the last step
  std::uint32_t snapshots() const { return snapshots_; }
  double q_epoch_mean() const { return epoch_steps_ ? q_sum_ / epoch_steps_ : 0; }
  std::uint32_t q_epoch_steps() const { return epoch_steps_; }
  std::uint32_t reference_updates() const { return reference_updates_; }

 private:
  void snapshot(const FakeStep& step);
  void fill_record(const FakeStep& step, const std::map<std::string, double>& words);
  double drift(double q) const;

  std::array<double, kSignals> signals_{};
  std::map<std::string, double> health_, record_;
  EpochWords words_{};
  std::array<double, kShownActions> greedy_{};
  std::array<double, kReferences> largest_{};
  double q_sum_ = 0, q_previous_ = 0;
  bool has_previous_ = false;
  std::uint32_t epoch_steps_ = 0, reference_updates_ = 0, snapshots_ = 0;
  std::uint32_t updates_ = 0, collections_ = 0, times_ = 0;
};

}  // namespace foxhunt::test
