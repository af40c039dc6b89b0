// Order-flow features of the real ES session, from the files' bytes to the numbers, computed a second time in plain
// loops over all records.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/market/features.h"
#include "engine/market/market_loader.h"
#include "tests/market/plain_decoder.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

using foxhunt::test::shared;

std::string file(const char* name) {
  return shared(std::string("data/es_derived/esh4_20231225.") + name + ".v3.dbn.zst").string();
}

struct Plain {
  std::vector<BookRecord> books, lasts;
  std::vector<TradeRecord> trades;

  Plain() {
    for (const auto& r : PlainDbn(unpacked(read_bytes(file("mbp-10")))).records) {
      const BookRecord book = plain_book(r);
      Checksum sum, before;  // of every field
      sum.book(book);
      if (!books.empty()) before.book(books.back());
      if (sum.hash == before.hash) continue;  // the same record twice
      books.push_back(book);
      if (r[30] & '\x80') lasts.push_back(book);
    }
    for (const auto& r : PlainDbn(unpacked(read_bytes(file("trades")))).records) trades.push_back(plain_trade(r));
  }
};

bool two_sided(const BookRecord& r) {
  const Level& top = r.levels[0];
  return top.bid_price != kUndefinedPrice && top.ask_price != kUndefinedPrice && top.ask_price > top.bid_price;
}

double in_points(Price price) {
  return static_cast<double>(price) * 1e-9;
}

double imbalance_change(const BookRecord& before, const BookRecord& after, std::size_t level) {
  const Level &a = before.levels[level], &b = after.levels[level];
  const double none = 1e30;
  const double pb0 = a.bid_price == kUndefinedPrice ? -none : in_points(a.bid_price);
  const double pb1 = b.bid_price == kUndefinedPrice ? -none : in_points(b.bid_price);
  const double pa0 = a.ask_price == kUndefinedPrice ? none : in_points(a.ask_price);
  const double pa1 = b.ask_price == kUndefinedPrice ? none : in_points(b.ask_price);
  double e = 0;
  if (pb1 >= pb0) e += b.bid_size;
  if (pb1 <= pb0) e -= a.bid_size;
  if (pa1 <= pa0) e -= b.ask_size;
  if (pa1 >= pa0) e += a.ask_size;
  return e;
}

TEST(OrderFlowReal, FeaturesEqualPlainLoopsOverTheRecords) {
  FH_NEEDS_SHARED("data/es_derived");
  DataConfig config;
  config.ohlcv = {file("ohlcv-1m")};
  config.mbp10 = {file("mbp-10")};
  config.trades = {file("trades")};
  const MarketTable table = load_market(config);
  ASSERT_EQ(table.rows(), 60);
  const Plain plain;
  for (std::size_t t = 0; t < 60; ++t) {
    SCOPED_TRACE("bar " + std::to_string(t));
    const Time begin = t == 0 ? table.open_time[0] : table.close_time[t - 1], end = table.close_time[t];
    const auto inside = [&](Time time) { return time >= begin && time < end; };
    double ofi[10] = {}, depth = 0, states = 0, variation = 0, last_mid = std::nan("");
    double weight = 0, queue = 0, spread = 0;
    const BookRecord* close = nullptr;
    for (std::size_t i = 0; i < plain.lasts.size(); ++i) {
      const BookRecord& r = plain.lasts[i];
      if (r.ts_recv < end) close = &r;
      const double mid =
          two_sided(r) ? (in_points(r.levels[0].bid_price) + in_points(r.levels[0].ask_price)) / 2 : std::nan("");
      if (inside(r.ts_recv)) {
        for (std::size_t k = 0; k < 10 && i > 0; ++k) ofi[k] += imbalance_change(plain.lasts[i - 1], r, k);
        if (two_sided(r)) {
          if (!std::isnan(last_mid)) variation += (mid - last_mid) * (mid - last_mid);
          for (const Level& level : r.levels) depth += (static_cast<double>(level.bid_size) + level.ask_size) / 20;
          ++states;
        }
      }
      if (two_sided(r)) last_mid = mid;
      // The state holds until the next event's end.
      const Time from = std::max(begin, r.ts_recv);
      const Time until = std::min(end, i + 1 < plain.lasts.size() ? plain.lasts[i + 1].ts_recv : end);
      if (until <= from || !two_sided(r)) continue;
      const double span = static_cast<double>(until - from), qb = r.levels[0].bid_size, qa = r.levels[0].ask_size;
      weight += span;
      queue += span * (qb - qa) / (qb + qa);
      spread += span * (in_points(r.levels[0].ask_price) - in_points(r.levels[0].bid_price));
    }
    double adds = 0, cancels = 0, modifies = 0;
    for (const BookRecord& r : plain.books) {
      if (!inside(r.ts_recv)) continue;
      adds += r.action == Action::add;
      cancels += r.action == Action::cancel;
      modifies += r.action == Action::modify;
    }
    double volume = 0, buys = 0, count = 0, largest = 0, money = 0;
    bool signed_all = true;  // the opening cross has no aggressor
    for (const TradeRecord& r : plain.trades) {
      if (!inside(r.ts_recv)) continue;
      volume += r.size;
      signed_all = signed_all && r.side != Side::none;
      buys += r.side == Side::bid ? r.size : 0;
      ++count;
      largest = std::max(largest, r.size);
      money += r.size * in_points(r.price);
    }
    const float* row = table.features.data() + t * kMarketFeatures;
    const auto expect = [row](int feature, double want) {
      EXPECT_NEAR(row[feature], want, 1e-5 * std::max(1.0, std::abs(want)))
          << market_features()[static_cast<std::size_t>(feature)].name;
    };
    double total = 0;
    for (int k = 0; k < 10; ++k) {
      expect(f_ofi_1 + k, ofi[k]);
      total += ofi[k] / 10;
    }
    expect(f_integrated_ofi, states > 0 ? total / (depth / states) : 0);
    expect(f_queue_imbalance_mean, weight > 0 ? queue / weight : 0);
    expect(f_spread_mean, weight > 0 ? spread / weight : 0);
    expect(f_mid_volatility, std::sqrt(variation));
    expect(f_cancel_share, adds + cancels + modifies > 0 ? cancels / (adds + cancels + modifies) : 0);
    EXPECT_TRUE(signed_all || t == 0);
    if (signed_all) expect(f_trade_imbalance, volume > 0 ? (2 * buys - volume) / volume : 0);
    expect(f_log_trade_volume, std::log(1 + volume));
    expect(f_log_trade_count, std::log(1 + count));
    expect(f_largest_trade_share, volume > 0 ? largest / volume : 0);
    if (volume > 0) {
      expect(f_vwap_close, (money / volume - table.close[t]) / table.atr[t]);
    }
    ASSERT_NE(close, nullptr);
    expect(f_book_present, two_sided(*close) ? 1 : 0);
    if (two_sided(*close)) {
      const Level& top = close->levels[0];
      expect(f_queue_imbalance,
             (static_cast<double>(top.bid_size) - top.ask_size) / (static_cast<double>(top.bid_size) + top.ask_size));
      expect(f_spread, in_points(top.ask_price) - in_points(top.bid_price));
    }
  }
}

}  // namespace
}  // namespace foxhunt::market::test
