// User rules: conditions, K of N, cool-down, back-test.
#include "engine/telemetry/rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/base/error.h"

namespace foxhunt::telemetry {
namespace {

Rule above(double threshold) {
  Rule rule;
  rule.name = "test";
  rule.source = RuleSource::step;
  rule.column = "loss.total";
  rule.threshold = threshold;
  rule.cool_down = 0;
  return rule;
}

// One sample a second, step 10 x second.
std::vector<RuleSample> series(std::initializer_list<double> values) {
  std::vector<RuleSample> samples;
  for (double value : values) samples.push_back({static_cast<double>(samples.size()), 10 * samples.size(), value});
  return samples;
}

std::vector<std::uint64_t> fired(const Rule& rule, const std::vector<RuleSample>& samples) {
  std::vector<std::uint64_t> steps;
  for (const RuleEvent& event : back_test(rule, samples)) steps.push_back(event.step);
  return steps;
}

using Steps = std::vector<std::uint64_t>;

TEST(Rules, AboveAndBelow) {
  EXPECT_EQ(fired(above(2), series({1, 2, 3, 1, 5})), (Steps{20, 40}));
  Rule rule = above(2);
  rule.kind = RuleKind::below;
  EXPECT_EQ(fired(rule, series({1, 2, 3, 1, 5})), (Steps{0, 30}));
  const auto events = back_test(above(2), series({3}));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].reason, "loss.total = 3 is above 2");
  EXPECT_EQ(events[0].value, 3);
}

TEST(Rules, ValuesThatAreNotFiniteMeetBoundsAndAreNoProgress) {
  EXPECT_EQ(fired(above(2), series({1, std::nan(""), -INFINITY, 1})), (Steps{10, 20}));
  Rule rule = above(0);
  rule.kind = RuleKind::no_progress;
  rule.window = 2;
  EXPECT_EQ(fired(rule, series({5, std::nan(""), std::nan("")})), (Steps{20}));
}

TEST(Rules, KOfN) {
  Rule rule = above(2);
  rule.needed = 3;
  rule.of = 5;
  EXPECT_EQ(fired(rule, series({3, 0, 3, 0, 0, 3, 0, 3, 3, 0})), (Steps{80}));
  EXPECT_EQ(fired(rule, series({3, 3, 3, 0, 0, 0})), (Steps{20}));
}

TEST(Rules, CoolDownKeepsItSilent) {
  Rule rule = above(2);
  rule.cool_down = 3;
  EXPECT_EQ(fired(rule, series({3, 3, 3, 3, 3, 3, 3, 0, 3})), (Steps{0, 30, 60}));
}

TEST(Rules, RisesAboveTheWindowBefore) {
  Rule rule = above(0);
  rule.kind = RuleKind::rises;
  rule.window = 4;
  rule.sigmas = 3;
  // Mean 2.5, deviation 1.118: the bound is 5.854. The spike then widens the window.
  EXPECT_EQ(fired(rule, series({1, 2, 3, 4, 5.85})), Steps{});
  EXPECT_EQ(fired(rule, series({1, 2, 3, 4, 5.86})), (Steps{40}));
  EXPECT_EQ(fired(rule, series({1, 2, 100})), Steps{});  // not before the window is full
  EXPECT_EQ(fired(rule, series({7, 7, 7, 7, 7, 7.5})), (Steps{50}));
}

TEST(Rules, NoProgress) {
  Rule rule = above(0.1);
  rule.kind = RuleKind::no_progress;
  rule.window = 3;
  EXPECT_EQ(fired(rule, series({5, 4.95, 4.95, 4.95, 4.8, 4.8, 4.8, 4.8})), (Steps{30, 70}));
  rule.lower_is_better = false;
  EXPECT_EQ(fired(rule, series({1, 2, 3, 4, 5})), Steps{});
  EXPECT_EQ(fired(rule, series({5, 4, 3, 2, 1})), (Steps{30, 40}));
}

TEST(Rules, EngineReadsEachSource) {
  Rule step = above(1), signal = above(0.5), health = above(100);
  signal.name = "signal";
  signal.source = RuleSource::signal;
  signal.column = "risk.exposure";
  signal.action = RuleAction::pause;
  health.name = "health";
  health.source = RuleSource::health;
  health.column = "optimiser.adam_t";
  RuleEngine engine;
  engine.set({step, signal, health});
  StepRecord record{};
  record.step = 7;
  record.loss_total = 1.5f;
  const auto a = engine.observe(1, record);
  ASSERT_EQ(a.size(), 1u);
  EXPECT_EQ(a[0].step, 7u);
  float signals[kernels::kSignals] = {};
  EXPECT_TRUE(engine.observe_signals(1, 7, signals).empty());
  signals[kernels::signal_exposure] = 0.75f;
  const auto b = engine.observe_signals(2, 8, signals);
  ASSERT_EQ(b.size(), 1u);
  EXPECT_EQ(b[0].action, RuleAction::pause);
  EXPECT_EQ(b[0].value, 0.75);
  HealthDiag snapshot{};
  snapshot.adam_t = 101;
  ASSERT_EQ(engine.observe_health(3, snapshot).size(), 1u);
}

// What fires live fires in the back-test of the recording, at the same samples.
TEST(Rules, BackTestIsTheLiveRule) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise;
  Rule rule = above(0);
  rule.kind = RuleKind::rises;
  rule.window = 50;
  rule.sigmas = 2;
  rule.needed = 2;
  rule.of = 10;
  rule.cool_down = 20;
  RuleEngine engine;
  engine.set({rule});
  std::vector<RuleSample> recorded;
  Steps live;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    StepRecord record{};
    record.step = i;
    record.loss_total = static_cast<float>(noise(random));
    recorded.push_back({0.25 * i, i, record.loss_total});
    for (const RuleEvent& event : engine.observe(0.25 * i, record)) live.push_back(event.step);
  }
  EXPECT_EQ(fired(rule, recorded), live);
  EXPECT_GT(live.size(), 3u);
}

TEST(Rules, WrongRulesNameTheirField) {
  const auto field = [](const Rule& rule) -> std::string {
    try {
      check_rule(rule);
    } catch (const Error& error) {
      return error.place().field;
    }
    return "none";
  };
  EXPECT_EQ(field(above(1)), "none");
  Rule rule = above(1);
  rule.column = "loss.totel";
  EXPECT_EQ(field(rule), "column");
  rule.source = RuleSource::signal;
  rule.column = "reserved.140";
  EXPECT_EQ(field(rule), "column");
  rule = above(std::nan(""));
  EXPECT_EQ(field(rule), "threshold");
  rule = above(1);
  rule.needed = 3;
  rule.of = 2;
  EXPECT_EQ(field(rule), "needed");
  rule.of = 0;
  EXPECT_EQ(field(rule), "of");
  rule = above(1);
  rule.cool_down = -1;
  EXPECT_EQ(field(rule), "cool_down");
  rule = above(1);
  rule.kind = RuleKind::rises;
  rule.window = 1;
  EXPECT_EQ(field(rule), "window");
}

TEST(Rules, WordsAreReadBack) {
  EXPECT_EQ(rule_kind(rule_word(RuleKind::no_progress)), RuleKind::no_progress);
  EXPECT_EQ(rule_source(rule_word(RuleSource::health)), RuleSource::health);
  EXPECT_EQ(rule_action(rule_word(RuleAction::checkpoint)), RuleAction::checkpoint);
  try {
    rule_action("explode");
    FAIL() << "an unknown action was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("mark, notify, checkpoint, pause, stop"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace foxhunt::telemetry
