// The controllers' rules: thresholds, factors, bounds, fire flags, and what a fold's start resets.
#include "engine/session/controllers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace foxhunt {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An epoch that moves nothing: a best, drift and entropy inside their ranges, gamma at its base, clip at its value.
struct Quiet {
  std::vector<double> norms{5, 5, 5};
  ControllerInputs in{
      .best = true, .target_drift = 0.05, .mean_hold = 1, .action_entropy = 0.7, .gradient_norms = norms, .mse_ema = 1};
};

int fired(const ControllerDecision& d) {
  int count = 0;
  for (const bool f : d.fired) count += f;
  return count;
}

TEST(Controllers, NothingFiresInsideTheRanges) {
  Controllers c({});
  for (int i = 0; i < 5; ++i) {
    const auto d = c.end_epoch(Quiet().in);
    EXPECT_EQ(fired(d), 0);
    EXPECT_EQ(d.values.lr, 1e-4);
    EXPECT_EQ(d.values.tau_scale, 1);
    EXPECT_EQ(d.values.epsilon, 0.02);
    EXPECT_EQ(d.values.max_grad_norm, 10);
    EXPECT_EQ(d.alpha_drop, 0);
  }
}

TEST(Controllers, LearningRateHalvesAfterThreeEpochsWithoutABest) {
  Controllers c({});
  Quiet q;
  std::vector<bool> fires;
  const std::vector<std::optional<bool>> best{true, false, false, {}, true, false, false, false, false, false, false};
  for (const auto b : best) {
    q.in.best = b;
    fires.push_back(c.end_epoch(q.in)[Controller::lr]);
  }
  EXPECT_EQ(fires, (std::vector<bool>{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1}));
  EXPECT_NEAR(c.values().lr, 0.25e-4, 1e-18);
  for (int i = 0; i < 60; ++i) c.end_epoch(q.in);
  EXPECT_NEAR(c.values().lr, 1e-4 / 64, 1e-18);
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(c.end_epoch(q.in)[Controller::lr]) << "at its bound";
}

TEST(Controllers, TauFollowsTheTargetsDrift) {
  for (const auto& [drift, factor] :
       {std::pair{0.2, 1.25}, {0.1, 1.0}, {0.05, 1.0}, {0.01, 1.0}, {0.005, 0.8}, {kNan, 1.0}}) {
    Controllers c({});
    Quiet q;
    q.in.target_drift = drift;
    const auto d = c.end_epoch(q.in);
    EXPECT_NEAR(d.values.tau_scale, factor, 1e-12) << drift;
    EXPECT_EQ(d[Controller::tau], factor != 1.0) << drift;
  }
  Controllers c({});
  Quiet q;
  q.in.target_drift = 1;
  for (int i = 0; i < 50; ++i) c.end_epoch(q.in);
  EXPECT_EQ(c.values().tau_scale, 10);
  EXPECT_FALSE(c.end_epoch(q.in)[Controller::tau]);
  q.in.target_drift = 0;
  for (int i = 0; i < 50; ++i) c.end_epoch(q.in);
  EXPECT_EQ(c.values().tau_scale, 0.1);
}

// Horizons of 100, 50, 20 and 20 bars at the base; up to twice that.
TEST(Controllers, GammaFollowsTheMeanHold) {
  Controllers c({});
  Quiet q;
  q.in.mean_hold = 30;  // wants 60 bars
  auto d = c.end_epoch(q.in);
  EXPECT_TRUE(d[Controller::gamma]);
  EXPECT_EQ(d.values.gamma[0], 0.99) << "60 bars are within its base";
  EXPECT_NEAR(1 / (1 - d.values.gamma[1]), 60, 1e-9);
  EXPECT_NEAR(1 / (1 - d.values.gamma[2]), 25, 1e-9) << "at most a quarter an epoch";
  for (int i = 0; i < 10; ++i) d = c.end_epoch(q.in);
  EXPECT_NEAR(1 / (1 - d.values.gamma[3]), 40, 1e-9) << "at most twice the base";
  EXPECT_FALSE(d[Controller::gamma]);
  q.in.mean_hold = 0;
  EXPECT_FALSE(c.end_epoch(q.in)[Controller::gamma]) << "no trade says nothing";
  q.in.mean_hold = 2;
  for (int i = 0; i < 20; ++i) d = c.end_epoch(q.in);
  EXPECT_NEAR(d.values.gamma[1], 0.98, 1e-12);
  EXPECT_NEAR(d.values.gamma[3], 0.95, 1e-12);
}

TEST(Controllers, EpsilonFollowsTheActionEntropy) {
  for (const auto& [entropy, factor] : {std::pair{0.4, 1.5}, {0.5, 1.0}, {0.9, 1.0}, {0.95, 0.9}, {kNan, 1.0}}) {
    Controllers c({});
    Quiet q;
    q.in.action_entropy = entropy;
    const auto d = c.end_epoch(q.in);
    EXPECT_NEAR(d.values.epsilon, 0.02 * factor, 1e-12) << entropy;
    EXPECT_EQ(d[Controller::epsilon], factor != 1.0) << entropy;
  }
  Controllers c({});
  Quiet q;
  q.in.action_entropy = 0;
  for (int i = 0; i < 20; ++i) c.end_epoch(q.in);
  EXPECT_EQ(c.values().epsilon, 0.2);
  q.in.action_entropy = 1;
  for (int i = 0; i < 100; ++i) c.end_epoch(q.in);
  EXPECT_NEAR(c.values().epsilon, 0.002, 1e-12);
  ControlledValues none;
  none.epsilon = 0;
  Controllers off(none);
  q.in.action_entropy = 0;
  EXPECT_FALSE(off.end_epoch(q.in)[Controller::epsilon]);
  EXPECT_EQ(off.values().epsilon, 0);
}

TEST(Controllers, ClipIsTwiceTheMedianNormWithinBounds) {
  Quiet q;
  const auto clip = [&](std::vector<double> norms) {
    Controllers c({});
    q.in.gradient_norms = norms;
    const auto d = c.end_epoch(q.in);
    EXPECT_EQ(d[Controller::clip], d.values.max_grad_norm != 10);
    return d.values.max_grad_norm;
  };
  EXPECT_EQ(clip({3, 100, 1}), 6);
  EXPECT_EQ(clip({8, 1, 2, 100}), 10);  // (2 + 8) / 2 x 2
  EXPECT_EQ(clip({0.1, 0.2}), 1);
  EXPECT_EQ(clip({1e9}), 100);
  EXPECT_EQ(clip({kNan, 4, INFINITY}), 8);
  EXPECT_EQ(clip({}), 10);
  EXPECT_EQ(clip({kNan}), 10);
}

TEST(Controllers, AlphaDropsWhenTheMseDoublesInAnEpoch) {
  Controllers c({});
  Quiet q;
  std::vector<double> drops;
  for (const double ema : {1.0, 1.9, 3.8, kNan, 7.0, 14.0, 1.0}) {
    q.in.mse_ema = ema;
    const auto d = c.end_epoch(q.in);
    EXPECT_EQ(d[Controller::alpha], d.alpha_drop > 0);
    drops.push_back(d.alpha_drop);
  }
  EXPECT_EQ(drops, (std::vector<double>{0, 0, 0.1, 0, 0, 0.1, 0}));
}

TEST(Controllers, AFoldBeginsWithTheFirstValues) {
  Controllers c({});
  Quiet q;
  q.in = {.best = false, .target_drift = 1, .mean_hold = 90, .action_entropy = 0, .gradient_norms = {}, .mse_ema = 1};
  for (int i = 0; i < 5; ++i) c.end_epoch(q.in);
  c.begin_fold();
  EXPECT_EQ(c.values().lr, 1e-4);
  EXPECT_EQ(c.values().tau_scale, 1);
  EXPECT_EQ(c.values().gamma[2], 0.95);
  EXPECT_EQ(c.values().epsilon, 0.02);
  q.in.mse_ema = 1e6;
  const auto d = c.end_epoch(q.in);
  EXPECT_FALSE(d[Controller::alpha]) << "the fold before does not count";
  EXPECT_FALSE(d[Controller::lr]) << "its epochs without a best neither";
}

TEST(Controllers, StateIsRestored) {
  Controllers a({}), b({});
  Quiet q;
  q.in = {.best = false, .target_drift = 1, .mean_hold = 90, .action_entropy = 0, .gradient_norms = {}, .mse_ema = 1};
  a.end_epoch(q.in);
  a.end_epoch(q.in);
  b.restore(a.state());
  q.in.mse_ema = 5;
  const auto x = a.end_epoch(q.in), y = b.end_epoch(q.in);
  EXPECT_EQ(x.fired, y.fired);
  EXPECT_TRUE(y[Controller::lr] && y[Controller::alpha]);
  EXPECT_EQ(x.values.gamma, y.values.gamma);
}

}  // namespace
}  // namespace foxhunt
