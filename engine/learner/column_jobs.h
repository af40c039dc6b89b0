// Makes the list of column sums over the batch that end the backward pass: see kernels/backward.h.
#pragma once

#include "engine/device/recorder.h"
#include "engine/learner/launches.h"
#include "kernels/backward.h"

namespace foxhunt {

// Sums of x [B, columns] alone, and of its products with y's columns j / divide.
inline kernels::ColumnJob sum_alone(const float* x, int columns, int stride, float* out) {
  return {.x = x,
          .y = nullptr,
          .out = out,
          .gate = nullptr,
          .columns = columns,
          .x_stride = stride,
          .y_stride = 0,
          .divide = 1,
          .modulo = 1,
          .first_tile = 0};
}
inline kernels::ColumnJob sum_products(const float* x, int columns, const float* y, int y_stride, int divide,
                                       float* out) {
  return {.x = x,
          .y = y,
          .out = out,
          .gate = nullptr,
          .columns = columns,
          .x_stride = columns,
          .y_stride = y_stride,
          .divide = divide,
          .modulo = columns,
          .first_tile = 0};
}
inline void add_job(kernels::ColumnSumsArgs& list, kernels::ColumnJob job) {
  job.first_tile = list.tiles;
  list.tiles += static_cast<int>(kernels::tiles(job.columns, kernels::kColumnTile));
  list.job[list.jobs++] = job;
}

inline void record_column_sums(device::Recorder& r, const kernels::ColumnSumsArgs& sums) {
  const auto chunks = kernels::tiles(sums.rows, kernels::kColumnRows);
  r.launch({.grid_x = static_cast<std::uint32_t>(sums.tiles),
            .grid_y = chunks,
            .threads = 512,
            .block_scratch = 512 * sizeof(float)},
           sums);
  kernels::ColumnFinishArgs finish{};
  std::copy(std::begin(sums.job), std::end(sums.job), std::begin(finish.job));
  finish.partial = sums.partial;
  finish.jobs = sums.jobs;
  finish.chunks = static_cast<int>(chunks);
  finish.tiles = sums.tiles;
  r.launch({.grid_x = static_cast<std::uint32_t>(sums.tiles), .threads = 64}, finish);
}

}  // namespace foxhunt
