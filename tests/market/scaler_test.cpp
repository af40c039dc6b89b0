// The feature scaler: fitted on the training window alone, robust, clipped.
#include "engine/market/scaler.h"

#include <algorithm>

#include "engine/market/feature_table.h"
#include "tests/market/market_fixture.h"

namespace foxhunt::market::test {
namespace {

MarketTable noise(std::size_t rows, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  MarketTable table;
  table.close.assign(rows, 1.0);
  for (std::size_t i = 0; i < rows * kMarketFeatures; ++i) {
    const auto f = static_cast<float>(i % kMarketFeatures);
    table.features.push_back(10 * f + (1 + f) * normal(random));
  }
  return table;
}

}  // namespace

TEST(Scaler, MatchesWinsorisedMomentsOfTheWindow) {
  const MarketTable table = noise(1300, 3);
  const Range train{200, 1200};
  const auto scaler = FeatureScaler::fit(table, train);
  for (std::size_t f = 0; f < kMarketFeatures; ++f) {
    std::vector<double> x;
    for (std::int64_t t = train.begin; t < train.end; ++t)
      x.push_back(table.features[static_cast<std::size_t>(t) * kMarketFeatures + f]);
    auto sorted = x;
    std::sort(sorted.begin(), sorted.end());
    double mean = 0, variance = 0;
    for (double v : x) mean += std::clamp(v, sorted[5], sorted[994]) / 1000;
    for (double v : x) variance += std::pow(std::clamp(v, sorted[5], sorted[994]) - mean, 2) / 1000;
    EXPECT_NEAR(scaler.mean[f], mean, 1e-4);
    EXPECT_NEAR(scaler.scale[f], std::sqrt(variance), 1e-4 * std::sqrt(variance));
    EXPECT_NEAR(scaler.scale[f], 1.0 + static_cast<double>(f), 0.1 * (1.0 + static_cast<double>(f)));
  }
}

TEST(Scaler, ReadsTheTrainingWindowOnly) {
  MarketTable table = noise(400, 5);
  const Range train{100, 300};
  const auto before = FeatureScaler::fit(table, train);
  for (std::size_t i = 0; i < table.features.size(); ++i) {
    if (!train.contains(static_cast<std::int64_t>(i / kMarketFeatures))) table.features[i] = 1e8F;
  }
  const auto after = FeatureScaler::fit(table, train);
  EXPECT_EQ(before.mean, after.mean);
  EXPECT_EQ(before.scale, after.scale);
  table.features[299 * kMarketFeatures] += 50;
  table.features[100 * kMarketFeatures + 1] += 50;
  const auto changed = FeatureScaler::fit(table, train);
  EXPECT_NE(changed.mean[0], after.mean[0]);
  EXPECT_NE(changed.mean[1], after.mean[1]);
  EXPECT_EQ(changed.mean[2], after.mean[2]);
}

TEST(Scaler, OutliersDoNotFlattenTheRest) {
  MarketTable table = noise(1000, 7);
  for (std::size_t t = 0; t < 4; ++t) table.features[t * kMarketFeatures] = 1e6F;
  const auto scaler = FeatureScaler::fit(table, {0, 1000});
  EXPECT_NEAR(scaler.scale[0], 1.0, 0.1);
}

TEST(Scaler, ConstantFeaturesGiveZeroAndTheRestIsClipped) {
  MarketTable table = noise(500, 9);
  for (std::size_t t = 0; t < 500; ++t) {
    table.features[t * kMarketFeatures + 3] = 0.1F;
    table.features[t * kMarketFeatures + 4] = 1e9F;
  }
  table.features[450 * kMarketFeatures + 3] = 7;
  table.features[450 * kMarketFeatures + 5] = 1e9F;
  table.features[450 * kMarketFeatures + 6] = -1e9F;
  const auto scaler = FeatureScaler::fit(table, {0, 400});
  EXPECT_EQ(scaler.scale[3], 0);
  EXPECT_EQ(scaler.scale[4], 0);
  EXPECT_EQ(scaler.mean[3], 0.1F);
  const auto scaled = scaler.apply(table);
  EXPECT_EQ(scaled[450 * kMarketFeatures + 3], 0.0F);
  EXPECT_EQ(scaled[4], 0.0F);
  EXPECT_EQ(scaled[450 * kMarketFeatures + 5], 5.0F);
  EXPECT_EQ(scaled[450 * kMarketFeatures + 6], -5.0F);
  const std::size_t i = 123 * kMarketFeatures + 20;
  EXPECT_NEAR(scaled[i], (table.features[i] - scaler.mean[20]) / scaler.scale[20], 1e-6);
  std::array<float, kMarketFeatures> row;
  std::copy_n(table.features.begin() + 450 * kMarketFeatures, kMarketFeatures, row.begin());
  scaler.apply(row, row);
  EXPECT_TRUE(std::equal(row.begin(), row.end(), scaled.begin() + 450 * kMarketFeatures));
}

TEST(Scaler, RefusesAWindowOutsideTheTable) {
  const MarketTable table = noise(20, 1);
  EXPECT_TRUE(says(error_of([&] { FeatureScaler::fit(table, {5, 5}); }), "rows 5 to 5 of 20"));
  EXPECT_TRUE(says(error_of([&] { FeatureScaler::fit(table, {0, 21}); }), "of 20"));
  EXPECT_TRUE(says(error_of([&] { FeatureScaler::fit(table, {-1, 10}); }), "of 20"));
  EXPECT_EQ(FeatureScaler::fit(table, {3, 4}).scale[0], 0);
}

}  // namespace foxhunt::market::test
