// Launch shapes of the learner's kernels: a grid from problem and tile, a block size for CUDA.
#pragma once

#include "engine/device/device.h"
#include "kernels/math.h"
#include "kernels/tile.h"

namespace foxhunt {

// Row kernels: eight rows a block, one team a row on CUDA.
inline device::Launch row_launch(std::int64_t rows, std::uint32_t team_scratch = 0) {
  return {.grid_x = kernels::tiles(rows, kernels::kRowTile), .threads = 256, .team_scratch = team_scratch};
}
inline device::Launch tile_launch(std::int64_t count, std::int64_t tile, std::uint32_t threads = 256) {
  return {.grid_x = kernels::tiles(count, tile), .threads = threads};
}
inline device::Launch single_launch(std::uint32_t threads) {
  return {.grid_x = 1, .threads = threads};
}

}  // namespace foxhunt
