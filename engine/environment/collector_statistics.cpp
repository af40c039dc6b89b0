// From sums to means.
#include "engine/environment/collector_statistics.h"

#include <algorithm>

namespace foxhunt {
namespace {

double ratio(double a, double b) {
  return b > 0 ? a / b : 0;
}
double variance(double sum, double squares, double n) {
  return n > 0 ? std::max(0.0, squares / n - (sum / n) * (sum / n)) : 0;
}

}  // namespace

CollectorStatistics CollectorStatistics::from_sums(std::span<const double, kernels::kTally> s) {
  using namespace kernels;
  CollectorStatistics out;
  const double steps = s[tally_steps];
  out.steps = static_cast<std::int64_t>(steps);
  out.episodes = static_cast<std::int64_t>(s[tally_episodes]);
  out.ruins = static_cast<std::int64_t>(s[tally_ruins]);
  for (std::size_t k = 0; k < out.action_frequency.size(); ++k)
    out.action_frequency[k] = ratio(s[tally_actions + k], steps);
  out.explored_share = ratio(s[tally_explored], steps * kTrainingBranches);
  out.episode_return = ratio(s[tally_episode_return], s[tally_episodes]);
  out.exposure = ratio(s[tally_exposed], steps);
  out.position = ratio(s[tally_position], steps);
  out.turnover = ratio(s[tally_turnover], steps);
  out.kelly = ratio(s[tally_kelly], steps);
  out.drawdown = ratio(s[tally_drawdown], steps);
  for (std::size_t k = 0; k < out.regime.size(); ++k) out.regime[k] = ratio(s[tally_regime + k], steps);
  for (std::size_t k = 0; k < out.parts.size(); ++k) out.parts[k] = ratio(s[tally_parts + k], steps);
  out.reward_mean = ratio(s[tally_reward], steps);
  out.reward_variance = variance(s[tally_reward], s[tally_reward_square], steps);
  for (std::size_t k = 0; k < out.trades.size(); ++k) {
    out.trades[k] = static_cast<std::int64_t>(s[tally_trades + k]);
    out.trail_fires[k] = static_cast<std::int64_t>(s[tally_trail + k]);
    out.win_rate[k] = ratio(s[tally_wins + k], s[tally_trades + k]);
    out.mean_hold[k] = ratio(s[tally_hold + k], s[tally_trades + k]);
    out.sample_variance[k] = variance(s[tally_sample_reward + k], s[tally_sample_square + k], s[tally_samples + k]);
  }
  return out;
}

}  // namespace foxhunt
