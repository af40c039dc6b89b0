// Market records as read from files: UTC nanoseconds and fixed-point prices, before any feature.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace foxhunt::market {

// 1e-9 points. May be zero or negative (spreads, CL in April 2020).
using Price = std::int64_t;
inline constexpr Price kUndefinedPrice = std::numeric_limits<std::int64_t>::max();
inline constexpr double kPriceScale = 1e-9;
// UTC nanoseconds since 1970. Never a double: 1.7e18 is above 2^53.
using Time = std::int64_t;

struct BarRecord {
  Time open_time = 0;   // inclusive start of the interval
  Time close_time = 0;  // exclusive end: the moment from which the bar is known
  Price open = 0, high = 0, low = 0, close = 0;
  double volume = 0;  // contracts (crypto files have fractions)
};

enum class Action : char { add = 'A', cancel = 'C', modify = 'M', clear = 'R', trade = 'T', fill = 'F', none = 'N' };
// For trades the aggressor: bid = the buyer lifted the ask.
enum class Side : char { ask = 'A', bid = 'B', none = 'N' };

inline constexpr std::uint8_t kFlagLast = 0x80;  // last record of the event: only then may the book be looked at

// One price level of both sides. Empty: kUndefinedPrice with size 0.
struct Level {
  Price bid_price = kUndefinedPrice, ask_price = kUndefinedPrice;
  std::uint32_t bid_size = 0, ask_size = 0, bid_count = 0, ask_count = 0;
};

inline constexpr int kBookLevels = 10;

struct BookRecord {
  Time ts_event = 0, ts_recv = 0;  // order and bucket by ts_recv
  Price price = kUndefinedPrice;
  std::uint32_t size = 0;
  Action action = Action::none;
  Side side = Side::none;
  std::uint8_t flags = 0, depth = 0;
  std::uint32_t sequence = 0;
  std::array<Level, kBookLevels> levels{};  // after the update; best first
  double size_unit = 1;  // contracts that a count of 1 in the sizes stands for; below 1 in files of fractional sizes

  bool last() const { return (flags & kFlagLast) != 0; }
};

struct TradeRecord {
  Time ts_event = 0, ts_recv = 0;
  Price price = kUndefinedPrice;
  double size = 0;         // contracts
  Side side = Side::none;  // aggressor
  std::uint8_t flags = 0;  // never filtered by LAST
  std::uint32_t sequence = 0;
};

// Where readers and the simulator put what they make, in file order. A kind that nobody wants is not overridden.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void bar(const BarRecord&) {}
  virtual void book(const BookRecord&) {}
  virtual void trade(const TradeRecord&) {}
};

}  // namespace foxhunt::market
