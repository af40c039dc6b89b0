// A learner as a training session has it, with its replay full of made-up experience, for `bench`.
#pragma once

#include <memory>

#include "engine/device/buffer.h"
#include "engine/learner/learner.h"

namespace foxhunt::app {

class BenchFixture {
 public:
  // Default configuration and replay capacity of the device, diagnostics included. Throws as Learner does.
  BenchFixture(device::Device& device, int batch, device::Precision precision);
  Learner& learner() { return *learner_; }

 private:
  void make_bars();
  void fill_replay();

  device::Device& device_;
  device::Buffer<float> features_, labels_, regime_;  // [rows, 72], [rows, 4], [rows, 4]
  device::Buffer<double> prices_, book_;              // [rows, 8], [rows, 4, 10]
  device::Buffer<std::int32_t> levels_;               // [rows, 2]
  std::unique_ptr<Learner> learner_;
};

}  // namespace foxhunt::app
