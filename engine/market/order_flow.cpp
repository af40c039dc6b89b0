// Accumulation of order flow: what a bar owns, how states turn into sums, how trades are signed.
#include "engine/market/order_flow.h"

#include <algorithm>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/log.h"

namespace foxhunt::market {
namespace {

double points(Price price) {
  return static_cast<double>(price) / kPricePoint;
}

double imbalance(double bid, double ask) {
  return bid + ask > 0 ? (bid - ask) / (bid + ask) : 0;
}

BookSnapshot snapshot(const BookRecord& state) {
  BookSnapshot out;
  for (std::size_t i = 0; i < kBookLevels; ++i) {
    const Level& level = state.levels[i];
    if (level.bid_price != kUndefinedPrice && level.bid_size > 0 && out.bid_levels == static_cast<int>(i)) {
      out.bid_price[i] = points(level.bid_price);
      out.bid_size[i] = level.bid_size * state.size_unit;
      ++out.bid_levels;
    }
    if (level.ask_price != kUndefinedPrice && level.ask_size > 0 && out.ask_levels == static_cast<int>(i)) {
      out.ask_price[i] = points(level.ask_price);
      out.ask_size[i] = level.ask_size * state.size_unit;
      ++out.ask_levels;
    }
  }
  return out;
}

bool same(const BookRecord& a, const BookRecord& b) {
  if (a.ts_recv != b.ts_recv || a.ts_event != b.ts_event || a.sequence != b.sequence || a.price != b.price ||
      a.size != b.size || a.action != b.action || a.side != b.side || a.flags != b.flags || a.depth != b.depth) {
    return false;
  }
  return std::equal(a.levels.begin(), a.levels.end(), b.levels.begin(), [](const Level& x, const Level& y) {
    return x.bid_price == y.bid_price && x.ask_price == y.ask_price && x.bid_size == y.bid_size &&
           x.ask_size == y.ask_size;
  });
}

bool same(const TradeRecord& a, const TradeRecord& b) {
  return a.sequence != 0 && a.sequence == b.sequence && a.ts_recv == b.ts_recv && a.ts_event == b.ts_event &&
         a.price == b.price && a.size == b.size && a.side == b.side && a.flags == b.flags;
}

}  // namespace

std::array<double, kBookLevels> order_flow_imbalance(const BookRecord& before, const BookRecord& after) {
  std::array<double, kBookLevels> out{};
  for (std::size_t i = 0; i < kBookLevels; ++i) {
    const Level &a = before.levels[i], &b = after.levels[i];
    constexpr Price kNoBid = std::numeric_limits<Price>::min();
    const Price bid0 = a.bid_price == kUndefinedPrice ? kNoBid : a.bid_price;
    const Price bid1 = b.bid_price == kUndefinedPrice ? kNoBid : b.bid_price;
    const double unit0 = before.size_unit, unit1 = after.size_unit;
    const double bid = (bid1 >= bid0 ? b.bid_size * unit1 : 0.0) - (bid1 <= bid0 ? a.bid_size * unit0 : 0.0);
    // An undefined ask is the largest integer: plus infinity as it stands.
    const double ask = (b.ask_price <= a.ask_price ? b.ask_size * unit1 : 0.0) -
                       (b.ask_price >= a.ask_price ? a.ask_size * unit0 : 0.0);
    out[i] = bid - ask;
  }
  return out;
}

bool usable(const BookRecord& state) {
  const Level& top = state.levels[0];
  return top.bid_price != kUndefinedPrice && top.ask_price != kUndefinedPrice && top.bid_size > 0 && top.ask_size > 0 &&
         top.ask_price > top.bid_price;
}

double mid_price(const BookRecord& state) {
  return 0.5 * (points(state.levels[0].bid_price) + points(state.levels[0].ask_price));
}

OrderFlow::OrderFlow(std::span<const Time> open_time, std::span<const Time> close_time, DataReport& report)
    : open_time_(open_time), close_time_(close_time), report_(report) {
  FH_CHECK(open_time.size() == close_time.size(), "{} opens, {} closes", open_time.size(), close_time.size());
  flows_.reserve(open_time.size());
  books_.reserve(open_time.size());
  if (!open_time.empty()) start_ = accrued_ = open_time[0];
}

bool OrderFlow::accept_book(const BookRecord& record) {
  if (last_book_ && same(*last_book_, record)) {
    report_.add("book_duplicate",
                fmt::format("book record at {} ns, sequence {}: dropped", record.ts_recv, record.sequence));
    return false;
  }
  if (last_book_ && record.ts_recv < last_book_->ts_recv) {
    report_.add("book_out_of_order", fmt::format("book record at {} ns after one at {} ns: an older state, dropped",
                                                 record.ts_recv, last_book_->ts_recv));
    return false;
  }
  return true;
}

void OrderFlow::book(const BookRecord& record) {
  ++book_records_;
  if (!accept_book(record)) return;
  last_book_ = record;
  // In the middle of an event too: its trade records carry the book that the trades of the same time hit.
  aggressors_.book(record);
  advance_to(record.ts_recv);
  const bool inside = counts(record.ts_recv);
  if (inside) {
    flow_.book_adds += record.action == Action::add;
    flow_.book_cancels += record.action == Action::cancel;
    flow_.book_modifies += record.action == Action::modify;
  }
  if (!record.last()) return;
  accrue(record.ts_recv);
  if (inside && state_) {
    const auto ofi = order_flow_imbalance(*state_, record);
    for (std::size_t i = 0; i < ofi.size(); ++i) flow_.ofi[i] += ofi[i];
  }
  state_ = record;
  if (!usable(record)) return;
  const double mid = mid_price(record);
  if (inside) {
    if (last_mid_) flow_.mid_variation += (mid - *last_mid_) * (mid - *last_mid_);
    const double half = 0.5 * record.size_unit;
    for (const Level& level : record.levels)
      depth_sum_ += half * (static_cast<double>(level.bid_size) + level.ask_size);
    ++depth_states_;
  }
  last_mid_ = mid;
}

void OrderFlow::trade(const TradeRecord& record) {
  ++trade_records_;
  if (last_trade_ && same(*last_trade_, record)) {
    report_.add("trade_repeated",
                fmt::format("trade at {} ns, sequence {}, equal to the one before: kept, as one order that "
                            "meets two of one size prints so",
                            record.ts_recv, record.sequence));
  }
  if (record.price == kUndefinedPrice || !(record.size > 0)) {
    report_.add("trade_without_price", fmt::format("trade at {} ns, size {}: dropped", record.ts_recv, record.size));
    return;
  }
  if (last_trade_ && record.ts_recv < last_trade_->ts_recv) {
    const bool late = bar_ < open_time_.size() && record.ts_recv < start_;
    report_.add("trade_out_of_order",
                fmt::format("trade at {} ns after one at {} ns: {}", record.ts_recv, last_trade_->ts_recv,
                            late ? "its bar is closed, dropped" : "kept in its bar"));
    if (late) return;
  } else {
    last_trade_ = record;
  }
  advance_to(record.ts_recv);
  const Side side = classify(record);
  if (!counts(record.ts_recv)) return;
  const double price = points(record.price);
  if (flow_.trades == 0) flow_.first_price = price;
  flow_.notional += (price - flow_.first_price) * record.size;
  flow_.volume += record.size;
  ++flow_.trades;
  flow_.largest = std::max(flow_.largest, record.size);
  if (side == Side::bid) flow_.buy_volume += record.size;
  if (side == Side::ask) flow_.sell_volume += record.size;
}

// The aggressor as recorded; where none is, Lee and Ready 1991: above the mid a buy, below it a sell, at the mid or
// without a usable book the direction of the last price change.
Side OrderFlow::classify(const TradeRecord& record) {
  if (tick_price_ && record.price != *tick_price_) tick_side_ = record.price > *tick_price_ ? Side::bid : Side::ask;
  tick_price_ = record.price;
  const bool quoted = state_ && usable(*state_);
  if (record.side == Side::none) {
    if (quoted) {
      const Price twice = state_->levels[0].bid_price + state_->levels[0].ask_price;
      if (2 * record.price != twice) return 2 * record.price > twice ? Side::bid : Side::ask;
    }
    return tick_side_;
  }
  aggressors_.trade(record);
  return record.side;
}

// Adds the state that has prevailed since `accrued_` to the time-weighted sums, up to `until`.
void OrderFlow::accrue(Time until) {
  const Time from = std::max(accrued_, start_);
  if (until > from && state_ && usable(*state_)) {
    const Level& top = state_->levels[0];
    const auto span = static_cast<double>(until - from);
    weight_ += span;
    imbalance_sum_ += span * imbalance(top.bid_size, top.ask_size);
    spread_sum_ += span * points(top.ask_price - top.bid_price);
  }
  accrued_ = std::max(accrued_, until);
}

void OrderFlow::advance_to(Time time) {
  while (bar_ < close_time_.size() && time >= close_time_[bar_]) close_bar();
}

void OrderFlow::close_bar() {
  accrue(close_time_[bar_]);
  if (weight_ > 0) {
    flow_.queue_imbalance = imbalance_sum_ / weight_;
    flow_.spread = spread_sum_ / weight_;
  }
  if (depth_states_ > 0) {
    flow_.level_depth = depth_sum_ / depth_states_ / kBookLevels;
  }
  flows_.push_back(flow_);
  books_.push_back(state_ ? snapshot(*state_) : BookSnapshot{});
  flow_ = BarFlow{};
  weight_ = imbalance_sum_ = spread_sum_ = depth_sum_ = depth_states_ = 0;
  start_ = close_time_[bar_];
  ++bar_;
  if (bar_ < open_time_.size() && open_time_[bar_] - start_ >= kSessionBreak) start_ = open_time_[bar_];
}

void OrderFlow::finish() {
  while (bar_ < close_time_.size()) close_bar();
  aggressors_.finish();
}

void report_aggressors(const AggressorCheck& check, DataReport& report) {
  constexpr std::uint64_t kEnough = 20;
  const auto judge = [&](const char* what, std::uint64_t at, std::uint64_t all) {
    if (all == 0) return;
    const double share = static_cast<double>(at) / static_cast<double>(all);
    report.inferred[fmt::format("aggressor check: {}", what)] =
        fmt::format("{} of {} ({:.1f} %)", at, all, 100 * share);
    if (all < kEnough || share >= kAggressorShare) return;
    const auto message = fmt::format(
        "only {:.1f} % of {} ({} of {}); 80 % or more is usual: book and trades may be of different instruments or "
        "times, or "
        "the side column reversed",
        100 * share, what, at, all);
    report.warnings.push_back({message, "", std::nullopt});
    log_warning("{}", message);
  };
  judge("buy-aggressor trades at the ask", check.buys_at_ask(), check.buys());
  judge("sell-aggressor trades at the bid", check.sells_at_bid(), check.sells());
}

}  // namespace foxhunt::market
