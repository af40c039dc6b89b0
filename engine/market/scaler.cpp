// Fitting and applying the feature scaler.
#include "engine/market/scaler.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace foxhunt::market {

FeatureScaler FeatureScaler::fit(const MarketTable& table, Range train) {
  if (train.begin < 0 || train.end > table.rows() || train.size() < 1) {
    throw Error(
        fmt::format("cannot fit the feature scaler on rows {} to {} of {}", train.begin, train.end, table.rows()));
  }
  FeatureScaler out;
  const auto n = static_cast<std::size_t>(train.size());
  std::vector<float> column(n);
  for (std::size_t f = 0; f < kMarketFeatures; ++f) {
    for (std::size_t i = 0; i < n; ++i) {
      column[i] = table.features[(static_cast<std::size_t>(train.begin) + i) * kMarketFeatures + f];
    }
    constexpr double kTail = 0.005;
    const auto tail = static_cast<std::ptrdiff_t>(kTail * static_cast<double>(n));
    std::nth_element(column.begin(), column.begin() + tail, column.end());
    const float low = column[static_cast<std::size_t>(tail)];
    std::nth_element(column.begin(), column.end() - 1 - tail, column.end());
    const float high = column[n - 1 - static_cast<std::size_t>(tail)];
    // Around `low`, so that a constant column has exactly no deviation.
    double sum = 0, squares = 0;
    for (float x : column) {
      const double d = static_cast<double>(std::clamp(x, low, high)) - low;
      sum += d;
      squares += d * d;
    }
    const double count = static_cast<double>(n), mean = sum / count;
    out.mean[f] = static_cast<float>(low + mean);
    out.scale[f] = static_cast<float>(std::sqrt(std::max(0.0, squares / count - mean * mean)));
  }
  return out;
}

void FeatureScaler::apply(std::span<const float, kMarketFeatures> row, std::span<float, kMarketFeatures> out) const {
  for (std::size_t f = 0; f < kMarketFeatures; ++f) {
    out[f] = scale[f] > 0 ? std::clamp((row[f] - mean[f]) / scale[f], -clip, clip) : 0.0F;
  }
}

std::vector<float> FeatureScaler::apply(const MarketTable& table) const {
  std::vector<float> out(table.features.size());
  for (std::size_t t = 0; t < static_cast<std::size_t>(table.rows()); ++t) {
    apply(std::span(table.features).subspan(t * kMarketFeatures).first<kMarketFeatures>(),
          std::span(out).subspan(t * kMarketFeatures).first<kMarketFeatures>());
  }
  return out;
}

}  // namespace foxhunt::market
