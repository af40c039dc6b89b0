// Order flow: the imbalance of single updates, what a bar owns, signing of trades, and the golden regression on real
// data.
#include "engine/market/order_flow.h"

#include "engine/market/file_reader.h"
#include "tests/market/market_fixture.h"
#include "tests/support/log_watch.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

// A book of one level a side around 100, or an empty side where a size is 0.
BookRecord state(Time time, double bid, std::uint32_t bid_size, double ask, std::uint32_t ask_size,
                 Action action = Action::add) {
  static std::uint32_t sequence = 0;
  BookRecord out;
  out.ts_event = out.ts_recv = time;
  out.action = action;
  out.flags = kFlagLast;
  out.sequence = ++sequence;
  if (bid_size) {
    out.levels[0].bid_price = price(bid);
    out.levels[0].bid_size = bid_size;
  }
  if (ask_size) {
    out.levels[0].ask_price = price(ask);
    out.levels[0].ask_size = ask_size;
  }
  return out;
}

TradeRecord trade(Time time, double at, double size, Side side, std::uint32_t sequence = 0) {
  TradeRecord out;
  out.ts_event = out.ts_recv = time;
  out.price = price(at);
  out.size = size;
  out.side = side;
  out.sequence = sequence;
  return out;
}

double ofi(const BookRecord& a, const BookRecord& b) {
  return order_flow_imbalance(a, b)[0];
}

// Two one-minute bars from 0 s and one more after a break of an hour.
struct Clock {
  std::vector<Time> open = {0, kMinute, 62 * kMinute}, close = {kMinute, 2 * kMinute, 63 * kMinute};
};

// R2 of the least-squares line of y on x.
double r_squared(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mx += x[i] / n;
    my += y[i] / n;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
    yy += (y[i] - my) * (y[i] - my);
  }
  return xy * xy / (xx * yy);
}

// Imbalance summed over 1, 5 and 10 levels and mid change in ticks, 23:00:01 to 24:00, in 360 buckets of 10 s from
// 23:00.
struct GoldenSink final : RecordSink {
  static constexpr Time kOpen = 1'703'545'200 * kSecond;
  std::optional<BookRecord> last;
  std::array<std::vector<double>, 3> imbalance{std::vector<double>(360), std::vector<double>(360),
                                               std::vector<double>(360)};
  std::vector<double> change = std::vector<double>(360);

  void book(const BookRecord& r) override {
    if (!r.last() || r.ts_recv < kOpen + kSecond || r.ts_recv >= kOpen + 3600 * kSecond) return;
    if (last) {
      const auto bucket = static_cast<std::size_t>((r.ts_recv - kOpen) / (10 * kSecond));
      const auto e = order_flow_imbalance(*last, r);
      for (std::size_t level = 0; level < 10; ++level) {
        if (level < 1) imbalance[0][bucket] += e[level];
        if (level < 5) imbalance[1][bucket] += e[level];
        imbalance[2][bucket] += e[level];
      }
      change[bucket] += (mid_price(r) - mid_price(*last)) / 0.25;
    }
    last = r;
  }
};

}  // namespace

TEST(OrderFlow, ImbalanceOfSingleUpdates) {
  const auto base = state(0, 100, 10, 100.25, 20);
  EXPECT_EQ(ofi(base, state(0, 100, 13, 100.25, 20)), 3);       // a bid grows
  EXPECT_EQ(ofi(base, state(0, 100, 4, 100.25, 20)), -6);       // a bid shrinks
  EXPECT_EQ(ofi(base, state(0, 100, 10, 100.25, 26)), -6);      // an ask grows
  EXPECT_EQ(ofi(base, state(0, 100, 10, 100.25, 5)), 15);       // an ask shrinks
  EXPECT_EQ(ofi(base, state(0, 100.25, 7, 100.5, 9)), 7 + 20);  // both prices up: the new bid and the old ask
  EXPECT_EQ(ofi(base, state(0, 99.75, 8, 100, 6)), -10 - 6);    // both down: the old bid and the new ask
  EXPECT_EQ(ofi(base, state(0, 100, 10, 100.25, 0)), 20);       // the asks vanish
  EXPECT_EQ(ofi(base, state(0, 100, 0, 100.25, 20)), -10);      // the bids vanish
  EXPECT_EQ(ofi(state(0, 100, 0, 100.25, 0), base), 10 - 20);   // both come
  EXPECT_EQ(ofi(state(0, -0.25, 5, 0, 5), state(0, 0, 3, 0.25, 2)), 3 + 5);  // through zero
}

TEST(OrderFlow, BarsOwnRecordsBeforeTheirClose) {
  const Clock clock;
  DataReport report;
  OrderFlow flow(clock.open, clock.close, report);
  flow.book(state(0, 100, 10, 100.25, 10));
  flow.trade(trade(1, 100.25, 2, Side::bid));
  flow.book(state(kMinute - 1, 100, 15, 100.25, 10));  // the first bar's last moment: +5
  flow.trade(trade(kMinute - 1, 100.25, 3, Side::bid));
  flow.book(state(kMinute, 100, 17, 100.25, 10));  // belongs to the second: +2
  flow.trade(trade(kMinute, 100, 4, Side::ask));
  flow.book(state(30 * kMinute, 100, 40, 100.25, 10));  // in the break: nobody's, but the state moves on
  flow.trade(trade(30 * kMinute, 100, 50, Side::ask));
  flow.book(state(62 * kMinute + 5, 100, 41, 100.25, 10));
  flow.finish();
  ASSERT_EQ(flow.flows().size(), 3U);
  EXPECT_EQ(flow.flows()[0].ofi[0], 5);
  EXPECT_EQ(flow.flows()[0].buy_volume, 5);
  EXPECT_EQ(flow.flows()[1].ofi[0], 2);
  EXPECT_EQ(flow.flows()[1].sell_volume, 4);
  EXPECT_EQ(flow.flows()[2].ofi[0], 1);
  EXPECT_EQ(flow.flows()[2].volume, 0);
  EXPECT_EQ(flow.books()[0].bid_size[0], 15);
  EXPECT_EQ(flow.books()[1].bid_size[0], 17);
  EXPECT_EQ(flow.books()[2].bid_size[0], 41);
}

TEST(OrderFlow, TimeWeightedMeansAndVariation) {
  const std::vector<Time> open = {0}, close = {100};
  DataReport report;
  OrderFlow flow(open, close, report);
  flow.book(state(20, 100, 30, 100.25, 10));  // 20 to 50: imbalance 0.5, spread 0.25
  flow.book(state(50, 100, 10, 100.5, 10));   // 50 to 60: 0, 0.5
  flow.book(state(60, 100, 10, 100.5, 0));    // one-sided until 80: no weight
  flow.book(state(80, 100, 10, 101, 30));     // 80 to 100: -0.5, 1
  flow.finish();
  const BarFlow& bar = flow.flows()[0];
  EXPECT_NEAR(bar.queue_imbalance, (30 * 0.5 + 10 * 0 + 20 * -0.5) / 60, 1e-12);
  EXPECT_NEAR(bar.spread, (30 * 0.25 + 10 * 0.5 + 20 * 1.0) / 60, 1e-12);
  EXPECT_NEAR(bar.mid_variation, 0.125 * 0.125 + 0.25 * 0.25, 1e-12);
  EXPECT_NEAR(bar.level_depth, (20 + 10 + 20) / 3.0 / 10, 1e-12);
  EXPECT_EQ(bar.book_adds, 4);
}

TEST(OrderFlow, BookIsReadOnlyAtLast) {
  const std::vector<Time> open = {0}, close = {100};
  DataReport report;
  OrderFlow flow(open, close, report);
  flow.book(state(10, 100, 10, 100.25, 10));
  auto between = state(20, 100, 500, 100.25, 10, Action::cancel);
  between.flags = 0;
  flow.book(between);
  flow.book(state(20, 100, 12, 100.25, 10, Action::modify));
  flow.finish();
  EXPECT_EQ(flow.flows()[0].ofi[0], 2);
  EXPECT_EQ(flow.flows()[0].book_cancels, 1);
  EXPECT_EQ(flow.flows()[0].book_modifies, 1);
}

TEST(OrderFlow, UnsignedTradesByQuoteThenTick) {
  const std::vector<Time> open = {0}, close = {100};
  DataReport report;
  OrderFlow flow(open, close, report);
  flow.trade(trade(1, 100, 1, Side::none));      // neither quote nor earlier price: unsigned
  flow.trade(trade(2, 100.25, 2, Side::none));   // up tick: bought
  flow.trade(trade(3, 100.25, 4, Side::none));   // as before
  flow.book(state(4, 100, 1, 100.5, 1));         // mid 100.25
  flow.trade(trade(5, 100, 8, Side::none));      // below the mid: sold
  flow.trade(trade(6, 100.25, 16, Side::none));  // at the mid: up tick, bought
  flow.trade(trade(7, 100.5, 32, Side::none));   // above: bought
  flow.finish();
  EXPECT_EQ(flow.flows()[0].buy_volume, 2 + 4 + 16 + 32);
  EXPECT_EQ(flow.flows()[0].sell_volume, 8);
  EXPECT_EQ(flow.flows()[0].volume, 63);
  EXPECT_EQ(flow.flows()[0].trades, 6);
  EXPECT_EQ(flow.flows()[0].largest, 32);
  const double vwap = (100 * 1 + 100.25 * 6 + 100 * 8 + 100.25 * 16 + 100.5 * 32) / 63;
  EXPECT_NEAR(flow.flows()[0].first_price + flow.flows()[0].notional / 63, vwap, 1e-9);
}

TEST(OrderFlow, CleansAndCounts) {
  const Clock clock;
  DataReport report;
  OrderFlow flow(clock.open, clock.close, report);
  const auto first = state(10, 100, 10, 100.25, 10);
  flow.book(first);
  flow.book(first);  // duplicate
  flow.book(state(20, 100, 14, 100.25, 10));
  flow.book(state(15, 100, 90, 100.25, 10));  // older state
  flow.trade(trade(30, 100, 1, Side::ask, 5));
  flow.trade(trade(30, 100, 1, Side::ask, 5));  // repeated: kept
  flow.trade(trade(30, 100, 1, Side::ask));
  flow.trade(trade(30, 100, 1, Side::ask));     // without a sequence number nothing says that it is a repetition
  flow.trade(trade(25, 100, 1, Side::ask, 4));  // late, its bar is open
  flow.trade(trade(31, 100, 0, Side::ask, 6));  // no size
  flow.trade(trade(kMinute + 5, 100, 1, Side::ask, 7));
  flow.trade(trade(32, 100, 1, Side::ask, 8));  // its bar is closed
  flow.finish();
  EXPECT_EQ(flow.flows()[0].ofi[0], 4);
  EXPECT_EQ(flow.flows()[0].volume, 5);
  EXPECT_EQ(flow.flows()[1].volume, 1);
  EXPECT_EQ(report.anomalies["book_duplicate"].count, 1U);
  EXPECT_EQ(report.anomalies["book_out_of_order"].count, 1U);
  EXPECT_EQ(report.anomalies["trade_repeated"].count, 1U);
  EXPECT_EQ(report.anomalies["trade_out_of_order"].count, 2U);
  EXPECT_EQ(report.anomalies["trade_without_price"].count, 1U);
  EXPECT_EQ(report.anomalies["trade_out_of_order"].examples.size(), 2U);
}

TEST(OrderFlow, OddBooksAreLegal) {
  const Clock clock;
  DataReport report;
  OrderFlow flow(clock.open, clock.close, report);
  flow.book(state(10, 100, 10, 100.25, 0));  // one-sided
  flow.book(state(20, 101, 10, 100, 10));    // crossed
  flow.book(state(30, 0, 0, 0, 0, Action::clear));
  flow.finish();
  EXPECT_EQ(flow.flows()[0].spread, 0);
  EXPECT_EQ(flow.flows()[0].mid_variation, 0);
  EXPECT_EQ(flow.books()[0].bid_levels, 0);
  EXPECT_EQ(flow.books()[2].ask_levels, 0);
}

// One event: the touch moves first, then the trade prints, and only the last record ends it. The trade is at the ask of
// its own record, not at that of the event before.
TEST(OrderFlow, AggressorsAreMeasuredAgainstTheBookInsideTheirEvent) {
  Clock clock;
  DataReport report;
  OrderFlow flow(clock.open, clock.close, report);
  flow.book(state(1 * kSecond, 99, 5, 101, 5));
  BookRecord moved = state(2 * kSecond, 99, 5, 100, 3), print = state(2 * kSecond, 99, 5, 100, 3, Action::trade);
  moved.flags = print.flags = 0;
  print.side = Side::bid;
  print.price = price(100);
  flow.book(moved);
  flow.trade(trade(2 * kSecond, 100, 3, Side::bid, print.sequence));
  flow.book(print);
  flow.book(state(2 * kSecond, 99, 5, 101, 5, Action::cancel));
  // The last trade of the files has no book record after it.
  flow.trade(trade(3 * kSecond, 99, 1, Side::ask));
  flow.finish();
  EXPECT_EQ(flow.aggressors().buys(), 1U);
  EXPECT_EQ(flow.aggressors().buys_at_ask(), 1U);
  EXPECT_EQ(flow.aggressors().sells(), 1U);
  EXPECT_EQ(flow.aggressors().sells_at_bid(), 1U);
}

TEST(OrderFlow, WarnsWhenSidesLookReversed) {
  const std::vector<Time> open = {0}, close = {1000};
  DataReport report;
  OrderFlow flow(open, close, report);
  flow.book(state(0, 100, 10, 100.25, 10));
  for (std::uint32_t i = 0; i < 60; ++i)
    flow.trade(trade(1 + i, i % 2 ? 100 : 100.25, 1, i % 2 ? Side::bid : Side::ask, i + 1));
  flow.finish();
  const ::foxhunt::test::ExpectLog expected("80 % or more is usual");
  report_aggressors(flow.aggressors(), report);
  EXPECT_EQ(expected.count(), 2);
  EXPECT_EQ(report.warnings.size(), 2U);
}

TEST(OrderFlow, GoldenRegressionOnRealBook) {
  FH_NEEDS_SHARED("data/es_derived/esh4_20231225.mbp-10.v3.dbn.zst");
  GoldenSink sink;
  DataReport report;
  read_file(::foxhunt::test::shared("data/es_derived/esh4_20231225.mbp-10.v3.dbn.zst"), InputKind::book, {}, sink,
            report);
  EXPECT_NEAR(r_squared(sink.imbalance[0], sink.change), 0.448, 0.01);
  EXPECT_NEAR(r_squared(sink.imbalance[1], sink.change), 0.783, 0.01);
  EXPECT_NEAR(r_squared(sink.imbalance[2], sink.change), 0.849, 0.01);
}

}  // namespace foxhunt::market::test
