// One epoch's collection in numbers, for telemetry.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/collector.h"

namespace foxhunt {

struct CollectorStatistics {
  std::int64_t steps = 0, episodes = 0, ruins = 0;           // environment steps, episodes ended, of them by ruin
  std::array<double, kernels::kActions> action_frequency{};  // share of steps; sums to 1 within a branch
  double explored_share = 0;                                 // of branch decisions
  double episode_return = 0;                                 // mean equity at an episode's end over capital
  double exposure = 0;                                       // share of bars with a position
  double position = 0;                                       // mean |position| over max_position
  double turnover = 0;                                       // contracts traded a bar
  double kelly = 0;                                          // mean clamped factor
  double drawdown = 0;                                       // mean depth below the episode's peak, over capital
  std::array<double, 3> regime{};  // mean probabilities at the decisions' bars: quiet, normal, stressed
  std::array<double, kernels::kRewardParts> parts{};  // mean of each, unweighted
  double reward_mean = 0, reward_variance = 0;
  // By magnitude of the decision that opened the position; 0 where there was none.
  std::array<std::int64_t, kernels::kMagnitudes> trades{}, trail_fires{};
  std::array<double, kernels::kMagnitudes> win_rate{}, mean_hold{};
  std::array<double, kernels::kMagnitudes> sample_variance{};  // of rewards of steps whose direction trades

  // From sums in the order of kernels::Tally.
  static CollectorStatistics from_sums(std::span<const double, kernels::kTally> sums);
};

}  // namespace foxhunt
