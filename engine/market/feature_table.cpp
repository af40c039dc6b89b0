// Common series and windows of the features, and the table's assembly.
#include "engine/market/feature_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/base/error.h"

namespace foxhunt::market {
namespace detail {

double sum(std::span<const double> x, Window w) {
  double total = 0;
  for (std::size_t i = w.begin; i < w.end; ++i) total += x[i];
  return total;
}

double mean(std::span<const double> x, Window w) {
  return w.size() ? sum(x, w) / static_cast<double>(w.size()) : 0;
}

double deviation(std::span<const double> x, Window w) {
  if (w.size() < 2) return 0;
  const double centre = mean(x, w);
  double squares = 0, largest = 0;
  for (std::size_t i = w.begin; i < w.end; ++i) {
    squares += (x[i] - centre) * (x[i] - centre);
    largest = std::max(largest, std::abs(x[i]));
  }
  const double out = std::sqrt(squares / static_cast<double>(w.size()));
  // What rounding of equal values leaves is no deviation.
  return out > 1e-12 * largest ? out : 0;
}

double mean_square(std::span<const double> x, Window w) {
  double squares = 0;
  for (std::size_t i = w.begin; i < w.end; ++i) squares += x[i] * x[i];
  return w.size() ? squares / static_cast<double>(w.size()) : 0;
}

double ratio(double a, double b, double neutral) {
  return b > 0 ? a / b : neutral;
}

double exponential_mean(std::span<const double> x, std::size_t t, std::size_t n) {
  const double keep = 1 - 2.0 / (static_cast<double>(n) + 1);
  const Window w = window(t, 3 * n);
  double weight = 1, total = 0, weights = 0;
  for (std::size_t i = w.end; i-- > w.begin;) {
    // Around the newest value, so that a constant series gives exactly itself.
    total += weight * (x[i] - x[t]);
    weights += weight;
    weight *= keep;
  }
  return x[t] + total / weights;
}

}  // namespace detail

namespace {

// True range; the first bar has no close before it.
std::vector<double> true_ranges(const MarketTable& table) {
  std::vector<double> out(table.close.size());
  for (std::size_t t = 0; t < out.size(); ++t) {
    const double before = t ? table.close[t - 1] : table.close[t];
    out[t] = std::max(table.high[t], before) - std::min(table.low[t], before);
  }
  return out;
}

void fill_volatilities(MarketTable& table, const detail::BarSeries& bars) {
  using namespace detail;
  const std::size_t n = table.close.size();
  const auto true_range = true_ranges(table);
  table.atr.resize(n);
  table.volatility.resize(n);
  table.volatility_ratio.resize(n);
  for (std::size_t t = 0; t < n; ++t) {
    table.atr[t] = mean(true_range, window(t, 14));
    table.volatility[t] = deviation(bars.change, window(t, 20, 1));
    table.volatility_ratio[t] = ratio(std::sqrt(mean_square(bars.change, window(t, 5, 1))),
                                      std::sqrt(mean_square(bars.change, window(t, 60, 1))), 1);
  }
}

float stored(double value) {
  FH_CHECK(!std::isnan(value), "a feature is not a number");
  constexpr double kLargest = 1e9;  // far beyond any scaled range
  return static_cast<float>(std::clamp(value, -kLargest, kLargest));
}

class Hash {
 public:
  void word(std::uint64_t x) {
    state_ ^= x;
    state_ *= 0x9FB21C651E98DF25ULL;
    state_ ^= state_ >> 32;
  }
  void add(std::span<const double> x) {
    word(x.size());
    for (double v : x) word(std::bit_cast<std::uint64_t>(v));
  }
  void add(std::span<const Time> x) {
    word(x.size());
    for (Time v : x) word(static_cast<std::uint64_t>(v));
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325ULL;
};

}  // namespace

std::vector<std::size_t> session_starts(std::span<const Time> open_time, std::span<const Time> close_time) {
  constexpr Time kDay = 86'400'000'000'000;
  const auto day = [](Time t) { return t / kDay - (t % kDay < 0); };
  std::vector<std::size_t> out(open_time.size());
  std::size_t start = 0;
  Time last_break = std::numeric_limits<Time>::min() / 2;
  for (std::size_t t = 1; t < out.size(); ++t) {
    if (open_time[t] - close_time[t - 1] >= kSessionBreak) {
      start = t;
      last_break = open_time[t];
    } else if (day(open_time[t]) != day(open_time[t - 1]) && open_time[t] - last_break > kDay) {
      start = t;
    }
    out[t] = start;
  }
  return out;
}

void build_features(MarketTable& table, std::span<const BarFlow> flows) {
  const std::size_t n = table.close.size();
  FH_CHECK(flows.empty() || (flows.size() == n && table.book.size() == n), "{} bars, {} flows, {} books", n,
           flows.size(), table.book.size());
  detail::BarSeries bars{table, std::vector<double>(n), std::vector<double>(n), std::vector<double>(n),
                         session_starts(table.open_time, table.close_time)};
  for (std::size_t t = 0; t < n; ++t) {
    bars.change[t] = t ? table.close[t] - table.close[t - 1] : 0;
    bars.absolute_change[t] = std::abs(bars.change[t]);
    bars.range[t] = table.high[t] - table.low[t];
  }
  fill_volatilities(table, bars);
  const auto vwap = detail::session_vwap(bars), slots = detail::slot_means(bars);
  const auto macd = detail::macd_line(bars), directional = detail::directional_index(bars);
  table.features.assign(n * kMarketFeatures, 0.0F);
  for (std::size_t t = 0; t < n; ++t) {
    std::array<double, kMarketFeatures> row{};
    const detail::FeatureRow out{t, row};
    detail::price_features(bars, out, vwap[t]);
    detail::volume_features(bars, out, slots[t]);
    detail::technical_features(bars, macd, directional, out);
    if (!flows.empty()) detail::order_flow_features(bars, flows, out);
    std::transform(row.begin(), row.end(), table.features.begin() + static_cast<std::ptrdiff_t>(t * kMarketFeatures),
                   stored);
  }
  table.warm_up = std::min<std::int64_t>(feature_look_back(), table.rows());
}

std::uint64_t table_fingerprint(const MarketTable& table) {
  Hash hash;
  for (char c : table.symbol) hash.word(static_cast<unsigned char>(c));
  hash.word(table.order_flow);
  hash.word(static_cast<std::uint64_t>(table.warm_up));
  hash.add(table.open_time);
  hash.add(table.close_time);
  for (const auto* column : {&table.open, &table.high, &table.low, &table.close, &table.volume, &table.atr,
                             &table.volatility, &table.volatility_ratio}) {
    hash.add(*column);
  }
  for (const auto& book : table.book) {
    for (const auto* side : {&book.bid_price, &book.bid_size, &book.ask_price, &book.ask_size}) hash.add(*side);
  }
  for (float x : table.features) hash.word(std::bit_cast<std::uint32_t>(x));
  return hash.value();
}

}  // namespace foxhunt::market
