// The 32 order-flow features of a bar. Formulas: features.def.
#include <cmath>

#include "engine/market/feature_table.h"

namespace foxhunt::market::detail {
namespace {

double depth(const std::array<double, kBookLevels>& sizes, std::size_t levels) {
  double total = 0;
  for (std::size_t i = 0; i < levels; ++i) total += sizes[i];
  return total;
}

double imbalance(double bid, double ask) {
  return ratio(bid - ask, bid + ask);
}

// Contracts a point, from mid to the last level of one side.
double slope(double size, double last_price, double mid) {
  return ratio(size, std::abs(last_price - mid));
}

void book_at_close(const BookSnapshot& book, double atr, FeatureRow row) {
  if (book.bid_levels == 0 || book.ask_levels == 0 || book.ask_price[0] <= book.bid_price[0]) return;
  const double bid = book.bid_price[0], ask = book.ask_price[0], mid = 0.5 * (bid + ask);
  const double bids = depth(book.bid_size, kBookLevels), asks = depth(book.ask_size, kBookLevels);
  const double queues = book.bid_size[0] + book.ask_size[0];
  row.value[f_queue_imbalance] = imbalance(book.bid_size[0], book.ask_size[0]);
  row.value[f_depth_imbalance_5] = imbalance(depth(book.bid_size, 5), depth(book.ask_size, 5));
  row.value[f_depth_imbalance_10] = imbalance(bids, asks);
  const double weighted = mid + 0.5 * (ask - bid) * ratio(book.bid_size[0] - book.ask_size[0], queues);
  row.value[f_weighted_mid_offset] = ratio(weighted - mid, atr);
  row.value[f_spread] = ask - bid;
  row.value[f_log_depth_bid] = std::log1p(bids);
  row.value[f_log_depth_ask] = std::log1p(asks);
  const double last_bid = book.bid_price[static_cast<std::size_t>(book.bid_levels) - 1];
  const double last_ask = book.ask_price[static_cast<std::size_t>(book.ask_levels) - 1];
  row.value[f_book_slope] = std::log1p(0.5 * (slope(bids, last_bid, mid) + slope(asks, last_ask, mid)));
  row.value[f_book_present] = 1;
}

double signed_volume(const BarFlow& flow) {
  return flow.buy_volume - flow.sell_volume;
}

double vpin(std::span<const BarFlow> flows, Window w) {
  double unbalanced = 0, volume = 0;
  for (std::size_t i = w.begin; i < w.end; ++i) {
    unbalanced += std::abs(signed_volume(flows[i]));
    volume += flows[i].volume;
  }
  return ratio(unbalanced, volume);
}

double kyle_lambda(const BarSeries& bars, std::span<const BarFlow> flows, Window w) {
  if (w.size() < 2) return 0;
  double mean_flow = 0;
  for (std::size_t i = w.begin; i < w.end; ++i) mean_flow += signed_volume(flows[i]) / static_cast<double>(w.size());
  const double mean_change = mean(bars.change, w);
  double covariance = 0, variance = 0;
  for (std::size_t i = w.begin; i < w.end; ++i) {
    const double q = signed_volume(flows[i]) - mean_flow;
    covariance += q * (bars.change[i] - mean_change);
    variance += q * q;
  }
  return ratio(covariance, variance);
}

double size_ratio(std::span<const BarFlow> flows, std::size_t t, Window w) {
  double volume = 0, trades = 0;
  for (std::size_t i = w.begin; i < w.end; ++i) {
    volume += flows[i].volume;
    trades += flows[i].trades;
  }
  if (flows[t].trades == 0) return 0;
  return std::log(flows[t].volume / flows[t].trades / (volume / trades));
}

}  // namespace

void order_flow_features(const BarSeries& bars, std::span<const BarFlow> flows, FeatureRow row) {
  const std::size_t t = row.t;
  const BarFlow& flow = flows[t];
  const double atr = bars.table.atr[t];
  double total = 0;
  for (std::size_t level = 0; level < kBookLevels; ++level) {
    row.value[f_ofi_1 + level] = flow.ofi[level];
    total += flow.ofi[level];
  }
  row.value[f_integrated_ofi] = ratio(total / kBookLevels, flow.level_depth);
  row.value[f_queue_imbalance_mean] = flow.queue_imbalance;
  row.value[f_spread_mean] = flow.spread;
  row.value[f_mid_volatility] = std::sqrt(flow.mid_variation);
  row.value[f_cancel_share] = ratio(flow.book_cancels, flow.book_adds + flow.book_cancels + flow.book_modifies);
  book_at_close(bars.table.book[t], atr, row);

  row.value[f_trade_imbalance] = ratio(signed_volume(flow), flow.volume);
  row.value[f_log_trade_volume] = std::log1p(flow.volume);
  row.value[f_log_trade_count] = std::log1p(flow.trades);
  row.value[f_trade_size_ratio] = size_ratio(flows, t, window(t, 20));
  row.value[f_largest_trade_share] = ratio(flow.largest, flow.volume);
  const double vwap = flow.first_price + ratio(flow.notional, flow.volume);
  row.value[f_vwap_close] = flow.trades > 0 ? ratio(vwap - bars.table.close[t], atr) : 0;
  row.value[f_vpin_50] = vpin(flows, window(t, 50));
  row.value[f_kyle_lambda_20] = kyle_lambda(bars, flows, window(t, 20, 1));
}

}  // namespace foxhunt::market::detail
