// Matrix products through cuBLASLt: one handle, one workspace a lane, one algorithm pinned a shape.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/device/cuda/context.h"
#include "engine/device/cuda/memory.h"
#include "engine/device/cuda/modules.h"
#include "engine/device/cuda/plan_cache.h"
#include "engine/device/product.h"
#include "kernels/families.h"

namespace foxhunt::device::cuda {

// cuBLASLt's objects for one shape. Row-major C = op(A) op(B) is column-major C' = op(B)' op(A)', so the library's
// first operand is our B and its second our A; its rows are our columns.
class ProductDescriptor {
 public:
  // Epilogues that the library shall do itself; otherwise the plain product is described.
  ProductDescriptor(Context& context, const ProductShape& shape, bool fused);
  ~ProductDescriptor();
  ProductDescriptor(const ProductDescriptor&) = delete;
  ProductDescriptor& operator=(const ProductDescriptor&) = delete;

  void point(const ProductOperands& operands);  // bias and mask
  cublasStatus_t run(cublasLtHandle_t handle, const ProductOperands& operands, const cublasLtMatmulAlgo_t& algorithm,
                     CUdeviceptr workspace, std::size_t workspace_bytes, CUstream stream) const;

  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;

 private:
  void set(cublasLtMatmulDescAttributes_t attribute, const void* value, std::size_t bytes);
  cublasLtMatrixLayout_t layout(int rows, int columns, int stride, std::int64_t batch_stride) const;

  Context& context_;
  ProductShape shape_;
  bool fused_;
};

// A shape with its algorithm, for operands of one alignment.
struct Variant {
  std::shared_ptr<ProductDescriptor> descriptor;
  cublasLtMatmulAlgo_t algorithm{};
  bool fused = true;  // false: a kernel of the family `product` follows
  std::string words;
};

class CudaProduct final : public Product {
 public:
  CudaProduct(const Context* owner, const ProductShape& shape, std::string lane_name, CUdeviceptr workspace_of_lane)
      : context(owner), lane(std::move(lane_name)), workspace(workspace_of_lane), shape_(shape) {}
  const ProductShape& shape() const override { return shape_; }
  std::string algorithm() const override { return variants[0].words; }

  std::string text() const { return fmt::format("{} x {} x {}", shape_.m, shape_.n, shape_.k); }

  const Context* const context;
  const std::string lane;
  const CUdeviceptr workspace;
  // [0] for operands aligned to 16 bytes, made by plan(); [1] for others, made when first needed.
  mutable std::array<Variant, 2> variants;

 private:
  ProductShape shape_;  // leading dimensions filled in
};

class Products {
 public:
  Products(std::shared_ptr<Context> context, Modules* modules, Memory* memory, const std::string& cache);
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  // Errors: Error naming the member of the shape that is wrong, or that the library has no algorithm for it.
  std::unique_ptr<Product> plan(const ProductShape& shape, const std::string& lane);
  // Errors: Error naming the operand; inside a capture also when operands are aligned to less than 16 bytes and the
  // product never ran eagerly with such operands.
  void multiply(CUstream stream, bool capturing, const Product& product, const ProductOperands& operands);

  std::string pinned() const { return cache_->used(); }
  void flush() { cache_->flush(); }
  std::uint64_t workspaces() const { return workspaces_.size(); }

 private:
  struct Scratch;  // operands to time a product on

  CUdeviceptr workspace_of(const std::string& lane);
  void make_variant(const CudaProduct& product, std::size_t which);
  bool take_pinned(const ProductShape& shape, const std::string& key, Variant* variant);
  bool choose(const CudaProduct& product, std::size_t which, const Scratch& scratch, Variant* variant);
  std::vector<Variant> tries(const CudaProduct& product, std::size_t which, const Scratch& scratch);
  std::vector<cublasLtMatmulHeuristicResult_t> candidates(const ProductDescriptor& descriptor, std::uint32_t alignment);
  bool run_once(const Variant& variant, const CudaProduct& product, const Scratch& scratch);
  std::vector<float> time(const std::vector<Variant>& variants, const CudaProduct& product, const Scratch& scratch);
  void finish(CUstream stream, bool capturing, const ProductShape& shape, const ProductOperands& operands);
  int setting(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t which) const;
  std::string describe(const cublasLtMatmulAlgo_t& algorithm) const;

  std::shared_ptr<Context> context_;
  Modules* modules_;
  Memory* memory_;
  std::unique_ptr<PlanCache> cache_;
  cublasLtHandle_t handle_ = nullptr;
  std::size_t workspace_bytes_;
  std::map<std::string, CUdeviceptr> workspaces_;
};

// The shape with its leading dimensions filled in. Errors: Error naming the member that is wrong.
ProductShape checked_shape(const ProductShape& shape);
// Everything an algorithm depends on, as the cache file names it: "1024 x 256 x 256 TN ...".
std::string shape_text(const ProductShape& shape, int alignment);
// Errors: Error naming an operand that does not lie in memory of the device.
void check_operands(const ProductShape& shape, const ProductOperands& operands, const Memory& memory);
// Elements from the first to the end of the last of `batch` matrices [rows, columns].
std::size_t span_elements(int rows, int columns, int ld, int batch, std::int64_t stride);

bool reads_bias(Epilogue epilogue);
bool uses_mask(Epilogue epilogue);

}  // namespace foxhunt::device::cuda
