// Tiling of the matrices and recording of `spectral`.
#include "engine/learner/spectral.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/learner/launches.h"

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
  u_ = {c_.device, static_cast<std::size_t>(u)};
  product_ = {c_.device, static_cast<std::size_t>(u)};
  v_ = {c_.device, static_cast<std::size_t>(v)};
}

void Spectral::record(device::Recorder& r) {
  kernels::SpectralList list{};
  list.count = static_cast<int>(list_.size());
  FH_CHECK(list.count <= kernels::kSpectralMatrices, "{} matrices with a spectral limit", list.count);
  std::copy(list_.begin(), list_.end(), list.matrix);
  r.launch(
      {.grid_x = column_tiles_, .threads = 1024, .block_scratch = 1024 * sizeof(float)},
      kernels::SpectralColumnsArgs{.params = c_.arenas.params.data(), .list = list, .u = u_.data(), .v = v_.data()});
  r.launch({.grid_x = row_tiles_, .threads = 256},
           kernels::SpectralRowsArgs{
               .params = c_.arenas.params.data(), .list = list, .v = v_.data(), .product = product_.data()});
  r.launch({.grid_x = element_tiles_, .threads = 256}, kernels::SpectralScaleArgs{.params = c_.arenas.params.data(),
                                                                                  .list = list,
                                                                                  .product = product_.data(),
                                                                                  .u = u_.data(),
                                                                                  .sigma = c_.buffers.sigma.data(),
                                                                                  .control = c_.control.data()});
}

}  // namespace foxhunt
