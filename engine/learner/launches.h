// Launch shapes of the learner's kernels: a grid from problem and tile, a block size for CUDA.
#pragma once

#include "engine/device/device.h"
#include "kernels/math.h"
#include "kernels/tile.h"

namespace foxhunt {

// Row kernels: eight rows a block, a warp a row on CUDA.
inline device::Launch row_launch(std::int64_t rows, std::uint32_t team_scratch = 0) {
  return {.grid_x = kernels::tiles(rows, kernels::kRowTile), .threads = 256, .team_scratch = team_scratch};
}
// Kernels that are told how many rows a block owns: where there are few (`few` or less), a row gets a whole block,
// about a thread a column, because its own time is all that counts; else a warp, and smaller blocks while there are
// processors to spare.
struct RowTiles {
  std::int32_t tile;
  device::Launch launch;
};
inline RowTiles row_tiles(std::int64_t rows, std::int64_t columns, std::int64_t few) {
  if (rows > few) {
    const std::int32_t tile = rows <= 1024 ? 4 : kernels::kRowTile;
    return {tile, {.grid_x = kernels::tiles(rows, tile), .threads = 32 * static_cast<std::uint32_t>(tile)}};
  }
  std::uint32_t threads = 32;
  while (threads < columns && threads < 256) threads *= 2;
  return {kernels::kLongRowTile, {.grid_x = kernels::tiles(rows, kernels::kLongRowTile), .threads = threads}};
}
// Up to so many rows a block a row pays, measured on an H200 (docs/performance.md): in general; where a row is one pass
// without a sum; and not at all where two sums follow each other, whose barriers cost more than a warp's shuffles.
inline constexpr std::int64_t kFewRows = 512, kFewLightRows = 4096, kNeverFew = 0;
inline device::Launch tile_launch(std::int64_t count, std::int64_t tile, std::uint32_t threads = 256) {
  return {.grid_x = kernels::tiles(count, tile), .threads = threads};
}
inline device::Launch single_launch(std::uint32_t threads) {
  return {.grid_x = 1, .threads = threads};
}

}  // namespace foxhunt
