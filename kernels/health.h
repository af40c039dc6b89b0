// HealthDiag: signal mirror, evaluation histogram and finalise. The per-sample families stand in health_samples.h.
#pragma once

#include "kernels/health_samples.h"
#include "kernels/telemetry_publish.h"

namespace foxhunt::kernels {

inline constexpr uint8_t kNoMirror = 255;

struct MirrorSignalsArgs {
  const Control* control;
  const TelemetryState* state;
  PublishState* publish;
  uint32_t forced;
  uint8_t from[kHealthWords];  // signal that the word copies, or kNoMirror
};

FH_FN void mirror_signals(const Block& block, const MirrorSignalsArgs& a) {
  if (!health_due(*a.control, a.forced)) return;  // no barrier below
  for (int w = block.thread(); w < kHealthWords; w += block.threads()) {
    if (a.from[w] != kNoMirror) a.publish->health[w] = float_bits(a.state->signals[a.from[w]]);
  }
}

inline constexpr int kHistogramBlocks = 64;  // at most

struct EvaluationHistogramArgs {
  const int32_t* greedy;  // [rows, branches] greedy action of each branch
  int64_t rows;
  int64_t tile;  // rows a block
  int32_t branches, actions;
  int32_t branch_of[kShownActions];  // of each of the actions side by side
  int32_t branch_first[kMaxBranches];
  uint32_t* partial;  // [blocks, actions] overwritten
};

// A thread owns an action and counts it over the block's rows.
FH_FN void evaluation_histogram(const Block& block, const EvaluationHistogramArgs& a) {
  const Tile tile = tile_of(block.x, a.rows, a.tile);
  for (int k = block.thread(); k < a.actions; k += block.threads()) {
    const int branch = a.branch_of[k], wanted = k - a.branch_first[branch];
    uint32_t count = 0;
    for (int64_t row = tile.begin; row < tile.end; ++row)
      count += a.greedy[row * a.branches + branch] == wanted ? 1 : 0;
    a.partial[block.x * a.actions + k] = count;
  }
}

struct EvaluationSharesArgs {
  const uint32_t* partial;  // [blocks, actions]
  int32_t blocks, actions;
  int64_t rows;
  TelemetryState* state;
};

FH_FN void evaluation_shares(const Block& block, const EvaluationSharesArgs& a) {
  for (int k = block.thread(); k < a.actions; k += block.threads()) {
    int64_t count = 0;
    for (int i = 0; i < a.blocks; ++i) count += a.partial[i * a.actions + k];
    a.state->greedy[k] = static_cast<float>(static_cast<double>(count) / static_cast<double>(a.rows));
  }
}

struct FinaliseHealthArgs {
  StepResults results;
  const TelemetryState* state;
  PublishState* publish;
  const double* samples;     // [sample_tiles, kSampleColumns]
  const double* magnitudes;  // [magnitude_tiles, kMagnitudeColumns]
  double* totals;            // [kSampleColumns + kMagnitudeColumns] scratch, overwritten
  int32_t sample_tiles, magnitude_tiles;
  uint32_t forced;
  uint8_t from[kHealthWords];  // words of the signal mirror are left alone
};

FH_FN double magnitude_value(const double* m, int word) {
  const double n = m[magnitude_trading];
  if (!(n > 0)) return 0;
  if (word < health_magnitude_share_quarter) return m[magnitude_q + word - health_magnitude_q_mean_quarter] / n;
  if (word < health_magnitude_q_variance_quarter) return m[magnitude_taken + word - health_magnitude_share_quarter] / n;
  const int k = word - health_magnitude_q_variance_quarter;
  const double mean = m[magnitude_q + k] / n;
  return maximum(m[magnitude_q_square + k] / n - mean * mean, 0.0);
}

FH_FN double support_width(const StepResults& r) {
  double width = 0;
  for (int d = 0; d < r.branches; ++d)
    width += static_cast<double>(r.control->settings.v_max[d]) - r.control->settings.v_min[d];
  return width / r.branches;
}

FH_FN double q_std(const StepResults& r, const double* totals, const double* samples) {
  const double mean = q_mean_of(r, totals);
  return sqrt(maximum(samples[sample_q_square] / (static_cast<double>(r.batch) * r.actions) - mean * mean, 0.0));
}

// Words 4 to 25: losses and optimiser.
FH_FN double optimisation_word(const FinaliseHealthArgs& a, int word) {
  const StepResults& r = a.results;
  const Control& c = *r.control;
  const double* t = a.publish->totals;
  const double* losses = r.losses;
  switch (word) {
    case health_loss_total:
      return losses[loss_total];
    case health_loss_c51:
      return losses[loss_c51];
    case health_loss_mse:
      return losses[loss_mse];
    case health_c51_alpha:
      return c.c51_alpha;
    case health_loss_iqn:
      return losses[loss_iqn];
    case health_loss_iql_high:
      return losses[loss_iql_high];
    case health_loss_iql_low:
      return losses[loss_iql_low];
    case health_loss_cql:
      return losses[loss_cql];
    case health_loss_auxiliary:
      return losses[loss_aux_return] + losses[loss_aux_direction] + losses[loss_aux_volatility];
    case health_loss_moe_balance:
      return losses[loss_moe_balance];
    case health_td_mean:
      return t[batch_td] / r.batch;
    case health_td_max:
      return t[batch_td_max];
    case health_grad_norm_raw:
      return r.gradient_norm[0];
    case health_grad_norm_clipped:
      return r.gradient_norm[0] * r.gradient_norm[1];
    case health_lr:
      return c.settings.lr;
    case health_tau:
      return c.tau;
    case health_parameter_norm:
      return sqrt(a.publish->arena[arena_parameter]);
    case health_update_ratio:
      return update_ratio_of(a.publish->arena);
    case health_weight_decay:
      return c.settings.weight_decay;
    default:
      return c.settings.depth_keep;
  }
}

// Words of the value estimates and of the sampled batch.
FH_FN double value_word(const FinaliseHealthArgs& a, int word) {
  const StepResults& r = a.results;
  const Control& c = *r.control;
  const double* t = a.publish->totals;
  const double* s = a.totals;
  const double rows = r.batch;
  switch (word) {
    case health_q_mean:
      return q_mean_of(r, t);
    case health_q_std:
      return q_std(r, t, s);
    case health_q_min:
      return s[sample_q_min];
    case health_q_max:
      return s[sample_q_max];
    case health_atom_entropy:
      return t[batch_entropy] / rows;
    case health_atom_utilisation:
      return t[batch_used] / rows;
    case health_mass_low:
      return s[sample_mass_low] / rows;
    case health_mass_high:
      return s[sample_mass_high] / rows;
    case health_iqn_spread:
      return s[sample_iqn_spread] / rows;
    case health_iqn_readiness:
      return c.iqn_readiness;
    case health_ensemble_disagreement:
      return s[sample_disagreement] / rows;
    case health_support_width:
      return support_width(r);
    case health_priority_mean:
      return s[sample_priority] / rows;
    case health_priority_max:
      return c.max_priority;
    case health_effective_samples:
      return effective_samples_of(r, t);
    case health_weight_min:
      return s[sample_weight_min];
    case health_weight_mean:
      return t[batch_weight] / rows;
    case health_beta:
      return c.beta;
    case health_age_mean:
      return s[sample_age] / rows;
    case health_reward_median:
      return a.state->epoch.reward_median;
    case health_reward_iqr:
      return a.state->epoch.reward_iqr;
    case health_variance_scale:
      return s[sample_variance] / rows;
    default:
      return drift_ratio_of(r, *a.publish, *a.state);
  }
}

FH_FN double health_value(const FinaliseHealthArgs& a, int word) {
  const StepResults& r = a.results;
  const double* t = a.publish->totals;
  const double* s = a.totals;
  if (word <= health_depth_keep) return optimisation_word(a, word);
  if (word >= health_q_mean_direction && word <= health_q_mean_urgency)
    return branch_mean(r, t, word - health_q_mean_direction);
  if (word >= health_q_abs_max_direction && word <= health_q_abs_max_urgency)
    return s[sample_abs_max + word - health_q_abs_max_direction];
  if (word >= health_q_gap_direction && word <= health_q_gap_urgency)
    return t[batch_gap + word - health_q_gap_direction] / r.batch;
  if (word >= health_advantage_spread_direction && word <= health_advantage_spread_urgency)
    return s[sample_advantage_spread + word - health_advantage_spread_direction] / r.batch;
  if (word >= health_magnitude_q_mean_quarter && word <= health_magnitude_q_variance_full)
    return magnitude_value(s + kSampleColumns, word);
  if (word >= health_action_direction_short && word <= health_action_urgency_urgent)
    return t[batch_action + word - health_action_direction_short] / r.batch;
  if (word >= health_greedy_direction_short && word <= health_greedy_urgency_urgent)
    return a.state->greedy[word - health_greedy_direction_short];
  return value_word(a, word);
}

FH_FN uint32_t health_bits(const FinaliseHealthArgs& a, int word) {
  const Control& c = *a.results.control;
  if (word >= health_controller_lr && word <= health_controller_alpha)
    return a.state->epoch.controllers[word - health_controller_lr];
  switch (word) {
    case health_step:
      return static_cast<uint32_t>(c.step);
    case health_epoch:
      return c.settings.epoch;
    case health_fold:
      return c.settings.fold;
    case health_layout_version:
      return kHealthLayoutVersion;
    case health_adam_t:
      return c.adam_t;
    case health_replay_size:
      return c.replay_size;
    case health_nan_flags:
      return c.nan_flags;
    default:
      return float_bits(static_cast<float>(health_value(a, word)));
  }
}

FH_FN void finalise_health(const Block& block, const FinaliseHealthArgs& a) {
  if (health_due(*a.results.control, a.forced)) {  // the same for the whole block
    reduce_columns(block, a.samples, 0, a.sample_tiles, kSampleColumns, sample_abs_max, sample_q_min, a.totals);
    reduce_columns(block, a.magnitudes, 0, a.magnitude_tiles, kMagnitudeColumns, kMagnitudeColumns, kMagnitudeColumns,
                   a.totals + kSampleColumns);
    block.sync();
    for (int w = block.thread(); w < kHealthWords; w += block.threads()) {
      if (a.from[w] == kNoMirror) a.publish->health[w] = health_bits(a, w);
    }
    if (block.thread() == 0) a.publish->snapshots += 1;
  }
}

}  // namespace foxhunt::kernels
