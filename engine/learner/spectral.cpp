// Tiling of the matrices and recording of `spectral`.
#include "engine/learner/spectral.h"

#include "engine/learner/launches.h"
#include "engine/learner/transfer.h"

namespace foxhunt {

Spectral::Spectral(StepContext& context) : c_(context) {
  int u = 0, v = 0;
  for (const int i : c_.table.spectral()) {
    const TensorSpec& t = c_.table.tensors()[i];
    const int rows = t.shape[0], columns = t.shape[1];
    list_.push_back({.weight = t.offset,
                     .rows = rows,
                     .columns = columns,
                     .u = u,
                     .v = v,
                     .column_tile = static_cast<int>(column_tiles_),
                     .row_tile = static_cast<int>(row_tiles_),
                     .element_tile = static_cast<int>(element_tiles_)});
    u += rows;
    v += columns;
    column_tiles_ += kernels::tiles(columns, kernels::kSpectralColumns);
    row_tiles_ += kernels::tiles(rows, kernels::kSpectralRows);
    element_tiles_ += kernels::tiles(t.size, kernels::kSpectralElements);
  }
  matrices_ = {c_.device, list_.size()};
  u_ = {c_.device, static_cast<std::size_t>(u)};
  product_ = {c_.device, static_cast<std::size_t>(u)};
  v_ = {c_.device, static_cast<std::size_t>(v)};
  upload(c_.device, matrices_.data(), list_.data(), list_.size());
}

void Spectral::record(device::Recorder& r) {
  const int count = static_cast<int>(list_.size());
  r.launch(
      {.grid_x = column_tiles_, .threads = 256, .block_scratch = 256 * sizeof(float)},
      kernels::SpectralColumnsArgs{
          .params = c_.arenas.params.data(), .list = matrices_.data(), .u = u_.data(), .v = v_.data(), .count = count});
  r.launch({.grid_x = row_tiles_, .threads = 256}, kernels::SpectralRowsArgs{.params = c_.arenas.params.data(),
                                                                             .list = matrices_.data(),
                                                                             .v = v_.data(),
                                                                             .product = product_.data(),
                                                                             .count = count});
  r.launch({.grid_x = element_tiles_, .threads = 256}, kernels::SpectralScaleArgs{.params = c_.arenas.params.data(),
                                                                                  .list = matrices_.data(),
                                                                                  .product = product_.data(),
                                                                                  .u = u_.data(),
                                                                                  .sigma = c_.buffers.sigma.data(),
                                                                                  .control = c_.control.data(),
                                                                                  .count = count});
}

}  // namespace foxhunt
