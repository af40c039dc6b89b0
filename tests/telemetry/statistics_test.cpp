// Single rules of the statistics kernels at values that whole batches average away.
#include <gtest/gtest.h>

#include "engine/telemetry/snapshot_reader.h"
#include "tests/telemetry/fake_step.h"

namespace foxhunt::test {
namespace {

// A signal of this step alone: the first step of a fold copies it.
float fresh(TelemetryRig& rig, Signal slot) {
  rig.telemetry.record_begin_fold(rig.recorder);
  rig.run();
  return rig.telemetry.signals()[slot];
}

HealthDiag snapshot_of(TelemetryRig& rig) {
  rig.step.control[0].settings.diag_interval = 1;
  rig.run();
  telemetry::SnapshotReader reader(rig.telemetry.mapped());
  telemetry::Snapshot snapshot;
  EXPECT_TRUE(reader.read(snapshot));
  return snapshot.health;
}

// One expert's gate as any number: p ln p to a few units in the last place, over all exponents and on both sides of the
// change of exponent at sqrt(1/2).
TEST(Statistics, EntropyOfOneWeight) {
  TelemetryRig rig({.batch = 1, .atoms = 2, .taus = 1, .experts = 1, .groups = 1, .tiles = 1}, 1);
  rig.step.fill(1);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponent(-37, 0.6), near(0.65, 0.78), most(0.36, 1.0);
  for (int i = 0; i < 600; ++i) {
    const double draw = i % 3 == 0 ? std::pow(10.0, exponent(random)) : (i % 3 == 1 ? near(random) : most(random));
    const auto p = static_cast<float>(draw);
    rig.step.gates[0] = p;
    const double want = -static_cast<double>(p) * std::log(static_cast<double>(p));
    ASSERT_NEAR(fresh(rig, signal_gate_entropy), want, 4e-7 * std::abs(want)) << p;
  }
  for (const float p : {0.0f, -0.25f, 1.0f}) {
    rig.step.gates[0] = p;
    EXPECT_EQ(fresh(rig, signal_gate_entropy), 0) << p;
  }
}

// A value that is not a number stays visible in largest and least, whichever row and tile it stands in.
TEST(Statistics, NotANumberStaysVisibleInExtremes) {
  for (const int row : {0, 1, 31, 32, 40, 64}) {
    TelemetryRig rig({.batch = 65}, 1);
    rig.step.fill(2);
    rig.step.td[static_cast<std::size_t>(row)] = std::nanf("");
    rig.step.weight[static_cast<std::size_t>(row)] = std::nanf("");
    const HealthDiag health = snapshot_of(rig);
    EXPECT_TRUE(std::isnan(health.td_max)) << row;
    EXPECT_TRUE(std::isnan(health.weight_min)) << row;
    EXPECT_TRUE(std::isfinite(health.q_min) && std::isfinite(health.q_max));
  }
}

// Extremes in every row: largest and least are found in the first, the last, and at the edges of tiles.
TEST(Statistics, ExtremesInAnyRow) {
  for (const int row : {0, 1, 31, 32, 63, 64}) {
    for (const int column : {0, 3, 4, 12}) {
      TelemetryRig rig({.batch = 65}, 1);
      rig.step.fill(3);
      const auto at = static_cast<std::size_t>(row);
      rig.step.td[at] = 77;
      rig.step.weight[at] = 0.001f;
      rig.step.q[at * 13 + static_cast<std::size_t>(column)] = -99;
      HealthDiag health = snapshot_of(rig);
      EXPECT_EQ(health.td_max, 77);
      EXPECT_EQ(health.weight_min, 0.001f);
      EXPECT_EQ(health.q_min, -99);
      EXPECT_EQ(telemetry::word_value(health, health_q_abs_max_direction + (column < 4 ? 0 : (column - 1) / 3)), 99);
      rig.step.q[at * 13 + static_cast<std::size_t>(column)] = 88;
      health = snapshot_of(rig);
      EXPECT_EQ(health.q_max, 88);
    }
  }
}

// Learning health: three scores, each held within 0 and 1.
TEST(Statistics, LearningHealthIsBounded) {
  TelemetryRig rig({.batch = 1, .tiles = 1}, 1);
  rig.step.fill(4);
  rig.step.weight[0] = 1;  // the third score is 1
  const auto health = [&](double ratio, double clip) {
    rig.step.tile_sums[0].parameter = 1;
    rig.step.tile_sums[0].update = ratio * ratio;
    rig.step.gradient_norm[1] = clip;
    return static_cast<double>(fresh(rig, signal_learning_health));
  };
  const double best = std::pow(10, -3.5);
  EXPECT_NEAR(health(best, 1), 1, 1e-6);
  EXPECT_NEAR(health(best, 2), 1, 1e-6);
  EXPECT_NEAR(health(best, 0.001), 2.001 / 3, 1e-6);
  EXPECT_NEAR(health(best, -1), 2.0 / 3, 1e-6);
  EXPECT_NEAR(health(0, 1), 2.0 / 3, 1e-6);
  EXPECT_NEAR(health(1e-7, 1), 2.0 / 3, 1e-6);
  EXPECT_NEAR(health(10, 1), 2.0 / 3, 1e-6);
  EXPECT_NEAR(health(1e-4, 1), (2 + 1 - 0.5 / 2.5) / 3, 1e-6);
  EXPECT_NEAR(health(1e-3, 1), (2 + 1 - 0.5 / 2.5) / 3, 1e-6);
}

// However small the differences are: two samples lie on a line.
TEST(Statistics, CorrelationOfSmallDifferences) {
  TelemetryRig rig({.batch = 2}, 1);
  rig.step.fill(6);
  for (const float x : {1e-3f, 0.5f}) {
    for (const float y : {-1e-3f, 0.5f}) {
      rig.step.aux_output[0] = 0.25f;
      rig.step.aux_output[8] = 0.25f + x;
      rig.step.aux[0] = -0.125f;
      rig.step.aux[4] = -0.125f + y;
      EXPECT_NEAR(fresh(rig, signal_aux_correlation), y < 0 ? -1 : 1, 1e-5);
    }
  }
}

// |mean Q| over that of the epoch before; none where that was exactly 0.
TEST(Statistics, DriftRatioOfAZeroEpoch) {
  TelemetryRig rig({.batch = 3}, 1);
  rig.step.fill(5);
  for (std::size_t i = 0; i < rig.step.q.size(); ++i) rig.step.q[i] = 0;
  rig.run();
  rig.telemetry.record_end_epoch(rig.recorder, {});
  for (std::size_t i = 0; i < rig.step.q.size(); ++i) rig.step.q[i] = 2;
  EXPECT_EQ(snapshot_of(rig).drift_ratio, 0);
  rig.telemetry.record_end_epoch(rig.recorder, {});
  for (std::size_t i = 0; i < rig.step.q.size(); ++i) rig.step.q[i] = -5;
  EXPECT_FLOAT_EQ(snapshot_of(rig).drift_ratio, 2.5f);
}

}  // namespace
}  // namespace foxhunt::test
