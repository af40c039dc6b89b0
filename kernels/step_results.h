// What one training step leaves on the device for telemetry, guards and tests. B batch, D branches, A actions of all
// branches side by side, Z atoms, T quantile levels, E experts, G feature groups. All of it is overwritten by the next
// step.
#pragma once

#include "kernels/control.h"

namespace foxhunt::kernels {

enum LossTerm : int {
  loss_total,
  loss_c51,
  loss_mse,
  loss_iqn,
  loss_iql_high,
  loss_iql_low,
  loss_cql,
  loss_aux_return,
  loss_aux_direction,
  loss_aux_volatility,
  loss_moe_balance,
  kLossTerms
};

// Sums over one tile of one tensor, written by the gradient-norm and Adam kernels in the order of the tile table.
struct TileSums {
  double gradient, parameter, update, target, target_difference,
      target_dot;  // squares: g, p, lr u, t, (p - t); then p t
};

// A tile of the arena: never straddles two tensors.
struct ArenaTile {
  int64_t offset;  // floats
  int32_t count;   // at most 2048
  int16_t tensor;  // index in checkpoint order
  uint8_t group;   // index of TensorTable::groups()
  uint8_t decays;
};

struct StepResults {
  int32_t batch, branches, actions, atoms, taus, experts, groups, state_width, state_stride, tiles, tensor_groups,
      spectral;
  int32_t branch_actions[kMaxBranches];
  int32_t branch_first[kMaxBranches];  // first column of the branch in [.., A]
  const float* state;                  // [B, state_stride]; next states follow at row B
  const int32_t* action;               // [B, D]
  const float* reward;                 // [B, D] scaled
  const float* discount;               // [B, D]
  const float* weight;                 // [B] importance
  const float* regime;                 // [B]
  const float* aux;                    // [B, 4]: return, direction class, volatility, 0 (labels)
  const int32_t* index;                // [B] replay slot
  const double* losses;                // [kLossTerms]
  const float* q;                      // [B, A] expected Q of s, noisy weights as trained
  const float* q_variance;             // [B, A]
  const float* q_next;                 // [B, A] online, of s'
  const int32_t* greedy_next;          // [B, D]
  const float* probabilities;          // [B, D, Z] of the chosen action
  const float* quantiles;              // [B, T, A] IQN online
  const float* td;                     // [B] mean over branches of |q - y|
  const float* priority;               // [B]
  const float* iql;                    // [B, 2] high, low
  const float* aux_output;             // [B, aux_stride]: return, three class logits, volatility
  int32_t aux_stride;
  const float* vsn_weights;     // [B, G]
  const float* gates;           // [B, E]
  const double* gradient_norm;  // [2] before clip, clip factor
  const float* sigma;           // [spectral] of the power iteration
  const TileSums* tile_sums;    // [tiles]
  const ArenaTile* tile_table;  // [tiles]
  const float* params;          // arena
  const float* target;          // arena
  const float* gradients;       // arena
  Control* control;
};

}  // namespace foxhunt::kernels
