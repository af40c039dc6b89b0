// The control block: every counter and scheduled scalar of training, on the device. Kernels read scalars here and
// nowhere else, so that a captured graph follows each change. What the host may set stands in `Settings`, mirrored from
// mapped memory by `counters`.
#pragma once

#include "kernels/block.h"

namespace foxhunt::kernels {

inline constexpr int kMaxBranches = 8;
inline constexpr int kDepthBlocks = 3;  // grn1, grn2, moe

// Set by the host through the mapped command block; copied into Control by `counters` and by `apply_settings`.
struct Settings {
  double beta1, beta2;         // double: 1 - beta2 in fp32 would be wrong by 1e-5
  float lr, adam_eps, weight_decay;
  float max_grad_norm, spectral_max;
  float tau_init, tau_final, tau_anneal_steps, tau_scale;  // tau_scale: the tau controller's factor
  float expectile_high, expectile_low, huber_kappa;
  float weight_iqn, weight_iql, weight_cql, weight_aux;
  float iql_kappa, per_alpha, per_epsilon;
  float beta_start, beta_end, beta_steps;  // importance exponent over the run's planned steps
  float depth_keep, moe_lambda, epsilon;
  float c51_alpha_floor, c51_alpha_drop;  // drop: subtracted once when its sequence changes
  float reward_scale;
  float gamma[kMaxBranches], v_min[kMaxBranches], v_max[kMaxBranches];
  uint32_t epoch, fold;
  uint32_t noisy;          // 0: mean weights everywhere in training
  uint32_t frozen_target;  // 1: the target is not averaged (tests)
  uint32_t diag_interval;  // steps
  uint32_t injected;       // 1: gather, noise and scalars come from the injection buffers
};

// Mapped: `sequence` is even when `settings` is whole. A host write makes it odd, writes, makes it even.
struct CommandBlock {
  uint32_t sequence;
  uint32_t halt_request;  // the host's guards: not 0 halts at the next step
  Settings settings;
};

// Device memory. Halt bits say who stopped; once set, no kernel writes state until the host clears it.
inline constexpr uint32_t kHaltNan = 1, kHaltHost = 2;

struct Control {
  uint64_t seed;
  uint64_t step;             // updates ever begun; never reset
  uint64_t collect_step;     // collector timesteps ever begun; never reset
  uint32_t adam_t;           // updates since the last reset: bias correction and tau anneal
  uint32_t since_reset;      // steps since the fold began: IQN anchor window
  uint32_t halt, nan_flags;  // sticky
  uint32_t command_seen;     // CommandBlock::sequence last copied
  uint32_t reserved;
  float tau, beta, c51_alpha, iqn_readiness, moe_lambda_now;
  float bias1, bias2;  // 1 - beta^t, computed in double
  float depth_scale[kDepthBlocks];
  float mse_fast, mse_slow;                      // EMAs 0.05 and 0.005 of the MSE loss
  float iqn_ema, iqn_anchor;                     // L and L0 of the readiness rule
  float gate_entropy_ema;                        // H of the lambda rule
  uint32_t mse_steps, iqn_steps, entropy_steps;  // updates of those EMAs: the first value is copied
  float last_mse, last_iqn, last_entropy;        // of the last finished step, read by the next one's schedules
  float reserved2;
  uint64_t inserted;                             // transitions ever inserted: the ring's head
  uint32_t replay_size;
  float max_priority;  // largest ever stored, 1 before the first
  Settings settings;
};

}  // namespace foxhunt::kernels
