// Evaluation windows: M accounts that start flat, each at the first bar of its own contiguous window.
#pragma once

#include "kernels/collector.h"

namespace foxhunt::kernels {

struct BeginWindowsArgs {
  EnvironmentState* states;  // [count]
  double kelly_floor;
  int64_t begin, end;  // rows of the whole window; it holds end - begin - 1 decisions
  int32_t windows;     // M
  int32_t count;       // a multiple of M: window i mod M each
};

// Window w takes decisions [w D / M, (w + 1) D / M) of D; its last bar is the next one's first.
FH_FN int64_t window_begin(int64_t begin, int64_t end, int64_t windows, int64_t w) {
  return begin + (end - begin - 1) * w / windows;
}

FH_FN void begin_windows(const Block& block, const BeginWindowsArgs& a) {
  const Tile tile = tile_of(block.x, a.count, kEnvironmentTile);
  for (int64_t i = tile.begin + block.thread(); i < tile.end; i += block.threads()) {
    const int64_t w = i % a.windows;
    start_account(a.states[i], static_cast<int32_t>(window_begin(a.begin, a.end, a.windows, w)),
                  static_cast<int32_t>(window_begin(a.begin, a.end, a.windows, w + 1)), a.kelly_floor);
  }
}

}  // namespace foxhunt::kernels
