// Matrix products of the host: OpenBLAS on one thread, split into pieces by the shape alone, so that the result has the
// same bits for any number of threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/device/device.h"
#include "engine/device/host/memory.h"

namespace foxhunt::device::host {

// Rows [m0, m1) and columns [n0, n1) of the matrices [batch0, batch1).
struct ProductPiece {
  int batch0 = 0, batch1 = 1, m0 = 0, m1 = 0, n0 = 0, n1 = 0;
};

// The rule by which a shape is cut; a change of it changes results and gets a new number.
inline constexpr int kPartitionRule = 1;
std::vector<ProductPiece> partition(const ProductShape& shape);

// What a plan fixes; shared by every recording that uses it.
struct ProductPlan {
  ProductShape shape;  // leading dimensions filled in
  std::string lane;
  std::vector<ProductPiece> pieces;
  std::string text;  // "128 x 512 x 256"
};

class HostProduct : public Product {
 public:
  // Errors: Error naming the member of the shape that is wrong.
  HostProduct(const ProductShape& shape, const std::string& lane);
  const ProductShape& shape() const override { return plan_->shape; }
  std::string algorithm() const override;
  const std::shared_ptr<const ProductPlan>& plan() const { return plan_; }

 private:
  std::shared_ptr<const ProductPlan> plan_;
};

// Every operand lies in memory of the device; errors name the operand.
void check_operands(const ProductPlan& plan, const ProductOperands& operands, const MemoryTable& memory);

void run_piece(const ProductPlan& plan, const ProductOperands& operands, int piece);

// "OpenBLAS 0.3.21" and "Haswell"; makes OpenBLAS use one thread.
const std::string& blas_library();
const std::string& blas_core();

}  // namespace foxhunt::device::host
