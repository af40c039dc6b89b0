// Order by order replay against the ten-level book derived from the same orders, and the aggressor self-check on it.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "engine/market/aggressor_check.h"
#include "engine/market/mbo_book.h"
#include "tests/market/reader_support.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

using foxhunt::test::shared;

std::vector<BookRecord> books_of(const std::string& file) {
  Collected sink;
  DataReport report;
  read_file(shared("data/" + file), InputKind::book, {}, sink, report);
  EXPECT_TRUE(report.warnings.empty());
  EXPECT_TRUE(report.anomalies.empty());
  return std::move(sink.books);
}

bool same_levels(const BookRecord& a, const BookRecord& b) {
  for (int i = 0; i < kBookLevels; ++i) {
    const Level &x = a.levels[i], &y = b.levels[i];
    if (std::tie(x.bid_price, x.ask_price, x.bid_size, x.ask_size, x.bid_count, x.ask_count) !=
        std::tie(y.bid_price, y.ask_price, y.bid_size, y.ask_size, y.bid_count, y.ask_count)) {
      return false;
    }
  }
  return true;
}

TEST(MboReplay, ReproducesTheTenLevelsAtEveryEventsEnd) {
  FH_NEEDS_SHARED("data/es_derived/esh4_20231225.mbp-10.v3.dbn.zst");
  const auto expected = books_of("es_derived/esh4_20231225.mbp-10.v3.dbn.zst");
  const auto replayed = books_of("dbn_nautilus/esh4-glbx-mdp3-20231225.mbo.dbn.zst");
  // The state after each LAST record, in file order.
  std::vector<const BookRecord*> ends;
  for (const BookRecord& record : replayed) {
    if (record.last()) ends.push_back(&record);
  }
  std::size_t at = 0, compared = 0;
  for (const BookRecord& record : expected) {
    if (!record.last()) continue;
    while (at < ends.size() && (ends[at]->ts_recv != record.ts_recv || ends[at]->sequence != record.sequence ||
                                ends[at]->action != record.action || ends[at]->price != record.price)) {
      ++at;
    }
    ASSERT_LT(at, ends.size()) << "no end of event at " << record.ts_recv << " sequence " << record.sequence;
    ASSERT_TRUE(same_levels(record, *ends[at]))
        << "levels differ at " << record.ts_recv << " sequence " << record.sequence;
    ++at;
    ++compared;
  }
  EXPECT_EQ(compared, 37'051U);
}

TEST(MboReplay, TradesAreThoseOfTheTradesFile) {
  FH_NEEDS_SHARED("data/es_derived/esh4_20231225.trades.v3.dbn.zst");
  Checksum orders, trades;
  DataReport report;
  read_file(shared("data/dbn_nautilus/esh4-glbx-mdp3-20231225.mbo.dbn.zst"), InputKind::trades, {}, orders, report);
  read_file(shared("data/es_derived/esh4_20231225.trades.v3.dbn.zst"), InputKind::trades, {}, trades, report);
  EXPECT_EQ(orders.hash, trades.hash);
}

TEST(AggressorCheck, AllBuyersPrintAtTheAskAndSellersAtTheBid) {
  FH_NEEDS_SHARED("data/es_derived/esh4_20231225.trades.v3.dbn.zst");
  const auto books = books_of("es_derived/esh4_20231225.mbp-10.v3.dbn.zst");
  Collected sink;
  DataReport report;
  read_file(shared("data/es_derived/esh4_20231225.trades.v3.dbn.zst"), InputKind::trades, {}, sink, report);
  AggressorCheck check;
  std::size_t at = 0;
  for (const TradeRecord& trade : sink.trades) {
    while (at < books.size() && books[at].ts_recv < trade.ts_recv) check.book(books[at++]);
    check.trade(trade);
  }
  while (at < books.size()) check.book(books[at++]);
  check.finish();
  EXPECT_EQ(check.buys(), 1542U);
  EXPECT_EQ(check.buys_at_ask(), 1542U);
  EXPECT_EQ(check.sells(), 1430U);
  EXPECT_EQ(check.sells_at_bid(), 1430U);
  EXPECT_EQ(check.share(), 1.0);
}

TEST(AggressorCheck, SeesSwappedSides) {
  AggressorCheck check;
  BookRecord book;
  book.flags = kFlagLast;
  book.levels[0] = {100, 101, 5, 5, 1, 1};
  check.book(book);
  TradeRecord trade;
  trade.side = Side::bid;
  trade.price = 100;
  check.trade(trade);
  trade.price = 101;
  check.trade(trade);
  trade.side = Side::none;
  check.trade(trade);
  check.finish();
  EXPECT_EQ(check.buys(), 2U);
  EXPECT_EQ(check.buys_at_ask(), 1U);
  EXPECT_EQ(check.share(), 0.5);
}

OrderRecord order(Action action, Side side, std::uint64_t id, Price price, std::uint32_t size, std::uint8_t flags = 0) {
  OrderRecord record;
  record.action = action;
  record.side = side;
  record.order_id = id;
  record.price = price;
  record.size = size;
  record.flags = flags;
  return record;
}

TEST(MboBook, AddsModifiesCancelsAndClears) {
  MboBook book;
  EXPECT_TRUE(book.apply(order(Action::add, Side::bid, 1, 100, 5)));
  EXPECT_TRUE(book.apply(order(Action::add, Side::bid, 2, 100, 3)));
  EXPECT_TRUE(book.apply(order(Action::add, Side::bid, 3, 99, 7)));
  EXPECT_TRUE(book.apply(order(Action::add, Side::ask, 4, 101, 2)));
  auto levels = book.levels();
  EXPECT_EQ(levels[0].bid_price, 100);
  EXPECT_EQ(levels[0].bid_size, 8U);
  EXPECT_EQ(levels[0].bid_count, 2U);
  EXPECT_EQ(levels[1].bid_price, 99);
  EXPECT_EQ(levels[1].ask_price, kUndefinedPrice);
  EXPECT_TRUE(book.apply(order(Action::cancel, Side::bid, 1, 100, 2)));  // a part
  EXPECT_TRUE(book.apply(order(Action::modify, Side::bid, 2, 99, 4)));   // to another price
  levels = book.levels();
  EXPECT_EQ(levels[0].bid_size, 3U);
  EXPECT_EQ(levels[0].bid_count, 1U);
  EXPECT_EQ(levels[1].bid_size, 11U);
  EXPECT_TRUE(book.apply(order(Action::trade, Side::bid, 4, 101, 2)));
  EXPECT_EQ(book.levels()[0].ask_size, 2U);  // a trade changes nothing, its cancel does
  EXPECT_TRUE(book.apply(order(Action::cancel, Side::ask, 4, 101, 2)));
  EXPECT_EQ(book.levels()[0].ask_price, kUndefinedPrice);
  EXPECT_FALSE(book.apply(order(Action::cancel, Side::ask, 99, 101, 2)));
  EXPECT_TRUE(book.apply(order(Action::clear, Side::none, 0, kUndefinedPrice, 0)));
  EXPECT_EQ(book.orders(), 0U);
  EXPECT_EQ(book.levels()[0].bid_price, kUndefinedPrice);
}

TEST(MboReplay, ShowsAnEventsEndBelowTheTenLevels) {
  MboReplay replay;
  for (std::uint64_t i = 0; i < 10; ++i)
    replay.apply(order(Action::add, Side::bid, i + 1, 100 - static_cast<Price>(i), 1, kFlagLast));
  EXPECT_EQ(replay.apply(order(Action::add, Side::bid, 20, 50, 1, kFlagLast)), nullptr);  // below, nothing pending
  ASSERT_NE(replay.apply(order(Action::cancel, Side::bid, 1, 100, 1)), nullptr);          // changes, the event goes on
  const BookRecord* end = replay.apply(order(Action::add, Side::bid, 21, 40, 1, kFlagLast));
  ASSERT_NE(end, nullptr);
  EXPECT_TRUE(end->last());
  EXPECT_EQ(end->levels[0].bid_price, 99);
  EXPECT_EQ(end->levels[9].bid_price, 50);
}

}  // namespace
}  // namespace foxhunt::market::test
