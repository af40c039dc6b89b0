// Sizes and arena offsets that kernels and products of the network need, derived once from configuration and tensor
// table.
#pragma once

#include "engine/config/learner_config.h"
#include "engine/tensors/tensor_table.h"
#include "kernels/distribution.h"
#include "kernels/noise_layers.h"

namespace foxhunt {

// S state, H trunk, G groups, V vsn_hidden, E experts, X expert_hidden, K head_hidden, L noisy layers, Z atoms, A
// actions, T taus.
struct NetworkLayout {
  NetworkLayout(const LearnerConfig& config, const TensorTable& table);

  int state = 0, stride = 0;  // stride: state rounded up to 4, so that rows stay 16-byte aligned
  int hidden = 0, groups = 0, selection_hidden = 0, experts = 0, expert_hidden = 0, head_hidden = 0;
  int heads = 0, wide = 0;  // L and the widest noisy layer
  int atoms = 0, actions = 0, branches = 0, taus = 0, cosines = 0, iql_hidden = 0;
  int largest_branch = 0;
  kernels::NoisyLayers noisy{};
  kernels::SelectionLayers selection{};
  kernels::BranchSizes sizes{};

  int mixture_columns() const { return experts + experts * expert_hidden; }
  int head_columns() const { return heads * head_hidden; }          // hidden layers of all heads side by side
  int head_gradient_columns() const { return head_columns() + 5; }  // then the three auxiliary heads
  int noise_floats() const { return noisy.count * (noisy.hidden + noisy.wide); }  // one draw
};

}  // namespace foxhunt
