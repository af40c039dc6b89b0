// Reward scale and supports against sorting by hand.
#include "engine/environment/reward_statistics.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace foxhunt {
namespace {

double sorted_quantile(std::vector<double> x, double q) {
  std::sort(x.begin(), x.end());
  const double rank = q * static_cast<double>(x.size() - 1);
  const auto k = static_cast<std::size_t>(std::floor(rank));
  return k + 1 < x.size() ? x[k] + (rank - static_cast<double>(k)) * (x[k + 1] - x[k]) : x[k];
}

struct Log {
  std::vector<float> rewards;
  std::vector<std::uint8_t> ends;
  std::int64_t timesteps, environments;
  RewardLog view() const { return {rewards, ends, timesteps, environments}; }
};

Log make_log(std::int64_t timesteps, std::int64_t environments, double size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0.1 * size, size);
  Log log{{}, {}, timesteps, environments};
  for (std::int64_t i = 0; i < timesteps * environments; ++i) {
    log.rewards.push_back(random() % 3 == 0 ? 0.0f : static_cast<float>(normal(random)));
    log.ends.push_back(random() % 40 == 0 ? static_cast<std::uint8_t>(1 + random() % 2) : std::uint8_t{0});
  }
  return log;
}

TEST(RewardStatistics, ScaleIgnoresZeros) {
  const Log log = make_log(200, 8, 3.0, 5);
  std::vector<double> moving;
  for (float r : log.rewards) {
    if (r != 0) moving.push_back(r);
  }
  ASSERT_LT(moving.size(), log.rewards.size());
  EXPECT_NEAR(reward_scale(log.rewards), sorted_quantile(moving, 0.75) - sorted_quantile(moving, 0.25), 1e-12);
  EXPECT_NEAR(reward_spread(log.rewards).median, sorted_quantile(moving, 0.5), 1e-12);

  // Most rewards alike: the interquartile range is 0 and the root mean square speaks.
  const std::vector<float> alike = {2, 2, 2, 2, 2, 2, 2, 0, 0, 8};
  EXPECT_NEAR(reward_scale(alike), 0.1 * std::sqrt((7 * 4.0 + 64) / 8), 1e-12);
  EXPECT_EQ(reward_scale(std::vector<float>{0, 0, 1e-7f}), 1e-4);
  EXPECT_EQ(reward_scale({}), 1e-4);
}

TEST(RewardStatistics, ReturnsStopAtEpisodeEnds) {
  const Log log{{1, 10, 2, 20, 4, 40, 8, 80}, {0, 0, 1, 0, 0, 2, 0, 0}, 4, 2};
  auto got = discounted_returns(log.view(), 2.0, 0.5);
  std::vector<double> want = {
      (1 + 0.5 * 2) / 2, 1, (4 + 0.5 * 8) / 2, 4, (10 + 0.5 * 20 + 0.25 * 40) / 2, (20 + 0.5 * 40) / 2, 20, 40};
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-12);
}

TEST(RewardStatistics, SupportIsTheWidenedSizeAboutZero) {
  std::vector<double> returns;
  for (int i = 0; i <= 1000; ++i) returns.push_back(-20 + 0.06 * i);  // -20 to 40
  const Support s = support_of_returns(returns);
  EXPECT_NEAR(s.high, 1.25 * (40 - 0.005 * 60), 1e-9);
  EXPECT_EQ(s.low, -s.high);
  const Support negative = support_of_returns({-24, -24, -24});
  EXPECT_EQ(negative, (Support{-30, 30}));
  const Support narrow = support_of_returns({1, 2, 3});
  EXPECT_EQ(narrow, (Support{-10, 10}));
  const Support wide = support_of_returns({-1000, 1000});
  EXPECT_EQ(wide, (Support{-50, 50}));
}

TEST(RewardStatistics, NeverNarrowsInsideAFold) {
  const std::array<double, 4> gamma = {0.99, 0.98, 0.95, 0.9};
  RewardStatistics statistics;
  EXPECT_EQ(statistics.supports()[0], (Support{-10, 10}));
  Log first = make_log(300, 8, 1.0, 1);
  statistics.update(first.view(), gamma);
  const auto before = statistics.supports();
  for (int epoch = 0; epoch < 4; ++epoch) {
    const Log log = make_log(300, 8, 1.0, 20 + epoch);
    const auto old = statistics.supports();
    statistics.update(log.view(), gamma);
    for (std::size_t d = 0; d < 4; ++d) {
      const Support fresh = support_of_returns(discounted_returns(log.view(), statistics.scale(), gamma[d]));
      EXPECT_LE(statistics.supports()[d].low, old[d].low);
      EXPECT_GE(statistics.supports()[d].high, old[d].high);
      EXPECT_NEAR(statistics.supports()[d].low, std::min(old[d].low, fresh.low), 1e-12);
      EXPECT_NEAR(statistics.supports()[d].high, std::max(old[d].high, fresh.high), 1e-12);
      EXPECT_LE(statistics.supports()[d].high - statistics.supports()[d].low, 100 + 1e-9);
    }
  }
  EXPECT_GT(statistics.supports()[0].high, before[0].high - 1e-12);

  // Scale and supports cross a fold boundary; the first update there may narrow.
  const double scale = statistics.scale();
  statistics.begin_fold();
  EXPECT_EQ(statistics.scale(), scale);
  Log quiet = make_log(300, 8, 1.0, 99);
  for (float& r : quiet.rewards) r = r > 0 ? 1.0f : -1.0f;
  statistics.update(quiet.view(), gamma);
  for (std::size_t d = 0; d < 4; ++d) {
    EXPECT_EQ(statistics.supports()[d],
              support_of_returns(discounted_returns(quiet.view(), statistics.scale(), gamma[d])));
  }
  // Nothing happened: nothing changes.
  const auto kept = statistics.supports();
  Log still = quiet;
  std::fill(still.rewards.begin(), still.rewards.end(), 0.0f);
  statistics.update(still.view(), gamma);
  EXPECT_EQ(statistics.supports(), kept);
}

TEST(RewardStatistics, WidestSupportStaysWithinItsLimit) {
  const std::array<double, 4> gamma = {0, 0, 0, 0};
  RewardStatistics::State state;
  state.scale = 1;
  state.supports.fill({-60, 30});  // half-width 45
  state.may_narrow = false;
  RewardStatistics statistics;
  statistics.restore(state);
  Log log{{}, {}, 1000, 1};
  for (int i = 0; i < 1000; ++i) {
    log.rewards.push_back(i % 25 == 0 ? (i % 50 ? -200.0f : 200.0f) : (i % 2 ? 0.5f : -0.5f));
    log.ends.push_back(0);
  }
  statistics.update(log.view(), gamma);
  const Support s = statistics.supports()[0];
  EXPECT_NEAR(s.high - s.low, 100, 1e-9);
  EXPECT_LE(s.low, -60);
  EXPECT_GE(s.high, 30);
}

}  // namespace
}  // namespace foxhunt
