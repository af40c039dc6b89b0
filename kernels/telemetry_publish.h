// What leaves the device: the step record into the mapped ring, signal bus and HealthDiag into the mapped envelope,
// completed steps and halt bits for the host's polling. One block; nothing here reads mapped memory.
#pragma once

#include "kernels/telemetry_signals.h"

namespace foxhunt::kernels {

struct StampStepArgs {
  PublishState* publish;
};

// Among the step's first kernels: the clock from which the device time of the step counts.
FH_FN void stamp_step(const Block& block, const StampStepArgs& a) {
  if (block.thread() == 0) a.publish->stamp = clock_ns();
}

struct PublishArgs {
  StepResults results;
  TelemetryState* state;
  PublishState* publish;
  MappedTelemetry* mapped;
  uint32_t forced;  // 1: the envelope only, whole, also when no step is new
};

// |mean Q| over that of the epoch before, 0 while there is none.
FH_FN float drift_ratio_of(const StepResults& r, const PublishState& p, const TelemetryState& s) {
  if (!s.has_previous || s.q_previous == 0) return 0;
  return static_cast<float>(fabs(q_mean_of(r, p.totals)) / fabs(static_cast<double>(s.q_previous)));
}

FH_FN float record_value(const PublishArgs& a, int word) {
  const StepResults& r = a.results;
  const Control& c = *r.control;
  const double* t = a.publish->totals;
  if (word >= step_word_loss_total && word <= step_word_loss_moe_balance)
    return static_cast<float>(r.losses[loss_total + word - step_word_loss_total]);
  if (word >= step_word_q_mean_direction && word <= step_word_q_mean_urgency)
    return static_cast<float>(branch_mean(r, t, word - step_word_q_mean_direction));
  switch (word) {
    case step_word_c51_alpha:
      return c.c51_alpha;
    case step_word_grad_norm_raw:
      return static_cast<float>(r.gradient_norm[0]);
    case step_word_grad_norm_clipped:
      return static_cast<float>(r.gradient_norm[0] * r.gradient_norm[1]);
    case step_word_lr:
      return c.settings.lr;
    case step_word_tau:
      return c.tau;
    case step_word_beta:
      return c.beta;
    case step_word_td_mean:
      return static_cast<float>(t[batch_td] / r.batch);
    case step_word_td_max:
      return static_cast<float>(t[batch_td_max]);
    case step_word_action_entropy:
      return static_cast<float>(action_entropy_of(r, t));
    case step_word_drift_ratio:
      return drift_ratio_of(r, *a.publish, *a.state);
    case step_word_epsilon:
      return c.settings.epsilon;
    case step_word_q_mean:
      return static_cast<float>(q_mean_of(r, t));
    default:
      return 0;
  }
}

FH_FN uint32_t record_word(const PublishArgs& a, int word) {
  const Control& c = *a.results.control;
  switch (word) {
    case step_word_fold:
      return c.settings.fold;
    case step_word_epoch:
      return c.settings.epoch;
    case step_word_nan_flags:
      return c.nan_flags;
    case step_word_halt:
      return c.halt;
    case step_word_device_time:
      return float_bits(a.publish->device_time);
    default:
      return float_bits(record_value(a, word));
  }
}

FH_FN uint32_t envelope_word(const PublishArgs& a, int word) {
  const TelemetryState& s = *a.state;
  if (word < kSignals) return float_bits(s.signals[word]);
  if (word < envelope_signal_step) return a.publish->health[word - envelope_health];
  switch (word) {
    case envelope_signal_step:
      return static_cast<uint32_t>(a.results.control->step);
    case envelope_q_epoch_mean:
      return float_bits(s.q_epoch_steps ? static_cast<float>(s.q_epoch_sum / s.q_epoch_steps) : 0);
    case envelope_q_epoch_steps:
      return s.q_epoch_steps;
    case envelope_reference_updates:
      return s.reference_updates;
    case envelope_health_snapshots:
      return a.publish->snapshots;
    default:
      return 0;
  }
}

FH_FN void publish(const Block& block, const PublishArgs& a) {
  PublishState& p = *a.publish;
  MappedTelemetry& mapped = *a.mapped;
  const Control& control = *a.results.control;
  const uint64_t step = control.step;
  const bool fresh = !a.forced && step != p.published_step;  // a halted launch begins no step
  const bool envelope = fresh || a.forced;
  const bool health = a.forced || p.snapshots != p.published_snapshots;
  uint32_t* record = mapped.ring[(step + kRingRecords - 1) % kRingRecords];
  block.sync();  // all threads have decided
  if (block.thread() == 0) {
    if (fresh) {
      p.device_time = p.stamp ? static_cast<float>(static_cast<double>(clock_ns() - p.stamp) * 1e-3) : 0;
      p.stamp = 0;
      store_shared_word(&record[step_word_step], static_cast<uint32_t>(step));
    }
    if (envelope) store_opening_word(&mapped.sequence, p.sequence + 1);  // opens the record too
  }
  block.sync();
  if (fresh) {
    // A warp a word: each is made another way, and the lanes of one warp would take all ways in turn.
    const Team team = block.team();
    for (int w = step_word_step + 1 + team.index; w < step_word_step_last; w += team.teams)
      if (team.lane == 0) store_shared_word(&record[w], record_word(a, w));
  }
  if (envelope) {
    for (int w = block.thread(); w < kEnvelopeWords; w += block.threads()) {
      const bool of_health = w >= envelope_health && w < envelope_signal_step;
      if (!of_health || health) store_shared_word(&mapped.envelope[w], envelope_word(a, w));
    }
  }
  if (block.thread() == 0) {
    store_shared_word(&mapped.halt, control.halt);
    store_shared_word(&mapped.nan_flags, control.nan_flags);
    if (fresh && p.published_step == 0) store_shared_word(&mapped.first_step, static_cast<uint32_t>(step));
  }
  block.sync();
  if (block.thread() == 0) {
    block.fence_system();  // for all of the block: what they wrote came before the barrier
    if (envelope) {
      p.sequence += 2;
      p.published_snapshots = p.snapshots;
      store_fenced_word(&mapped.sequence, p.sequence);
    }
    if (fresh) {
      p.published_step = step;
      store_fenced_word(&record[step_word_step_last], static_cast<uint32_t>(step));
      store_fenced_word(&mapped.completed, static_cast<uint32_t>(step));
    }
    p.publishes += 1;
    // Who sees it may see an odd sequence word for a moment more, and looks again.
    store_fenced_word(&mapped.publishes, p.publishes);
  }
}

}  // namespace foxhunt::kernels
