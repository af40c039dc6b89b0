// Scale of the rewards and support of the return distributions, from one epoch's collection.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/transition.h"

namespace foxhunt {

// Raw rewards of one collection, a timestep a row.
struct RewardLog {
  std::span<const float> rewards;      // [timesteps, environments]
  std::span<const std::uint8_t> ends;  // [timesteps, environments]: 0, 1 the episode was truncated here, 2 ruin
  std::int64_t timesteps = 0, environments = 0;
};

struct Support {
  double low = -10, high = 10;  // scaled reward
  bool operator==(const Support&) const = default;
};

inline constexpr double kLeastHalfWidth = 10, kMostHalfWidth = 50;

// max(interquartile range, 0.1 x root mean square, 1e-4) over the rewards that are not exactly 0. Values that are not
// finite are left out.
double reward_scale(std::span<const float> rewards);

// Median of the rewards that are not exactly 0, and their interquartile range; both 0 without any.
struct RewardSpread {
  double median = 0, iqr = 0, rms = 0;
};
RewardSpread reward_spread(std::span<const float> rewards);

// G_t = r_t + gamma G_{t+1} of scaled rewards within each episode, unordered; what lies beyond the log or a truncation
// counts as 0.
std::vector<double> discounted_returns(const RewardLog& log, double scale, double gamma);

// The value at rank q (n - 1) of `values`, between two of them linearly; 0 of none. Reorders them.
double quantile(std::vector<double>& values, double q);

// Symmetric about 0: the larger size of the 0.5 and 99.5 % quantiles, widened by a quarter, half-width clamped to 10
// to 50.
Support support_of_returns(std::vector<double> returns);

// What an epoch hands to the next. The scale is carried over a fold boundary; a support is never narrowed inside a
// fold.
class RewardStatistics {
 public:
  explicit RewardStatistics(std::array<Support, kernels::kTrainingBranches> start = {}) : supports_(start) {}

  // The next update may narrow the supports.
  void begin_fold() { may_narrow_ = true; }
  // Scale and supports from one epoch's collection. Without a single reward that is not 0 nothing changes.
  void update(const RewardLog& log, std::span<const double, kernels::kTrainingBranches> gamma);
  // Takes the scale alone: a run's first epoch uses its own before its first step. False when nothing changed.
  bool update_scale(const RewardLog& log);

  double scale() const { return scale_; }
  const RewardSpread& spread() const { return spread_; }
  const std::array<Support, kernels::kTrainingBranches>& supports() const { return supports_; }

  struct State {
    double scale = 1;
    std::array<Support, kernels::kTrainingBranches> supports{};
    bool may_narrow = true;
    RewardSpread spread{};
  };
  State state() const { return {scale_, supports_, may_narrow_, spread_}; }
  void restore(const State& state);

 private:
  double scale_ = 1;
  RewardSpread spread_;
  std::array<Support, kernels::kTrainingBranches> supports_{};
  bool may_narrow_ = true;
};

}  // namespace foxhunt
