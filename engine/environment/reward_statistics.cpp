// Reward scale and supports.
#include "engine/environment/reward_statistics.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace foxhunt {
namespace {

std::vector<double> moving_rewards(std::span<const float> rewards) {
  std::vector<double> out;
  for (float r : rewards) {
    if (r != 0.0f && std::isfinite(r)) out.push_back(r);
  }
  return out;
}

// Grows `old` to hold `fresh`, each side by the same share where the half-width would leave its limit.
Support widened(Support old, Support fresh) {
  const double down = std::max(0.0, old.low - fresh.low), up = std::max(0.0, fresh.high - old.high);
  const double room = std::max(0.0, 2 * kMostHalfWidth - (old.high - old.low));
  const double share = down + up > room ? room / (down + up) : 1.0;
  return {old.low - share * down, old.high + share * up};
}

}  // namespace

double quantile(std::vector<double>& values, double q) {
  if (values.empty()) return 0;
  const double rank = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values[static_cast<std::size_t>(below)];
  const double part = rank - static_cast<double>(below);
  if (part == 0) return low;
  return low + part * (*std::min_element(values.begin() + below + 1, values.end()) - low);
}

RewardSpread reward_spread(std::span<const float> rewards) {
  std::vector<double> moving = moving_rewards(rewards);
  if (moving.empty()) return {};
  double squares = 0;
  for (double r : moving) squares += r * r;
  const double rms = std::sqrt(squares / static_cast<double>(moving.size()));
  return {quantile(moving, 0.5), quantile(moving, 0.75) - quantile(moving, 0.25), rms};
}

double reward_scale(std::span<const float> rewards) {
  const RewardSpread s = reward_spread(rewards);
  return std::max({s.iqr, 0.1 * s.rms, 1e-4});
}

std::vector<double> discounted_returns(const RewardLog& log, double scale, double gamma) {
  FH_CHECK(log.rewards.size() >= static_cast<std::size_t>(log.timesteps * log.environments) &&
               log.ends.size() >= log.rewards.size(),
           "a reward log of {} values for {} x {}", log.rewards.size(), log.timesteps, log.environments);
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(log.timesteps * log.environments));
  std::vector<double> ahead(static_cast<std::size_t>(log.environments), 0.0);
  for (std::int64_t t = log.timesteps - 1; t >= 0; --t) {
    for (std::int64_t e = 0; e < log.environments; ++e) {
      const auto i = static_cast<std::size_t>(t * log.environments + e);
      double& next = ahead[static_cast<std::size_t>(e)];
      next = static_cast<double>(log.rewards[i]) / scale + (log.ends[i] ? 0.0 : gamma * next);
      out.push_back(next);
    }
  }
  return out;
}

Support support_of_returns(std::vector<double> returns) {
  std::erase_if(returns, [](double x) { return !std::isfinite(x); });
  const double low = quantile(returns, 0.005), high = quantile(returns, 0.995);
  // Symmetric: a support that moved with the returns of a losing policy would move every Q-value with it, and 0 must
  // stay in its middle.
  const double half = std::clamp(1.25 * std::max(std::abs(low), std::abs(high)), kLeastHalfWidth, kMostHalfWidth);
  return {-half, half};
}

bool RewardStatistics::update_scale(const RewardLog& log) {
  const RewardSpread spread = reward_spread(log.rewards);
  if (spread.rms == 0) return false;
  spread_ = spread;
  scale_ = std::max({spread.iqr, 0.1 * spread.rms, 1e-4});
  return true;
}

void RewardStatistics::update(const RewardLog& log, std::span<const double, kernels::kTrainingBranches> gamma) {
  if (!update_scale(log)) return;
  for (std::size_t d = 0; d < supports_.size(); ++d) {
    const Support fresh = support_of_returns(discounted_returns(log, scale_, gamma[d]));
    supports_[d] = may_narrow_ ? fresh : widened(supports_[d], fresh);
  }
  may_narrow_ = false;
}

void RewardStatistics::restore(const State& state) {
  scale_ = state.scale;
  supports_ = state.supports;
  may_narrow_ = state.may_narrow;
  spread_ = state.spread;
}

}  // namespace foxhunt
