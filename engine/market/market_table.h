// The market as training sees it: one row a bar, unscaled features, the book at each close. Shared by all folds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/market/data_report.h"
#include "engine/market/records.h"

namespace foxhunt::market {

inline constexpr int kMarketFeatures = 72;  // price 16, volume 16, technical 8, order flow 32: groups 0-3 of the state

// Ten levels a side at a bar's close, best first, in points and contracts. Empty levels: size 0, price 0.
struct BookSnapshot {
  std::array<double, kBookLevels> bid_price{}, bid_size{}, ask_price{}, ask_size{};
  std::int32_t bid_levels = 0, ask_levels = 0;  // 0: that side is empty
};

// Rows are in time order, all of one instrument. Row t is known from close_time[t] on.
struct MarketTable {
  std::string symbol;
  bool order_flow = false;  // false: bars only, order-flow features 0 with their mask off
  bool simulated = false;
  std::vector<Time> open_time, close_time;             // [T]
  std::vector<double> open, high, low, close, volume;  // [T] points, contracts
  std::vector<double> atr;                             // [T] points, 14 bars, known at the close
  std::vector<double> volatility;        // [T] points, 20-bar deviation of price changes; sigma = this / its train mean
  std::vector<double> volatility_ratio;  // [T] 5- over 60-bar; regimes are its tertiles over the train window
  std::vector<BookSnapshot> book;        // [T] last LAST state before close_time; empty without order flow
  std::vector<float> features;           // [T, 72] unscaled and finite
  std::int64_t warm_up = 0;              // first row on which every look-back is whole
  std::uint64_t fingerprint = 0;         // of every number above; stored with runs and checkpoints
  DataReport report;

  std::int64_t rows() const { return static_cast<std::int64_t>(close.size()); }
};

}  // namespace foxhunt::market
