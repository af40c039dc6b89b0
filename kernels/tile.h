// Contiguous tiles: which elements or rows a block owns. The grid depends on problem and tile alone, never on the block
// size.
#pragma once

#include "kernels/block.h"

namespace foxhunt::kernels {

struct Tile {
  int64_t begin, end;
};

// Elements [begin, end) of `count` that tile number `index` of `size` owns.
FH_FN Tile tile_of(int64_t index, int64_t count, int64_t size) {
  const int64_t begin = index * size;
  return {minimum(begin, count), minimum(begin + size, count)};
}

inline constexpr uint32_t tiles(int64_t count, int64_t size) {
  return static_cast<uint32_t>((count + size - 1) / size);
}

}  // namespace foxhunt::kernels
