// The losses of one branch of one row with a warp's lanes as columns: a lane keeps atoms `lane` and `lane + 32` of up
// to four actions in registers, and reductions of all actions run side by side. For up to 64 atoms; same sums as
// losses.h but for their order. Device only, included by losses.h.
#pragma once

namespace foxhunt::kernels {

inline constexpr int kLaneActions = 4, kLaneAtoms = 2;

struct LaneRow {
  float v[kLaneActions][kLaneAtoms];
};

FH_FN bool lanes_suffice(const Team& team, const RowLossesArgs& a) {
  return team.lanes == 32 && a.sizes.atoms <= 32 * kLaneAtoms && a.huge_branch <= kLaneActions;
}

template <int N>
FH_FN void lane_sums(const Team& team, float (&x)[N]) {
  FH_UNROLL
  for (int offset = 16; offset > 0; offset /= 2) {
    FH_UNROLL
    for (int k = 0; k < N; ++k) x[k] += __shfl_xor_sync(0xffffffffu, x[k], offset);
  }
  (void)team;
}

// Logits v + adv - mean adv; atoms and actions that are not there: so small that their probability is 0.
FH_FN LaneRow lane_logits(const Team& team, const Heads& heads, int64_t row, int d, int count, int atoms) {
  const float *value = heads.value(row), *adv = heads.advantage(row, d);
  LaneRow x;
  FH_UNROLL
  for (int j = 0; j < kLaneAtoms; ++j) {
    const int z = team.lane + 32 * j;
    const bool there = z < atoms;
    float sum = 0;
    FH_UNROLL
    for (int k = 0; k < kLaneActions; ++k) {
      x.v[k][j] = there && k < count ? adv[k * atoms + z] : 0.0f;
      sum += x.v[k][j];
    }
    const float center = there ? value[z] - sum / static_cast<float>(count) : -1e30f;
    FH_UNROLL
    for (int k = 0; k < kLaneActions; ++k) x.v[k][j] += center;
  }
  return x;
}

// x becomes softmax; q its expectation, log_sum the log of the normaliser.
FH_FN void lane_softmax(const Team& team, LaneRow& x, const float* support, float* q, float* log_sum) {
  float top[kLaneActions], sums[2 * kLaneActions];
  FH_UNROLL
  for (int k = 0; k < kLaneActions; ++k) top[k] = maximum(x.v[k][0], x.v[k][1]);
  FH_UNROLL
  for (int offset = 16; offset > 0; offset /= 2) {
    FH_UNROLL
    for (int k = 0; k < kLaneActions; ++k) top[k] = maximum(top[k], __shfl_xor_sync(0xffffffffu, top[k], offset));
  }
  FH_UNROLL
  for (int k = 0; k < kLaneActions; ++k) {
    sums[k] = sums[kLaneActions + k] = 0;
    FH_UNROLL
    for (int j = 0; j < kLaneAtoms; ++j) {
      x.v[k][j] = exponential(x.v[k][j] - top[k]);
      sums[k] += x.v[k][j];
      sums[kLaneActions + k] += x.v[k][j] * support[j];
    }
  }
  lane_sums(team, sums);
  FH_UNROLL
  for (int k = 0; k < kLaneActions; ++k) {
    const float inverse = 1.0f / sums[k];
    FH_UNROLL
    for (int j = 0; j < kLaneAtoms; ++j) x.v[k][j] *= inverse;
    q[k] = sums[kLaneActions + k] * inverse;
    log_sum[k] = top[k] + logf(sums[k]);
  }
}

// project() of distribution.h. Atoms' places never descend, so the atoms that reach z are a stretch: found by
// bisection. p, place, share: scratch of `atoms` each.
FH_FN void lane_project(const Team& team, const Settings& s, int d, int atoms, const float* mine, float reward,
                        float discount, float* p, int32_t* place, float* share, float* target) {
  FH_UNROLL
  for (int j = 0; j < kLaneAtoms; ++j) {
    const int z = team.lane + 32 * j;
    if (z >= atoms) continue;
    const AtomPlace at = place_atom(s, d, atoms, reward, discount, z);
    p[z] = mine[j];
    place[z] = at.whole;
    share[z] = at.share;
  }
  team.sync();
  FH_UNROLL
  for (int j = 0; j < kLaneAtoms; ++j) {
    const int z = team.lane + 32 * j;
    float sum = 0;
    if (z < atoms) {
      int first = 0, end = atoms;
      while (first < end) {
        const int middle = (first + end) / 2;
        if (place[middle] < z - 1)
          first = middle + 1;
        else
          end = middle;
      }
      for (int i = first; i < atoms && place[i] <= z; ++i)
        sum += place[i] == z ? p[i] * (1.0f - share[i]) : p[i] * share[i];
    }
    target[j] = sum;
  }
  team.sync();
}

FH_FN float lane_pick(const float* x, int chosen) {
  float value = x[0];
  FH_UNROLL
  for (int k = 1; k < kLaneActions; ++k) value = k == chosen ? x[k] : value;
  return value;
}

// Double DQN for one branch: greedy action of the online network, the target's probabilities of it.
FH_FN NextState lane_next_state(const Team& team, const RowLossesArgs& a, int64_t b, int d, const float* support,
                            float* target) {
  const int atoms = a.sizes.atoms, count = a.sizes.count[d], first = a.sizes.first[d];
  const Heads online{a.heads, 2 * static_cast<int64_t>(a.batch), a.wide}, other{a.target_heads, a.batch, a.wide};
  float q[kLaneActions], unused[kLaneActions];
  LaneRow x = lane_logits(team, online, b + a.batch, d, count, atoms);
  LaneRow y = lane_logits(team, other, b, d, count, atoms);
  lane_softmax(team, x, support, q, unused);
  int best = 0;
  FH_UNROLL
  for (int k = 1; k < kLaneActions; ++k)
    if (k < count && q[k] > lane_pick(q, best)) best = k;
  if (team.lane == 0) {
    a.greedy[b * a.sizes.branches + d] = best;
    FH_UNROLL
    for (int k = 0; k < kLaneActions; ++k)
      if (k < count) a.q_next[b * a.sizes.actions + first + k] = q[k];
  }
  lane_softmax(team, y, support, q, unused);
  FH_UNROLL
  for (int j = 0; j < kLaneAtoms; ++j) {
    const float all[kLaneActions] = {y.v[0][j], y.v[1][j], y.v[2][j], y.v[3][j]};
    target[j] = lane_pick(all, best);
  }
  return {lane_pick(q, best), best};
}

FH_FN BranchTerms lane_branch(const Team& team, const RowLossesArgs& a, int64_t b, int d, float* scratch,
                              float* d_value) {
  const Control& c = *a.control;
  const int atoms = a.sizes.atoms, count = a.sizes.count[d], first = a.sizes.first[d];
  const int chosen = a.action[b * a.sizes.branches + d];
  const float reward = a.reward[b * a.sizes.branches + d], discount = a.discount[b * a.sizes.branches + d];
  float support[kLaneAtoms], target[kLaneAtoms], m[kLaneAtoms];
  FH_UNROLL
  for (int j = 0; j < kLaneAtoms; ++j) support[j] = atom(c.settings, d, team.lane + 32 * j, atoms);
  const Heads heads{a.heads, 2 * static_cast<int64_t>(a.batch), a.wide};
  LaneRow logits = lane_logits(team, heads, b, d, count, atoms), p = logits;
  const NextState after = lane_next_state(team, a, b, d, support, target);
  lane_project(team, c.settings, d, atoms, target, reward, discount, scratch,
               reinterpret_cast<int32_t*>(scratch + atoms), scratch + 2 * atoms, m);
  float q[kLaneActions], log_sum[kLaneActions];
  lane_softmax(team, p, support, q, log_sum);
  const float log_chosen = lane_pick(log_sum, chosen);
  float sums[kLaneActions + 2] = {};  // variances, cross entropy, mass
  FH_UNROLL
  for (int j = 0; j < kLaneAtoms; ++j) {
    const bool there = team.lane + 32 * j < atoms;
    const float all[kLaneActions] = {logits.v[0][j], logits.v[1][j], logits.v[2][j], logits.v[3][j]};
    FH_UNROLL
    for (int k = 0; k < kLaneActions; ++k) sums[k] += p.v[k][j] * (support[j] - q[k]) * (support[j] - q[k]);
    sums[kLaneActions] += there ? m[j] * (log_chosen - lane_pick(all, chosen)) : 0.0f;
    sums[kLaneActions + 1] += m[j];
  }
  lane_sums(team, sums);
  float largest = q[0], exp_sum = 0, pull[kLaneActions];
  FH_UNROLL
  for (int k = 1; k < kLaneActions; ++k) largest = k < count ? maximum(largest, q[k]) : largest;
  FH_UNROLL
  for (int k = 0; k < kLaneActions; ++k) exp_sum += k < count ? exponential(q[k] - largest) : 0.0f;
  const float q_chosen = lane_pick(q, chosen), mass = sums[kLaneActions + 1];
  const float y = clamp(reward + discount * after.q, c.settings.v_min[d], c.settings.v_max[d]);
  const float error = q_chosen - y, n = static_cast<float>(a.sizes.branches);
  const float share = a.weight[b] / (static_cast<float>(a.batch) * n);
  const float k_c51 = c.c51_alpha * share, k_mse = (1.0f - c.c51_alpha) * share * error;
  const float k_cql = c.settings.weight_cql / (static_cast<float>(a.batch) * n);
  FH_UNROLL
  for (int k = 0; k < kLaneActions; ++k) {
    pull[k] =
        k_cql * (exponential(q[k] - largest) / exp_sum - (k == chosen ? 1.0f : 0.0f)) + (k == chosen ? k_mse : 0.0f);
    if (team.lane == 0 && k < count) {
      a.q[b * a.sizes.actions + first + k] = q[k];
      a.q_variance[b * a.sizes.actions + first + k] = sums[k];
    }
  }
  float* out = a.d_heads + ((1 + d) * static_cast<int64_t>(a.batch) + b) * a.wide;
  FH_UNROLL
  for (int j = 0; j < kLaneAtoms; ++j) {
    const int z = team.lane + 32 * j;
    if (z >= atoms) continue;
    float g[kLaneActions], sum = 0;
    FH_UNROLL
    for (int k = 0; k < kLaneActions; ++k) {
      const float cross = k == chosen ? k_c51 * (p.v[k][j] * mass - m[j]) : 0.0f;
      g[k] = pull[k] * p.v[k][j] * (support[j] - q[k]) + cross;
      sum += k < count ? g[k] : 0.0f;
    }
    d_value[z] = sum;
    const float all[kLaneActions] = {p.v[0][j], p.v[1][j], p.v[2][j], p.v[3][j]},
                mean = sum / static_cast<float>(count);
    FH_UNROLL
    for (int k = 0; k < kLaneActions; ++k)
      if (k < count) out[k * atoms + z] = g[k] - mean;
    a.probabilities[(b * a.sizes.branches + d) * atoms + z] = lane_pick(all, chosen);
    a.projected[(b * a.sizes.branches + d) * atoms + z] = m[j];
  }
  return {sums[kLaneActions], 0.5f * error * error, largest + logf(exp_sum) - q_chosen, error < 0 ? -error : error,
          q_chosen, after.greedy};
}

}  // namespace foxhunt::kernels
