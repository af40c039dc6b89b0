// What telemetry keeps on the device between steps, and the columns of its per-sample statistics.
#pragma once

#include "kernels/step_results.h"
#include "kernels/telemetry_types.h"
#include "kernels/tile.h"

namespace foxhunt::kernels {

inline constexpr int64_t kSampleTile = 32;  // rows of the batch a block
inline constexpr int64_t kArenaChunk = 64;  // arena tiles a block

// Per-sample statistics of every step: sums over the batch, then maxima.
enum BatchColumn : int {
  batch_q = 0,                                       // 4: sum of Q over the branch's actions
  batch_gap = batch_q + kShownBranches,              // 4: best less second Q
  batch_spread = batch_gap + kShownBranches,         // 4: standard deviation of the action taken's return
  batch_q_next = batch_spread + kShownBranches,      // sum of Q over all actions of s'
  batch_vsn,                                         // 6: group weights
  batch_vsn_largest = batch_vsn + kShownGroups,      //
  batch_vsn_concentration,                           // sum of squared weights
  batch_entropy,                                     // nats, mean of branches
  batch_used,                                        // share of atoms above a tenth of 1 / Z, mean of branches
  batch_gate,                                        // 8: gate weights
  batch_gate_entropy = batch_gate + kShownExperts,   // nats
  batch_gate_largest,                                //
  batch_td,                                          // |TD error|
  batch_weight,                                      // importance weight
  batch_weight_square,                               //
  batch_action,                                      // 13: 1 where the action was taken
  batch_aux_correct = batch_action + kShownActions,  // 1 where the direction class is predicted
  batch_aux_x,                                       // predicted next return
  batch_aux_y,                                       // its label
  batch_aux_xx,
  batch_aux_yy,
  batch_aux_xy,
  batch_td_max,  // first maximum
  kBatchColumns
};

// Sums over the arena's tiles.
enum ArenaColumn : int {
  arena_parameter,
  arena_update,
  arena_target,
  arena_difference,
  arena_dot,
  arena_sigma,                                        // 5: squared sigmas of the four branches, of all other layers
  arena_gradient = arena_sigma + kShownBranches + 1,  // 11: squared gradients, as the signal slots
  kArenaColumns = arena_gradient + kGradientSlots
};

// References of the drift guard, in the order of their running maxima.
enum Reference : int { reference_all = kShownBranches, reference_next, kReferences };

// Survives checkpoints: signals feed the state.
struct TelemetryState {
  float signals[kSignals];
  uint32_t ema_steps, collector_steps, time_steps;  // updates since the reset: the first value is copied
  uint32_t reference_updates;                       // epochs that slots 16 to 21 have seen
  float q_abs_max[kReferences];                     // largest |mean Q| since the epoch began: four branches, all, next
  float q_previous;                                 // mean Q of the epoch before
  uint32_t has_previous;
  double q_epoch_sum;  // of mean Q over the epoch's steps
  uint32_t q_epoch_steps;
  EpochWords epoch;
  float greedy[kShownActions];  // shares of the last validation
};

// Of this process alone.
struct PublishState {
  double totals[kBatchColumns];  // of the last step: sums over the batch, maxima
  double arena[kArenaColumns];
  uint64_t published_step;
  uint64_t stamp;     // clock at the step's first kernel, 0 when it was not taken
  float device_time;  // us, of the last published step
  uint32_t sequence, publishes;
  uint32_t snapshots, published_snapshots;  // HealthDiag: taken, published
  uint32_t inject;                          // NaN place + 1 to be reported, 0 none (tests)
  uint32_t health[kHealthWords];
};

// Column k of the reduction below: a sum, a maximum or a minimum. A value that is not a number stays visible in the
// latter two.
FH_FN double reduce_pair(double total, double value, int k, int first_max, int first_min) {
  if (k < first_max) return total + value;
  if (k < first_min) return value > total || value != value ? value : total;
  return value < total || value != value ? value : total;
}

// out[k] (overwritten) = sum over rows [begin, end) of x[., k]; columns from `first_max` on take the maximum, from
// `first_min` on the minimum. x [rows, columns]. Each of up to 16 groups of threads takes every 16th row of a column;
// then the groups in order: the order depends on the block size alone. Holds barriers.
FH_FN void reduce_columns(const Block& block, const double* x, int64_t begin, int64_t end, int columns, int first_max,
                          int first_min, double* out) {
#if FH_DEVICE
  constexpr int wide = 64, most = 16;
  __shared__ double part[most * wide];
  const int groups = minimum(most, block.threads() / wide);
  if (groups > 1 && columns <= wide) {
    const int k = block.thread() % wide, g = block.thread() / wide;
    block.sync();
    if (g < groups && k < columns && begin + g < end) {
      double total = x[(begin + g) * columns + k];
      FH_UNROLL_BY(4)
      for (int64_t row = begin + g + groups; row < end; row += groups)
        total = reduce_pair(total, x[row * columns + k], k, first_max, first_min);
      part[g * wide + k] = total;
    }
    block.sync();
    if (g == 0 && k < columns) {
      double total = part[k];
      for (int i = 1; i < groups && begin + i < end; ++i)
        total = reduce_pair(total, part[i * wide + k], k, first_max, first_min);
      out[k] = total;
    }
    return;
  }
#endif
  for (int k = block.thread(); k < columns; k += block.threads()) {
    double total = x[begin * columns + k];
    for (int64_t row = begin + 1; row < end; ++row)
      total = reduce_pair(total, x[row * columns + k], k, first_max, first_min);
    out[k] = total;
  }
}

}  // namespace foxhunt::kernels
