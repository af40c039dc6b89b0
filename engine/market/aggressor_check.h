// Self-check of book against trades: buy aggressors should print at the ask, sell aggressors at the bid (Lee and Ready
// 1991).
#pragma once

#include <cstdint>
#include <deque>

#include "engine/market/records.h"

namespace foxhunt::market {

// Feed both streams merged by ts_recv; at equal times the trade comes before the book record, since a trade is measured
// against the book before its fills: that of the book's own trade record of the same ts_recv where there is one (orders
// of the same event may have come before it), else the last event's end. A trade beyond the touch (a sweep of several
// levels) counts as at the touch. Trades without an aggressor or without an opposite quote are not counted.
class AggressorCheck {
 public:
  void book(const BookRecord& record) {
    if (record.action == Action::trade) {
      trades_in_book_ = true;
      if (waiting_.empty() || waiting_.front().ts_recv != record.ts_recv || waiting_.front().price != record.price)
        return;
      count(waiting_.front(), record.levels[0].bid_price, record.levels[0].ask_price);
      waiting_.pop_front();
      return;
    }
    if (!waiting_.empty() && (record.ts_recv != waiting_.front().ts_recv || (record.last() && !trades_in_book_)))
      finish();
    if (!record.last()) return;
    bid_ = record.levels[0].bid_price;
    ask_ = record.levels[0].ask_price;
  }

  void trade(const TradeRecord& record) {
    if (!waiting_.empty() && waiting_.front().ts_recv != record.ts_recv) finish();
    waiting_.push_back(record);
  }

  // Counts the trades that still wait for the book's trade record; at the end of the streams.
  void finish() {
    for (; !waiting_.empty(); waiting_.pop_front()) count(waiting_.front(), bid_, ask_);
  }

  std::uint64_t buys() const { return buys_; }
  std::uint64_t buys_at_ask() const { return buys_at_ask_; }
  std::uint64_t sells() const { return sells_; }
  std::uint64_t sells_at_bid() const { return sells_at_bid_; }
  // Of all counted trades; 1 when there is none. Below kAggressorShare the aggressor's side or the files do not fit.
  double share() const {
    const std::uint64_t all = buys_ + sells_;
    return all == 0 ? 1.0 : static_cast<double>(buys_at_ask_ + sells_at_bid_) / static_cast<double>(all);
  }

 private:
  void count(const TradeRecord& trade, Price bid, Price ask) {
    if (trade.side == Side::bid && ask != kUndefinedPrice) {
      ++buys_;
      buys_at_ask_ += trade.price >= ask ? 1 : 0;
    } else if (trade.side == Side::ask && bid != kUndefinedPrice) {
      ++sells_;
      sells_at_bid_ += trade.price <= bid ? 1 : 0;
    }
  }

  Price bid_ = kUndefinedPrice, ask_ = kUndefinedPrice;
  std::deque<TradeRecord> waiting_;  // of one ts_recv
  bool trades_in_book_ = false;      // the book stream has trade records
  std::uint64_t buys_ = 0, buys_at_ask_ = 0, sells_ = 0, sells_at_bid_ = 0;
};

inline constexpr double kAggressorShare = 0.8;  // a smaller share warns

}  // namespace foxhunt::market
