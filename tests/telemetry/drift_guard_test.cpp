// The Q-drift guard: the documented sequence, calm series, modes, live checks.
#include "engine/telemetry/drift_guard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace foxhunt::telemetry {
namespace {

TEST(DriftGuard, TripsAtTheThirdOfTheDocumentedSequence) {
  DriftGuard guard;
  EXPECT_FALSE(guard.end_epoch(0.79, 0.6, 0.6).exceeded);
  EXPECT_FALSE(guard.end_epoch(0.82, 0.6, 0.6).exceeded);
  const DriftVerdict verdict = guard.end_epoch(2.23, 0.6, 0.6);
  EXPECT_TRUE(verdict.exceeded);
  EXPECT_TRUE(verdict.halt);
  EXPECT_DOUBLE_EQ(verdict.floor, 1.8);
  EXPECT_NEAR(verdict.ratio, 2.7, 0.05);
  EXPECT_EQ(verdict.q, 2.23);
  EXPECT_EQ(verdict.q_previous, 0.82);
  EXPECT_EQ(verdict.reference_magnitude, 0.6);
  EXPECT_EQ(verdict.reference_direction, 0.6);
  for (const char* part : {"2.23", "0.82", "1.8", "0.6", "2.72"})
    EXPECT_NE(verdict.sentence().find(part), std::string::npos) << verdict.sentence();
}

TEST(DriftGuard, NeverTripsInTheFirstEpochOfARun) {
  DriftGuard guard;
  EXPECT_FALSE(guard.live(1e9, 0, 0).exceeded);
  EXPECT_FALSE(guard.end_epoch(1e9, 0, 0).exceeded);
  EXPECT_TRUE(guard.end_epoch(3e9, 0, 0).exceeded);
}

TEST(DriftGuard, NeedsBothFactorAndFloor) {
  const auto exceeded = [](double before, double q, double reference) {
    DriftGuard guard;
    guard.end_epoch(before, reference, 0);
    return guard.end_epoch(q, reference, 0).exceeded;
  };
  EXPECT_FALSE(exceeded(0.1, 0.4, 0));  // fourfold, below the least floor
  EXPECT_TRUE(exceeded(0.1, 0.51, 0));
  EXPECT_TRUE(exceeded(-0.3, -0.61, 0));  // by absolute value
  EXPECT_FALSE(exceeded(0.3, 0.6, 0));    // exactly twofold
  EXPECT_FALSE(exceeded(1, 2.9, 1));      // below three references
  EXPECT_TRUE(exceeded(1, 3.01, 1));
  EXPECT_TRUE(exceeded(0, 0.7, 0));
  EXPECT_TRUE(exceeded(0.5, std::nan(""), 0));
  EXPECT_TRUE(exceeded(0.5, INFINITY, 0));
}

TEST(DriftGuard, TheLargerReferenceCounts) {
  DriftGuard guard;
  guard.end_epoch(1, 0.2, 0.9);
  EXPECT_DOUBLE_EQ(guard.end_epoch(1, 0.2, 0.9).floor, 2.7);
  EXPECT_DOUBLE_EQ(guard.end_epoch(1, 0.9, 0.2).floor, 2.7);
  EXPECT_DOUBLE_EQ(guard.end_epoch(1, 0, 0).floor, 0.5);
}

TEST(DriftGuard, LiveChecksCompareWithTheLastEpoch) {
  DriftGuard guard({.window = 200});
  guard.end_epoch(0.8, 0.6, 0.6);
  EXPECT_TRUE(guard.due(400));
  EXPECT_FALSE(guard.due(401));
  EXPECT_FALSE(guard.live(1.5, 0.6, 0.6).exceeded);
  const DriftVerdict verdict = guard.live(2.3, 0.6, 0.6);
  EXPECT_TRUE(verdict.halt);
  EXPECT_TRUE(verdict.live);
  EXPECT_EQ(guard.previous(), 0.8);  // a live check remembers nothing
  guard.set({.window = 0});
  EXPECT_FALSE(guard.due(400));
}

TEST(DriftGuard, CanWarnAndBeOff) {
  DriftGuard guard({.mode = GuardMode::warn});
  guard.end_epoch(0.8, 0, 0);
  EXPECT_TRUE(guard.end_epoch(3, 0, 0).exceeded);
  guard.restore(0.8);
  EXPECT_FALSE(guard.end_epoch(3, 0, 0).halt);
  guard.set({.mode = GuardMode::off});
  guard.restore(0.8);
  EXPECT_FALSE(guard.end_epoch(3, 0, 0).exceeded);
  EXPECT_EQ(guard.previous(), 3);
  // Factors are settings.
  guard.set({.factor = 4, .reference_factor = 1, .floor = 0.1});
  guard.restore(1);
  EXPECT_FALSE(guard.end_epoch(3.9, 0.6, 0).exceeded);
  guard.restore(1);
  EXPECT_TRUE(guard.end_epoch(4.1, 0.6, 0).exceeded);
}

// A healthy run: Q grows to 4.5 as rewards are learned, 8 % noise an epoch, 20 epochs a fold, shrunk by 0.8 at each
// fold's start; references as the device keeps them.
TEST(DriftGuard, StaysQuietInCalmRuns) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(0, 0.08);
    DriftGuard guard;
    double reference[2] = {}, level = 0.3;
    for (int epoch = 0; epoch < 200; ++epoch) {
      if (epoch && epoch % 20 == 0) level *= 0.8;
      level += 0.1 * (4.5 - level);
      const double q = level * (1 + noise(random));
      const DriftVerdict verdict = guard.end_epoch(q, reference[0], reference[1]);
      EXPECT_FALSE(verdict.exceeded) << "seed " << seed << ", epoch " << epoch << ": " << verdict.sentence();
      for (double& r : reference) {
        const double largest = std::abs(q) * (1.1 + noise(random));
        r = epoch == 0 ? largest : r + 0.05 * (largest - r);
      }
    }
  }
}

// Without the hard target sync at a fold's start Q grew like this: the guard has to see it at once.
TEST(DriftGuard, SeesARunawayWithItsOwnReferences) {
  DriftGuard guard;
  double reference = 0;
  const double series[] = {0.79, 0.80, 0.78, 0.82, 2.23, 4.05, 10.66};
  int tripped = -1;
  for (int epoch = 0; epoch < 7 && tripped < 0; ++epoch) {
    // Magnitude and direction means are a little smaller than the mean of all actions.
    if (guard.end_epoch(series[epoch], reference, reference).halt) tripped = epoch;
    const double largest = 0.75 * series[epoch];
    reference = epoch == 0 ? largest : reference + 0.05 * (largest - reference);
  }
  EXPECT_EQ(tripped, 4);
}

}  // namespace
}  // namespace foxhunt::telemetry
