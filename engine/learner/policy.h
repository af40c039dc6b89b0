// The network as an actor sees it: states in, expected Q-values and return variances out. The trainer's own forward
// function, recorded for another number of rows on another stream; used by the collector (noisy) and by evaluation
// (mean weights).
#pragma once

#include <memory>
#include <string>

#include "engine/config/learner_config.h"
#include "engine/device/buffer.h"
#include "engine/device/recorder.h"
#include "engine/tensors/tensor_table.h"
#include "kernels/control.h"

namespace foxhunt {

class Policy {
 public:
  // rows: environments that act at once. lane: names the product workspaces, unique among what may run side by side.
  Policy(device::Device& device, const LearnerConfig& config, const TensorTable& table, int rows,
         const std::string& lane, device::Precision precision);
  ~Policy();

  // params: an arena in the table's layout. noisy: factorised noise drawn for this timestep from (seed,
  // collector_noise, collect_step), one draw for all rows, read from `control` on the device; else mean weights.
  // Supports come from control->settings. No block is dropped.
  void record(device::Recorder& recorder, const float* params, const kernels::Control* control, bool noisy);

  int rows() const;
  int state_stride() const;       // floats between rows of states(), at least the state's width; padding stays zero
  float* states() const;          // [rows, state_stride] input
  const float* q() const;         // [rows, actions] expected Q, branches side by side in configuration order
  const float* variance() const;  // [rows, actions] of the return distribution

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace foxhunt
