// The bar table on the device against the market table.
#include "engine/environment/device_market.h"

#include "engine/base/error.h"
#include "tests/environment/test_market.h"

namespace foxhunt {
namespace {

TEST(DeviceMarket, HoldsEveryRowAndIsRefilled) {
  const std::int64_t rows = 20'000;  // several staging buffers
  const auto table = test::make_market(rows, 5);
  const auto device = test::cpu();
  const auto stream = device->create_stream();
  DeviceMarket market(*device, *stream, table);
  const auto copies = device->counters().copies;
  for (const market::Range train : {market::Range{100, 5000}, market::Range{9000, 15'000}}) {
    const FoldModel model = FoldModel::fit(table, train);
    market.load_fold(*stream, model);
    double sum = 0;
    for (auto t = train.begin; t < train.end; ++t) sum += table.volatility[static_cast<std::size_t>(t)];
    const double mean = sum / static_cast<double>(train.size());
    const auto n = static_cast<std::size_t>(rows);
    const auto prices = test::read_back(*device, market.bars().prices, n * 8);
    const auto book = test::read_back(*device, market.bars().book, n * 40);
    const auto levels = test::read_back(*device, market.bars().book_levels, n * 2);
    const auto features = test::read_back(*device, market.bars().features, n * 72);
    const auto labels = test::read_back(*device, market.bars().labels, n * 4);
    const auto regime = test::read_back(*device, market.bars().regime, n * 4);
    EXPECT_EQ(features, model.scaler.apply(table));
    for (std::size_t t = 0; t < n; ++t) {
      const double want[7] = {table.open[t],  table.high[t], table.low[t],
                              table.close[t], table.atr[t],  table.volatility[t] / mean,
                              table.volume[t]};
      for (std::size_t k = 0; k < 7; ++k) ASSERT_DOUBLE_EQ(prices[t * 8 + k], want[k]) << t;
      ASSERT_EQ(book[t * 40], table.book[t].bid_price[0]);
      ASSERT_EQ(book[t * 40 + 19], table.book[t].bid_size[9]);
      ASSERT_EQ(book[t * 40 + 20], table.book[t].ask_price[0]);
      ASSERT_EQ(book[t * 40 + 39], table.book[t].ask_size[9]);
      ASSERT_EQ(levels[t * 2], table.book[t].bid_levels);
      ASSERT_EQ(levels[t * 2 + 1], table.book[t].ask_levels);
      ASSERT_NEAR(regime[t * 4] + regime[t * 4 + 1] + regime[t * 4 + 2], 1, 1e-6);
      ASSERT_NEAR(labels[t * 4 + 3], 0.75 * regime[t * 4] + regime[t * 4 + 1] + 1.5 * regime[t * 4 + 2], 1e-6);
      const auto largest = static_cast<std::size_t>(regime[t * 4 + 3]);
      for (std::size_t k = 0; k < 3; ++k) ASSERT_LE(regime[t * 4 + k], regime[t * 4 + largest]);
      if (t + 1 < n) {
        const double change = std::clamp((table.close[t + 1] - table.close[t]) / table.atr[t], -5.0, 5.0);
        ASSERT_NEAR(labels[t * 4], change, 1e-6);
        ASSERT_EQ(labels[t * 4 + 1], change < -0.1 ? 0.0f : change > 0.1 ? 2.0f : 1.0f);
        ASSERT_NEAR(labels[t * 4 + 2], (table.high[t + 1] - table.low[t + 1]) / table.atr[t], 1e-5);
      }
    }
  }
  EXPECT_GT(device->counters().staging, 10u);
  EXPECT_EQ(device->counters().copies - copies, 12u);  // those of this test alone
}

TEST(DeviceMarket, BarsWithoutABook) {
  auto table = test::make_market(50, 6);
  table.book.clear();
  table.order_flow = false;
  const auto device = test::cpu();
  const auto stream = device->create_stream();
  DeviceMarket market(*device, *stream, table);
  market.load_fold(*stream, FoldModel::fit(table, {0, 50}));
  for (std::int32_t levels : test::read_back(*device, market.bars().book_levels, 100)) EXPECT_EQ(levels, 0);
}

TEST(DeviceMarket, TooSmallIsRefused) {
  const auto table = test::make_market(1, 6);
  const auto device = test::cpu();
  const auto stream = device->create_stream();
  EXPECT_THROW(DeviceMarket(*device, *stream, table), Error);
}

}  // namespace
}  // namespace foxhunt
