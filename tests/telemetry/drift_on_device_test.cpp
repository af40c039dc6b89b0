// The drift guard on what the kernels publish: epoch means and references over epochs and a fold's boundary.
#include <gtest/gtest.h>

#include "engine/telemetry/drift_guard.h"
#include "engine/telemetry/snapshot_reader.h"
#include "tests/telemetry/fake_step.h"

namespace foxhunt::test {
namespace {

// Three steps whose mean Q is `q`, of direction and magnitude `reference`; the guard reads before the references move.
telemetry::DriftVerdict epoch(TelemetryRig& rig, telemetry::DriftGuard& guard, double q, double reference) {
  const double rest = (13 * q - 7 * reference) / 6;
  for (int step = 0; step < 3; ++step) {
    for (int b = 0; b < rig.step.n.batch; ++b)
      for (int a = 0; a < 13; ++a)
        rig.step.q[static_cast<std::size_t>(b * 13 + a)] = static_cast<float>(a < 7 ? reference : rest);
    rig.run();
  }
  telemetry::SnapshotReader reader(rig.telemetry.mapped());
  telemetry::Snapshot s;
  EXPECT_TRUE(reader.read(s));
  EXPECT_EQ(s.q_epoch_steps, 3u);
  EXPECT_NEAR(s.q_epoch_mean, q, 1e-6);
  const auto verdict =
      guard.end_epoch(s.q_epoch_mean, s.signals[signal_q_reference_magnitude], s.signals[signal_q_reference_direction]);
  rig.telemetry.record_end_epoch(rig.recorder, {});
  rig.device->synchronise(*rig.stream);
  return verdict;
}

TEST(DriftOnDevice, TripsAtTheThirdOfTheDocumentedSequenceAcrossAFold) {
  for (const bool fold : {false, true}) {
    TelemetryRig rig({.batch = 13}, 1);
    rig.step.fill(1);
    telemetry::DriftGuard guard;
    EXPECT_FALSE(epoch(rig, guard, 0.79, 0.6).exceeded);
    EXPECT_FALSE(epoch(rig, guard, 0.82, 0.6).exceeded);
    if (fold) rig.telemetry.record_begin_fold(rig.recorder);
    const auto verdict = epoch(rig, guard, 2.23, 1.9);
    EXPECT_TRUE(verdict.halt) << verdict.sentence();
    EXPECT_NEAR(verdict.q, 2.23, 1e-6);
    EXPECT_NEAR(verdict.q_previous, 0.82, 1e-6);
    EXPECT_NEAR(verdict.reference_magnitude, 0.6, 1e-6);
    EXPECT_NEAR(verdict.reference_direction, 0.6, 1e-6);
    EXPECT_NEAR(verdict.floor, 1.8, 1e-5);
    EXPECT_NEAR(verdict.ratio, 2.72, 0.01);
    // Only now have the references seen it.
    EXPECT_NEAR(rig.telemetry.signals()[signal_q_reference_direction], 0.6 + 0.05 * (1.9 - 0.6), 1e-6);
  }
}

TEST(DriftOnDevice, TheFirstEpochOfARunNeverTrips) {
  TelemetryRig rig({.batch = 13}, 1);
  rig.step.fill(1);
  telemetry::DriftGuard guard;
  EXPECT_FALSE(epoch(rig, guard, 40, 30).exceeded);
  EXPECT_FALSE(epoch(rig, guard, 41, 30).exceeded);
}

}  // namespace
}  // namespace foxhunt::test
