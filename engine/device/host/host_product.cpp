// Partition, validation and execution of the host's matrix products.
#include "engine/device/host/host_product.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/device/host/epilogue.h"

namespace foxhunt::device::host {
namespace {

constexpr double kPieceFlops = 1.5e6;  // about 15 us: under it the hand-over to a thread costs more than it saves
constexpr int kMostPieces = 16;        // of one matrix
constexpr int kColumnGranule = 16;     // a multiple of the kernels' register tile, so that pieces have no ragged edge
constexpr int kRowGranule = 8;

bool uses_bias(Epilogue e) {
  return e == Epilogue::bias || e == Epilogue::relu_bias || e == Epilogue::relu_bias_mask;
}
bool uses_mask(Epilogue e) {
  return e == Epilogue::relu_bias_mask || e == Epilogue::relu_gradient;
}

std::ptrdiff_t mask_row(const ProductShape& s) {
  return static_cast<std::ptrdiff_t>(mask_bytes(1, s.n));
}

// Elements from the first to the end of the last of `batch` matrices of [rows, columns].
std::size_t span_elements(int rows, int columns, int ld, int batch, std::int64_t stride) {
  return static_cast<std::size_t>(batch - 1) * static_cast<std::size_t>(stride) +
         static_cast<std::size_t>(rows - 1) * static_cast<std::size_t>(ld) + static_cast<std::size_t>(columns);
}

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

int tight(int ld, int columns, const char* name, const std::string& text) {
  if (ld == 0) return columns;
  if (ld < columns)
    throw Error(fmt::format("plan {}: {} is {}, a stored row has {} elements; allowed: 0 (tight) or at least {}", text,
                            name, ld, columns, columns));
  return ld;
}

void check_batch(const ProductShape& s, const std::string& text) {
  if (s.stride_a < 0 || s.stride_b < 0 || s.stride_c < 0 || s.stride_bias < 0)
    throw Error(fmt::format("plan {}: a stride of the batch is negative", text));
  if (s.batch == 1) return;
  if (uses_mask(s.epilogue))
    throw Error(fmt::format("plan {}: batch is {}; epilogues with a mask need batch 1", text, s.batch));
  const std::int64_t one = static_cast<std::int64_t>(s.m - 1) * s.ldc + s.n;
  const bool side_by_side = s.stride_c >= s.n && (s.batch - 1) * s.stride_c + s.n <= s.ldc;
  if (s.stride_c < one && !side_by_side)
    throw Error(fmt::format("plan {}: stride_c is {}, so results of the batch overlap; one takes {} elements", text,
                            s.stride_c, one));
  if (s.epilogue == Epilogue::bias_gradient && s.stride_bias < s.m)
    throw Error(fmt::format("plan {}: stride_bias is {}, so bias gradients of the batch overlap; one takes {} elements",
                            text, s.stride_bias, s.m));
}

ProductShape checked(ProductShape s, const std::string& text) {
  if (s.m < 1 || s.n < 1 || s.k < 1 || s.batch < 1)
    throw Error(fmt::format("plan {} with batch {}: every size must be at least 1", text, s.batch));
  s.lda = tight(s.lda, a_columns(s), "lda", text);
  s.ldb = tight(s.ldb, b_columns(s), "ldb", text);
  s.ldc = tight(s.ldc, s.n, "ldc", text);
  check_batch(s, text);
  return s;
}

// The epilogue and the bias gradient of one matrix of a piece.
void finish(const ProductShape& s, const ProductOperands& o, const ProductPiece& p, int matrix, float* c) {
  if (s.epilogue == Epilogue::bias_gradient && p.n0 == 0) {
    const std::ptrdiff_t first = s.transpose_a ? p.m0 : static_cast<std::ptrdiff_t>(p.m0) * s.lda;
    sum_rows(o.a + matrix * s.stride_a + first, s.lda, s.transpose_a, p.m1 - p.m0, s.k,
             o.bias + matrix * s.stride_bias + p.m0);
  }
  EpilogueArea area{c, s.ldc, p.m1 - p.m0, p.n1 - p.n0, nullptr, nullptr, mask_row(s)};
  if (uses_bias(s.epilogue)) area.bias = o.bias + matrix * s.stride_bias + p.n0;
  if (uses_mask(s.epilogue)) area.mask = static_cast<std::uint8_t*>(o.mask) + p.m0 * mask_row(s) + p.n0;
  apply_epilogue(s.epilogue, area);
}

}  // namespace

std::vector<ProductPiece> partition(const ProductShape& s) {
  const double flops = 2.0 * s.m * s.n * s.k;
  std::vector<ProductPiece> pieces;
  if (flops < kPieceFlops) {  // several matrices of the batch make one piece
    const int group = std::clamp(static_cast<int>(kPieceFlops / flops), 1, s.batch);
    for (int b = 0; b < s.batch; b += group) pieces.push_back({b, std::min(b + group, s.batch), 0, s.m, 0, s.n});
    return pieces;
  }
  const bool by_rows = s.m >= s.n;
  const int extent = by_rows ? s.m : s.n, granule = by_rows ? kRowGranule : kColumnGranule;
  const int granules = (extent + granule - 1) / granule;
  int parts = 1;  // a power of two: two and four threads get equal shares
  while (parts * 2 <= kMostPieces && parts * 2 <= granules && flops / (parts * 2) >= kPieceFlops) parts *= 2;
  for (int b = 0; b < s.batch; ++b)
    for (int part = 0; part < parts; ++part) {
      const int first = std::min(granules * part / parts * granule, extent);
      const int last = std::min(granules * (part + 1) / parts * granule, extent);
      pieces.push_back(by_rows ? ProductPiece{b, b + 1, first, last, 0, s.n}
                               : ProductPiece{b, b + 1, 0, s.m, first, last});
    }
  return pieces;
}

HostProduct::HostProduct(const ProductShape& shape, const std::string& lane) {
  auto plan = std::make_shared<ProductPlan>();
  plan->text = fmt::format("{} x {} x {}", shape.m, shape.n, shape.k);
  plan->shape = checked(shape, plan->text);
  plan->lane = lane;
  plan->pieces = partition(plan->shape);
  plan_ = std::move(plan);
}

std::string HostProduct::algorithm() const {
  return fmt::format("{} ({} core), fp32, partition rule {}: {} pieces", blas_library(), blas_core(), kPartitionRule,
                     plan_->pieces.size());
}

void check_operands(const ProductPlan& plan, const ProductOperands& o, const MemoryTable& memory) {
  const ProductShape& s = plan.shape;
  const auto check = [&](const char* name, const void* address, std::size_t bytes) {
    if (!address) throw Error(fmt::format("multiply {}: operand {} is missing", plan.text, name));
    memory.check("multiply", fmt::format("operand {} of {}", name, plan.text), address, bytes);
  };
  check("a", o.a, span_elements(a_rows(s), a_columns(s), s.lda, s.batch, s.stride_a) * sizeof(float));
  check("b", o.b, span_elements(b_rows(s), b_columns(s), s.ldb, s.batch, s.stride_b) * sizeof(float));
  check("c", o.c, span_elements(s.m, s.n, s.ldc, s.batch, s.stride_c) * sizeof(float));
  if (uses_bias(s.epilogue)) check("bias", o.bias, span_elements(1, s.n, 0, s.batch, s.stride_bias) * sizeof(float));
  if (s.epilogue == Epilogue::bias_gradient)
    check("bias", o.bias, span_elements(1, s.m, 0, s.batch, s.stride_bias) * sizeof(float));
  if (uses_mask(s.epilogue)) check("mask", o.mask, mask_bytes(s.m, s.n));
}

void run_piece(const ProductPlan& plan, const ProductOperands& o, int piece) {
  const ProductShape& s = plan.shape;
  const ProductPiece& p = plan.pieces[static_cast<std::size_t>(piece)];
  const std::ptrdiff_t a_first = s.transpose_a ? p.m0 : static_cast<std::ptrdiff_t>(p.m0) * s.lda;
  const std::ptrdiff_t b_first = s.transpose_b ? static_cast<std::ptrdiff_t>(p.n0) * s.ldb : p.n0;
  const std::ptrdiff_t c_first = static_cast<std::ptrdiff_t>(p.m0) * s.ldc + p.n0;
  for (int matrix = p.batch0; matrix < p.batch1; ++matrix) {
    float* c = o.c + matrix * s.stride_c + c_first;
    cblas_sgemm(CblasRowMajor, s.transpose_a ? CblasTrans : CblasNoTrans, s.transpose_b ? CblasTrans : CblasNoTrans,
                p.m1 - p.m0, p.n1 - p.n0, s.k, 1.0f, o.a + matrix * s.stride_a + a_first, s.lda,
                o.b + matrix * s.stride_b + b_first, s.ldb, s.accumulate ? 1.0f : 0.0f, c, s.ldc);
    finish(s, o, p, matrix, c);
  }
}

const std::string& blas_library() {
  static const std::string name = [] {
    openblas_set_num_threads(1);
    const std::string text = openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
    return text.substr(0, text.find(' ', text.find(' ') + 1));
  }();
  return name;
}

const std::string& blas_core() {
  static const std::string name = openblas_get_corename();
  return name;
}

}  // namespace foxhunt::device::host
