// A matrix product in row-major terms: C[m, n] (+)= op(A)[m, k] op(B)[k, n], with an epilogue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace foxhunt::device {

enum class Precision { fp32, tf32, bf16 };

enum class Epilogue {
  none,
  bias,            // C += bias[n]
  relu_bias,       // C = max(0, C + bias[n])
  relu_bias_mask,  // the same, and `mask` keeps which elements were positive
  relu_gradient,   // C = 0 where `mask` says that the forward output was not positive
  bias_gradient,  // bias[m] = sum over k of op(A)[m, k], overwritten: the bias gradient beside a weight gradient dY^T X
};

struct ProductShape {
  int m = 0, n = 0, k = 0;
  bool transpose_a = false;       // A is stored [k, m]
  bool transpose_b = false;       // B is stored [n, k]
  int lda = 0, ldb = 0, ldc = 0;  // elements between stored rows; 0: tight
  int batch = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0, stride_bias = 0;  // elements between the batch's matrices
  bool accumulate = false;                                                 // C += instead of C =
  Epilogue epilogue = Epilogue::none;                                      // mask epilogues need batch 1
  Precision precision = Precision::fp32;
};

struct ProductOperands {
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  float* bias = nullptr;  // read by bias epilogues, written by bias_gradient
  void* mask =
      nullptr;  // Product::mask_bytes(); layout is the backend's. A shape with fewer rows may use its beginning.
};

class Product {
 public:
  virtual ~Product() = default;
  virtual const ProductShape& shape() const = 0;
  virtual std::string algorithm() const = 0;  // what was pinned, in words
};

// Bytes of a ReLU mask over an [m, n] output: enough for every backend (one byte an element, rows padded to 128).
inline std::size_t mask_bytes(int m, int n) {
  return static_cast<std::size_t>(m) * ((static_cast<std::size_t>(n) + 127) / 128 * 128);
}

}  // namespace foxhunt::device
