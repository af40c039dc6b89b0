// The data panel's series against sums over the table's own rows.
#include "engine/market/data_preview.h"

#include <gtest/gtest.h>

#include "engine/market/features.h"
#include "engine/market/market_loader.h"

namespace foxhunt::market::test {
namespace {

const MarketTable& simulated() {
  static const MarketTable table = [] {
    DataConfig config;
    config.simulated = SimulatedConfig{1000, 3, 1.0};
    return load_market(config);
  }();
  return table;
}

TEST(DataPreview, BucketsHoldEveryBarOnce) {
  const MarketTable& table = simulated();
  for (const std::size_t most : {1U, 7U, 250U, 999U, 5000U}) {
    const DataPreview p = preview_of(table, most);
    ASSERT_LE(p.buckets.size(), most);
    std::int64_t next = 0;
    double volume = 0, flow = 0;
    for (const PreviewBucket& b : p.buckets) {
      ASSERT_EQ(b.first_row, next);
      const auto first = static_cast<std::size_t>(b.first_row), last = first + static_cast<std::size_t>(b.rows) - 1;
      double high = -1e300, low = 1e300, spread = 0, books = 0;
      for (std::size_t t = first; t <= last; ++t) {
        high = std::max(high, table.high[t]);
        low = std::min(low, table.low[t]);
        const float* row = table.features.data() + t * kMarketFeatures;
        for (int k = 40; k < 50; ++k) flow += row[k];
        if (row[71] == 1) spread += row[56], books += 1;
      }
      EXPECT_EQ(b.open, table.open[first]);
      EXPECT_EQ(b.close, table.close[last]);
      EXPECT_EQ(b.high, high);
      EXPECT_EQ(b.low, low);
      EXPECT_EQ(b.open_time, table.open_time[first]);
      EXPECT_EQ(b.close_time, table.close_time[last]);
      EXPECT_NEAR(b.spread, books > 0 ? spread / books : 0, 1e-9);
      volume += b.volume;
      flow -= b.order_flow;
      next += b.rows;
    }
    EXPECT_EQ(next, table.rows());
    double total = 0;
    for (const double v : table.volume) total += v;
    EXPECT_NEAR(volume, total, 1e-6);
    EXPECT_NEAR(flow, 0, 1e-3);
  }
  EXPECT_EQ(market_features()[56].name, "spread");
}

TEST(DataPreview, CarriesTheReportAndAnEmptyTable) {
  const DataPreview p = preview_of(simulated(), 100);
  EXPECT_TRUE(p.simulated && p.order_flow);
  EXPECT_EQ(p.report.inferred, simulated().report.inferred);
  EXPECT_EQ(p.rows, 1000);
  const DataPreview none = preview_of(MarketTable{}, 10);
  EXPECT_TRUE(none.buckets.empty());
  EXPECT_EQ(none.rows, 0);
}

}  // namespace
}  // namespace foxhunt::market::test
