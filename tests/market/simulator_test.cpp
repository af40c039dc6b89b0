// The simulated market: legal records, the same for the same seed, and order flow that tells of later prices with edge
// 1 and of nothing with edge 0, by a regression and a trading rule written here.
#include "engine/market/simulator.h"

#include "engine/market/features.h"
#include "engine/market/folds.h"
#include "tests/market/market_fixture.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

constexpr std::int64_t kHorizon = 5;
constexpr std::size_t kColumns = 33;  // the 32 order-flow features and 1

MarketTable market(std::uint64_t seed, double edge) {
  DataConfig config;
  config.simulated = SimulatedConfig{20'000, seed, edge};
  return load_market(config);
}

// Ridge regression (a hair of it: some features are exactly collinear) of the change over the next five bars on the
// order-flow features, standardised over the rows that it is fitted on.
class Regression {
 public:
  Regression(const MarketTable& table, Range fit) : table_(table) {
    for (std::size_t j = 0; j + 1 < kColumns; ++j) {
      double sum = 0, squares = 0;
      for (auto t = fit.begin; t < fit.end; ++t) {
        sum += raw(t, j);
        squares += raw(t, j) * raw(t, j);
      }
      const double n = static_cast<double>(fit.size());
      mean_[j] = sum / n;
      scale_[j] = std::sqrt(std::max(0.0, squares / n - mean_[j] * mean_[j]));
    }
    std::array<std::array<double, kColumns + 1>, kColumns> system{};
    for (auto t = fit.begin; t + kHorizon < fit.end; ++t) {
      const auto x = row(t);
      for (std::size_t i = 0; i < kColumns; ++i) {
        for (std::size_t j = 0; j < kColumns; ++j) system[i][j] += x[i] * x[j];
        system[i][kColumns] += x[i] * change(t);
      }
    }
    for (std::size_t i = 0; i < kColumns; ++i) system[i][i] += 1;
    for (std::size_t i = 0; i < kColumns; ++i) {  // positive definite: no pivoting
      for (std::size_t r = 0; r < kColumns; ++r) {
        if (r == i) continue;
        const double factor = system[r][i] / system[i][i];
        for (std::size_t c = i; c <= kColumns; ++c) system[r][c] -= factor * system[i][c];
      }
    }
    for (std::size_t i = 0; i < kColumns; ++i) weight_[i] = system[i][kColumns] / system[i][i];
  }

  double predict(std::int64_t t) const {
    const auto x = row(t);
    double out = 0;
    for (std::size_t i = 0; i < kColumns; ++i) out += weight_[i] * x[i];
    return out;
  }

  double r_squared(Range test) const {
    double residual = 0, total = 0;
    for (auto t = test.begin; t + kHorizon < test.end; ++t) {
      residual += std::pow(change(t) - predict(t), 2);
      total += change(t) * change(t);
    }
    return 1 - residual / total;
  }

 private:
  double close(std::int64_t t) const { return table_.close[static_cast<std::size_t>(t)]; }
  double change(std::int64_t t) const { return close(t + kHorizon) - close(t); }
  double raw(std::int64_t t, std::size_t j) const {
    return table_.features[static_cast<std::size_t>(t) * kMarketFeatures + static_cast<std::size_t>(f_ofi_1) + j];
  }
  std::array<double, kColumns> row(std::int64_t t) const {
    std::array<double, kColumns> x{};
    for (std::size_t j = 0; j + 1 < kColumns; ++j) {
      x[j] = scale_[j] > 1e-9 ? std::clamp((raw(t, j) - mean_[j]) / scale_[j], -5.0, 5.0) : 0;
    }
    x[kColumns - 1] = 1;
    return x;
  }

  const MarketTable& table_;
  std::array<double, kColumns> mean_{}, scale_{}, weight_{};
};

// Net dollars of one ES lot: long or short while the signal is beyond the threshold, out when it changes sign; filled
// at the next open, paying half a tick and $2.00 a side.
double profit(const MarketTable& table, Range rows, double threshold,
              const std::function<double(std::int64_t)>& signal) {
  double position = 0, out = 0;
  for (auto t = rows.begin; t + 1 < rows.end; ++t) {
    const auto i = static_cast<std::size_t>(t);
    const double s = signal(t);
    const double wanted = s > threshold ? 1 : s < -threshold ? -1 : s * position < 0 ? 0 : position;
    out +=
        50 * position * (table.open[i + 1] - table.close[i]) + 50 * wanted * (table.close[i + 1] - table.open[i + 1]);
    out -= 8.25 * std::abs(wanted - position);
    position = wanted;
  }
  return out - 8.25 * std::abs(position);
}

// Integrated order-flow imbalance over the last eight bars, in its own deviations over `rows`.
std::function<double(std::int64_t)> recent_imbalance(const MarketTable& table, Range rows) {
  const auto sum = [&table](std::int64_t t) {
    double out = 0;
    for (std::int64_t i = t - 7; i <= t; ++i)
      out += table.features[static_cast<std::size_t>(i) * kMarketFeatures + f_integrated_ofi];
    return out;
  };
  double squares = 0;
  for (auto t = rows.begin; t < rows.end; ++t) squares += sum(t) * sum(t);
  return
      [sum, scale = std::sqrt(squares / static_cast<double>(rows.size()))](std::int64_t t) { return sum(t) / scale; };
}

constexpr Range kFit{200, 12'000}, kTest{12'200, 20'000};

}  // namespace

TEST(Simulator, OrderFlowTellsOfLaterPrices) {
  for (const std::uint64_t seed : {1U, 2U}) {
    const auto table = market(seed, 1);
    const Regression regression(table, kFit);
    EXPECT_GT(regression.r_squared(kTest), 0.05) << "seed " << seed;
    EXPECT_LT(regression.r_squared(kTest), 0.16) << "seed " << seed;
    EXPECT_GT(profit(table, kTest, 0.8, [&](std::int64_t t) { return regression.predict(t); }), 20'000)
        << "seed " << seed;
    EXPECT_GT(profit(table, kTest, 1.0, recent_imbalance(table, kFit)), 5'000) << "seed " << seed;
  }
}

TEST(Simulator, WithoutEdgeOrderFlowTellsNothing) {
  for (const std::uint64_t seed : {1U, 2U}) {
    const auto table = market(seed, 0);
    const Regression regression(table, kFit);
    EXPECT_LT(regression.r_squared(kTest), 0.01) << "seed " << seed;
    EXPECT_LT(profit(table, kTest, 1.0, recent_imbalance(table, kFit)), 5'000) << "seed " << seed;
    EXPECT_LT(profit(table, kTest, 0.3, [&](std::int64_t t) { return regression.predict(t); }), 10'000)
        << "seed " << seed;
  }
}

TEST(Simulator, OrderFlowMovesPriceWithinTheBar) {
  // Changes of price and imbalance of the same bar go together, edge or not: the market moves by emptied queues only.
  for (const double edge : {0.0, 1.0}) {
    const auto table = market(3, edge);
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t t = 1; t < static_cast<std::size_t>(table.rows()); ++t) {
      const double x = table.features[t * kMarketFeatures + f_integrated_ofi], y = table.close[t] - table.close[t - 1];
      xy += x * y;
      xx += x * x;
      yy += y * y;
    }
    EXPECT_GT(xy / std::sqrt(xx * yy), 0.8);
  }
}

TEST(Simulator, HoldingEarnsNothingInExpectation) {
  // Net changes of 30 markets of 1,500 bars: their mean within three standard errors of 0.
  double sum = 0, squares = 0;
  constexpr int kMarkets = 30;
  for (std::uint64_t seed = 100; seed < 100 + kMarkets; ++seed) {
    const auto records = [&] {
      struct Bars final : RecordSink {
        Price first = 0, last = 0;
        void bar(const BarRecord& r) override {
          if (first == 0) first = r.open;
          last = r.close;
        }
      } bars;
      simulate_records({1500, seed, 1.0}, bars);
      return bars;
    }();
    const double change = static_cast<double>(records.last - records.first) / 1e9;
    sum += change;
    squares += change * change;
  }
  const double mean = sum / kMarkets, deviation = std::sqrt(squares / kMarkets - mean * mean);
  EXPECT_LT(std::abs(mean), 3 * deviation / std::sqrt(kMarkets));
  EXPECT_GT(deviation, 10);
}

TEST(Simulator, RecordsAreLegal) {
  const auto records = simulated(3000, 17);
  ASSERT_EQ(records.bars.size(), 3000U);
  for (std::size_t i = 0; i < records.bars.size(); ++i) {
    const BarRecord& b = records.bars[i];
    ASSERT_EQ(b.close_time - b.open_time, kSimulatedInterval);
    if (i > 0) {
      ASSERT_GE(b.open_time, records.bars[i - 1].close_time);
    }
    ASSERT_GE(b.high, std::max(b.open, b.close));
    ASSERT_LE(b.low, std::min(b.open, b.close));
    ASSERT_GT(b.volume, 0);
    for (Price p : {b.open, b.high, b.low, b.close}) ASSERT_EQ(p % 250'000'000, 0);
  }
  std::int64_t states = 0, narrow = 0;
  Time before = 0;
  for (const BookRecord& r : records.books) {
    ASSERT_GE(r.ts_recv, before);
    before = r.ts_recv;
    if (!r.last()) continue;
    ++states;
    narrow += r.levels[0].ask_price - r.levels[0].bid_price == 250'000'000;
    for (std::size_t i = 0; i < kBookLevels; ++i) {
      ASSERT_GT(r.levels[i].bid_size, 0U);
      ASSERT_GT(r.levels[i].ask_size, 0U);
      ASSERT_LT(r.levels[i].bid_price, r.levels[0].ask_price);
      if (i > 0) {
        ASSERT_EQ(r.levels[i - 1].bid_price - r.levels[i].bid_price, 250'000'000);
        ASSERT_EQ(r.levels[i].ask_price - r.levels[i - 1].ask_price, 250'000'000);
      }
    }
  }
  EXPECT_GT(narrow, states * 9 / 10);
  EXPECT_GT(states, 3000 * 20);
  EXPECT_LT(states, 3000 * 45);
}

TEST(Simulator, TradesMakeTheBarsAndPrintAtTheQuote) {
  const auto records = simulated(500, 23);
  std::size_t i = 0;
  for (const BarRecord& b : records.bars) {
    ASSERT_LT(i, records.trades.size());
    EXPECT_EQ(records.trades[i].price, b.open);
    double volume = 0;
    Price high = records.trades[i].price, low = high, close = high;
    for (; i < records.trades.size() && records.trades[i].ts_recv < b.close_time; ++i) {
      volume += records.trades[i].size;
      high = std::max(high, records.trades[i].price);
      low = std::min(low, records.trades[i].price);
      close = records.trades[i].price;
    }
    EXPECT_EQ(volume, b.volume);
    EXPECT_EQ(high, b.high);
    EXPECT_EQ(low, b.low);
    EXPECT_EQ(close, b.close);
  }
  EXPECT_EQ(i, records.trades.size());
  // A trade record of the book carries the book before its fill.
  for (const BookRecord& r : records.books) {
    if (r.action == Action::trade) {
      ASSERT_EQ(r.price, r.side == Side::bid ? r.levels[0].ask_price : r.levels[0].bid_price);
    }
  }
}

TEST(Simulator, SameSeedSameMarket) {
  const auto a = simulated(200, 5), b = simulated(200, 5), c = simulated(200, 6), longer = simulated(300, 5);
  ASSERT_EQ(a.books.size(), b.books.size());
  for (std::size_t i = 0; i < a.books.size(); ++i) {
    ASSERT_EQ(a.books[i].ts_recv, b.books[i].ts_recv);
    ASSERT_EQ(a.books[i].levels[3].ask_size, b.books[i].levels[3].ask_size);
  }
  EXPECT_NE(a.books.size(), c.books.size());
  for (std::size_t i = 0; i < a.bars.size(); ++i) ASSERT_EQ(a.bars[i].close, longer.bars[i].close);
}

TEST(Simulator, RefusesWhatItCannotMake) {
  Records sink;
  EXPECT_EQ(error_of([&] { simulate_records({0, 1, 1}, sink); }).place().field, "data.simulated.bars");
  for (const double edge : {-0.1, 4.1, std::nan("")}) {
    EXPECT_EQ(error_of([&] { simulate_records({10, 1, edge}, sink); }).place().field, "data.simulated.edge");
  }
  EXPECT_TRUE(sink.bars.empty());
}

}  // namespace foxhunt::market::test
