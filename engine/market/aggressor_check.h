// Self-check of book against trades: buy aggressors should print at the ask, sell aggressors at the bid (Lee and Ready 1991).
#pragma once

#include <cstdint>

#include "engine/market/records.h"

namespace foxhunt::market {

// Feed both streams merged by ts_recv; at equal times the trade comes before the book record, since a trade is measured
// against the book before its fills. A trade beyond the touch (a sweep of several levels) counts as at the touch. Trades
// without an aggressor or without an opposite quote are not counted.
class AggressorCheck {
 public:
  void book(const BookRecord& record) {
    if (!record.last()) return;
    bid_ = record.levels[0].bid_price;
    ask_ = record.levels[0].ask_price;
  }

  void trade(const TradeRecord& record) {
    if (record.side == Side::bid && ask_ != kUndefinedPrice) {
      ++buys_;
      buys_at_ask_ += record.price >= ask_ ? 1 : 0;
    } else if (record.side == Side::ask && bid_ != kUndefinedPrice) {
      ++sells_;
      sells_at_bid_ += record.price <= bid_ ? 1 : 0;
    }
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
  Price bid_ = kUndefinedPrice, ask_ = kUndefinedPrice;
  std::uint64_t buys_ = 0, buys_at_ask_ = 0, sells_ = 0, sells_at_bid_ = 0;
};

inline constexpr double kAggressorShare = 0.8;  // a smaller share warns

}  // namespace foxhunt::market
