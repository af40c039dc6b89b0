// What a product's shape and operands must be, and cuBLASLt's objects for them.
#include <algorithm>

#include "engine/device/cuda/products.h"

namespace foxhunt::device::cuda {
namespace {

int a_rows(const ProductShape& s) {
  return s.transpose_a ? s.k : s.m;
}
int a_columns(const ProductShape& s) {
  return s.transpose_a ? s.m : s.k;
}
int b_rows(const ProductShape& s) {
  return s.transpose_b ? s.n : s.k;
}
int b_columns(const ProductShape& s) {
  return s.transpose_b ? s.k : s.n;
}

std::string sizes(const ProductShape& s) {
  return fmt::format("{} x {} x {}", s.m, s.n, s.k);
}

int filled(int ld, int columns, const char* name, const ProductShape& s) {
  if (ld == 0) return columns;
  if (ld < columns) {
    throw Error(fmt::format("plan {}: {} is {}, a stored row has {} elements; allowed: 0 (tight) or at least {}",
                            sizes(s), name, ld, columns, columns));
  }
  return ld;
}

void check_batch(const ProductShape& s) {
  if (s.stride_a < 0 || s.stride_b < 0 || s.stride_c < 0 || s.stride_bias < 0) {
    throw Error(fmt::format("plan {}: a stride of the batch is negative", sizes(s)));
  }
  if (s.batch == 1) return;
  if (uses_mask(s.epilogue)) {
    throw Error(fmt::format("plan {}: batch is {}; epilogues with a mask need batch 1", sizes(s), s.batch));
  }
  const std::int64_t one = static_cast<std::int64_t>(s.m - 1) * s.ldc + s.n;
  const bool side_by_side = s.stride_c >= s.n && (s.batch - 1) * s.stride_c + s.n <= s.ldc;
  if (s.stride_c < one && !side_by_side) {
    throw Error(fmt::format("plan {}: stride_c is {}, so results of the batch overlap; one takes {} elements", sizes(s),
                            s.stride_c, one));
  }
  if (s.epilogue == Epilogue::bias_gradient && s.stride_bias < s.m) {
    throw Error(fmt::format("plan {}: stride_bias is {}, so bias gradients of the batch overlap; one takes {} elements",
                            sizes(s), s.stride_bias, s.m));
  }
}

cublasComputeType_t compute_type(Precision precision) {
  switch (precision) {
    case Precision::tf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case Precision::bf16:
      return CUBLAS_COMPUTE_32F_FAST_16BF;
    case Precision::fp32:
      break;
  }
  return CUBLAS_COMPUTE_32F;
}

cublasLtEpilogue_t library_epilogue(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::bias:
      return CUBLASLT_EPILOGUE_BIAS;
    case Epilogue::relu_bias:
      return CUBLASLT_EPILOGUE_RELU_BIAS;
    case Epilogue::relu_bias_mask:
      return CUBLASLT_EPILOGUE_RELU_AUX_BIAS;
    case Epilogue::relu_gradient:
      return CUBLASLT_EPILOGUE_DRELU;
    case Epilogue::bias_gradient:
      return CUBLASLT_EPILOGUE_BGRADB;  // over the library's second operand, our A
    case Epilogue::none:
      break;
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

const char* epilogue_name(Epilogue epilogue) {
  constexpr const char* names[] = {"none", "bias", "relu_bias", "relu_bias_mask", "relu_gradient", "bias_gradient"};
  return names[static_cast<std::size_t>(epilogue)];
}

const char* precision_name(Precision precision) {
  constexpr const char* names[] = {"fp32", "tf32", "bf16"};
  return names[static_cast<std::size_t>(precision)];
}

}  // namespace

bool reads_bias(Epilogue e) {
  return e == Epilogue::bias || e == Epilogue::relu_bias || e == Epilogue::relu_bias_mask;
}

bool uses_mask(Epilogue e) {
  return e == Epilogue::relu_bias_mask || e == Epilogue::relu_gradient;
}

std::size_t span_elements(int rows, int columns, int ld, int batch, std::int64_t stride) {
  return static_cast<std::size_t>(batch - 1) * static_cast<std::size_t>(stride) +
         static_cast<std::size_t>(rows - 1) * static_cast<std::size_t>(ld) + static_cast<std::size_t>(columns);
}

ProductShape checked_shape(const ProductShape& shape) {
  ProductShape s = shape;
  if (s.m < 1 || s.n < 1 || s.k < 1 || s.batch < 1) {
    throw Error(fmt::format("plan {} with batch {}: every size must be at least 1", sizes(s), s.batch));
  }
  s.lda = filled(s.lda, a_columns(s), "lda", s);
  s.ldb = filled(s.ldb, b_columns(s), "ldb", s);
  s.ldc = filled(s.ldc, s.n, "ldc", s);
  check_batch(s);
  return s;
}

std::string shape_text(const ProductShape& s, int alignment) {
  std::string text = fmt::format("{} {}{} ld {} {} {}", sizes(s), s.transpose_a ? 'T' : 'N', s.transpose_b ? 'T' : 'N',
                                 s.lda, s.ldb, s.ldc);
  if (s.batch > 1) {
    text += fmt::format(" batch {} strides {} {} {} {}", s.batch, s.stride_a, s.stride_b, s.stride_c, s.stride_bias);
  }
  if (s.accumulate) text += " accumulate";
  return text + fmt::format(" {} {} align {}", epilogue_name(s.epilogue), precision_name(s.precision), alignment);
}

void check_operands(const ProductShape& s, const ProductOperands& o, const Memory& memory) {
  const auto check = [&](const char* name, const void* address, std::size_t bytes) {
    if (!address) throw Error(fmt::format("multiply {}: operand {} is missing", sizes(s), name));
    memory.check("multiply", fmt::format("operand {} of {}", name, sizes(s)), address, bytes);
  };
  check("a", o.a, span_elements(a_rows(s), a_columns(s), s.lda, s.batch, s.stride_a) * sizeof(float));
  check("b", o.b, span_elements(b_rows(s), b_columns(s), s.ldb, s.batch, s.stride_b) * sizeof(float));
  check("c", o.c, span_elements(s.m, s.n, s.ldc, s.batch, s.stride_c) * sizeof(float));
  if (reads_bias(s.epilogue)) check("bias", o.bias, span_elements(1, s.n, 0, s.batch, s.stride_bias) * sizeof(float));
  if (s.epilogue == Epilogue::bias_gradient) {
    check("bias", o.bias, span_elements(1, s.m, 0, s.batch, s.stride_bias) * sizeof(float));
  }
  if (uses_mask(s.epilogue)) {
    check("mask", o.mask, mask_bytes(s.m, s.n));
    if (reinterpret_cast<std::uintptr_t>(o.mask) % 16 != 0) {
      throw Error(fmt::format("multiply {}: the mask at {} is not aligned to 16 bytes", sizes(s), o.mask));
    }
  }
}

ProductDescriptor::ProductDescriptor(Context& context, const ProductShape& shape, bool fused)
    : context_(context), shape_(shape), fused_(fused && shape.epilogue != Epilogue::none) {
  const ProductShape& s = shape_;
  const cublasOperation_t first_op = s.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t second_op = s.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  FH_CU(context_, cublasLtMatmulDescCreate, &operation, compute_type(s.precision), CUDA_R_32F);
  set(CUBLASLT_MATMUL_DESC_TRANSA, &first_op, sizeof first_op);
  set(CUBLASLT_MATMUL_DESC_TRANSB, &second_op, sizeof second_op);
  if (fused_) {
    const cublasLtEpilogue_t epilogue = library_epilogue(s.epilogue);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    if (s.batch > 1) set(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, &s.stride_bias, sizeof s.stride_bias);
    if (uses_mask(s.epilogue)) {
      const std::int64_t bits = (s.n + 127) / 128 * 128;  // one bit an element, rows padded to 128
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &bits, sizeof bits);
    }
  }
  first = layout(b_columns(s), b_rows(s), s.ldb, s.stride_b);
  second = layout(a_columns(s), a_rows(s), s.lda, s.stride_a);
  result = layout(s.n, s.m, s.ldc, s.stride_c);
}

ProductDescriptor::~ProductDescriptor() {
  for (cublasLtMatrixLayout_t matrix : {first, second, result}) {
    if (matrix) context_.api.cublasLtMatrixLayoutDestroy(matrix);
  }
  if (operation) context_.api.cublasLtMatmulDescDestroy(operation);
}

void ProductDescriptor::set(cublasLtMatmulDescAttributes_t attribute, const void* value, std::size_t bytes) {
  FH_CU(context_, cublasLtMatmulDescSetAttribute, operation, attribute, value, bytes);
}

cublasLtMatrixLayout_t ProductDescriptor::layout(int rows, int columns, int stride, std::int64_t batch_stride) const {
  cublasLtMatrixLayout_t matrix = nullptr;
  FH_CU(context_, cublasLtMatrixLayoutCreate, &matrix, CUDA_R_32F, static_cast<std::uint64_t>(rows),
        static_cast<std::uint64_t>(columns), stride);
  if (shape_.batch > 1) {
    const std::int32_t count = shape_.batch;
    FH_CU(context_, cublasLtMatrixLayoutSetAttribute, matrix, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
    FH_CU(context_, cublasLtMatrixLayoutSetAttribute, matrix, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
          &batch_stride, sizeof batch_stride);
  }
  return matrix;
}

void ProductDescriptor::point(const ProductOperands& o) {
  if (!fused_) return;
  if (reads_bias(shape_.epilogue) || shape_.epilogue == Epilogue::bias_gradient) {
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, &o.bias, sizeof o.bias);
  }
  if (uses_mask(shape_.epilogue)) set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &o.mask, sizeof o.mask);
}

cublasStatus_t ProductDescriptor::run(cublasLtHandle_t handle, const ProductOperands& o,
                                      const cublasLtMatmulAlgo_t& algorithm, CUdeviceptr workspace,
                                      std::size_t workspace_bytes, CUstream stream) const {
  const float alpha = 1.0f, beta = shape_.accumulate ? 1.0f : 0.0f;
  return context_.api.cublasLtMatmul(handle, operation, &alpha, o.b, first, o.a, second, &beta, o.c, result, o.c,
                                     result, &algorithm, reinterpret_cast<void*>(workspace), workspace_bytes, stream);
}

}  // namespace foxhunt::device::cuda
