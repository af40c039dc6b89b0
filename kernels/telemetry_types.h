// Layouts that device and host share: signal bus, step record, HealthDiag, and the mapped memory through which they
// leave the device. All indices come from the three tables step_record.def, signals.def and health_diag.def.
#pragma once

#include "kernels/block.h"

namespace foxhunt::kernels {

using f32 = float;
using u32 = uint32_t;

enum Signal : int {
#define FH_SIGNAL(id, ...) signal_##id,
#include "kernels/signals.def"
#undef FH_SIGNAL
  kSignals
};

enum StepWord : int {
#define FH_STEP_WORD(id, ...) step_word_##id,
#include "kernels/step_record.def"
#undef FH_STEP_WORD
  kStepWords
};

enum HealthWord : int {
#define FH_HEALTH_WORD(id, ...) health_##id,
#include "kernels/health_diag.def"
#undef FH_HEALTH_WORD
  kHealthWords
};

enum class SignalKind : uint8_t { ema, direct, epoch, reserved };

struct StepRecord {
#define FH_STEP_WORD(id, name, unit, group, type, ...) type id;
#include "kernels/step_record.def"
#undef FH_STEP_WORD
};

inline constexpr uint32_t kHealthLayoutVersion = 1;

struct HealthDiag {
#define FH_HEALTH_WORD(id, name, unit, group, type, ...) type id;
#include "kernels/health_diag.def"
#undef FH_HEALTH_WORD
};

static_assert(kSignals == 160 && kStepWords == 40 && kHealthWords == 147);
static_assert(sizeof(StepRecord) == 160 && alignof(StepRecord) == 4);
static_assert(sizeof(HealthDiag) == 588 && alignof(HealthDiag) == 4);
#define FH_STEP_WORD(id, ...) static_assert(offsetof(StepRecord, id) == 4 * step_word_##id);
#include "kernels/step_record.def"
#undef FH_STEP_WORD
#define FH_HEALTH_WORD(id, ...) static_assert(offsetof(HealthDiag, id) == 4 * health_##id);
#include "kernels/health_diag.def"
#undef FH_HEALTH_WORD
// First word of each group, as documented.
static_assert(health_step == 0 && health_loss_total == 4 && health_grad_norm_raw == 16 && health_q_mean == 26);
static_assert(health_atom_entropy == 46 && health_magnitude_q_mean_quarter == 54);
static_assert(health_action_direction_short == 63 && health_greedy_direction_short == 76);
static_assert(health_win_rate_quarter == 89 && health_reward_pnl == 101 && health_noise_direction == 107);
static_assert(health_aux_return == 115 && health_expert_0 == 118 && health_replay_size == 128);
static_assert(health_controller_lr == 136 && health_reward_median == 142 && health_nan_flags == 145);

// What a training session shows; other sizes do not record telemetry.
inline constexpr int kShownBranches = 4, kShownActions = 13, kShownGroups = 6, kShownExperts = 8, kShownMagnitudes = 3;
inline constexpr int kGradientSlots = signal_gradient_iql_aux - signal_gradient_vsn + 1;
inline constexpr int kShownRewardParts = 6, kRegimes = 3, kControllers = 6;

// The slots that are fed back as the state's `signals` group, in its order.
inline constexpr int kStateSignals[16] = {
    signal_learning_health,       signal_action_entropy,        signal_effective_samples, signal_update_ratio,
    signal_q_mean_direction,      signal_q_mean_magnitude,      signal_q_mean_order,      signal_q_mean_urgency,
    signal_q_reference_magnitude, signal_q_reference_direction, signal_q_gap_direction,   signal_regime_quiet,
    signal_regime_normal,         signal_regime_stressed,       signal_kelly_cap,         signal_drawdown};

// Device memory, written by the collector: its latest means, raw (the signal bus averages them). Units as in
// signals.def. Zero until `filled` is not 0.
struct CollectorSignals {
  uint32_t filled;
  float action[kShownActions];              // shares within each branch
  float regime[kRegimes];                   // mean probabilities: quiet, normal, stressed
  float regime_now;                         // class of most environments
  float reward[kShownRewardParts];          // pnl, cost, risk, drawdown, trail, opportunity
  float win_rate[kShownMagnitudes];         // Quarter, Half, Full
  float reward_variance[kShownMagnitudes];  // idem
  float hold[kShownMagnitudes];             // bars
  float trail[kShownMagnitudes];            // share of trades ended by the trailing stop
  float kelly_cap, exposure, turnover, drawdown, episode_return, ruin_share;
  float exploration_share;  // share of random actions
};

// What the host knows at an epoch's end, after guards and controllers.
struct EpochWords {
  uint32_t controllers[kControllers];  // 1: fired; lr, tau, gamma, epsilon, clip, alpha
  float reward_median, reward_iqr;     // of collected raw rewards that are not 0
};

// The 16 places where a value that is not finite is looked for, in the order of the step's stages. A flag is bit
// `place`.
enum class NanPlace : uint8_t {
  states,
  value_logits,
  branch_logits,
  loss,
  parameters,
  target_parameters,
  gradients,
  log_probabilities,
  projected_target,
  iqn,
  td_errors,
  priorities,
  trunk_output,
  gates,
  vsn_weights,
  rewards,
};
inline constexpr int kNanPlaces = 16;

inline constexpr int kRingRecords = 4096;

// The envelope's words: signals, HealthDiag, then these.
enum EnvelopeWord : int {
  envelope_signals = 0,
  envelope_health = static_cast<int>(kSignals),
  envelope_signal_step = envelope_health + static_cast<int>(kHealthWords),  // u32, step of the signals
  envelope_q_epoch_mean,       // f32, mean of word 26 over the steps of the epoch so far
  envelope_q_epoch_steps,      // u32, those steps
  envelope_reference_updates,  // u32, epochs that slots 16 to 21 have seen
  envelope_health_snapshots,   // u32, HealthDiag snapshots taken
  envelope_reserved,
  kEnvelopeWords = 320
};
static_assert(envelope_reserved <= kEnvelopeWords);

// Mapped memory, written by `publish` alone. All words are 32-bit and shared: read them through load_shared_word.
struct alignas(64) MappedTelemetry {
  uint32_t completed;   // low word of the last step whose record is whole
  uint32_t halt;        // Control::halt
  uint32_t nan_flags;   // Control::nan_flags
  uint32_t publishes;   // publications, halted ones included: the heartbeat
  uint32_t first_step;  // low word of the first step published through this memory
  uint32_t reserved[11];
  uint32_t sequence;  // odd while the envelope is written
  uint32_t reserved2[15];
  uint32_t envelope[kEnvelopeWords];
  uint32_t ring[kRingRecords][kStepWords];  // record of step n at (n - 1) mod kRingRecords
};

}  // namespace foxhunt::kernels
