// Spectral normalisation (Miyato et al. 2018): one power iteration a step over all listed matrices at once, then the
// scale-down. v = W'u / |W'u|, u = Wv / |Wv|, sigma = u.Wv, W *= min(1, limit / sigma). Family `spectral`.
#pragma once

#include "kernels/control.h"
#include "kernels/math.h"
#include "kernels/tile.h"

namespace foxhunt::kernels {

inline constexpr int kSpectralColumns = 32, kSpectralRows = 16, kSpectralElements = 8192;

inline constexpr int kSpectralMatrices = 32;

struct SpectralMatrix {
  int64_t weight;  // arena offset of [rows, columns]
  int32_t rows, columns;
  int32_t u, v;                                 // offsets into the vectors
  int32_t column_tile, row_tile, element_tile;  // first block of this matrix in each of the three launches
};

// The list travels with the arguments: a block finds its matrix without touching memory.
struct SpectralList {
  SpectralMatrix matrix[kSpectralMatrices];
  int32_t count;
};

FH_FN int matrix_of(const SpectralMatrix* list, int count, int tile, int32_t SpectralMatrix::*first) {
  int k = 0;
  while (k + 1 < count && tile >= list[k + 1].*first) ++k;
  return k;
}

// sqrt of the sum of squares, at least 1e-12.
FH_FN float block_norm(const Block& block, const float* x, int n) {
  float sum = 0;
  for (int i = block.thread(); i < n; i += block.threads()) sum += x[i] * x[i];
  return maximum(sqrtf(block.sum(sum)), 1e-12f);
}

struct SpectralColumnsArgs {
  const float* params;
  SpectralList list;
  const float* u;
  float* v;  // W'u, not normalised; overwritten
};

FH_FN void spectral_columns(const Block& block, const SpectralColumnsArgs& a) {
  const SpectralMatrix& m =
      a.list.matrix[matrix_of(a.list.matrix, a.list.count, static_cast<int>(block.x), &SpectralMatrix::column_tile)];
  const int first = (static_cast<int>(block.x) - m.column_tile) * kSpectralColumns;
  const int width = minimum(kSpectralColumns, m.columns - first);
  const float* w = a.params + m.weight + first;
  const float* u = a.u + m.u;
#if FH_DEVICE
  // Threads split the rows of each column; partial sums meet in a fixed order.
  float* part = block.scratch<float>();
  const int groups = maximum(1, block.threads() / kSpectralColumns);
  for (int k = block.thread(); k < groups * kSpectralColumns; k += block.threads()) {
    const int j = k % kSpectralColumns, g = k / kSpectralColumns;
    float sum = 0;
    if (j < width) {
FH_UNROLL_BY(8)
      for (int i = g; i < m.rows; i += groups) sum += w[static_cast<int64_t>(i) * m.columns + j] * u[i];
    }
    part[k] = sum;
  }
  block.sync();
  for (int j = block.thread(); j < width; j += block.threads()) {
    float sum = 0;
    for (int g = 0; g < groups; ++g) sum += part[g * kSpectralColumns + j];
    a.v[m.v + first + j] = sum;
  }
#else
  float sum[kSpectralColumns] = {};
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0; j < width; ++j) sum[j] += w[static_cast<int64_t>(i) * m.columns + j] * u[i];
  for (int j = 0; j < width; ++j) a.v[m.v + first + j] = sum[j];
#endif
}

struct SpectralRowsArgs {
  const float* params;
  SpectralList list;
  const float* v;  // W'u
  float* product;  // W v with v normalised; overwritten, at the offsets of u
};

FH_FN void spectral_rows(const Block& block, const SpectralRowsArgs& a) {
  const SpectralMatrix& m =
      a.list.matrix[matrix_of(a.list.matrix, a.list.count, static_cast<int>(block.x), &SpectralMatrix::row_tile)];
  const Team team = block.team();
  const float* v = a.v + m.v;
  const float norm = block_norm(block, v, m.columns);
  const Tile tile = tile_of(static_cast<int>(block.x) - m.row_tile, m.rows, kSpectralRows);
  for (int64_t i = tile.begin + team.index; i < tile.end; i += team.teams) {
    const float* w = a.params + m.weight + i * m.columns;
    const float dot = team_sum(team, m.columns, [&](int j) { return w[j] * v[j]; });
    if (team.lane == 0) a.product[m.u + i] = dot / norm;
  }
}

struct SpectralScaleArgs {
  float* params;
  SpectralList list;
  const float* product;  // W v
  float* u;              // overwritten by the first block of each matrix
  float* sigma;          // [count] overwritten
  const Control* control;
};

FH_FN void spectral_scale(const Block& block, const SpectralScaleArgs& a) {
  const int k = matrix_of(a.list.matrix, a.list.count, static_cast<int>(block.x), &SpectralMatrix::element_tile);
  const SpectralMatrix& m = a.list.matrix[k];
  if (a.control->halt) return;  // the same for every thread
  const float* wv = a.product + m.u;
  const float norm = block_norm(block, wv, m.rows);
  float dot = 0;
  for (int i = block.thread(); i < m.rows; i += block.threads()) dot += wv[i] / norm * wv[i];
  const float sigma = block.sum(dot);
  if (static_cast<int>(block.x) == m.element_tile) {
    for (int i = block.thread(); i < m.rows; i += block.threads()) a.u[m.u + i] = wv[i] / norm;
    if (block.thread() == 0) a.sigma[k] = sigma;
  }
  const float scale = a.control->settings.spectral_max / maximum(sigma, 1e-12f);
  if (scale >= 1.0f) return;
  float* w = a.params + m.weight;
  const Tile tile =
      tile_of(static_cast<int>(block.x) - m.element_tile, static_cast<int64_t>(m.rows) * m.columns, kSpectralElements);
  block_each(block, tile.begin, tile.end, [&](int64_t i) { w[i] *= scale; });
}

}  // namespace foxhunt::kernels
