// Order flow of each bar from book updates and trades, in one pass that keeps no record.
//
// Book: only LAST states are looked at. Order-flow imbalance of level m between two LAST states n-1, n (Cont, Kukanov,
// Stoikov 2014; levels: Xu, Gould, Howison 2019), in contracts:
//   e = [Pb_n >= Pb_n-1] Qb_n - [Pb_n <= Pb_n-1] Qb_n-1 - [Pa_n <= Pa_n-1] Qa_n + [Pa_n >= Pa_n-1] Qa_n-1
// An empty bid level counts as price minus infinity with size 0, an empty ask level as plus infinity.
// A book is usable when it is two-sided and ask > bid; only usable states enter spreads, imbalances, depths and the
// mid.
//
// Cleaning, counted in the report: a book record equal to the one before is dropped (book_duplicate), as is one older
// than it (book_out_of_order): each carries a whole state. A trade equal to the one before, sequence number included,
// is kept (trade_repeated): one order that meets two resting orders of one size prints so on real feeds. A trade older
// than the one before (trade_out_of_order) is kept while its bar is open, else dropped. A trade without price or size
// is dropped (trade_without_price).
//
// A bar owns the records with ts_recv from the close of the bar before it (its own open after a break of 30 minutes or
// more, and for the first bar) up to, not including, its own close.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "engine/market/aggressor_check.h"
#include "engine/market/data_report.h"
#include "engine/market/market_table.h"
#include "engine/market/records.h"

namespace foxhunt::market {

// 1e-9 points in a point. Dividing rounds once: a price of a few decimals becomes the double nearest to it.
inline constexpr double kPricePoint = 1e9;
inline constexpr Time kSessionBreak = 1'800'000'000'000;  // ns without a bar that end a session

// Order-flow imbalance per level between two successive LAST states, contracts.
std::array<double, kBookLevels> order_flow_imbalance(const BookRecord& before, const BookRecord& after);

// Two-sided and not crossed.
bool usable(const BookRecord& state);
// Of a usable state, points.
double mid_price(const BookRecord& state);

// Raw sums of one bar; features are made from them.
struct BarFlow {
  std::array<double, kBookLevels> ofi{};  // contracts
  double level_depth = 0;                 // mean contracts a level and side over the usable LAST states; 0 without any
  double queue_imbalance = 0;             // time-weighted over the usable part of the bar, -1 to 1
  double spread = 0;                      // time-weighted, points
  double mid_variation = 0;               // sum of squared mid changes, points^2
  double book_adds = 0, book_cancels = 0, book_modifies = 0;  // records, LAST or not
  double buy_volume = 0, sell_volume = 0;  // by aggressor, contracts; side N by the quote rule, then the tick rule
  double volume = 0, trades = 0, largest = 0;
  double notional = 0;     // sum of (price - first price of the bar) x size
  double first_price = 0;  // points, of the bar's first trade
};

class OrderFlow {
 public:
  // Times of the cleaned bars, ascending and not overlapping; the spans must outlive the object.
  OrderFlow(std::span<const Time> open_time, std::span<const Time> close_time, DataReport& report);

  // In the order of merge_records: by ts_recv over both kinds.
  void book(const BookRecord& record);
  void trade(const TradeRecord& record);
  // After the last record: closes the remaining bars and counts the trades that still wait for their book record.
  void finish();

  const std::vector<BarFlow>& flows() const { return flows_; }       // [T]
  const std::vector<BookSnapshot>& books() const { return books_; }  // [T] last LAST state before each close
  const AggressorCheck& aggressors() const { return aggressors_; }
  std::uint64_t book_records() const { return book_records_; }
  std::uint64_t trade_records() const { return trade_records_; }

 private:
  void advance_to(Time time);
  void close_bar();
  void accrue(Time until);
  bool counts(Time time) const { return bar_ < open_time_.size() && time >= start_; }
  Side classify(const TradeRecord& record);
  bool accept_book(const BookRecord& record);

  std::span<const Time> open_time_, close_time_;
  DataReport& report_;
  std::vector<BarFlow> flows_;
  std::vector<BookSnapshot> books_;
  std::size_t bar_ = 0;  // the open one
  Time start_ = 0;       // from which records count for it
  BarFlow flow_;
  std::optional<BookRecord> state_;      // last LAST state
  std::optional<double> last_mid_;       // of the last usable state
  std::optional<BookRecord> last_book_;  // whatever came last, to find duplicates
  std::optional<TradeRecord> last_trade_;
  Time accrued_ = 0;  // time up to which weighted means are summed
  double weight_ = 0, imbalance_sum_ = 0, spread_sum_ = 0, depth_sum_ = 0, depth_states_ = 0;  // weight: ns
  std::optional<Price> tick_price_;                                                            // last trade price
  Side tick_side_ = Side::none;  // direction of the last price change
  AggressorCheck aggressors_;
  std::uint64_t book_records_ = 0, trade_records_ = 0;
};

// Warns when a share is below 80 % (of at least 20 trades) and notes both shares in report.inferred.
void report_aggressors(const AggressorCheck& check, DataReport& report);

}  // namespace foxhunt::market
