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

// Small numbers are numbers: norms below 1, a largest sigma below 1, Q that is all positive or all the same.
TEST(Statistics, SmallAndConstantValues) {
  TelemetryRig rig({.batch = 33, .tiles = 3}, 1);
  rig.step.fill(7);
  for (int i = 0; i < 3; ++i) rig.step.tile_sums[static_cast<std::size_t>(i)] = {1, 0.01, 1e-8, 0.02, 0.0002, 0.01};
  for (std::size_t i = 0; i < FakeStep::kSpectral; ++i) rig.step.sigma[i] = 0.25f;
  for (std::size_t i = 0; i < rig.step.q.size(); ++i) rig.step.q[i] = 0.5f;
  EXPECT_NEAR(fresh(rig, signal_target_distance), 0.1, 1e-6);
  EXPECT_NEAR(rig.telemetry.signals()[signal_target_cosine], 0.01 / std::sqrt(0.0002), 1e-6);
  EXPECT_EQ(rig.telemetry.signals()[signal_spectral_max], 0.25f);
  const HealthDiag health = snapshot_of(rig);
  EXPECT_EQ(health.q_std, 0);
  EXPECT_EQ(health.q_min, 0.5f);
  EXPECT_EQ(health.q_max, 0.5f);
}

// A batch that fills its tile to the last row, which is the only one that trades.
TEST(Statistics, TheLastRowOfAFullTileCounts) {
  TelemetryRig rig({.batch = 256, .atoms = 3, .taus = 1, .tiles = 1}, 1);
  rig.step.fill(10);
  for (std::size_t b = 0; b < 256; ++b) rig.step.action[b * 4] = b == 255 ? 2 : 1;
  const HealthDiag health = snapshot_of(rig);
  EXPECT_EQ(health.magnitude_q_mean_quarter, rig.step.q[255 * 13 + 4]);
  EXPECT_EQ(health.magnitude_q_mean_full, rig.step.q[255 * 13 + 6]);
}

// How many values each kind of average has seen: part of a checkpoint.
TEST(Statistics, UpdatesAreCounted) {
  TelemetryRig rig({.batch = 3}, 1);
  rig.step.fill(11);
  rig.run();
  rig.telemetry.collector()->filled = 1;
  rig.run();
  rig.telemetry.publish_state()->device_time = 0.5f;  // less than a microsecond is a time
  rig.run();
  EXPECT_EQ(rig.telemetry.signals()[signal_step_time], 0.5f);
  const TelemetryState& state = *rig.telemetry.state();
  EXPECT_EQ(state.ema_steps, 3u);
  EXPECT_EQ(state.collector_steps, 2u);
  EXPECT_EQ(state.time_steps, 1u);
  EXPECT_EQ(state.has_previous, 0u);
  rig.telemetry.record_end_epoch(rig.recorder, {});
  rig.device->synchronise(*rig.stream);
  EXPECT_EQ(state.has_previous, 1u);
  EXPECT_EQ(state.reference_updates, 1u);
}

// Branches that are not there, and noisy layers that are not there or have one element.
TEST(Statistics, WhatIsNotThereDoesNotCount) {
  TelemetryRig rig({.batch = 33}, 1);
  rig.step.fill(8);
  StepResults results = rig.step.results();
  results.branch_actions[4] = 5;
  results.branch_first[4] = 0;
  rig.step.control[0].settings.v_max[4] = 99;
  rig.step.control[0].settings.diag_interval = 1;
  telemetry::TelemetryLayout layout = rig.step.layout;
  layout.sigma[6] = telemetry::TelemetryLayout::kNoSigma;  // of direction
  layout.size[7] = 1;                                      // of magnitude
  telemetry::Telemetry other(*rig.device, results, layout);
  ++rig.step.control[0].step;
  other.record_batch_statistics(rig.recorder);
  other.record_maintenance(rig.recorder);
  other.record_diagnose(rig.recorder);
  other.record_publish(rig.recorder);
  rig.device->synchronise(*rig.stream);
  EXPECT_NEAR(other.signals()[signal_action_entropy], expected_action_entropy(rig.step), 1e-6);
  EXPECT_EQ(other.signals()[signal_noise_direction], 0);
  double square = 0;
  for (int i = 0; i < rig.step.n.tiles; ++i)
    if (rig.step.tile_table[static_cast<std::size_t>(i)].tensor == 7)
      square += rig.step.tile_sums[static_cast<std::size_t>(i)].parameter;
  EXPECT_NEAR(other.signals()[signal_noise_magnitude], std::sqrt(square), 1e-5 * std::sqrt(square));
  telemetry::SnapshotReader reader(other.mapped());
  telemetry::Snapshot snapshot;
  ASSERT_TRUE(reader.read(snapshot));
  EXPECT_NEAR(snapshot.health.support_width, expected_health(rig.step).at("distribution.support_width"), 1e-4);
}

// Columns of floats; and what stands right behind a range is not its own.
TEST(NanSearch, ReadsFloatColumnsAndNothingBehindThem) {
  TelemetryRig rig({}, 1);
  for (const int stride : {1, 2, 3}) {
    constexpr int count = 8192;
    Shared<float> floats(*rig.device, static_cast<std::size_t>(count * stride + 1));
    Shared<double> doubles(*rig.device, static_cast<std::size_t>(count * stride + 1));
    for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = 1, doubles[i] = 1;
    const telemetry::NanCheck checks[] = {{NanPlace::iqn, floats.device(), count, stride, false},
                                          {NanPlace::gates, doubles.device(), count, stride, true}};
    telemetry::NanScanner scanner(*rig.device, rig.step.control.device(), checks, nullptr);
    const auto flags = [&] {
      rig.step.control[0].nan_flags = rig.step.control[0].halt = 0;
      scanner.record(rig.recorder);
      rig.device->synchronise(*rig.stream);
      return rig.step.control[0].nan_flags;
    };
    floats[static_cast<std::size_t>(count * stride)] = std::nanf("");
    doubles[static_cast<std::size_t>(count * stride)] = std::nan("");
    for (int i = 0; stride > 1 && i < count * stride; i += i % stride ? 1 : 2)
      if (i % stride) floats[static_cast<std::size_t>(i)] = std::nanf("");
    EXPECT_EQ(flags(), 0u) << stride;
    for (const int at : {0, 1, count - 1}) {
      floats[static_cast<std::size_t>(at * stride)] = INFINITY;
      EXPECT_EQ(flags(), 1u << 9) << stride << " " << at;
      floats[static_cast<std::size_t>(at * stride)] = 1;
    }
  }
}

// A launch that begins no step leaves the last record alone; device time is in microseconds; unused words are zero.
TEST(Publish, ARepeatedLaunchLeavesTheRecord) {
  TelemetryRig rig({.batch = 3}, 1);
  rig.step.fill(9);
  const std::uint64_t before = clock_ns();
  rig.telemetry.publish_state()->stamp = before - 1'000'000'000'000ull;  // a thousand seconds ago
  rig.run();
  const auto after = static_cast<double>(clock_ns() - before) * 1e-3;
  const auto time = [&] { return bits_float(rig.telemetry.mapped().ring[0][step_word_device_time]); };
  const float first = time();
  EXPECT_GE(first, 1e9f - 64);
  EXPECT_LE(first, 1e9 + after + 64);
  rig.step.control[0].halt = kHaltHost;
  rig.run();
  EXPECT_EQ(time(), first);
  EXPECT_EQ(rig.telemetry.publish_state()->device_time, first);
  for (int w = envelope_reserved; w < kEnvelopeWords; ++w) EXPECT_EQ(rig.telemetry.mapped().envelope[w], 0u) << w;
}

}  // namespace
}  // namespace foxhunt::test
