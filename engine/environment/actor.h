// What the collector and the evaluator need of a network: rows of states in, Q-values out.
#pragma once

#include <functional>

#include "engine/device/recorder.h"
#include "kernels/control.h"

namespace foxhunt {

class Policy;

struct Actor {
  int rows = 0;
  int state_stride = 0;                   // floats between rows of `states`, at least 96
  float* states = nullptr;                // [rows, state_stride] device
  const float* q = nullptr;               // [rows, 13] by which it acts
  const float* kelly_q = nullptr;         // [rows, 13] with mean weights: position sizing
  const float* kelly_variance = nullptr;  // [rows, 13] with mean weights
  // Records states -> q and kelly_*.
  std::function<void(device::Recorder&, const float* params, const kernels::Control* control)> record;
};

// Mean weights for both. `policy` must outlive the actor.
Actor greedy_actor(Policy& policy);
// Acts by noisy weights and sizes by mean weights: two passes over the same states. Both must have as many rows.
Actor exploring_actor(Policy& noisy, Policy& mean);

}  // namespace foxhunt
