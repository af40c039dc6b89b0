// HealthDiag's own statistics of the batch, taken every diag_interval steps: the per-sample reduction and Q by
// magnitude. rows and partial are overwritten; when no snapshot is due nothing is.
#pragma once

#include "kernels/environment_types.h"
#include "kernels/telemetry_state.h"

namespace foxhunt::kernels {

// True on every diag_interval-th step, or when the host forces a snapshot; never while halted, unless forced.
FH_FN bool health_due(const Control& control, uint32_t forced) {
  if (forced) return true;
  const uint32_t interval = maximum(control.settings.diag_interval, 1u);
  return control.halt == 0 && control.step % interval == 0;
}

enum SampleColumn : int {
  sample_q_square = 0,                                         // sum over actions
  sample_advantage_spread,                                     // 4: standard deviation of Q over the branch's actions
  sample_mass_low = sample_advantage_spread + kShownBranches,  // mean of branches
  sample_mass_high,
  sample_iqn_spread,    // 90 % less 10 % quantile of the actions taken, mean of branches
  sample_disagreement,  // mean over actions of |Q - mean quantile|
  sample_variance,      // of the actions taken, mean of branches
  sample_priority,
  sample_age,
  sample_abs_max,  // 4, maxima from here on
  sample_q_max = sample_abs_max + kShownBranches,
  sample_q_min,  // minima from here on
  sample_weight_min,
  kSampleColumns
};

// Value at `level` of quantiles at the midpoints (i + 1/2) / T, linear between them, the outer ones beyond.
// x [T] at distance `stride`.
FH_FN double quantile_at(const float* x, int count, int stride, double level) {
  const double place = clamp(level * count - 0.5, 0.0, static_cast<double>(count - 1));
  const int low = static_cast<int>(place), high = minimum(low + 1, count - 1);
  const double share = place - low;
  return (1 - share) * x[low * stride] + share * x[high * stride];
}

struct SampleStatisticsArgs {
  StepResults results;
  double* rows;     // [B, kSampleColumns] scratch
  double* partial;  // [tiles of B by kSampleTile, kSampleColumns]
  uint32_t forced;
};

// One branch's largest |Q| and spread; contributions to the branch means are returned through `sums` [4]: mass low,
// mass high, IQN spread, variance.
FH_FN void branch_samples(const StepResults& r, int64_t row, int branch, double* out, double* sums) {
  const int first = r.branch_first[branch], count = r.branch_actions[branch];
  const float* q = r.q + row * r.actions + first;
  double mean = 0, square = 0, largest = 0;
  for (int i = 0; i < count; ++i) {
    mean += q[i];
    largest = maximum(largest, static_cast<double>(fabsf(q[i])));
  }
  mean /= count;
  for (int i = 0; i < count; ++i) square += (q[i] - mean) * (q[i] - mean);
  out[sample_advantage_spread + branch] = sqrt(square / count);
  out[sample_abs_max + branch] = largest;

  const int action = first + r.action[row * r.branches + branch];
  const float* p = r.probabilities + (row * r.branches + branch) * r.atoms;
  const float* x = r.quantiles + row * r.taus * r.actions + action;
  sums[0] += p[0];
  sums[1] += p[r.atoms - 1];
  sums[2] += quantile_at(x, r.taus, r.actions, 0.9) - quantile_at(x, r.taus, r.actions, 0.1);
  sums[3] += r.q_variance[row * r.actions + action];
}

// |Q - mean quantile|, squares and extremes over all actions: lanes share the actions.
FH_FN void action_samples(const StepResults& r, const Team& team, int64_t row, double* out) {
  double square = 0, disagreement = 0;
  double low = INFINITY, high = -INFINITY;
  for (int a = team.lane; a < r.actions; a += team.lanes) {
    const double q = r.q[row * r.actions + a];
    double mean = 0;
    for (int t = 0; t < r.taus; ++t) mean += r.quantiles[(row * r.taus + t) * r.actions + a];
    square += q * q;
    disagreement += fabs(q - mean / r.taus);
    low = minimum(low, q);
    high = maximum(high, q);
  }
  square = team.sum(square);
  disagreement = team.sum(disagreement);
  low = team.min(low);
  high = team.max(high);
  if (team.lane == 0) {
    out[sample_q_square] = square;
    out[sample_disagreement] = disagreement / r.actions;
    out[sample_q_min] = low;
    out[sample_q_max] = high;
  }
}

FH_FN void sample_statistics(const Block& block, const SampleStatisticsArgs& a) {
  const StepResults& r = a.results;
  if (health_due(*r.control, a.forced)) {  // the same for the whole grid
    const Tile tile = tile_of(block.x, r.batch, kSampleTile);
    const Team team = block.team();
    for (int64_t row = tile.begin + team.index; row < tile.end; row += team.teams) {
      double* out = a.rows + row * kSampleColumns;
      action_samples(r, team, row, out);
      if (team.lane == 0) {
        double sums[4] = {};
        for (int d = 0; d < r.branches; ++d) branch_samples(r, row, d, out, sums);
        out[sample_mass_low] = sums[0] / r.branches;
        out[sample_mass_high] = sums[1] / r.branches;
        out[sample_iqn_spread] = sums[2] / r.branches;
        out[sample_variance] = sums[3] / r.branches;
        out[sample_priority] = r.priority[row];
        out[sample_weight_min] = r.weight[row];
        // A full ring holds the last `replay_size` transitions; before that, slots are numbers.
        const int64_t size = r.control->replay_size, head = static_cast<int64_t>(r.control->inserted);
        out[sample_age] = size > 0 ? static_cast<double>((head - 1 - r.index[row] % size) % size) : 0;
      }
    }
    block.sync();
    reduce_columns(block, a.rows, tile.begin, tile.end, kSampleColumns, sample_abs_max, sample_q_min,
                   a.partial + block.x * kSampleColumns);
  }
}

inline constexpr int64_t kMagnitudeTile = 256;

enum MagnitudeColumn : int {
  magnitude_trading = 0,                                // samples whose direction trades; all else counts only those
  magnitude_taken,                                      // 3: samples that took the size
  magnitude_q = magnitude_taken + kShownMagnitudes,     // 3: sum of the Q of the size
  magnitude_q_square = magnitude_q + kShownMagnitudes,  // 3
  kMagnitudeColumns = magnitude_q_square + kShownMagnitudes
};

struct MagnitudeStatisticsArgs {
  StepResults results;
  double* partial;  // [tiles of B by kMagnitudeTile, kMagnitudeColumns]
  uint32_t forced;
};

FH_FN void magnitude_statistics(const Block& block, const MagnitudeStatisticsArgs& a) {
  const StepResults& r = a.results;
  const Tile tile = tile_of(block.x, r.batch, kMagnitudeTile);
  if (!health_due(*r.control, a.forced)) return;  // no barrier below
  for (int k = block.thread(); k < kMagnitudeColumns; k += block.threads()) {
    double total = 0;
    for (int64_t row = tile.begin; row < tile.end; ++row) {
      const int direction = r.action[row * r.branches], magnitude = r.action[row * r.branches + 1];
      if (direction != direction_short && direction != direction_long) continue;
      if (k == magnitude_trading) {
        total += 1;
      } else if (k < magnitude_q) {
        total += magnitude == k - magnitude_taken ? 1 : 0;
      } else {
        const double q = r.q[row * r.actions + r.branch_first[1] + (k - magnitude_q) % kShownMagnitudes];
        total += k < magnitude_q_square ? q : q * q;
      }
    }
    a.partial[block.x * kMagnitudeColumns + k] = total;
  }
}

}  // namespace foxhunt::kernels
