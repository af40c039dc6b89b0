// What the replay ring holds: one n-step transition, 256 bytes at most. Market features are gathered from the bar
// table.
#pragma once

#include "kernels/block.h"

namespace foxhunt::kernels {

inline constexpr int kPortfolioWidth = 8, kSignalWidth = 16, kOwnWidth = kPortfolioWidth + kSignalWidth;
inline constexpr int kTrainingBranches = 4;

struct Transition {
  int32_t bar, next_bar;            // rows of the bar table: decision, and bootstrap after `steps` bars
  float own[kOwnWidth];             // portfolio then signals, as collected
  float next_own[kOwnWidth];        // the same at next_bar, never re-read
  float reward[kTrainingBranches];  // sum of gamma_d^i r_i over the steps taken, raw
  uint8_t action[kTrainingBranches];
  uint8_t steps;  // m, the steps really taken (1 to n)
  uint8_t done;   // 1 only on ruin
  uint16_t reserved;
  uint32_t collected;  // low word of Control::collect_step at insertion: age
};
static_assert(sizeof(Transition) <= 256);

// The market on the device: allocated once for all rows, refilled at a fold's start (features scaled by that fold's
// statistics).
struct BarTable {
  const float* features;       // [rows, 72]
  const double* prices;        // [rows, 8]: open, high, low, close, atr, sigma, volume, 0
  const double* book;          // [rows, 4, 10]: bid price, bid size, ask price, ask size
  const int32_t* book_levels;  // [rows, 2]: bid, ask
  const float* labels;         // [rows, 4]: next return, next direction class, next volatility, regime multiplier
  const float* regime;         // [rows, 4]: three probabilities, class
  int64_t rows;
};
inline constexpr int kMarketWidth = 72;

}  // namespace foxhunt::kernels
