// Regimes, reward multiplier, labels, relative volatility.
#include "engine/market/regime.h"

#include <algorithm>

#include "engine/market/feature_table.h"
#include "tests/market/market_fixture.h"

namespace foxhunt::market::test {
namespace {

MarketTable table_of(std::uint32_t seed) {
  MarketTable table = odd_table(400, seed, 100);
  build_features(table, {});
  return table;
}

}  // namespace

TEST(Regime, TertilesOfTheTrainingWindowOnly) {
  MarketTable table = table_of(3);
  const Range train{113, 313};
  const auto model = RegimeModel::fit(table, train);
  int low = 0, high = 0;
  for (auto t = train.begin; t < train.end; ++t) {
    low += table.volatility_ratio[static_cast<std::size_t>(t)] < model.low;
    high += table.volatility_ratio[static_cast<std::size_t>(t)] >= model.high;
  }
  EXPECT_NEAR(low, 67, 2);
  EXPECT_NEAR(high, 67, 2);
  for (std::size_t t = 0; t < 400; ++t) {
    if (!train.contains(static_cast<std::int64_t>(t))) table.volatility_ratio[t] = 50;
  }
  const auto again = RegimeModel::fit(table, train);
  EXPECT_EQ(model.low, again.low);
  EXPECT_EQ(model.high, again.high);
}

TEST(Regime, ProbabilitiesAndMultiplier) {
  RegimeModel model;
  model.low = 0.8;
  model.high = 1.2;
  model.width = 0.1;
  double before = 0;
  for (double ratio = 0; ratio < 3; ratio += 0.05) {
    const auto p = model.probabilities(ratio);
    const double quiet = 1 / (1 + std::exp((ratio - 0.8) / 0.1)), stressed = 1 / (1 + std::exp((1.2 - ratio) / 0.1));
    EXPECT_NEAR(p[0], quiet, 1e-12);
    EXPECT_NEAR(p[2], stressed, 1e-12);
    EXPECT_NEAR(p[0] + p[1] + p[2], 1, 1e-12);
    EXPECT_GE(p[1], 0);
    EXPECT_NEAR(model.multiplier(ratio), 0.75 * quiet + (1 - quiet - stressed) + 1.5 * stressed, 1e-12);
    EXPECT_GT(model.multiplier(ratio), before);
    before = model.multiplier(ratio);
  }
  EXPECT_NEAR(model.multiplier(0), 0.75, 1e-3);
  EXPECT_NEAR(model.multiplier(3), 1.5, 1e-3);
  EXPECT_GT(model.probabilities(1)[1], 0.7);
}

TEST(Regime, OfAFlatMarketStaysDefined) {
  MarketTable table = table_of(4);
  std::fill(table.volatility_ratio.begin(), table.volatility_ratio.end(), 1.0);
  const auto p = RegimeModel::fit(table, {0, 400}).probabilities(1);
  EXPECT_NEAR(p[0] + p[1] + p[2], 1, 1e-12);
  EXPECT_TRUE(says(error_of([&] { RegimeModel::fit(table, {0, 401}); }), "rows 0 to 401 of 400"));
}

TEST(Regime, LabelsLookOneBarAhead) {
  MarketTable table = table_of(5);
  table.atr[20] = 0;
  table.close[31] = table.close[30] + 9 * table.atr[30];
  table.close[41] = table.close[40] - 0.1001 * table.atr[40];
  table.close[51] = table.close[50] + 0.0999 * table.atr[50];
  const auto labels = bar_labels(table);
  ASSERT_EQ(labels.size(), 400U);
  for (std::size_t t = 0; t + 1 < 400; ++t) {
    if (t == 20) continue;
    const double change = (table.close[t + 1] - table.close[t]) / table.atr[t];
    EXPECT_NEAR(labels[t].change, std::max(-5.0, std::min(5.0, change)), 1e-6);
    EXPECT_EQ(labels[t].direction, change < -0.1 ? 0 : change > 0.1 ? 2 : 1);
    EXPECT_NEAR(labels[t].range, (table.high[t + 1] - table.low[t + 1]) / table.atr[t], 1e-5);
  }
  EXPECT_EQ(labels[30].change, 5);
  EXPECT_EQ(labels[40].direction, 0);
  EXPECT_EQ(labels[50].direction, 1);
  for (const std::size_t none : {20U, 399U}) {
    EXPECT_EQ(labels[none].change, 0);
    EXPECT_EQ(labels[none].direction, 1);
    EXPECT_EQ(labels[none].range, 0);
  }
}

TEST(Regime, RelativeVolatilityHasMeanOneInTraining) {
  MarketTable table = table_of(6);
  const auto sigma = relative_volatility(table, {150, 350});
  double mean = 0;
  for (std::size_t t = 150; t < 350; ++t) mean += sigma[t] / 200;
  EXPECT_NEAR(mean, 1, 1e-9);
  EXPECT_NEAR(sigma[360] / sigma[200], table.volatility[360] / table.volatility[200], 1e-9);
  std::fill(table.volatility.begin(), table.volatility.end(), 0.0);
  EXPECT_EQ(relative_volatility(table, {150, 350})[7], 1);
}

}  // namespace foxhunt::market::test
