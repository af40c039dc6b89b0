// From cleaned bars and their order flow to the numbers of a MarketTable: ATR, volatilities and the 72 features.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "engine/market/features.h"
#include "engine/market/market_table.h"
#include "engine/market/order_flow.h"

namespace foxhunt::market {

// Fills atr, volatility, volatility_ratio, features and warm_up from the bars and books of `table`. `flows` [T], or
// empty without order flow: its 32 features are then 0, the mask too. All in double, stored as float, always finite.
void build_features(MarketTable& table, std::span<const BarFlow> flows);

// Index of the first bar of the session to which each bar belongs. A session starts at the first bar, after 30 minutes
// without a bar, and with a new UTC day when no such break came in the 24 hours before.
std::vector<std::size_t> session_starts(std::span<const Time> open_time, std::span<const Time> close_time);

// 64-bit hash of every number of the table and of its symbol.
std::uint64_t table_fingerprint(const MarketTable& table);

namespace detail {

// Series that several groups need, all [T]. change[0] is 0 and enters no window.
struct BarSeries {
  const MarketTable& table;
  std::vector<double> change, absolute_change, range;
  std::vector<std::size_t> session;
};

// One row of features as doubles, and its position.
struct FeatureRow {
  std::size_t t;
  std::span<double, kMarketFeatures> value;
};

void price_features(const BarSeries& bars, FeatureRow row, double session_vwap);
void volume_features(const BarSeries& bars, FeatureRow row, double slot_mean);
void technical_features(const BarSeries& bars, std::span<const double> macd, std::span<const double> directional,
                        FeatureRow row);
void order_flow_features(const BarSeries& bars, std::span<const BarFlow> flows, FeatureRow row);

// Volume-weighted mean price of the session so far, [T]; NaN without volume.
std::vector<double> session_vwap(const BarSeries& bars);
// Mean volume of the same half hour of up to five earlier sessions, [T]; NaN when there is none.
std::vector<double> slot_means(const BarSeries& bars);
// EMA_12 - EMA_26 of the close, [T].
std::vector<double> macd_line(const BarSeries& bars);
// |P - M| / (P + M) of 14 bars, [T].
std::vector<double> directional_index(const BarSeries& bars);

// Windows over x[t-n+1 .. t], cut at `first` (1 for series of changes).
struct Window {
  std::size_t begin, end;
  std::size_t size() const { return end - begin; }
};
inline Window window(std::size_t t, std::size_t n, std::size_t first = 0) {
  const std::size_t end = t + 1, begin = end > n ? end - n : 0;
  return {std::min(std::max(begin, first), end), end};
}
double sum(std::span<const double> x, Window w);
double mean(std::span<const double> x, Window w);       // 0 of an empty window
double deviation(std::span<const double> x, Window w);  // population; 0 below two values or when all are equal
double mean_square(std::span<const double> x, Window w);
double ratio(double a, double b, double neutral = 0);  // neutral unless b > 0
// Weights (1 - 2 / (n + 1))^i over 3n values, normalised.
double exponential_mean(std::span<const double> x, std::size_t t, std::size_t n);

}  // namespace detail

}  // namespace foxhunt::market
