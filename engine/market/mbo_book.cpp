// Order by order book; see mbo_book.h.
#include "engine/market/mbo_book.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace foxhunt::market {
namespace {

std::uint32_t capped(std::uint64_t size) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(size, std::numeric_limits<std::uint32_t>::max()));
}

template <class Side>
void take(Side& side, Price price, std::uint32_t size, bool whole) {
  const auto level = side.find(price);
  if (level == side.end()) return;
  level->second.size -= std::min<std::uint64_t>(size, level->second.size);
  if (whole && --level->second.orders == 0) side.erase(level);
}

// The index of `price` among the levels of its side, kBookLevels when it is below them.
std::uint8_t depth_of(const std::array<Level, kBookLevels>& levels, Side side, Price price) {
  for (int i = 0; i < kBookLevels; ++i) {
    if ((side == Side::bid ? levels[i].bid_price : levels[i].ask_price) == price) return static_cast<std::uint8_t>(i);
  }
  return kBookLevels;
}

bool same(const std::array<Level, kBookLevels>& a, const std::array<Level, kBookLevels>& b) {
  static_assert(sizeof(Level) == 32, "no padding in a level: it is compared and copied as bytes");
  return std::memcmp(a.data(), b.data(), sizeof a) == 0;
}

}  // namespace

void MboBook::add(std::uint64_t id, const Order& order) {
  orders_[id] = order;
  Depth& depth = order.side == Side::bid ? bids_[order.price] : asks_[order.price];
  depth.size += order.size;
  ++depth.orders;
}

void MboBook::remove(const Order& order, std::uint32_t size, bool whole) {
  if (order.side == Side::bid) {
    take(bids_, order.price, size, whole);
  } else {
    take(asks_, order.price, size, whole);
  }
}

bool MboBook::apply(const OrderRecord& order) {
  if (order.action == Action::clear) {
    orders_.clear();
    bids_.clear();
    asks_.clear();
    return true;
  }
  if (order.action != Action::add && order.action != Action::cancel && order.action != Action::modify) return true;
  const auto found = orders_.find(order.order_id);
  if (order.action == Action::cancel) {
    if (found == orders_.end()) return false;
    const std::uint32_t size = std::min(order.size, found->second.size);
    const bool whole = size == found->second.size;
    remove(found->second, size, whole);
    found->second.size -= size;
    if (whole) orders_.erase(found);
    return true;
  }
  if (order.side == Side::none || order.price == kUndefinedPrice) return false;
  const bool known = found != orders_.end();
  if (known) remove(found->second, found->second.size, true);
  add(order.order_id, {order.price, order.size, order.side});
  return known || order.action == Action::add;
}

std::array<Level, kBookLevels> MboBook::levels() const {
  std::array<Level, kBookLevels> levels{};
  int i = 0;
  for (auto level = bids_.begin(); level != bids_.end() && i < kBookLevels; ++level, ++i) {
    levels[i].bid_price = level->first;
    levels[i].bid_size = capped(level->second.size);
    levels[i].bid_count = level->second.orders;
  }
  i = 0;
  for (auto level = asks_.begin(); level != asks_.end() && i < kBookLevels; ++level, ++i) {
    levels[i].ask_price = level->first;
    levels[i].ask_size = capped(level->second.size);
    levels[i].ask_count = level->second.orders;
  }
  return levels;
}

const BookRecord* MboReplay::apply(const OrderRecord& order) {
  if (!book_.apply(order)) ++unknown_orders_;
  const bool changes = order.action == Action::add || order.action == Action::cancel ||
                       order.action == Action::modify || order.action == Action::clear;
  bool changed = false;
  std::uint8_t depth = 0;
  if (changes) {
    const auto levels = book_.levels();
    changed = order.action == Action::clear || !same(levels, record_.levels);
    depth = depth_of(order.action == Action::cancel ? record_.levels : levels, order.side, order.price);
    record_.levels = levels;
  }
  const bool last = (order.flags & kFlagLast) != 0;
  const bool shown = changed || order.action == Action::trade || (last && pending_);
  pending_ = !last && (pending_ || changed);
  if (!shown) return nullptr;
  record_.ts_event = order.ts_event;
  record_.ts_recv = order.ts_recv;
  record_.price = order.price;
  record_.size = order.size;
  record_.action = order.action;
  record_.side = order.side;
  record_.flags = order.flags;
  record_.depth = order.action == Action::clear || order.action == Action::trade ? std::uint8_t{0} : depth;
  record_.sequence = order.sequence;
  return &record_;
}

}  // namespace foxhunt::market
