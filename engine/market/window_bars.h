// Candles of some rows of a market table, for those who show what happened in them after the table is gone.
#pragma once

#include <vector>

#include "engine/market/folds.h"
#include "engine/market/market_table.h"

namespace foxhunt::market {

struct WindowBars {
  Range rows;                                  // of the table
  std::vector<Time> open_time, close_time;     // [rows.size()]
  std::vector<double> open, high, low, close;  // [rows.size()] points

  std::size_t size() const { return close.size(); }
};

// Copies the rows; they must lie in the table.
WindowBars window_bars(const MarketTable& table, Range rows);

}  // namespace foxhunt::market
