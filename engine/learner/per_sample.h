// Child `per_sample`: prefix scan of priorities, stratified sampling, importance weights, and the gather into the
// padded batch.
#pragma once

#include "engine/learner/step_context.h"

namespace foxhunt {

class PerSample {
 public:
  explicit PerSample(StepContext& context);
  void record_scan(device::Recorder& r);  // the prefix scan: waits for no counter, so it may run beside `counters`
  void record(device::Recorder& r);       // everything after it
  const float* largest() const { return largest_.data(); }  // [1] largest stored priority at sampling

 private:
  StepContext& c_;
  int tiles_;
  device::Buffer<kernels::PriorityTile> sums_;
  device::Buffer<double> chunks_, prefix_;
  device::Buffer<float> largest_;
};

// Child `per_priority`: priorities written back.
class PerPriority {
 public:
  PerPriority(StepContext& context, const float* largest) : c_(context), largest_(largest) {}
  void record(device::Recorder& r);

 private:
  StepContext& c_;
  const float* largest_;
};

}  // namespace foxhunt
