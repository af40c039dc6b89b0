// The simulator's ten-level book: ten consecutive ticks a side, every change reported as market-by-price records.
#pragma once

#include <array>
#include <cstdint>

#include "engine/market/records.h"
#include "engine/market/simulator_random.h"

namespace foxhunt::market {

inline constexpr Price kSimulatedTickPrice = 250'000'000;  // one tick in 1e-9 points

// Prices in whole ticks, sizes in contracts. Never empty, never crossed; spread 1 tick, or 2 after a sweep that nobody
// has refilled yet. Depth rises from the touch to the fifth level and falls slowly behind it.
class SimulatorBook {
 public:
  SimulatorBook(std::int64_t best_bid, SimulatorRandom& random, RecordSink& sink);

  // Time of the records that follow, and how deep queues are now (1: normal).
  void begin_event(Time recv, double depth_factor);
  // Marks the last record of the event and sends what the event made.
  void end_event();

  double mid() const { return 0.5 * static_cast<double>(best_[0] + best_[1]); }
  std::int64_t spread() const { return best_[1] - best_[0]; }
  std::int64_t best(Side side) const { return best_[index(side)]; }
  std::uint32_t queue(Side side, int level) const { return size_[index(side)][static_cast<std::size_t>(level)]; }
  // What a queue of that level tends to.
  double target(int level) const;

  void add(Side side, int level, std::uint32_t size);
  // Leaves at least one contract.
  void cancel(Side side, int level, std::uint32_t size);
  // A market order against `side` that leaves at least one contract at the touch. Returns what it got, 0 when it
  // cannot.
  std::uint32_t take(Side side, std::uint32_t size);
  // Empties the best queue of `side`: most of it cancels, a market order takes the rest. Returns what was traded.
  std::uint32_t deplete(Side side);
  // A limit order one tick inside the spread.
  void improve(Side side, std::uint32_t size);

  std::int64_t last_trade() const { return last_trade_; }  // ticks

 private:
  static std::size_t index(Side side) { return side == Side::bid ? 0 : 1; }
  static Side other(Side side) { return side == Side::bid ? Side::ask : Side::bid; }
  // +1 for asks, -1 for bids: the direction in which levels get worse.
  static std::int64_t outward(Side side) { return side == Side::bid ? -1 : 1; }
  std::int64_t price_of(Side side, int level) const { return best(side) + outward(side) * level; }
  void emit(Action action, Side side, int level, std::uint32_t size);
  void flush();
  void print(Side against, std::uint32_t size);

  SimulatorRandom& random_;
  RecordSink& sink_;
  std::array<std::int64_t, 2> best_{};                            // bid, ask
  std::array<std::array<std::uint32_t, kBookLevels>, 2> size_{};  // best first
  BookRecord pending_;
  bool has_pending_ = false;
  Time recv_ = 0;
  double depth_factor_ = 1;
  std::uint32_t sequence_ = 0;
  std::int64_t last_trade_ = 0;
};

}  // namespace foxhunt::market
