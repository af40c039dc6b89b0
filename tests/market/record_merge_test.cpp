// The merge of book updates and trades: order, bounded look-ahead, and what happens when one side fails.
#include "engine/market/record_merge.h"

#include <atomic>

#include "tests/market/market_fixture.h"

namespace foxhunt::market::test {
namespace {

RecordSource books(std::vector<Time> times) {
  return [times](RecordSink& sink) {
    for (Time t : times) {
      BookRecord r;
      r.ts_recv = t;
      sink.book(r);
    }
  };
}

RecordSource trades(std::vector<Time> times) {
  return [times](RecordSink& sink) {
    for (Time t : times) {
      TradeRecord r;
      r.ts_recv = t;
      sink.trade(r);
    }
  };
}

struct Order final : RecordSink {
  std::string seen;
  void book(const BookRecord& r) override { seen += fmt::format("b{} ", r.ts_recv); }
  void trade(const TradeRecord& r) override { seen += fmt::format("t{} ", r.ts_recv); }
};

}  // namespace

TEST(RecordMerge, InOrderAndTradesFirstAtEqualTimes) {
  Order order;
  merge_records(books({2, 5, 5, 9}), trades({1, 5, 6, 9, 10, 11}), order);
  EXPECT_EQ(order.seen, "t1 b2 t5 b5 b5 t6 t9 b9 t10 t11 ");
}

TEST(RecordMerge, SequenceNumbersSettleEqualTimes) {
  const auto sequenced = [](auto record, auto member, std::vector<std::uint32_t> numbers) {
    return [=](RecordSink& sink) mutable {
      for (const std::uint32_t n : numbers) {
        record.ts_recv = 100;
        record.sequence = n;
        (sink.*member)(record);
      }
    };
  };
  struct Numbers final : RecordSink {
    std::string seen;
    void book(const BookRecord& r) override { seen += fmt::format("b{} ", r.sequence); }
    void trade(const TradeRecord& r) override { seen += fmt::format("t{} ", r.sequence); }
  } order;
  merge_records(sequenced(BookRecord{}, &RecordSink::book, {3, 5, 6}),
                sequenced(TradeRecord{}, &RecordSink::trade, {2, 4, 5, 7}), order);
  EXPECT_EQ(order.seen, "t2 b3 t4 t5 b5 b6 t7 ");
}

TEST(RecordMerge, EitherSideMayBeEmpty) {
  Order only_books, only_trades, neither;
  merge_records(books({1, 2}), trades({}), only_books);
  merge_records(books({}), trades({1, 2}), only_trades);
  merge_records(books({}), trades({}), neither);
  EXPECT_EQ(only_books.seen, "b1 b2 ");
  EXPECT_EQ(only_trades.seen, "t1 t2 ");
  EXPECT_EQ(neither.seen, "");
}

TEST(RecordMerge, HoldsABoundedNumberOfTrades) {
  // The trades run ahead of a book that has not begun; they must stop far before their end.
  std::atomic<std::int64_t> made{0};
  std::int64_t ahead = 0, seen = 0;
  struct Count final : RecordSink {
    std::int64_t& seen;
    explicit Count(std::int64_t& s) : seen(s) {}
    void trade(const TradeRecord&) override { ++seen; }
  } count(seen);
  merge_records(
      [&](RecordSink& sink) {
        BookRecord r;
        for (r.ts_recv = 0; r.ts_recv < 1'000'000; r.ts_recv += 1000) {
          sink.book(r);
          ahead = std::max(ahead, made.load() - seen);
        }
      },
      [&](RecordSink& sink) {
        TradeRecord r;
        for (r.ts_recv = 0; r.ts_recv < 1'000'000; ++r.ts_recv) {
          ++made;
          sink.trade(r);
        }
      },
      count);
  EXPECT_EQ(seen, 1'000'000);
  EXPECT_LT(ahead, 70'000);
}

TEST(RecordMerge, FailuresOfEitherSideAndOfTheSinkComeOut) {
  Order order;
  const RecordSource broken = [](RecordSink&) { throw Error("broken file"); };
  std::vector<Time> many;
  for (Time t = 0; t < 200'000; ++t) many.push_back(t);
  EXPECT_TRUE(says(error_of([&] { merge_records(broken, trades(many), order); }), "broken file"));
  EXPECT_TRUE(says(error_of([&] { merge_records(books(many), broken, order); }), "broken file"));
  struct Full final : RecordSink {
    void book(const BookRecord&) override { throw Error("full"); }
  } full;
  EXPECT_TRUE(says(error_of([&] { merge_records(books({5}), trades(many), full); }), "full"));
}

}  // namespace foxhunt::market::test
