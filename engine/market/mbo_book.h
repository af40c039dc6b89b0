// An order book rebuilt from single orders (DBN schema mbo), seen as ten levels a side.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>

#include "engine/market/records.h"

namespace foxhunt::market {

// One order message. Sizes in contracts.
struct OrderRecord {
  Time ts_event = 0, ts_recv = 0;
  std::uint64_t order_id = 0;
  Price price = kUndefinedPrice;
  std::uint32_t size = 0, sequence = 0;
  std::uint8_t flags = 0;
  Action action = Action::none;
  Side side = Side::none;
};

// A snapshot is a clear followed by adds, and needs no special case; a file may also begin with adds. Trades and fills
// leave the book as it is: the cancels that follow them take the orders away.
class MboBook {
 public:
  // Applies one message. False when it names an order that is not there (it is ignored then).
  bool apply(const OrderRecord& order);
  // Best first; sizes above 32 bits are capped.
  std::array<Level, kBookLevels> levels() const;
  std::size_t orders() const { return orders_.size(); }

 private:
  struct Order {
    Price price;
    std::uint32_t size;
    Side side;
  };
  struct Depth {
    std::uint64_t size = 0;
    std::uint32_t orders = 0;
  };

  void add(std::uint64_t id, const Order& order);
  void remove(const Order& order, std::uint32_t size, bool whole);

  std::unordered_map<std::uint64_t, Order> orders_;
  std::map<Price, Depth, std::greater<>> bids_;
  std::map<Price, Depth> asks_;
};

// Turns order messages into the book records that mbp-10 would hold: one for each message that changed the ten levels,
// each trade (with the book before its fills), and each event's end at which a change is still to be shown.
class MboReplay {
 public:
  // The record to emit, or nullptr; valid until the next call.
  const BookRecord* apply(const OrderRecord& order);
  // Messages that named an order that is not there.
  std::uint64_t unknown_orders() const { return unknown_orders_; }

 private:
  MboBook book_;
  BookRecord record_;
  bool pending_ = false;  // a change was shown without LAST, or none was: the event's end is to be shown
  std::uint64_t unknown_orders_ = 0;
};

}  // namespace foxhunt::market
