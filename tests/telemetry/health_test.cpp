// Each of the 147 words of HealthDiag against its plain definition, and when snapshots are taken.
#include <gtest/gtest.h>

#include "engine/telemetry/snapshot_reader.h"
#include "tests/telemetry/fake_step.h"

namespace foxhunt::test {
namespace {

using telemetry::health_table;
using telemetry::Snapshot;
using telemetry::SnapshotReader;

HealthDiag published(const TelemetryRig& rig) {
  SnapshotReader reader(rig.telemetry.mapped());
  Snapshot snapshot;
  EXPECT_TRUE(reader.read(snapshot));
  return snapshot.health;
}

void expect_words(const HealthDiag& health, const std::map<std::string, double>& want) {
  for (int w = 0; w < kHealthWords; ++w) {
    const std::string name(health_table()[w].name);
    ASSERT_TRUE(want.contains(name)) << name;
    const double value = want.at(name), got = telemetry::word_value(health, w);
    if (health_table()[w].type == telemetry::WordType::u32) {
      EXPECT_EQ(got, value) << name;
    } else {
      EXPECT_NEAR(got, value, 1e-5 * std::abs(value)) << name;
    }
  }
  EXPECT_EQ(want.size(), 147u);
}

class HealthOfBatch : public ::testing::TestWithParam<int> {};

TEST_P(HealthOfBatch, EveryWordIsItsDefinition) {
  TelemetryRig rig({.batch = GetParam()});
  CollectorSignals collector{};
  collector.filled = 1;
  for (int i = 0; i < 3; ++i) {
    collector.win_rate[i] = 0.4f + 0.01f * static_cast<float>(i);
    collector.reward_variance[i] = 1.4f + 0.01f * static_cast<float>(i);
    collector.trail[i] = 0.1f + 0.01f * static_cast<float>(i);
    collector.hold[i] = 14 + 0.1f * static_cast<float>(i);
  }
  for (int i = 0; i < 6; ++i) collector.reward[i] = -0.2f + 0.1f * static_cast<float>(i);
  *rig.telemetry.collector() = collector;

  // A validation of 1,001 bars.
  Shared<std::int32_t> greedy(*rig.device, 1001 * 4);
  for (int i = 0; i < 1001; ++i)
    for (int d = 0; d < 4; ++d) greedy[i * 4 + d] = (i * i + 3 * d) % 7 % kActionCount[d];
  rig.telemetry.record_evaluation_histogram(rig.recorder, greedy.device(), 1001);

  rig.run(1);
  const double q_first = expected_health(rig.step).at("q.mean");
  const EpochWords words{{1, 0, 1, 0, 0, 1}, -0.125f, 0.75f};
  rig.telemetry.record_end_epoch(rig.recorder, words);
  const auto signals_first = expected_signals(rig.step, collector, 0);
  rig.step.control[0].step = 49;
  rig.run(2);

  auto want = expected_health(rig.step);
  const auto signals = expected_signals(rig.step, collector, 0);
  int mirrored = 0;
  for (const auto& word : health_table()) {
    if (word.mirror < 0) continue;
    const std::string signal(telemetry::signal_table()[word.mirror].name);
    const bool direct = telemetry::signal_table()[word.mirror].kind == SignalKind::direct;
    want[std::string(word.name)] =
        direct ? signals.at(signal) : signals_first.at(signal) + 0.05 * (signals.at(signal) - signals_first.at(signal));
    ++mirrored;
  }
  EXPECT_EQ(mirrored, 40);
  for (int a = 0; a < 13; ++a) {
    const int d = a < 4 ? 0 : (a - 1) / 3;
    int count = 0;
    for (int i = 0; i < 1001; ++i) count += greedy[i * 4 + d] == a - kFirstAction[d];
    want[std::string(health_table()[health_greedy_direction_short + a].name)] = count / 1001.0;
  }
  const char* controllers[] = {"lr", "tau", "gamma", "epsilon", "clip", "alpha"};
  for (int i = 0; i < 6; ++i) want[std::string("controller.") + controllers[i]] = words.controllers[i];
  want["scale.reward_median"] = -0.125;
  want["scale.reward_iqr"] = 0.75;
  want["safety.drift_ratio"] = std::abs(want.at("q.mean")) / std::abs(q_first);
  expect_words(published(rig), want);
}

INSTANTIATE_TEST_SUITE_P(Batches, HealthOfBatch, ::testing::Values(1, 13, 17, 64, 300),
                         [](const auto& test) { return "B" + std::to_string(test.param); });

TEST(Health, MagnitudeStatisticsAreZeroWhenNothingTrades) {
  TelemetryRig rig;
  rig.step.fill(1);
  rig.step.control[0].step = 49;
  for (int b = 0; b < rig.step.n.batch; ++b) rig.step.action[b * 4] = b % 2 ? 1 : 3;  // Hold, Flat
  rig.run();
  const HealthDiag health = published(rig);
  for (int w = health_magnitude_q_mean_quarter; w <= health_magnitude_q_variance_full; ++w)
    EXPECT_EQ(telemetry::word_value(health, w), 0) << health_table()[w].name;
}

TEST(Health, MagnitudeStatisticsIgnoreSamplesThatDoNotTrade) {
  TelemetryRig rig({.batch = 40});
  rig.step.fill(4);
  rig.step.control[0].step = 49;
  for (int b = 0; b < 40; ++b) rig.step.action[b * 4] = b < 20 ? (b % 2 ? 0 : 2) : (b % 2 ? 1 : 3);
  rig.run();
  const HealthDiag first = published(rig);
  for (int b = 20; b < 40; ++b) {
    rig.step.action[b * 4 + 1] = 2;
    for (int m = 0; m < 3; ++m) rig.step.q[b * 13 + 4 + m] = 1e6f;
  }
  rig.step.control[0].step = 99;
  rig.run();
  const HealthDiag second = published(rig);
  for (int w = health_magnitude_q_mean_quarter; w <= health_magnitude_q_variance_full; ++w)
    EXPECT_EQ(telemetry::word_value(first, w), telemetry::word_value(second, w)) << health_table()[w].name;
  EXPECT_NE(first.q_max, second.q_max);
}

TEST(Health, IsTakenEveryIntervalAndWhenForced) {
  TelemetryRig rig;
  SnapshotReader reader(rig.telemetry.mapped());
  Snapshot snapshot;
  rig.step.fill(1);
  rig.step.control[0].settings.diag_interval = 4;
  std::vector<std::uint32_t> taken;
  for (int step = 1; step <= 10; ++step) {
    rig.run();
    ASSERT_TRUE(reader.read(snapshot));
    taken.push_back(snapshot.health.step);
    EXPECT_EQ(snapshot.signal_step, static_cast<unsigned>(step));
  }
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{0, 0, 0, 4, 4, 4, 4, 8, 8, 8}));
  EXPECT_EQ(snapshot.health_snapshots, 2u);
  rig.telemetry.record_end_epoch(rig.recorder, {});
  rig.device->synchronise(*rig.stream);
  ASSERT_TRUE(reader.read(snapshot));
  EXPECT_EQ(snapshot.health.step, 10u);
  EXPECT_EQ(snapshot.health_snapshots, 3u);
  // The interval is a device scalar.
  rig.step.control[0].settings.diag_interval = 1;
  rig.run();
  ASSERT_TRUE(reader.read(snapshot));
  EXPECT_EQ(snapshot.health.step, 11u);
}

TEST(Health, CapturedGraphGivesTheSameWords) {
  HealthDiag health[2];
  for (int captured = 0; captured < 2; ++captured) {
    TelemetryRig rig({.batch = 65});
    rig.step.fill(5);
    rig.step.control[0].step = 49;
    if (captured) {
      rig.device->begin_capture(*rig.stream);
      device::Recorder recorder(*rig.device, *rig.stream, device::ModuleSet::graph);
      rig.telemetry.record_batch_statistics(recorder);
      rig.telemetry.record_maintenance(recorder);
      rig.telemetry.record_diagnose(recorder);
      rig.telemetry.record_publish(recorder);
      const auto graph = rig.device->end_capture(*rig.stream);
      const auto executable = rig.device->instantiate(*graph);
      rig.step.control[0].step = 50;
      rig.device->launch(*executable, *rig.stream);
      rig.device->synchronise(*rig.stream);
    } else {
      rig.run();
    }
    health[captured] = published(rig);
  }
  EXPECT_EQ(health[0].step, 50u);
  EXPECT_EQ(std::memcmp(&health[0], &health[1], sizeof health[0]), 0);
}

}  // namespace
}  // namespace foxhunt::test
