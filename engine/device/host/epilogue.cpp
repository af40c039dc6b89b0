// Epilogues of the host's products, compiled for plain x86-64 and for AVX2 and chosen once at run time.
#include "engine/device/host/epilogue.h"

#define FH_INLINE static inline __attribute__((always_inline))
#if defined(__x86_64__)
#define FH_WIDE __attribute__((target("avx2")))
#endif

namespace foxhunt::device::host {
namespace {

constexpr int kSumBlock = 32;  // terms added one after the other before they join the total: keeps fp32 sums accurate
constexpr int kSumLanes = 16;
constexpr int kSumColumns = 256;

FH_INLINE float relu(float x) {
  return x < 0.0f ? 0.0f : x;  // keeps NaN
}

FH_INLINE void apply(Epilogue epilogue, const EpilogueArea& area) {
  const int columns = area.columns;
  for (int row = 0; row < area.rows; ++row) {
    float* __restrict c = area.c + row * area.ldc;
    const float* __restrict bias = area.bias;
    std::uint8_t* __restrict mask = area.mask ? area.mask + row * area.mask_row : nullptr;
    switch (epilogue) {
      case Epilogue::bias:
        for (int j = 0; j < columns; ++j) c[j] += bias[j];
        break;
      case Epilogue::relu_bias:
        for (int j = 0; j < columns; ++j) c[j] = relu(c[j] + bias[j]);
        break;
      case Epilogue::relu_bias_mask:
        for (int j = 0; j < columns; ++j) {
          const float x = c[j] + bias[j];
          mask[j] = x > 0.0f ? 1 : 0;
          c[j] = relu(x);
        }
        break;
      case Epilogue::relu_gradient:
        for (int j = 0; j < columns; ++j) c[j] = mask[j] != 0 ? c[j] : 0.0f;
        break;
      case Epilogue::none:
      case Epilogue::bias_gradient:
        break;
    }
  }
}

// A stored [k, rows]: whole stretches of columns are added row after row.
FH_INLINE void sum_stored_rows(const float* a, std::ptrdiff_t lda, int rows, int k, float* sums) {
  for (int first = 0; first < rows; first += kSumColumns) {
    const int width = rows - first < kSumColumns ? rows - first : kSumColumns;
    float total[kSumColumns] = {}, part[kSumColumns];
    for (int block = 0; block < k; block += kSumBlock) {
      const int end = k - block < kSumBlock ? k : block + kSumBlock;
      for (int j = 0; j < width; ++j) part[j] = 0.0f;
      for (int kk = block; kk < end; ++kk) {
        const float* row = a + kk * lda + first;
        for (int j = 0; j < width; ++j) part[j] += row[j];
      }
      for (int j = 0; j < width; ++j) total[j] += part[j];
    }
    for (int j = 0; j < width; ++j) sums[first + j] = total[j];
  }
}

// A stored [rows, k]: sixteen interleaved partial sums a row.
FH_INLINE void sum_along_rows(const float* a, std::ptrdiff_t lda, int rows, int k, float* sums) {
  for (int i = 0; i < rows; ++i) {
    const float* row = a + i * lda;
    float lanes[kSumLanes] = {};
    int kk = 0;
    for (; kk + kSumLanes <= k; kk += kSumLanes)
      for (int j = 0; j < kSumLanes; ++j) lanes[j] += row[kk + j];
    for (int j = 0; kk + j < k; ++j) lanes[j] += row[kk + j];
    for (int half = kSumLanes / 2; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) lanes[j] += lanes[j + half];
    sums[i] = lanes[0];
  }
}

FH_INLINE void sum(const float* a, std::ptrdiff_t lda, bool transposed, int rows, int k, float* sums) {
  if (transposed)
    sum_stored_rows(a, lda, rows, k, sums);
  else
    sum_along_rows(a, lda, rows, k, sums);
}

#ifdef FH_WIDE
FH_WIDE void apply_wide(Epilogue epilogue, const EpilogueArea& area) {
  apply(epilogue, area);
}
FH_WIDE void sum_wide(const float* a, std::ptrdiff_t lda, bool transposed, int rows, int k, float* sums) {
  sum(a, lda, transposed, rows, k, sums);
}
const bool wide = (__builtin_cpu_init(), __builtin_cpu_supports("avx2") != 0);
#endif

}  // namespace

void apply_epilogue(Epilogue epilogue, const EpilogueArea& area) {
#ifdef FH_WIDE
  if (wide) return apply_wide(epilogue, area);
#endif
  apply(epilogue, area);
}

void sum_rows(const float* a, std::ptrdiff_t lda, bool transposed, int rows, int k, float* sums) {
#ifdef FH_WIDE
  if (wide) return sum_wide(a, lda, transposed, rows, k, sums);
#endif
  sum(a, lda, transposed, rows, k, sums);
}

}  // namespace foxhunt::device::host
