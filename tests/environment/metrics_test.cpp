// Metrics against plain formulas written again, and the normal distribution against tables.
#include "engine/environment/metrics.h"

#include <cmath>
#include <random>

namespace foxhunt {
namespace {

TEST(Metrics, NormalDistribution) {
  EXPECT_NEAR(normal_cdf(0), 0.5, 1e-15);
  EXPECT_NEAR(normal_cdf(1.959963984540054), 0.975, 1e-14);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(0.5), 0.0, 1e-15);
  EXPECT_NEAR(normal_quantile(1e-9), -5.997807015007773, 1e-11);
  EXPECT_NEAR(normal_quantile(1e-15), -7.941345326170998, 1e-10);
  for (double p : {1e-12, 1e-4, 0.05, 0.3, 0.77, 0.999}) EXPECT_NEAR(normal_cdf(normal_quantile(p)), p, 1e-13);
}

TEST(Metrics, RandomCurveAgainstPlainFormulas) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal(20, 300);
  MetricsInput in;
  in.equity = {0};
  for (int i = 0; i < 500; ++i) in.equity.push_back(in.equity.back() + (i % 7 == 0 ? 0 : normal(random)));
  in.seconds = 500 * 90.0;
  in.trades = {10, -20, 0, 35, -5};
  in.holds = {3, 0, 2, 7, 1};
  in.costs = 123;
  in.contracts = 42;
  in.exposed_bars = 321;
  in.mean_price = 4000;
  in.capital = 50'000;
  in.point_value = 50;
  in.trials = 24;
  in.trial_variance = 0.0009;
  const Metrics m = compute_metrics(in);

  const double n = 500;
  long double mean = 0, var = 0, third = 0, fourth = 0, down = 0;
  std::vector<long double> r;
  for (int i = 1; i <= 500; ++i) r.push_back((static_cast<long double>(in.equity[i]) - in.equity[i - 1]) / 50'000);
  for (auto x : r) mean += x / n;
  for (auto x : r) {
    var += (x - mean) * (x - mean);
    third += std::pow(x - mean, 3) / n;
    fourth += std::pow(x - mean, 4) / n;
    down += x < 0 ? x * x / n : 0;
  }
  const double per_year = 365.25 * 86400 / 90.0;
  const double sr = static_cast<double>(mean / std::sqrt(var / (n - 1))), sd = static_cast<double>(std::sqrt(var / n));
  const double skew = static_cast<double>(third) / (sd * sd * sd),
               kurt = static_cast<double>(fourth) / (sd * sd * sd * sd);
  const double width = std::sqrt(1 - skew * sr + (kurt - 1) / 4 * sr * sr);
  EXPECT_NEAR(*m.bars_per_year, per_year, per_year * 1e-12);
  EXPECT_NEAR(*m.sharpe, sr * std::sqrt(per_year), 1e-9 * std::abs(*m.sharpe));
  EXPECT_NEAR(*m.sortino, static_cast<double>(mean / std::sqrt(down)) * std::sqrt(per_year),
              1e-9 * std::abs(*m.sortino));
  EXPECT_NEAR(*m.psr, 0.5 * std::erfc(-sr * std::sqrt(n - 1) / width / std::sqrt(2.0)), 1e-9);
  // The expected best of 24: quantiles of 1 - 1/24 and 1 - 1/(24 e), from a table.
  const double best = 0.03 * (0.4227843350984671 * 1.7316643961222455 + 0.5772156649015329 * 2.161501514422981);
  EXPECT_NEAR(*m.dsr, 0.5 * std::erfc(-(sr - best) * std::sqrt(n - 1) / width / std::sqrt(2.0)), 1e-6);
  EXPECT_NEAR(*m.bar_sharpe, sr, 1e-12);

  double drawdown = 0;
  for (int i = 0; i <= 500; ++i) {
    for (int k = 0; k <= i; ++k) drawdown = std::max(drawdown, in.equity[k] - in.equity[i]);
  }
  EXPECT_DOUBLE_EQ(m.max_drawdown, drawdown);
  std::int64_t longest = 0;
  for (int i = 0; i <= 500; ++i) {  // bars since the last time at or above all before
    int last = 0;
    for (int k = 0; k <= i; ++k) {
      if (in.equity[k] >= *std::max_element(in.equity.begin(), in.equity.begin() + k + 1)) last = k;
    }
    longest = std::max<std::int64_t>(longest, i - last);
  }
  EXPECT_EQ(m.max_drawdown_bars, longest);
  EXPECT_EQ(m.trades, 5);
  EXPECT_DOUBLE_EQ(*m.hit_rate, 0.4);
  EXPECT_DOUBLE_EQ(*m.profit_factor, 45.0 / 25);
  EXPECT_DOUBLE_EQ(*m.mean_hold, 2.6);
  EXPECT_DOUBLE_EQ(m.turnover, 42.0 * 4000 * 50 / 50'000);
  EXPECT_DOUBLE_EQ(*m.exposure, 321 / 500.0);
  EXPECT_DOUBLE_EQ(m.net, in.equity.back());
  EXPECT_DOUBLE_EQ(*m.cost_share, 123 / (in.equity.back() + 123));
}

TEST(Metrics, NotApplicable) {
  MetricsInput in;
  in.equity = {0, 0, 0, 0};
  in.seconds = 180;
  const auto flat = metrics_json(compute_metrics(in));
  EXPECT_EQ(flat["net"], 0.0);
  EXPECT_EQ(flat["trades"], 0);
  for (const char* name : {"hit_rate", "profit_factor", "mean_hold", "cost_share", "sharpe", "sortino", "psr", "dsr"}) {
    EXPECT_TRUE(flat[name].is_null()) << name;
  }
  EXPECT_FALSE(flat["bars_per_year"].is_null());
  in.equity = {0, 5};
  EXPECT_FALSE(compute_metrics(in).bars_per_year.has_value());  // one return has no variance
  in.equity = {0, 5, 10};
  const Metrics rising = compute_metrics(in);
  EXPECT_FALSE(rising.sharpe.has_value());
  EXPECT_FALSE(rising.sortino.has_value());
  EXPECT_EQ(rising.max_drawdown_bars, 0);
}

}  // namespace
}  // namespace foxhunt
