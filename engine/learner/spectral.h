// Child `spectral`: one batched power iteration over the listed matrices, then the scale-down.
#pragma once

#include "engine/learner/step_context.h"
#include "kernels/spectral.h"

namespace foxhunt {

class Spectral {
 public:
  explicit Spectral(StepContext& context);
  void record(device::Recorder& r);
  float* vectors() { return u_.data(); }  // left vectors, in the list's order
  std::span<const kernels::SpectralMatrix> matrices() const { return list_; }
  int vector_floats() const { return static_cast<int>(u_.size()); }

 private:
  StepContext& c_;
  std::vector<kernels::SpectralMatrix> list_;
  device::Buffer<float> u_, v_, product_;
  std::uint32_t column_tiles_ = 0, row_tiles_ = 0, element_tiles_ = 0;
};

}  // namespace foxhunt
