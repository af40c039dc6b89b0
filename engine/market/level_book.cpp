// A book of price levels; see level_book.h.
#include "engine/market/level_book.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace foxhunt::market {
namespace {

template <class Levels>
void put(Levels& levels, Price price, double size) {
  if (size > 0) {
    levels[price] = size;
  } else {
    levels.erase(price);
  }
}

std::uint32_t counted(double size, double unit) {
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp(std::round(size / unit), 1.0, kMost));
}

}  // namespace

void LevelBook::set(Side side, Price price, double size) {
  if (side == Side::bid) put(bids_, price, size);
  if (side == Side::ask) put(asks_, price, size);
}

void LevelBook::clear() {
  bids_.clear();
  asks_.clear();
}

bool LevelBook::has(Side side, Price price) const {
  return side == Side::bid ? bids_.contains(price) : asks_.contains(price);
}

std::array<Level, kBookLevels> LevelBook::levels(double unit) const {
  std::array<Level, kBookLevels> out{};
  std::size_t i = 0;
  for (auto level = bids_.begin(); level != bids_.end() && i < out.size(); ++level, ++i) {
    out[i].bid_price = level->first;
    out[i].bid_size = counted(level->second, unit);
  }
  i = 0;
  for (auto level = asks_.begin(); level != asks_.end() && i < out.size(); ++level, ++i) {
    out[i].ask_price = level->first;
    out[i].ask_size = counted(level->second, unit);
  }
  return out;
}

}  // namespace foxhunt::market
