// The signal bus against plain definitions, its averages, references and resets.
#include <gtest/gtest.h>

#include "engine/telemetry/snapshot_reader.h"
#include "tests/telemetry/fake_step.h"

namespace foxhunt::test {
namespace {

using telemetry::signal_table;

CollectorSignals some_collector() {
  CollectorSignals c{};
  float x = 0.01f;
  for (float& v : c.action) v = x += 0.013f;
  for (float& v : c.regime) v = x += 0.013f;
  c.regime_now = 2;
  for (float& v : c.reward) v = -(x += 0.013f);
  for (float& v : c.win_rate) v = x += 0.013f;
  for (float& v : c.reward_variance) v = x += 0.013f;
  for (float& v : c.hold) v = 10 * (x += 0.013f);
  for (float& v : c.trail) v = x += 0.013f;
  for (float* v :
       {&c.kelly_cap, &c.exposure, &c.turnover, &c.drawdown, &c.episode_return, &c.ruin_share, &c.exploration_share})
    *v = x += 0.013f;
  c.filled = 1;
  return c;
}

// The host device's memory is the program's.
void set_collector(TelemetryRig& rig, const CollectorSignals& c) {
  *rig.telemetry.collector() = c;
}

void expect_near(double got, double want, std::string_view name) {
  EXPECT_NEAR(got, want, 1e-5 * std::abs(want)) << name;
}

class SignalsOfBatch : public ::testing::TestWithParam<int> {};

TEST_P(SignalsOfBatch, FirstStepIsEachSlotsDefinition) {
  TelemetryRig rig({.batch = GetParam()});
  set_collector(rig, some_collector());
  rig.run(1);
  const auto want = expected_signals(rig.step, some_collector(), 0);
  const float* got = rig.telemetry.signals();
  for (int slot = 0; slot < kSignals; ++slot) {
    const std::string name(signal_table()[slot].name);
    if (signal_table()[slot].kind == SignalKind::epoch || signal_table()[slot].kind == SignalKind::reserved) {
      EXPECT_EQ(got[slot], 0) << name;
      EXPECT_FALSE(want.contains(name)) << name;
      continue;
    }
    ASSERT_TRUE(want.contains(name)) << name;
    expect_near(got[slot], want.at(name), name);
  }
  EXPECT_EQ(want.size(), 160u - 6 - 31);
}

INSTANTIATE_TEST_SUITE_P(Batches, SignalsOfBatch, ::testing::Values(1, 13, 17, 64, 257),
                         [](const auto& test) { return "B" + std::to_string(test.param); });

TEST(Signals, AverageWithFivePercentAStep) {
  TelemetryRig rig({.batch = 33});
  set_collector(rig, some_collector());
  std::map<std::string, double> average;
  for (unsigned step = 1; step <= 5; ++step) {
    rig.run(step);
    for (const auto& [name, value] : expected_signals(rig.step, some_collector(), 0)) {
      const int slot = telemetry::find_entry(signal_table(), name);
      const bool copied = step == 1 || signal_table()[slot].kind == SignalKind::direct;
      average[name] = copied ? value : average[name] + 0.05 * (value - average[name]);
    }
  }
  for (const auto& [name, value] : average)
    expect_near(rig.telemetry.signals()[telemetry::find_entry(signal_table(), name)], value, name);
}

TEST(Signals, SmallerLearnersLeaveUnusedSlotsZero) {
  TelemetryRig rig({.batch = 17, .atoms = 21, .taus = 4, .experts = 3, .groups = 4, .tiles = 30});
  rig.run(3);
  const auto want = expected_signals(rig.step, {}, 0);
  for (const auto& [name, value] : want)
    expect_near(rig.telemetry.signals()[telemetry::find_entry(signal_table(), name)], value, name);
  EXPECT_EQ(rig.telemetry.signals()[signal_expert_3], 0);
  EXPECT_EQ(rig.telemetry.signals()[signal_vsn_portfolio], 0);
}

TEST(Signals, CollectorSlotsBeginWithTheFirstCollection) {
  TelemetryRig rig;
  rig.run(1);
  EXPECT_EQ(rig.telemetry.signals()[signal_kelly_cap], 0);
  CollectorSignals c = some_collector();
  set_collector(rig, c);
  rig.run(2);
  EXPECT_EQ(rig.telemetry.signals()[signal_kelly_cap], c.kelly_cap);
  const float before = c.kelly_cap;
  c.kelly_cap = 0.9f;
  set_collector(rig, c);
  rig.run(3);
  EXPECT_FLOAT_EQ(rig.telemetry.signals()[signal_kelly_cap], before + 0.05f * (0.9f - before));
}

TEST(Signals, ValuesThatAreNotFiniteDoNotEnterTheBus) {
  TelemetryRig rig;
  rig.run(1);
  const float before = rig.telemetry.signals()[signal_loss_c51];
  rig.step.fill(2);
  rig.step.losses[loss_c51] = std::nan("");
  rig.run();
  EXPECT_EQ(rig.telemetry.signals()[signal_loss_c51], before);
  rig.run(3);
  EXPECT_NEAR(rig.telemetry.signals()[signal_loss_c51], before + 0.05 * (rig.step.losses[loss_c51] - before), 1e-5);
}

TEST(Signals, StandStillWhileHalted) {
  TelemetryRig rig;
  rig.run(1);
  const TelemetryState before = *rig.telemetry.state();
  rig.step.fill(2);
  rig.step.control[0].halt = kHaltNan;
  rig.run();
  EXPECT_EQ(std::memcmp(&before, rig.telemetry.state(), sizeof before), 0);
}

TEST(Signals, ReferencesMoveOnceAnEpochByItsMaxima) {
  TelemetryRig rig;
  double reference[6] = {};
  const int slots[6] = {21, 16, 17, 18, 19, 20};
  for (int epoch = 0; epoch < 3; ++epoch) {
    double largest[6] = {}, q_sum = 0;
    for (unsigned step = 0; step < 4; ++step) {
      rig.run(10 * epoch + step + 1);
      const auto e = expected_health(rig.step);
      double q_next = 0;
      for (std::size_t i = 0; i < rig.step.q_next.size(); ++i) q_next += rig.step.q_next[i];
      const double means[6] = {e.at("q.mean.direction"), e.at("q.mean.magnitude"),
                               e.at("q.mean.order"),     e.at("q.mean.urgency"),
                               e.at("q.mean"),           q_next / static_cast<double>(rig.step.q_next.size())};
      for (int k = 0; k < 6; ++k) largest[k] = std::max(largest[k], std::abs(means[k]));
      q_sum += e.at("q.mean");
      for (int k = 0; k < 6; ++k) EXPECT_NEAR(rig.telemetry.signals()[slots[k]], reference[k], 1e-5);
    }
    telemetry::SnapshotReader reader(rig.telemetry.mapped());
    telemetry::Snapshot snapshot;
    ASSERT_TRUE(reader.read(snapshot));
    EXPECT_NEAR(snapshot.q_epoch_mean, q_sum / 4, 1e-5);
    EXPECT_EQ(snapshot.q_epoch_steps, 4u);
    EXPECT_EQ(snapshot.reference_updates, static_cast<unsigned>(epoch));
    rig.telemetry.record_end_epoch(rig.recorder, {});
    rig.device->synchronise(*rig.stream);
    for (int k = 0; k < 6; ++k) {
      reference[k] = epoch == 0 ? largest[k] : reference[k] + 0.05 * (largest[k] - reference[k]);
      EXPECT_NEAR(rig.telemetry.signals()[slots[k]], reference[k], 1e-5) << k;
    }
  }
}

TEST(Signals, FoldBoundaryCarriesReferencesAndResetsAverages) {
  TelemetryRig rig;
  set_collector(rig, some_collector());
  rig.run(1);
  rig.telemetry.record_end_epoch(rig.recorder, {});
  rig.device->synchronise(*rig.stream);
  const TelemetryState before = *rig.telemetry.state();
  rig.telemetry.record_begin_fold(rig.recorder);
  rig.device->synchronise(*rig.stream);
  const TelemetryState& after = *rig.telemetry.state();
  for (int slot = 0; slot < kSignals; ++slot)
    EXPECT_EQ(after.signals[slot], slot >= 16 && slot <= 21 ? before.signals[slot] : 0) << slot;
  EXPECT_NE(before.signals[16], 0);
  EXPECT_EQ(after.q_previous, before.q_previous);
  EXPECT_EQ(after.reference_updates, 1u);
  rig.run(9);
  EXPECT_NEAR(rig.telemetry.signals()[signal_loss_total], rig.step.losses[0], 1e-5);  // the first value is copied again
}

TEST(Signals, DoNotDependOnTheNumberOfThreads) {
  std::vector<float> first;
  HealthDiag health{};
  for (int threads : {1, 3}) {
    TelemetryRig rig({.batch = 517, .tiles = 300}, threads);
    set_collector(rig, some_collector());
    rig.step.control[0].step = 48;
    rig.run(1);
    rig.run(2);
    const std::vector<float> now(rig.telemetry.signals(), rig.telemetry.signals() + kSignals);
    telemetry::SnapshotReader reader(rig.telemetry.mapped());
    telemetry::Snapshot snapshot;
    ASSERT_TRUE(reader.read(snapshot));
    EXPECT_EQ(snapshot.health.step, 50u);
    if (first.empty()) {
      first = now;
      health = snapshot.health;
    }
    EXPECT_EQ(std::memcmp(first.data(), now.data(), sizeof(float) * kSignals), 0);
    EXPECT_EQ(std::memcmp(&health, &snapshot.health, sizeof health), 0);
  }
}

TEST(Signals, OtherSizesAreRefusedWithASentence) {
  TelemetryRig rig;
  StepResults r = rig.step.results();
  r.experts = 9;
  EXPECT_FALSE(telemetry::Telemetry::supports(r));
  try {
    telemetry::Telemetry other(*rig.device, r, rig.step.layout);
    FAIL() << "9 experts were taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("at most 8 experts"), std::string::npos) << error.what();
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
}

}  // namespace
}  // namespace foxhunt::test
