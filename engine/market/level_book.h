// An order book kept as sizes of price levels, for feeds that send the new size of one level at a time.
#pragma once

#include <array>
#include <map>

#include "engine/market/records.h"

namespace foxhunt::market {

class LevelBook {
 public:
  // The level's size in contracts from now on; 0 takes it away.
  void set(Side side, Price price, double size);
  void clear();
  // Whether the level is there.
  bool has(Side side, Price price) const;
  // Best first. A size counts 1 for each `unit` contracts, to the nearest, at least 1; above 32 bits it is capped.
  std::array<Level, kBookLevels> levels(double unit) const;

 private:
  std::map<Price, double, std::greater<>> bids_;
  std::map<Price, double> asks_;
};

}  // namespace foxhunt::market
