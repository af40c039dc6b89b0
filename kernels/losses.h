// Every loss of one row and its gradient with respect to the network's outputs, in one pass: C51 and its MSE warm-up on
// double-DQN targets, IQN, conservative Q, both expectile values, three auxiliary heads; then the batch sums. Family
// `losses`. Bellemare 2017, van Hasselt 2016, Dabney 2018, Kumar 2020, Kostrikov 2021, Tavakoli 2018.
#pragma once

#include "kernels/distribution.h"
#include "kernels/step_results.h"

namespace foxhunt::kernels {

enum RowLoss : int {  // columns of the per-row terms, already averaged over branches
  row_c51,
  row_mse,
  row_iqn,
  row_iql_high,
  row_iql_low,
  row_cql,
  row_aux_return,
  row_aux_direction,
  row_aux_volatility,
  kRowLosses
};

struct RowLossesArgs {
  const float* params;
  const Control* control;
  const float* heads;             // [layers, 2 B, wide] online: s, then s'
  const float* target_heads;      // [layers, B, wide] of s'
  const float* quantiles;         // [B, T, A] online of s
  const float* target_quantiles;  // [B, T, A] target of s'
  const float* taus;              // [T]
  const float* iql_hidden;        // [B, 2 Hq] after ReLU: high, low
  const float* aux_output;        // [B, aux_stride]
  const int32_t* action;          // [B, D]
  const float* reward;            // [B, D]
  const float* discount;          // [B, D]
  const float* weight;            // [B]
  const float* aux_label;         // [B, 4]
  int64_t iql_weight, iql_bias;   // arena offsets: [2, Hq], [2]
  float* d_heads;                 // [layers, B, wide]; padding stays zero
  float* d_quantiles;             // [B, T, A] overwritten, zero for actions not taken
  float* d_iql;                   // [B, 2]
  float* d_aux;                   // [B, d_aux_stride] columns 0..4
  float* q;                       // [B, A]
  float* q_variance;              // [B, A]
  float* q_next;                  // [B, A]
  int32_t* greedy;                // [B, D]
  float* probabilities;           // [B, D, Z] of the chosen action
  float* projected;               // [B, D, Z] projected target of the chosen action
  float* td;                      // [B]
  float* q_taken;                 // [B]
  float* iql;                     // [B, 2]
  float* row_terms;               // [B, kRowLosses]
  BranchSizes sizes;
  int32_t batch, wide, taus_count, iql_hidden_width, aux_stride, d_aux_stride, huge_branch;  // huge_branch: largest A_d
};

// A block owns one row, a team a branch of it. Scratch of a team, in floats: center, support, target p, m, share, place
// (Z each), probabilities of all actions of the branch; then of the block: the value gradient of each branch (Z each),
// its six terms, and what the other heads give.
inline constexpr int kOtherTerms = 5;  // both expectile values, three auxiliary terms
inline constexpr uint32_t row_losses_scratch(int atoms, int largest_branch, int branches, int teams) {
  return static_cast<uint32_t>((teams * (6 + largest_branch) * atoms + branches * (atoms + 6) + kOtherTerms) * 4);
}

struct RowScratch {
  float *center, *support, *target, *m, *share, *p;
  int32_t* place;
};

FH_FN RowScratch row_scratch(const Block& block, const Team& team, int atoms, int largest) {
  float* base = block.scratch<float>() + static_cast<int64_t>(team.index) * (6 + largest) * atoms;
  return {base,
          base + atoms,
          base + 2 * atoms,
          base + 3 * atoms,
          base + 4 * atoms,
          base + 6 * atoms,
          reinterpret_cast<int32_t*>(base + 5 * atoms)};
}

// Double DQN: the online network's greedy next action (first of equals), the target network's distribution for it into
// s.target.
struct NextState {
  float q;  // the target's expected value
  int greedy;
};

FH_FN NextState next_state(const Team& team, const RowLossesArgs& a, const RowScratch& s, int64_t b, int d) {
  const int atoms = a.sizes.atoms, count = a.sizes.count[d], first = a.sizes.first[d];
  const Heads online{a.heads, 2 * static_cast<int64_t>(a.batch), a.wide}, target{a.target_heads, a.batch, a.wide};
  const int64_t row = b + a.batch;
  duel_center(team, online, row, d, count, atoms, s.center);
  int best = 0;
  float best_q = 0;
  for (int k = 0; k < count; ++k) {
    duel_softmax(team, s.center, online.advantage(row, d) + k * atoms, atoms, s.target);
    const float q = team_sum(team, atoms, [&](int z) { return s.target[z] * s.support[z]; });
    if (k == 0 || q > best_q) {
      best = k;
      best_q = q;
    }
    if (team.lane == 0) a.q_next[b * a.sizes.actions + first + k] = q;
  }
  if (team.lane == 0) a.greedy[b * a.sizes.branches + d] = best;
  duel_center(team, target, b, d, count, atoms, s.center);
  duel_softmax(team, s.center, target.advantage(b, d) + best * atoms, atoms, s.target);
  return {team_sum(team, atoms, [&](int z) { return s.target[z] * s.support[z]; }), best};
}

struct BranchTerms {
  float c51, mse, cql, td, q;
  int greedy;  // of the next state
};

// Gradient of the branch's C51, MSE and CQL terms with respect to its logits, through the dueling sum, into d_heads.
FH_FN BranchTerms branch_losses(const Team& team, const RowLossesArgs& a, const RowScratch& s, int64_t b, int d,
                                const NextState& after, float* d_value) {
  const Control& c = *a.control;
  const int atoms = a.sizes.atoms, count = a.sizes.count[d], first = a.sizes.first[d];
  const int chosen = a.action[b * a.sizes.branches + d];
  const Heads heads{a.heads, 2 * static_cast<int64_t>(a.batch), a.wide};
  const float reward = a.reward[b * a.sizes.branches + d], discount = a.discount[b * a.sizes.branches + d];
  project(team, c.settings, d, atoms, s.target, reward, discount, s.place, s.share, s.m);
  duel_center(team, heads, b, d, count, atoms, s.center);
  float q[kMaxBranchActions] = {}, log_sum = 0, largest = 0;
  for (int k = 0; k < count; ++k) {
    float* p = s.p + k * atoms;
    const float l = duel_softmax(team, s.center, heads.advantage(b, d) + k * atoms, atoms, p);
    if (k == chosen) log_sum = l;
    const Moments m = duel_moments(team, p, s.support, atoms);
    q[k] = m.mean;
    largest = k == 0 ? m.mean : maximum(largest, m.mean);
    if (team.lane == 0) {
      a.q[b * a.sizes.actions + first + k] = m.mean;
      a.q_variance[b * a.sizes.actions + first + k] = m.variance;
    }
  }
  float exp_sum = 0;
  for (int k = 0; k < count; ++k) exp_sum += exponential(q[k] - largest);
  const float y = clamp(reward + discount * after.q, c.settings.v_min[d], c.settings.v_max[d]);
  const float* p = s.p + chosen * atoms;
  const float* adv = heads.advantage(b, d) + chosen * atoms;
  const float cross = team_sum(team, atoms, [&](int z) { return s.m[z] * (log_sum - (s.center[z] + adv[z])); });
  const float mass = team_sum(team, atoms, [&](int z) { return s.m[z]; });
  const float error = q[chosen] - y, n = static_cast<float>(a.sizes.branches);
  const float share = a.weight[b] / (static_cast<float>(a.batch) * n);
  const float k_c51 = c.c51_alpha * share, k_mse = (1.0f - c.c51_alpha) * share * error;
  const float k_cql = c.settings.weight_cql / (static_cast<float>(a.batch) * n);
  float* out = a.d_heads + ((1 + d) * static_cast<int64_t>(a.batch) + b) * a.wide;
  float pull[kMaxBranchActions] = {};  // d total / d q_k
  for (int k = 0; k < count; ++k)
    pull[k] = k_cql * (exponential(q[k] - largest) / exp_sum - (k == chosen ? 1.0f : 0.0f));
  pull[chosen] += k_mse;
  team_each(team, atoms, [&](int z) {
    a.probabilities[(b * a.sizes.branches + d) * atoms + z] = p[z];
    a.projected[(b * a.sizes.branches + d) * atoms + z] = s.m[z];
  });
  // d q_k / d logit = p (z - q); the cross entropy adds p mass - m for the chosen action.
  for (int k = 0; k < count; ++k) {
    const float* pk = s.p + k * atoms;
    const float force = pull[k], mean = q[k], cross_share = k == chosen ? k_c51 : 0.0f;
    team_each(team, atoms, [&](int z) {
      out[k * atoms + z] = force * pk[z] * (s.support[z] - mean) + cross_share * (pk[z] * mass - s.m[z]);
    });
  }
  team_each(team, atoms, [&](int z) {
    float sum = 0;
    for (int k = 0; k < count; ++k) sum += out[k * atoms + z];
    d_value[z] = sum;
    const float mean = sum / static_cast<float>(count);
    for (int k = 0; k < count; ++k) out[k * atoms + z] -= mean;
  });
  return {cross, 0.5f * error * error, largest + logf(exp_sum) - q[chosen], error < 0 ? -error : error, q[chosen], after.greedy};
}

struct HuberSums {
  float loss, slope;
};

// One pair of quantiles: u = target - online, online at level tau.
FH_FN void add_pair(HuberSums& sums, float u, float tau, float kappa) {
  const float size = u < 0 ? -u : u;
  const float level = tau - (u < 0 ? 1.0f : 0.0f);
  const float w = level < 0 ? -level : level;
  sums.loss += w * (size <= kappa ? 0.5f * u * u : kappa * (size - 0.5f * kappa)) / kappa;
  sums.slope += w * (size <= kappa ? u : (u < 0 ? -kappa : kappa)) / kappa;
}

// Quantile Huber loss of the chosen action: mean over tau (online) and tau' (target, of the next state's greedy action). Gradient
// into d_quantiles.
FH_FN float quantile_loss(const Team& team, const RowLossesArgs& a, int64_t b, int d, int greedy) {
  const Settings& s = a.control->settings;
  const int t = a.taus_count, actions = a.sizes.actions;
  const int chosen = a.sizes.first[d] + a.action[b * a.sizes.branches + d];
  const int next = a.sizes.first[d] + greedy;
  const float reward = a.reward[b * a.sizes.branches + d], discount = a.discount[b * a.sizes.branches + d];
  const float kappa = s.huber_kappa, pairs = static_cast<float>(t) * static_cast<float>(t);
  const float share =
      s.weight_iqn * a.weight[b] / (static_cast<float>(a.batch) * static_cast<float>(a.sizes.branches) * pairs);
  const float* theta = a.quantiles + b * t * actions + chosen;
  const float* theta_next = a.target_quantiles + b * t * actions + next;
  float* gradient = a.d_quantiles + b * t * actions + chosen;
#if FH_DEVICE
  if (team.lanes == 32 && t <= 32) {  // a lane an online quantile; the target's go round
    const int i = minimum(team.lane, t - 1);
    const float mine = theta[i * actions], tau = a.taus[i], other = reward + discount * theta_next[i * actions];
    HuberSums sums{};
    for (int j = 0; j < t; ++j) add_pair(sums, team.broadcast(other, j) - mine, tau, kappa);
    if (team.lane < t) gradient[i * actions] = -share * sums.slope;
    return team.sum(team.lane < t ? sums.loss : 0.0f) / pairs;
  }
#endif
  float loss = 0;
  for (int i = team.lane; i < t; i += team.lanes) {
    HuberSums sums{};
    for (int j = 0; j < t; ++j)
      add_pair(sums, reward + discount * theta_next[j * actions] - theta[i * actions], a.taus[i], kappa);
    gradient[i * actions] = -share * sums.slope;
    loss += sums.loss;
  }
  return team.sum(loss) / pairs;
}

FH_FN float expectile_term(const RowLossesArgs& a, int64_t b, int which, float level, float q_taken, float v) {
  const float u = q_taken - v;
  const float w = u < 0 ? 1.0f - level : level;
  a.d_iql[b * 2 + which] = -2.0f * w * u * a.control->settings.weight_iql / static_cast<float>(a.batch);
  a.iql[b * 2 + which] = v;
  return w * u * u;
}

// out: high, low.
FH_FN void expectile_values(const Team& team, const RowLossesArgs& a, int64_t b, float* out) {
  const float* h = a.iql_hidden + b * 2 * a.iql_hidden_width;
  const float* w = a.params + a.iql_weight;
  float v[2];
  team_sums(team, 2, [&](int) { return a.iql_hidden_width; },
            [&](int i, int k) { return h[i * a.iql_hidden_width + k] * w[i * a.iql_hidden_width + k]; }, v);
  if (team.lane == 0)
    for (int i = 0; i < 2; ++i) out[i] = v[i] + a.params[a.iql_bias + i];
}

// One lane: squared error of return and volatility, cross entropy of the direction class. terms: return, direction, volatility.
FH_FN void auxiliary_losses(const RowLossesArgs& a, int64_t b, float* terms) {
  const float* o = a.aux_output + b * a.aux_stride;
  const float* label = a.aux_label + b * 4;
  float* g = a.d_aux + b * a.d_aux_stride;
  const float share = a.control->settings.weight_aux / static_cast<float>(a.batch);
  const float er = o[0] - label[0], ev = o[4] - label[2];
  const float largest = maximum(o[1], maximum(o[2], o[3]));
  const float sum = exponential(o[1] - largest) + exponential(o[2] - largest) + exponential(o[3] - largest);
  const int chosen = static_cast<int>(label[1]);
  terms[0] = er * er;
  terms[1] = largest + logf(sum) - o[1 + chosen];
  terms[2] = ev * ev;
  g[0] = 2.0f * er * share;
  g[4] = 2.0f * ev * share;
  for (int k = 0; k < 3; ++k) g[1 + k] = share * (exponential(o[1 + k] - largest) / sum - (k == chosen ? 1.0f : 0.0f));
}

}  // namespace foxhunt::kernels

#if FH_DEVICE
#include "kernels/losses_lanes.h"
#endif

namespace foxhunt::kernels {

FH_FN BranchTerms branch_of(const Team& team, const RowLossesArgs& a, const RowScratch& s, int64_t b, int d,
                            float* d_value) {
#if FH_DEVICE
  if (lanes_suffice(team, a)) return lane_branch(team, a, b, d, s.center, d_value);
#endif
  team_each(team, a.sizes.atoms, [&](int z) { s.support[z] = atom(a.control->settings, d, z, a.sizes.atoms); });
  const NextState after = next_state(team, a, s, b, d);
  return branch_losses(team, a, s, b, d, after, d_value);
}

FH_FN void row_losses(const Block& block, const RowLossesArgs& a) {
  const Team team = block.team();
  const int atoms = a.sizes.atoms, branches = a.sizes.branches;
  const int64_t b = block.x;
  const RowScratch s = row_scratch(block, team, atoms, a.huge_branch);
  float* d_value = block.scratch<float>() + static_cast<int64_t>(team.teams) * (6 + a.huge_branch) * atoms;  // [D, Z]
  float* sums = d_value + static_cast<int64_t>(branches) * atoms;                                            // [D, 6]
  float* others = sums + 6 * branches;                                                                       // [5]
  float* d_quantiles = a.d_quantiles + b * a.taus_count * a.sizes.actions;
  block_each(block, 0, static_cast<int64_t>(a.taus_count) * a.sizes.actions, [&](int64_t k) { d_quantiles[k] = 0; });
  block.sync();
  for (int d = team.index; d <= branches; d += team.teams) {
    if (d == branches) {  // the heads that are not of a branch
      expectile_values(team, a, b, others);
      if (team.lane == 0) auxiliary_losses(a, b, others + 2);
      continue;
    }
    const BranchTerms t = branch_of(team, a, s, b, d, d_value + static_cast<int64_t>(d) * atoms);
    team.sync();
    const float iqn = quantile_loss(team, a, b, d, t.greedy);
    if (team.lane == 0) {
      float* out = sums + 6 * d;
      out[0] = t.c51;
      out[1] = t.mse;
      out[2] = iqn;
      out[3] = t.cql;
      out[4] = t.td;
      out[5] = t.q;
    }
  }
  block.sync();
  block_each(block, 0, atoms, [&](int64_t z) {
    float sum = 0;
    for (int d = 0; d < branches; ++d) sum += d_value[d * atoms + z];
    a.d_heads[b * a.wide + z] = sum;
  });
  if (block.thread() != 0) return;
  float mean[6] = {};
  for (int d = 0; d < branches; ++d)
    for (int k = 0; k < 6; ++k) mean[k] += sums[6 * d + k];
  for (float& x : mean) x /= static_cast<float>(branches);
  float* terms = a.row_terms + b * kRowLosses;
  terms[row_c51] = mean[0];
  terms[row_mse] = mean[1];
  terms[row_iqn] = mean[2];
  terms[row_cql] = mean[3];
  terms[row_iql_high] = expectile_term(a, b, 0, a.control->settings.expectile_high, mean[5], others[0]);
  terms[row_iql_low] = expectile_term(a, b, 1, a.control->settings.expectile_low, mean[5], others[1]);
  terms[row_aux_return] = others[2];
  terms[row_aux_direction] = others[3];
  terms[row_aux_volatility] = others[4];
  a.td[b] = mean[4];
  a.q_taken[b] = mean[5];
}

// Batch means of all terms, mixture balance, gate entropy, total: one block, in double.
struct FinishLossesArgs {
  Control* control;        // last_mse, last_iqn, last_entropy written for the next step's schedules
  const float* row_terms;  // [B, kRowLosses]
  const float* weight;     // [B]
  const float* gates;      // [B, E]
  double* losses;          // [kLossTerms] overwritten
  double* gate_entropy;    // [1]
  float* importance;       // [E] mean gates
  int32_t batch, experts;
};

FH_FN double mean_term(const Block& block, const FinishLossesArgs& a, int column, bool weighted) {
  double sum = 0;
  for (int b = block.thread(); b < a.batch; b += block.threads())
    sum +=
        static_cast<double>(a.row_terms[b * kRowLosses + column]) * (weighted ? static_cast<double>(a.weight[b]) : 1.0);
  return block.sum(sum) / a.batch;
}

#if FH_DEVICE
inline constexpr int kFinishSums = kRowLosses + 2 * 16;

// The same sums on the device for up to 16 experts, all at once: lanes, then warps in order, in shared memory.
FH_FN bool finish_sums(const Block& block, const FinishLossesArgs& a, double* out) {
  if (a.experts > 16) return false;
  __shared__ double part[32 * kFinishSums];
  const Team team = block.team();
  if (team.lanes == 1) return false;
  constexpr bool weighted[kRowLosses] = {true, true, true, false, false, false, false, false, false};
  double sums[kFinishSums] = {};
  for (int b = block.thread(); b < a.batch; b += block.threads()) {
    const double weight = a.weight[b];
    FH_UNROLL
    for (int k = 0; k < kRowLosses; ++k)
      sums[k] += static_cast<double>(a.row_terms[b * kRowLosses + k]) * (weighted[k] ? weight : 1.0);
    FH_UNROLL
    for (int e = 0; e < 16; ++e) {
      if (e >= a.experts) continue;
      const float gate = a.gates[b * a.experts + e];
      sums[kRowLosses + e] += static_cast<double>(gate);
      sums[kRowLosses + 16 + e] -= static_cast<double>(gate * logf(maximum(gate, 1e-12f)));
    }
  }
  FH_UNROLL
  for (int k = 0; k < kFinishSums; ++k) {
    const double sum = team.sum(sums[k]);
    if (team.lane == 0) part[team.index * kFinishSums + k] = sum;
  }
  block.sync();
  for (int k = block.thread(); k < kFinishSums; k += block.threads()) {
    double sum = 0;
    for (int t = 0; t < team.teams; ++t) sum += part[t * kFinishSums + k];
    part[k] = sum / a.batch;  // only this thread reads or writes column k
  }
  block.sync();
  FH_UNROLL
  for (int k = 0; k < kFinishSums; ++k) out[k] = part[k];
  return true;
}
#endif

FH_FN void write_losses(const FinishLossesArgs& a, const double* mean, double entropy, double balance) {
  Control& c = *a.control;
  const double c51 = mean[row_c51], mse = mean[row_mse], iqn = mean[row_iqn], cql = mean[row_cql];
  const double high = mean[row_iql_high], low = mean[row_iql_low], r = mean[row_aux_return];
  const double d = mean[row_aux_direction], v = mean[row_aux_volatility];
  const Settings& s = c.settings;
  const double alpha = c.c51_alpha;
  a.losses[loss_total] = (1 - alpha) * mse + alpha * c51 + s.weight_iqn * iqn + s.weight_iql * (high + low) +
                         s.weight_cql * cql + s.weight_aux * (r + d + v) + c.moe_lambda_now * balance;
  a.losses[loss_c51] = c51;
  a.losses[loss_mse] = mse;
  a.losses[loss_iqn] = iqn;
  a.losses[loss_iql_high] = high;
  a.losses[loss_iql_low] = low;
  a.losses[loss_cql] = cql;
  a.losses[loss_aux_return] = r;
  a.losses[loss_aux_direction] = d;
  a.losses[loss_aux_volatility] = v;
  a.losses[loss_moe_balance] = balance;
  *a.gate_entropy = entropy;
  if (c.halt) return;
  c.last_mse = static_cast<float>(mse);
  c.last_iqn = static_cast<float>(iqn);
  c.last_entropy = static_cast<float>(entropy);
}

FH_FN void finish_losses(const Block& block, const FinishLossesArgs& a) {
#if FH_DEVICE
  double all[kFinishSums];
  if (finish_sums(block, a, all)) {
    if (block.thread() != 0) return;
    double h = 0, square = 0;
    FH_UNROLL
    for (int e = 0; e < 16; ++e) {
      if (e >= a.experts) continue;
      const double mean = all[kRowLosses + e];
      h += all[kRowLosses + 16 + e];
      square += mean * mean;
      a.importance[e] = static_cast<float>(mean);
    }
    write_losses(a, all, h, square * a.experts);
    return;
  }
#endif
  double terms[kRowLosses];
  for (int k = 0; k < kRowLosses; ++k) terms[k] = mean_term(block, a, k, k == row_c51 || k == row_mse || k == row_iqn);
  double entropy = 0, balance = 0;
  for (int e = 0; e < a.experts; ++e) {
    double sum = 0, h = 0;
    for (int b = block.thread(); b < a.batch; b += block.threads()) {
      const float gate = a.gates[b * a.experts + e];
      sum += static_cast<double>(gate);
      h -= static_cast<double>(gate * logf(maximum(gate, 1e-12f)));
    }
    const double mean = block.sum(sum) / a.batch;
    entropy += block.sum(h) / a.batch;
    balance += mean * mean;
    if (block.thread() == 0) a.importance[e] = static_cast<float>(mean);
  }
  if (block.thread() == 0) write_losses(a, terms, entropy, balance * a.experts);
}

// Regime-scaled TD error modulated by the IQL advantage, raised to alpha: the new priorities.
// advantage = (q - v_high) / (|v_high - v_low| + 1); modulation = clamp(exp(kappa advantage), 0.5, 2).
struct ModulatePrioritiesArgs {
  const Control* control;
  const float* td;       // [B]
  const float* regime;   // [B]
  const float* q_taken;  // [B]
  const float* iql;      // [B, 2]
  float* priority;       // [B] overwritten
  int32_t batch;
};

FH_FN void modulate_priorities(const Block& block, const ModulatePrioritiesArgs& a) {
  const Settings& s = a.control->settings;
  const Tile tile = tile_of(block.x, a.batch, 256);
  block_each(block, tile.begin, tile.end, [&](int64_t b) {
    const float high = a.iql[b * 2], low = a.iql[b * 2 + 1];
    const float apart = high < low ? low - high : high - low;
    const float advantage = (a.q_taken[b] - high) / (apart + 1.0f);
    const float modulation = clamp(expf(s.iql_kappa * advantage), 0.5f, 2.0f);
    a.priority[b] = powf(a.td[b] * a.regime[b] * modulation + s.per_epsilon, s.per_alpha);
  });
}

}  // namespace foxhunt::kernels
