// Scaling of the market features by statistics of one fold's training window.
#pragma once

#include <array>
#include <span>

#include "engine/market/folds.h"
#include "engine/market/market_table.h"

namespace foxhunt::market {

// x -> clip((x - mean) / scale, -clip, clip). mean and population deviation are those of the training window's values
// after winsorising each feature at its 0.5 % and 99.5 % quantiles, so that a few wild bars do not flatten the rest. A
// feature that is constant there (an absent book's, say) has scale 0 and gives 0.
struct FeatureScaler {
  float clip = 5.0F;
  std::array<float, kMarketFeatures> mean{}, scale{};

  // Reads rows of `train` only. Throws Error for an empty window or one outside the table.
  static FeatureScaler fit(const MarketTable& table, Range train);

  // One row; `out` may be `row`.
  void apply(std::span<const float, kMarketFeatures> row, std::span<float, kMarketFeatures> out) const;
  // All rows of a table, [T, 72].
  std::vector<float> apply(const MarketTable& table) const;
};

}  // namespace foxhunt::market
