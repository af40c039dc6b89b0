// What follows a matrix product where the product library cannot do it for a shape: bias, ReLU with its mask, ReLU's
// gradient and the bias gradient. Same results as the fused epilogues of engine/device/product.h.
//
// The mask holds one bit an element, least significant bit first, rows padded to 128 bits: what cuBLASLt's RELU_AUX
// writes and its DRELU reads, so fused and separate epilogues can be mixed.
#pragma once

#include "kernels/tile.h"

namespace foxhunt::kernels {

inline constexpr int64_t kProductRows = 8;      // rows of C a block owns
inline constexpr int64_t kProductColumns = 32;  // bias elements a block of product_column_sums owns
inline constexpr int64_t kMaskGroup = 8;        // elements that share a byte of the mask
inline constexpr uint32_t kColumnSumScratch = kProductColumns * sizeof(float);  // bytes a team

// Bytes of one row of the mask.
FH_FN int64_t mask_row_bytes(int64_t columns) {
  return (columns + 127) / 128 * 16;
}

// C = relu?(C + bias), mask = C + bias > 0. C is overwritten in place; the mask's padding is not touched.
struct ProductBiasArgs {
  float* c;           // [batch, rows, columns], rows row_stride apart, matrices batch_stride apart
  const float* bias;  // [batch, columns], bias_stride apart
  uint8_t* mask;      // [rows, mask_row_bytes(columns)] or null; batch 1 only
  int64_t rows, columns, batch;
  int64_t row_stride, batch_stride, bias_stride;
  int32_t relu;
};

FH_FN void product_bias(const Block& block, const ProductBiasArgs& a) {
  const Tile tile = tile_of(block.x, a.rows * a.batch, kProductRows);
  const int64_t groups = (a.columns + kMaskGroup - 1) / kMaskGroup;
  for (int64_t i = block.thread(); i < (tile.end - tile.begin) * groups; i += block.threads()) {
    const int64_t row = tile.begin + i / groups, group = i % groups, matrix = row / a.rows;
    float* c = a.c + matrix * a.batch_stride + (row % a.rows) * a.row_stride;
    const float* bias = a.bias + matrix * a.bias_stride;
    const int64_t first = group * kMaskGroup, last = minimum(first + kMaskGroup, a.columns);
    uint32_t bits = 0;
    for (int64_t column = first; column < last; ++column) {
      const float value = c[column] + bias[column];
      const bool positive = value > 0.0f;
      bits |= static_cast<uint32_t>(positive) << (column - first);
      // A NaN passes, so that the gradient's NaN check sees it.
      c[column] = a.relu && value < 0.0f ? 0.0f : value;
    }
    if (a.mask) a.mask[row * mask_row_bytes(a.columns) + group] = static_cast<uint8_t>(bits);
  }
}

// C = 0 where the mask's bit is clear. C is overwritten in place.
struct ProductMaskArgs {
  float* c;             // [rows, columns], rows row_stride apart
  const uint8_t* mask;  // [rows, mask_row_bytes(columns)]
  int64_t rows, columns, row_stride;
};

FH_FN void product_mask(const Block& block, const ProductMaskArgs& a) {
  const Tile tile = tile_of(block.x, a.rows, kProductRows);
  for (int64_t i = block.thread(); i < (tile.end - tile.begin) * a.columns; i += block.threads()) {
    const int64_t row = tile.begin + i / a.columns, column = i % a.columns;
    const uint32_t byte = a.mask[row * mask_row_bytes(a.columns) + column / kMaskGroup];
    if (!(byte >> (column % kMaskGroup) & 1u)) a.c[row * a.row_stride + column] = 0.0f;
  }
}

// sums[m] = sum over k of A[m, k], overwritten: A stored by rows. Grid: (tiles(rows, kProductRows), batch).
struct ProductRowSumsArgs {
  const float* a;  // [batch, rows, columns]
  float* sums;     // [batch, rows], sums_stride apart
  int64_t rows, columns;
  int64_t row_stride, batch_stride, sums_stride;
};

FH_FN void product_row_sums(const Block& block, const ProductRowSumsArgs& a) {
  const Tile tile = tile_of(block.x, a.rows, kProductRows);
  const Team team = block.team();
  const float* matrix = a.a + block.y * a.batch_stride;
  for (int64_t row = tile.begin + team.index; row < tile.end; row += team.teams) {
    float sum = 0.0f;
    for (int64_t k = team.lane; k < a.columns; k += team.lanes) sum += matrix[row * a.row_stride + k];
    sum = team.sum(sum);
    if (team.lane == 0) a.sums[block.y * a.sums_stride + row] = sum;
  }
}

// sums[m] = sum over k of A[k, m], overwritten: A stored transposed, as in a weight gradient dY^T X.
// Grid: (tiles(columns, kProductColumns), batch); scratch: kColumnSumScratch a team.
struct ProductColumnSumsArgs {
  const float* a;  // [batch, rows, columns]
  float* sums;     // [batch, columns], sums_stride apart
  int64_t rows, columns;
  int64_t row_stride, batch_stride, sums_stride;
};

FH_FN void product_column_sums(const Block& block, const ProductColumnSumsArgs& a) {
  const Tile tile = tile_of(block.x, a.columns, kProductColumns);
  const Team team = block.team();
  const float* matrix = a.a + block.y * a.batch_stride;
  float* partial = block.scratch<float>();  // [teams, kProductColumns]
  for (int64_t column = tile.begin + team.lane; column < tile.end; column += team.lanes) {
    float sum = 0.0f;
    for (int64_t k = team.index; k < a.rows; k += team.teams) sum += matrix[k * a.row_stride + column];
    partial[team.index * kProductColumns + column - tile.begin] = sum;
  }
  block.sync();
  for (int64_t column = tile.begin + block.thread(); column < tile.end; column += block.threads()) {
    float sum = 0.0f;
    for (int64_t t = 0; t < team.teams; ++t) sum += partial[t * kProductColumns + column - tile.begin];
    a.sums[block.y * a.sums_stride + column] = sum;
  }
}

}  // namespace foxhunt::kernels
