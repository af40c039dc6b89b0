// The signal bus: one block combines the partial sums of batch and arena in fixed order, forms this step's value of
// every slot and averages it: s += 0.05 (x - s), the first value copied. While training is halted the bus stands still.
#pragma once

#include "kernels/telemetry_state.h"

namespace foxhunt::kernels {

inline constexpr float kSignalAlpha = 0.05f;

struct UpdateSignalsArgs {
  StepResults results;
  TelemetryState* state;
  PublishState* publish;
  const CollectorSignals* collector;
  const double* batch_partial;  // [batch_tiles, kBatchColumns]
  const double* arena_partial;  // [arena_tiles, kArenaColumns]
  int32_t batch_tiles, arena_tiles;
  double sigma_count[kShownBranches + 1];  // elements behind each arena_sigma column
  SignalKind kind[kSignals];
};

FH_FN double branch_mean(const StepResults& r, const double* totals, int branch) {
  return totals[batch_q + branch] / (static_cast<double>(r.batch) * r.branch_actions[branch]);
}

// Mean of Q over batch and all actions.
FH_FN double q_mean_of(const StepResults& r, const double* totals) {
  double sum = 0;
  for (int d = 0; d < r.branches; ++d) sum += totals[batch_q + d];
  return sum / (static_cast<double>(r.batch) * r.actions);
}

// Entropy of the batch's actions over ln n, mean of the branches with a choice.
FH_FN double action_entropy_of(const StepResults& r, const double* totals) {
  double mean = 0;
  int branches = 0;
  for (int d = 0; d < r.branches; ++d) {
    if (r.branch_actions[d] < 2) continue;
    double entropy = 0;
    for (int i = 0; i < r.branch_actions[d]; ++i) {
      const double share = totals[batch_action + r.branch_first[d] + i] / r.batch;
      if (share > 0) entropy -= share * log(share);
    }
    mean += entropy / log(static_cast<double>(r.branch_actions[d]));
    ++branches;
  }
  return branches ? mean / branches : 0;
}

FH_FN double effective_samples_of(const StepResults& r, const double* totals) {
  const double square = totals[batch_weight_square];
  return square > 0 ? totals[batch_weight] * totals[batch_weight] / (r.batch * square) : 0;
}

FH_FN double update_ratio_of(const double* arena) {
  return arena[arena_parameter] > 0 ? sqrt(arena[arena_update] / arena[arena_parameter]) : 0;
}

// Mean of three scores, each 0 to 1; see signals.def.
FH_FN double learning_health_of(const StepResults& r, const double* totals, const double* arena) {
  const double ratio = update_ratio_of(arena);
  const double update = ratio > 0 ? clamp(1 - fabs(log10(ratio) + 3.5) / 2.5, 0.0, 1.0) : 0;
  return (update + clamp(r.gradient_norm[1], 0.0, 1.0) + effective_samples_of(r, totals)) / 3;
}

// Pearson correlation of predicted and real next return; 0 when either is constant.
FH_FN double correlation_of(const StepResults& r, const double* t) {
  const double n = r.batch;
  const double xx = t[batch_aux_xx] - t[batch_aux_x] * t[batch_aux_x] / n;
  const double yy = t[batch_aux_yy] - t[batch_aux_y] * t[batch_aux_y] / n;
  const double xy = t[batch_aux_xy] - t[batch_aux_x] * t[batch_aux_y] / n;
  return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

FH_FN double noise_of(const UpdateSignalsArgs& a, int slot) {
  const double* arena = a.publish->arena;
  double sum = 0, count = 0;
  for (int k = 0; k <= kShownBranches; ++k) {
    if (slot != signal_noise_mean && slot - signal_noise_direction != k) continue;
    sum += arena[arena_sigma + k];
    count += a.sigma_count[k];
  }
  return count > 0 ? sqrt(sum / count) : 0;
}

FH_FN bool from_collector(int slot) {
  return (slot >= signal_action_direction_short && slot <= signal_action_urgency_urgent) ||
         (slot >= signal_regime_quiet && slot <= signal_regime_now) ||
         (slot >= signal_reward_pnl && slot <= signal_ruin_share) || slot == signal_exploration_share;
}

FH_FN double collector_value(const CollectorSignals& c, int slot) {
  if (slot <= signal_action_urgency_urgent) return c.action[slot - signal_action_direction_short];
  if (slot <= signal_regime_stressed) return c.regime[slot - signal_regime_quiet];
  if (slot == signal_regime_now) return c.regime_now;
  if (slot <= signal_reward_opportunity) return c.reward[slot - signal_reward_pnl];
  if (slot <= signal_win_rate_full) return c.win_rate[slot - signal_win_rate_quarter];
  if (slot <= signal_reward_variance_full) return c.reward_variance[slot - signal_reward_variance_quarter];
  if (slot <= signal_hold_full) return c.hold[slot - signal_hold_quarter];
  if (slot <= signal_trail_full) return c.trail[slot - signal_trail_quarter];
  switch (slot) {
    case signal_kelly_cap:
      return c.kelly_cap;
    case signal_exposure:
      return c.exposure;
    case signal_turnover:
      return c.turnover;
    case signal_drawdown:
      return c.drawdown;
    case signal_episode_return:
      return c.episode_return;
    case signal_ruin_share:
      return c.ruin_share;
    default:
      return c.exploration_share;
  }
}

// Slots made of the arena's sums.
FH_FN double arena_value(const UpdateSignalsArgs& a, int slot) {
  const double* arena = a.publish->arena;
  if (slot >= signal_gradient_vsn && slot <= signal_gradient_iql_aux)
    return sqrt(arena[arena_gradient + slot - signal_gradient_vsn]);
  const double target = arena[arena_target], both = target * arena[arena_parameter];
  switch (slot) {
    case signal_target_distance:
      return target > 0 ? sqrt(arena[arena_difference] / target) : 0;
    case signal_target_cosine:
      return both > 0 ? arena[arena_dot] / sqrt(both) : 0;
    case signal_weight_norm:
      return sqrt(arena[arena_parameter]);
    case signal_update_ratio:
      return update_ratio_of(arena);
    default:
      return noise_of(a, slot);
  }
}

FH_FN double schedule_value(const StepResults& r, int slot) {
  const Control& c = *r.control;
  if (slot >= signal_support_low_direction && slot <= signal_support_high_urgency) {
    const int i = slot - signal_support_low_direction;
    return i % 2 ? c.settings.v_max[i / 2] : c.settings.v_min[i / 2];
  }
  if (slot == signal_epsilon) return c.settings.epsilon;
  return c.moe_lambda_now;
}

FH_FN double largest_sigma(const StepResults& r) {
  float largest = 0;
  for (int i = 0; i < r.spectral; ++i) largest = maximum(largest, r.sigma[i]);
  return largest;
}

// Slots made of the batch's sums; means over the batch unless named otherwise.
FH_FN double batch_value(const UpdateSignalsArgs& a, int slot) {
  const StepResults& r = a.results;
  const double* t = a.publish->totals;
  const double rows = r.batch;
  if (slot >= signal_q_mean_direction && slot <= signal_q_mean_urgency)
    return branch_mean(r, t, slot - signal_q_mean_direction);
  if (slot >= signal_q_gap_direction && slot <= signal_q_gap_urgency)
    return t[batch_gap + slot - signal_q_gap_direction] / rows;
  if (slot >= signal_spread_direction && slot <= signal_spread_urgency)
    return t[batch_spread + slot - signal_spread_direction] / rows;
  if (slot >= signal_vsn_price && slot <= signal_vsn_signals) return t[batch_vsn + slot - signal_vsn_price] / rows;
  if (slot >= signal_expert_0 && slot <= signal_expert_7) return t[batch_gate + slot - signal_expert_0] / rows;
  switch (slot) {
    case signal_learning_health:
      return learning_health_of(r, t, a.publish->arena);
    case signal_action_entropy:
      return action_entropy_of(r, t);
    case signal_effective_samples:
      return effective_samples_of(r, t);
    case signal_atom_utilisation:
      return t[batch_used] / rows;
    case signal_value_entropy:
      return t[batch_entropy] / rows;
    case signal_vsn_largest:
      return t[batch_vsn_largest] / rows;
    case signal_vsn_concentration:
      return t[batch_vsn_concentration] / rows;
    case signal_aux_accuracy:
      return t[batch_aux_correct] / rows;
    case signal_aux_correlation:
      return correlation_of(r, t);
    case signal_gate_entropy:
      return t[batch_gate_entropy] / rows;
    default:
      return t[batch_gate_largest] / rows;
  }
}

// This step's value of a slot, before averaging.
FH_FN double signal_value(const UpdateSignalsArgs& a, int slot) {
  const StepResults& r = a.results;
  if (slot <= signal_loss_cql) return r.losses[loss_total + slot - signal_loss_total];
  if (from_collector(slot)) return collector_value(*a.collector, slot);
  switch (slot) {
    case signal_gradient_norm:
      return r.gradient_norm[0];
    case signal_clip_share:
      return r.gradient_norm[1] < 1 ? 1 : 0;
    case signal_spectral_max:
      return largest_sigma(r);
    case signal_step_time:
      return a.publish->device_time;
    case signal_aux_return:
      return r.losses[loss_aux_return];
    case signal_aux_direction:
      return r.losses[loss_aux_direction];
    case signal_aux_volatility:
      return r.losses[loss_aux_volatility];
    case signal_update_ratio:
    case signal_target_distance:
    case signal_target_cosine:
    case signal_weight_norm:
    case signal_noise_mean:
      return arena_value(a, slot);
    default:
      break;
  }
  if (slot >= signal_noise_direction && slot <= signal_gradient_iql_aux) return arena_value(a, slot);
  if (a.kind[slot] == SignalKind::direct) return schedule_value(r, slot);
  return batch_value(a, slot);
}

// Running maxima of |mean Q| for the references, and the epoch's mean Q. One thread.
FH_FN void accumulate_epoch(const UpdateSignalsArgs& a) {
  const StepResults& r = a.results;
  const double* t = a.publish->totals;
  TelemetryState& s = *a.state;
  const double all = q_mean_of(r, t);
  const double next = t[batch_q_next] / (static_cast<double>(r.batch) * r.actions);
  for (int k = 0; k < kReferences; ++k) {
    const double mean = k < kShownBranches ? branch_mean(r, t, k) : (k == reference_all ? all : next);
    s.q_abs_max[k] = maximum(s.q_abs_max[k], static_cast<float>(fabs(mean)));
  }
  s.q_epoch_sum += all;
  s.q_epoch_steps += 1;
}

FH_FN void update_signals(const Block& block, const UpdateSignalsArgs& a) {
  PublishState& p = *a.publish;
  TelemetryState& state = *a.state;
  reduce_columns(block, a.batch_partial, 0, a.batch_tiles, kBatchColumns, batch_td_max, kBatchColumns, p.totals);
  reduce_columns(block, a.arena_partial, 0, a.arena_tiles, kArenaColumns, kArenaColumns, kArenaColumns, p.arena);
  block.sync();
  const bool running = a.results.control->halt == 0, filled = a.collector->filled != 0, timed = p.device_time > 0;
  if (running) {
    const Team team = block.team();  // a warp a slot: each is made another way
    for (int slot = team.index; slot < kSignals; slot += team.teams) {
      const SignalKind kind = a.kind[slot];
      if (team.lane > 0) continue;
      const bool collector = from_collector(slot), time = slot == signal_step_time;
      const bool present = (!collector || filled) && (!time || timed);
      if (kind == SignalKind::epoch || kind == SignalKind::reserved || !present) continue;
      const uint32_t updates = collector ? state.collector_steps : (time ? state.time_steps : state.ema_steps);
      const float x = static_cast<float>(signal_value(a, slot)), old = state.signals[slot];
      // One bad value would stay in an average for good; the NaN flags report it.
      if (not_finite(x)) continue;
      state.signals[slot] = kind == SignalKind::direct || updates == 0 ? x : old + kSignalAlpha * (x - old);
    }
  }
  block.sync();
  if (running && block.thread() == 0) {
    accumulate_epoch(a);
    state.ema_steps += 1;
    state.collector_steps += filled ? 1 : 0;
    state.time_steps += timed ? 1 : 0;
  }
}

struct EndEpochArgs {
  TelemetryState* state;
  uint32_t advance;  // 0: only takes the words, for the snapshot of the epoch's end
  EpochWords words;
};

// After the guard has read slots 16 to 21: moves them by the epoch's maxima, and begins the next epoch's.
FH_FN void end_epoch(const Block& block, const EndEpochArgs& a) {
  TelemetryState& s = *a.state;
  const int slots[kReferences] = {signal_q_reference_direction, signal_q_reference_magnitude, signal_q_reference_order,
                                  signal_q_reference_urgency,   signal_q_reference_all,       signal_q_reference_next};
  if (block.thread() == 0) {
    s.epoch = a.words;
    if (a.advance && s.q_epoch_steps > 0) {
      for (int k = 0; k < kReferences; ++k) {
        float& slot = s.signals[slots[k]];
        slot = s.reference_updates == 0 ? s.q_abs_max[k] : slot + kSignalAlpha * (s.q_abs_max[k] - slot);
        s.q_abs_max[k] = 0;
      }
      s.reference_updates += 1;
      s.q_previous = static_cast<float>(s.q_epoch_sum / s.q_epoch_steps);
      s.has_previous = 1;
      s.q_epoch_sum = 0;
      s.q_epoch_steps = 0;
    }
  }
}

struct BeginFoldSignalsArgs {
  TelemetryState* state;
  SignalKind kind[kSignals];
};

// A fold's start: references and the guard's previous value are carried, all averages begin anew.
FH_FN void begin_fold_signals(const Block& block, const BeginFoldSignalsArgs& a) {
  TelemetryState& s = *a.state;
  for (int slot = block.thread(); slot < kSignals; slot += block.threads()) {
    if (a.kind[slot] != SignalKind::epoch) s.signals[slot] = 0;
  }
  if (block.thread() == 0) s.ema_steps = s.collector_steps = s.time_steps = 0;
}

}  // namespace foxhunt::kernels
