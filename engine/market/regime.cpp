// Regimes, labels and relative volatility.
#include "engine/market/regime.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace foxhunt::market {
namespace {

void check_window(const MarketTable& table, Range train, const char* what) {
  if (train.begin >= 0 && train.end <= table.rows() && train.size() >= 1) return;
  throw Error(fmt::format("cannot fit {} on rows {} to {} of {}", what, train.begin, train.end, table.rows()));
}

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace

RegimeModel RegimeModel::fit(const MarketTable& table, Range train) {
  check_window(table, train, "regimes");
  std::vector<double> sorted(table.volatility_ratio.begin() + train.begin, table.volatility_ratio.begin() + train.end);
  std::sort(sorted.begin(), sorted.end());
  RegimeModel out;
  out.low = sorted[sorted.size() / 3];
  out.high = sorted[sorted.size() * 2 / 3];
  // A floor keeps the classes defined where the ratio hardly moves.
  out.width = std::max((out.high - out.low) / 4, 1e-3);
  return out;
}

std::array<double, kRegimes> RegimeModel::probabilities(double ratio) const {
  const double quiet = logistic((low - ratio) / width), stressed = logistic((ratio - high) / width);
  return {quiet, std::max(0.0, 1 - quiet - stressed), stressed};
}

double RegimeModel::multiplier(double ratio) const {
  const auto p = probabilities(ratio);
  return p[0] * kMultipliers[0] + p[1] * kMultipliers[1] + p[2] * kMultipliers[2];
}

std::vector<BarLabels> bar_labels(const MarketTable& table) {
  constexpr double kClip = 5, kStill = 0.1;
  std::vector<BarLabels> out(table.close.size());
  for (std::size_t t = 0; t + 1 < out.size(); ++t) {
    if (!(table.atr[t] > 0)) continue;
    const double change = (table.close[t + 1] - table.close[t]) / table.atr[t];
    out[t].change = static_cast<float>(std::clamp(change, -kClip, kClip));
    out[t].direction = change < -kStill ? 0 : change > kStill ? 2 : 1;
    out[t].range = static_cast<float>((table.high[t + 1] - table.low[t + 1]) / table.atr[t]);
  }
  return out;
}

std::vector<double> relative_volatility(const MarketTable& table, Range train) {
  check_window(table, train, "the volatility scale");
  double mean = 0;
  for (auto t = train.begin; t < train.end; ++t)
    mean += table.volatility[static_cast<std::size_t>(t)] / static_cast<double>(train.size());
  std::vector<double> out(table.volatility.size(), 1.0);
  if (mean > 0)
    std::transform(table.volatility.begin(), table.volatility.end(), out.begin(), [&](double v) { return v / mean; });
  return out;
}

}  // namespace foxhunt::market
