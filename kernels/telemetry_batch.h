// Statistics of the batch for signal bus and step record: one team a row, then fixed-order sums over the rows of a
// tile. Shapes as in step_results.h. rows and partial are overwritten.
#pragma once

#include "kernels/math.h"
#include "kernels/telemetry_state.h"

namespace foxhunt::kernels {

struct BatchStatisticsArgs {
  StepResults results;
  double* rows;     // [B, kBatchColumns] scratch
  double* partial;  // [tiles of B by kSampleTile, kBatchColumns]
};

// Sum, gap and spread of one branch of one row.
FH_FN void branch_statistics(const StepResults& r, int64_t row, int branch, double* out) {
  const int64_t first = row * r.actions + r.branch_first[branch];
  const int count = r.branch_actions[branch];
  double sum = 0;
  float best = r.q[first], second = r.q[first];
  for (int i = 0; i < count; ++i) {
    const float q = r.q[first + i];
    sum += q;
    if (i == 0) continue;
    if (q > best) {
      second = best;
      best = q;
    } else if (i == 1 || q > second) {
      second = q;
    }
  }
  const float variance = r.q_variance[first + r.action[row * r.branches + branch]];
  out[batch_q + branch] = sum;
  out[batch_gap + branch] = static_cast<double>(best) - second;
  out[batch_spread + branch] = sqrt(variance < 0 ? 0.0 : static_cast<double>(variance));
}

// p ln p, 0 at 0. ln by Cephes' logf: mantissa within sqrt(1/2) and sqrt(2), a polynomial of degree 8, error below 2
// ulp; without branches, so that loops over atoms vectorise on the host.
FH_FN float times_logarithm(float p) {
  const uint32_t bits = float_bits(p), shifted = bits - 0x3f3504f3u;
  const float exponent = static_cast<float>(static_cast<int32_t>(shifted) >> 23);
  const float f = bits_float(bits - (shifted & 0xff800000u)) - 1.0f, square = f * f;
  float y = 7.0376836292e-2f;
  y = y * f - 1.1514610310e-1f;
  y = y * f + 1.1676998740e-1f;
  y = y * f - 1.2420140846e-1f;
  y = y * f + 1.4249322787e-1f;
  y = y * f - 1.6668057665e-1f;
  y = y * f + 2.0000714765e-1f;
  y = y * f - 2.4999993993e-1f;
  y = y * f + 3.3333331174e-1f;
  y = y * f * square - exponent * 2.12194440e-4f - 0.5f * square;
  const float logarithm = exponent * 0.693359375f + (f + y);
  return p <= 0 ? 0.0f : p * logarithm;
}

// Entropy -sum p ln p and share of used atoms of the actions taken, means over branches.
FH_FN void distribution_statistics(const StepResults& r, const Team& team, int64_t row, double* out) {
  const float floor = 0.1f / static_cast<float>(r.atoms);
  const int count = r.branches * r.atoms;
  const float* p = r.probabilities + row * count;
  const float entropy = team_sum(team, count, [p](int i) { return -times_logarithm(p[i]); });
  const float used = team_sum(team, count, [p, floor](int i) { return p[i] > floor ? 1.0f : 0.0f; });
  if (team.lane == 0) {
    out[batch_entropy] = static_cast<double>(entropy) / r.branches;
    out[batch_used] = static_cast<double>(used) / count;
  }
}

// The single values of a row, by one thread.
FH_FN void scalar_statistics(const StepResults& r, int64_t row, double* out) {
  double largest = 0, concentration = 0;
  for (int g = 0; g < r.groups; ++g) {
    const double w = r.vsn_weights[row * r.groups + g];
    largest = maximum(largest, w);
    concentration += w * w;
  }
  out[batch_vsn_largest] = largest;
  out[batch_vsn_concentration] = concentration;

  double entropy = 0, gate = 0;
  for (int e = 0; e < r.experts; ++e) {
    const float p = r.gates[row * r.experts + e];
    entropy -= times_logarithm(p);
    gate = maximum(gate, static_cast<double>(p));
  }
  out[batch_gate_entropy] = entropy;
  out[batch_gate_largest] = gate;

  double q_next = 0;
  for (int a = 0; a < r.actions; ++a) q_next += r.q_next[row * r.actions + a];
  out[batch_q_next] = q_next;
  const double td = r.td[row], weight = r.weight[row];
  out[batch_td] = out[batch_td_max] = td;
  out[batch_weight] = weight;
  out[batch_weight_square] = weight * weight;

  const float* output = r.aux_output + row * r.aux_stride;  // return, three class logits, volatility
  int predicted = 0;
  for (int c = 1; c < 3; ++c) {
    if (output[1 + c] > output[1 + predicted]) predicted = c;
  }
  const double x = output[0], y = r.aux[row * 4];
  out[batch_aux_correct] = predicted == static_cast<int>(r.aux[row * 4 + 1]) ? 1 : 0;
  out[batch_aux_x] = x;
  out[batch_aux_y] = y;
  out[batch_aux_xx] = x * x;
  out[batch_aux_yy] = y * y;
  out[batch_aux_xy] = x * y;
}

FH_FN void batch_statistics(const Block& block, const BatchStatisticsArgs& a) {
  const StepResults& r = a.results;
  const Tile tile = tile_of(block.x, r.batch, kSampleTile);
  const Team team = block.team();
  for (int64_t row = tile.begin + team.index; row < tile.end; row += team.teams) {
    double* out = a.rows + row * kBatchColumns;
    for (int d = team.lane; d < r.branches; d += team.lanes) branch_statistics(r, row, d, out);
    for (int g = team.lane; g < kShownGroups; g += team.lanes)
      out[batch_vsn + g] = g < r.groups ? r.vsn_weights[row * r.groups + g] : 0;
    for (int e = team.lane; e < kShownExperts; e += team.lanes)
      out[batch_gate + e] = e < r.experts ? r.gates[row * r.experts + e] : 0;
    for (int d = team.lane; d < r.branches; d += team.lanes) {
      for (int i = 0; i < r.branch_actions[d]; ++i)
        out[batch_action + r.branch_first[d] + i] = r.action[row * r.branches + d] == i ? 1 : 0;
    }
    distribution_statistics(r, team, row, out);
    if (team.lane == 0) scalar_statistics(r, row, out);
  }
  block.sync();
  reduce_columns(block, a.rows, tile.begin, tile.end, kBatchColumns, batch_td_max, kBatchColumns,
                 a.partial + block.x * kBatchColumns);
}

inline constexpr int kMaxTensors = 512, kMaxTensorGroups = 32;

struct ArenaStatisticsArgs {
  StepResults results;
  double* partial;                      // [tiles of results.tiles by kArenaChunk, kArenaColumns] overwritten
  int8_t group_slot[kMaxTensorGroups];  // gradient slot of each tensor group, -1 none
  uint8_t tensor_sigma[kMaxTensors];    // branch of a noisy sigma, kShownBranches for other sigmas, 255 for no sigma
};

// What tile i adds to column k.
FH_FN double arena_share(const ArenaStatisticsArgs& a, int64_t i, int k) {
  const TileSums& sums = a.results.tile_sums[i];
  const ArenaTile& tile = a.results.tile_table[i];
  if (k == arena_parameter) return sums.parameter;
  if (k == arena_update) return sums.update;
  if (k == arena_target) return sums.target;
  if (k == arena_difference) return sums.target_difference;
  if (k == arena_dot) return sums.target_dot;
  if (k >= arena_gradient) return a.group_slot[tile.group] == k - arena_gradient ? sums.gradient : 0;
  return a.tensor_sigma[tile.tensor] == k - arena_sigma ? sums.parameter : 0;
}

// Sums of the tile sums that gradient norm and Adam left. A thread owns a column; on the device groups of 32 threads
// share the tiles of the chunk, and their sums meet in order.
FH_FN void arena_statistics(const Block& block, const ArenaStatisticsArgs& a) {
  const Tile range = tile_of(block.x, a.results.tiles, kArenaChunk);
#if FH_DEVICE
  constexpr int wide = 32, most = 32;
  static_assert(kArenaColumns <= wide);
  __shared__ double part[most * wide];
  const int groups = minimum(most, block.threads() / wide);
  if (groups > 1) {
    const int k = block.thread() % wide, g = block.thread() / wide;
    double total = 0;
    if (g < groups && k < kArenaColumns)
      for (int64_t i = range.begin + g; i < range.end; i += groups) total += arena_share(a, i, k);
    if (g < groups) part[g * wide + k] = total;
    block.sync();
    if (g == 0 && k < kArenaColumns) {
      total = 0;
      for (int i = 0; i < groups; ++i) total += part[i * wide + k];
      a.partial[block.x * kArenaColumns + k] = total;
    }
    return;
  }
#endif
  for (int k = block.thread(); k < kArenaColumns; k += block.threads()) {
    double total = 0;
    for (int64_t i = range.begin; i < range.end; ++i) total += arena_share(a, i, k);
    a.partial[block.x * kArenaColumns + k] = total;
  }
}

}  // namespace foxhunt::kernels
