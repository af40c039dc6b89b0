// Features made from bars: price, volume, technical. Formulas: features.def.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/market/feature_table.h"

namespace foxhunt::market::detail {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Time kDay = 86'400'000'000'000;

double z_score(std::span<const double> x, std::size_t t, std::size_t n) {
  const Window w = window(t, n);
  return ratio(x[t] - mean(x, w), deviation(x, w));
}

double z_score_of_log(std::span<const double> volume, std::size_t t, std::size_t n) {
  std::array<double, 100> logs;
  const Window w = window(t, n);
  for (std::size_t i = w.begin; i < w.end; ++i) logs[i - w.begin] = std::log1p(volume[i]);
  return z_score(std::span(logs).first(w.size()), w.size() - 1, n);
}

double up_share(const BarSeries& bars, std::size_t t, std::size_t n) {
  const Window w = window(t, n, 1);
  double up = 0;
  for (std::size_t i = w.begin; i < w.end; ++i) up += bars.change[i] > 0 ? bars.table.volume[i] : 0;
  return ratio(up, sum(bars.table.volume, w), 0.5);
}

double correlation(std::span<const double> x, std::span<const double> y, Window w) {
  const double mx = mean(x, w), my = mean(y, w);
  double products = 0;
  for (std::size_t i = w.begin; i < w.end; ++i) products += (x[i] - mx) * (y[i] - my);
  const double scale = deviation(x, w) * deviation(y, w) * static_cast<double>(w.size());
  return std::clamp(ratio(products, scale), -1.0, 1.0);
}

double amihud(const BarSeries& bars, std::size_t t) {
  const Window w = window(t, 20, 1);
  double total = 0, count = 0;
  for (std::size_t i = w.begin; i < w.end; ++i) {
    if (bars.table.volume[i] > 0) {
      total += bars.absolute_change[i] / bars.table.volume[i];
      ++count;
    }
  }
  return ratio(ratio(total, count) * mean(bars.table.volume, w), bars.table.atr[t]);
}

std::size_t slot_of(const BarSeries& bars, std::size_t t) {
  constexpr Time kSlot = 1'800'000'000'000;
  return static_cast<std::size_t>((bars.table.open_time[t] - bars.table.open_time[bars.session[t]]) / kSlot % 48);
}

}  // namespace

void price_features(const BarSeries& bars, FeatureRow row, double vwap) {
  const MarketTable& m = bars.table;
  const std::size_t t = row.t;
  const double close = m.close[t], atr = m.atr[t];
  constexpr std::array<std::size_t, 9> kHorizons = {1, 2, 3, 5, 8, 13, 21, 34, 55};
  for (std::size_t i = 0; i < kHorizons.size(); ++i) {
    const std::size_t k = std::min(kHorizons[i], t);
    row.value[f_price_change_1 + i] =
        ratio(close - m.close[t - k], m.volatility[t] * std::sqrt(static_cast<double>(kHorizons[i])));
  }
  row.value[f_open_close] = ratio(close - m.open[t], atr);
  row.value[f_high_low] = ratio(bars.range[t], atr);
  row.value[f_close_position] = ratio(close - m.low[t], bars.range[t], 0.5);
  row.value[f_mean_distance_20] = ratio(close - mean(m.close, window(t, 20)), atr);
  row.value[f_mean_distance_50] = ratio(close - mean(m.close, window(t, 50)), atr);
  row.value[f_mean_distance_100] = ratio(close - mean(m.close, window(t, 100)), atr);
  row.value[f_session_vwap_distance] = std::isnan(vwap) ? 0 : ratio(close - vwap, atr);
}

void volume_features(const BarSeries& bars, FeatureRow row, double slot_mean) {
  const MarketTable& m = bars.table;
  const std::size_t t = row.t;
  const double volume = m.volume[t];
  row.value[f_log_volume_z_20] = z_score_of_log(m.volume, t, 20);
  row.value[f_log_volume_z_100] = z_score_of_log(m.volume, t, 100);
  row.value[f_volume_ratio_1_5] = std::log((1 + volume) / (1 + mean(m.volume, window(t, 5))));
  row.value[f_up_volume_share_5] = up_share(bars, t, 5);
  row.value[f_up_volume_share_20] = up_share(bars, t, 20);
  row.value[f_realised_volatility_5] = std::sqrt(mean_square(bars.change, window(t, 5, 1)));
  row.value[f_realised_volatility_20] = std::sqrt(mean_square(bars.change, window(t, 20, 1)));
  row.value[f_realised_volatility_60] = std::sqrt(mean_square(bars.change, window(t, 60, 1)));
  row.value[f_parkinson_20] = std::sqrt(mean_square(bars.range, window(t, 20)) / (4 * std::numbers::ln2));
  row.value[f_volatility_ratio_5_60] = m.volatility_ratio[t];
  row.value[f_atr_ratio_100] = ratio(m.atr[t], mean(m.atr, window(t, 100)), 1);
  row.value[f_range_z_20] = z_score(bars.range, t, 20);
  row.value[f_volume_volatility_correlation_20] = correlation(m.volume, bars.absolute_change, window(t, 20, 1));
  row.value[f_amihud_20] = amihud(bars, t);
  row.value[f_time_of_day_volume_ratio] = std::isnan(slot_mean) ? 0 : std::log((1 + volume) / (1 + slot_mean));
  const Window w = window(t, 20);
  const auto zeros = std::count(m.volume.begin() + static_cast<std::ptrdiff_t>(w.begin),
                                m.volume.begin() + static_cast<std::ptrdiff_t>(w.end), 0.0);
  row.value[f_zero_volume_share_20] = static_cast<double>(zeros) / static_cast<double>(w.size());
}

void technical_features(const BarSeries& bars, std::span<const double> macd, std::span<const double> directional,
                        FeatureRow row) {
  const MarketTable& m = bars.table;
  const std::size_t t = row.t;
  const Window moves = window(t, 14, 1), bars14 = window(t, 14);
  double gains = 0;
  for (std::size_t i = moves.begin; i < moves.end; ++i) gains += std::max(bars.change[i], 0.0);
  row.value[f_rsi_14] = ratio(gains, sum(bars.absolute_change, moves), 0.5);
  row.value[f_macd_histogram] = ratio(macd[t] - exponential_mean(macd, t, 9), m.atr[t]);
  row.value[f_bollinger_z] = z_score(m.close, t, 20);
  const double low = *std::min_element(m.low.begin() + static_cast<std::ptrdiff_t>(bars14.begin),
                                       m.low.begin() + static_cast<std::ptrdiff_t>(bars14.end));
  const double high = *std::max_element(m.high.begin() + static_cast<std::ptrdiff_t>(bars14.begin),
                                        m.high.begin() + static_cast<std::ptrdiff_t>(bars14.end));
  row.value[f_stochastic_k] = ratio(m.close[t] - low, high - low, 0.5);
  row.value[f_adx_14] = mean(directional, bars14);
  const Time since = m.close_time[t] - m.open_time[bars.session[t]];
  const double phase = 2 * std::numbers::pi * static_cast<double>(since) / static_cast<double>(kDay);
  row.value[f_session_sine] = std::sin(phase);
  row.value[f_session_cosine] = std::cos(phase);
  // 1970-01-01 was a Thursday: Monday came three days before.
  constexpr Time kWeek = 7 * kDay;
  const Time week = ((m.close_time[t] + 3 * kDay) % kWeek + kWeek) % kWeek;
  row.value[f_day_of_week] = 2 * static_cast<double>(week) / static_cast<double>(kWeek) - 1;
}

std::vector<double> session_vwap(const BarSeries& bars) {
  const MarketTable& m = bars.table;
  std::vector<double> out(m.close.size());
  double volume = 0, notional = 0;
  for (std::size_t t = 0; t < out.size(); ++t) {
    if (bars.session[t] == t) volume = notional = 0;
    volume += m.volume[t];
    notional += m.volume[t] * (m.high[t] + m.low[t] + m.close[t]) / 3;
    out[t] = ratio(notional, volume, kNaN);
  }
  return out;
}

std::vector<double> slot_means(const BarSeries& bars) {
  constexpr std::size_t kSessions = 5, kSlots = 48;
  struct Slot {
    double volume = 0, bars = 0;
  };
  std::array<std::array<Slot, kSlots>, kSessions> history{};
  std::array<Slot, kSlots> current{};
  std::size_t sessions = 0;
  std::vector<double> out(bars.session.size());
  for (std::size_t t = 0; t < out.size(); ++t) {
    if (t > 0 && bars.session[t] == t) {
      history[sessions++ % kSessions] = current;
      current = {};
    }
    const std::size_t slot = slot_of(bars, t);
    Slot earlier;
    for (const auto& session : history) {
      earlier.volume += session[slot].volume;
      earlier.bars += session[slot].bars;
    }
    out[t] = ratio(earlier.volume, earlier.bars, kNaN);
    current[slot].volume += bars.table.volume[t];
    ++current[slot].bars;
  }
  return out;
}

std::vector<double> macd_line(const BarSeries& bars) {
  std::vector<double> out(bars.session.size());
  for (std::size_t t = 0; t < out.size(); ++t) {
    out[t] = exponential_mean(bars.table.close, t, 12) - exponential_mean(bars.table.close, t, 26);
  }
  return out;
}

std::vector<double> directional_index(const BarSeries& bars) {
  const MarketTable& m = bars.table;
  std::vector<double> up(m.close.size()), down(m.close.size()), out(m.close.size());
  for (std::size_t t = 0; t < out.size(); ++t) {
    if (t > 0) {
      const double rise = m.high[t] - m.high[t - 1], fall = m.low[t - 1] - m.low[t];
      // Prices are multiples of 1e-9: a smaller difference is rounding, and equal movements cancel.
      constexpr double kRounding = 5e-10;
      up[t] = rise > fall + kRounding && rise > 0 ? rise : 0;
      down[t] = fall > rise + kRounding && fall > 0 ? fall : 0;
    }
    const double p = sum(up, window(t, 14)), q = sum(down, window(t, 14));
    out[t] = ratio(std::abs(p - q), p + q);
  }
  return out;
}

}  // namespace foxhunt::market::detail
