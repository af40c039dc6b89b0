// Evaluation metrics of an equity curve, as the reference environment defines them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

namespace foxhunt {

struct MetricsInput {
  std::vector<double> equity;       // [n+1] net profit after each bar, 0 first; currency
  double seconds = 0;               // time that the bars span
  std::vector<double> trades;       // net result of each round trip
  std::vector<std::int64_t> holds;  // bars held, one a round trip
  double costs = 0;                 // commission, spread, walk, slippage
  double contracts = 0;             // traded, both sides
  std::int64_t exposed_bars = 0;
  double mean_price = 0;  // points
  double capital = 1;     // returns are on this fixed capital
  double point_value = 1;
  std::int64_t trials = 1;    // models tried, for the deflated Sharpe ratio
  double trial_variance = 0;  // of their per-bar Sharpe ratios
};

// Empty optionals are n/a: no trade, no loss, no variance, too few bars.
struct Metrics {
  double net = 0, return_on_capital = 0, max_drawdown = 0;  // currency; share; currency
  std::int64_t max_drawdown_bars = 0, trades = 0;
  std::optional<double> hit_rate, profit_factor, mean_hold;
  double turnover = 0;  // traded value over capital
  std::optional<double> exposure;
  double costs = 0;
  std::optional<double> cost_share, bars_per_year, sharpe, sortino, psr, dsr;
  std::optional<double> bar_sharpe;  // per bar, not annualised: what trial_variance is made of
};

// `equity` holds at least one value.
Metrics compute_metrics(const MetricsInput& input);

// Names and order of the reference; n/a is null, a number that is not finite a string.
nlohmann::ordered_json metrics_json(const Metrics& metrics);
// Every metric as (name, value) in that order.
std::vector<std::pair<const char*, std::optional<double>>> metric_values(const Metrics& metrics);

// Standard normal distribution function, and its inverse (Wichura 1988, AS 241) for 0 < p < 1.
double normal_cdf(double x);
double normal_quantile(double p);

}  // namespace foxhunt
