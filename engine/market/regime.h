// What is derived from a bar and, for labels only, the bar after it: regime, reward multiplier, auxiliary labels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/market/folds.h"
#include "engine/market/market_table.h"

namespace foxhunt::market {

inline constexpr int kRegimes = 3;  // quiet, normal, stressed

// Soft tertile classes of the 5/60 volatility ratio r. With low, high the 1/3 and 2/3 quantiles over the training
// window and width = (high - low) / 4:
//   quiet = s((low - r) / width), stressed = s((r - high) / width), normal = the rest; s(x) = 1 / (1 + exp(-x)).
// low <= high makes normal non-negative. Fixed after fitting; rows outside the window use the same numbers.
struct RegimeModel {
  static constexpr std::array<double, kRegimes> kMultipliers = {0.75, 1.0, 1.5};

  double low = 1, high = 1, width = 1;

  // Throws Error for an empty window or one outside the table.
  static RegimeModel fit(const MarketTable& table, Range train);

  std::array<double, kRegimes> probabilities(double ratio) const;  // sum 1
  double multiplier(double ratio) const;                           // 0.75 to 1.5
};

// Labels of bar t from bar t+1; the last row has none: change 0, direction 1, range 0.
struct BarLabels {
  float change = 0;            // (C_t+1 - C_t) / ATR_t, clipped to +-5
  std::int32_t direction = 1;  // 0: change below -0.1, 1: between, 2: above 0.1
  float range = 0;             // (H_t+1 - L_t+1) / ATR_t
};

// One a row of the table. A flat market (ATR 0) gives change and range 0.
std::vector<BarLabels> bar_labels(const MarketTable& table);

// sigma of the environment: volatility over its mean in the training window; 1 everywhere when that mean is 0. [T]
std::vector<double> relative_volatility(const MarketTable& table, Range train);

}  // namespace foxhunt::market
