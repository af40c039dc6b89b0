// What a data panel shows of a loaded market: what was inferred and found odd, and price and order flow over the whole
// span in as many buckets as a chart has room for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/market/market_table.h"

namespace foxhunt::market {

// Consecutive bars as one candle.
struct PreviewBucket {
  std::int64_t first_row = 0, rows = 0;
  Time open_time = 0, close_time = 0;
  double open = 0, high = 0, low = 0, close = 0;  // points
  double volume = 0;                              // contracts, sum
  double order_flow = 0;  // sum of the bars' imbalance of levels 1 to 10, contracts; bids positive
  double spread = 0;      // points, mean over the bars that have a usable book; 0 without one
  double with_book = 0;   // share of bars with a usable book at their close
};

struct DataPreview {
  std::string symbol;
  bool order_flow = false, simulated = false;
  std::int64_t rows = 0, warm_up = 0;
  Time first_open = 0, last_close = 0;  // 0 without rows
  double lowest = 0, highest = 0;       // points, over all rows
  std::vector<PreviewBucket>
      buckets;        // at most as many as asked for, of equal numbers of bars (the last may have fewer)
  DataReport report;  // inferred, anomalies with counts and first examples, warnings
};

// `most`: buckets, at least 1. Reads the table only; cost is one pass over its rows.
DataPreview preview_of(const MarketTable& table, std::size_t most);

}  // namespace foxhunt::market
