// What happens to a piece of a product while it is still in the cache, and the bias gradient beside one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/device/product.h"

namespace foxhunt::device::host {

struct EpilogueArea {
  float* c;  // [rows] rows of [columns], ldc apart
  std::ptrdiff_t ldc;
  int rows, columns;
  const float* bias;   // [columns]; null where there is none
  std::uint8_t* mask;  // first byte of the area; null where there is none
  std::ptrdiff_t mask_row;
};

// bias, relu_bias, relu_bias_mask and relu_gradient; nothing for the others. NaN stays NaN.
void apply_epilogue(Epilogue epilogue, const EpilogueArea& area);

// sums[i] = sum over kk < k of A[kk * lda + i] (transposed: A is stored [k, rows]) or of A[i * lda + kk], overwritten.
// Summed in blocks of a fixed size, so the result depends on the shape alone.
void sum_rows(const float* a, std::ptrdiff_t lda, bool transposed, int rows, int k, float* sums);

}  // namespace foxhunt::device::host
