// Element-wise helpers used outside the training step and by the device layer's own tests.
#pragma once

#include "kernels/tile.h"

namespace foxhunt::kernels {

inline constexpr int64_t kBasicTile = 4096;

struct FillWordsArgs {
  uint32_t* words;  // [count] overwritten
  int64_t count;
  uint32_t value;
};

FH_FN void fill_words(const Block& block, const FillWordsArgs& a) {
  const Tile tile = tile_of(block.x, a.count, kBasicTile);
  for (int64_t i = tile.begin + block.thread(); i < tile.end; i += block.threads()) a.words[i] = a.value;
}

struct ScaledAddArgs {
  const float* x;      // [count]
  const float* scale;  // [1] device scalar
  float* y;            // [count] accumulated: y += scale x
  int64_t count;
};

FH_FN void scaled_add(const Block& block, const ScaledAddArgs& a) {
  const Tile tile = tile_of(block.x, a.count, kBasicTile);
  const float s = *a.scale;
  for (int64_t i = tile.begin + block.thread(); i < tile.end; i += block.threads()) a.y[i] += s * a.x[i];
}

struct CountDownArgs {
  uint32_t* left;      // [1] decremented
  uint64_t condition;  // set to what is left
};

// One block: the body of a loop that runs left[0] times.
FH_FN void count_down(const Block& block, const CountDownArgs& a) {
  if (block.thread() != 0) return;
  const uint32_t left = *a.left - 1;
  *a.left = left;
  set_condition(a.condition, left);
}

}  // namespace foxhunt::kernels
