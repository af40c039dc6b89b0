// Counters and schedules: everything that changes from step to step without data, on the device. Family `schedule`.
#pragma once

#include "kernels/control.h"
#include "kernels/math.h"
#include "kernels/noise_layers.h"
#include "kernels/rng.h"
#include "kernels/step_results.h"
#include "kernels/tile.h"

namespace foxhunt::kernels {

// Values that replace the schedules' and the replay's when Settings::injected is set; in mapped memory.
struct InjectedScalars {
  float depth_scale[kDepthBlocks];
  float c51_alpha, iqn_readiness, moe_lambda;
};

// Copies the mapped settings when their sequence has moved and they are whole; keeps the last whole ones otherwise.
FH_FN void take_settings(Control& c, const CommandBlock* command) {
  const uint32_t before = load_acquire_word(&command->sequence);
  if (before == c.command_seen || (before & 1u)) return;
  constexpr int words = static_cast<int>(sizeof(Settings) / 4);
  uint32_t copy[words];
  const uint32_t* from = reinterpret_cast<const uint32_t*>(&command->settings);
  for (int i = 0; i < words; ++i) copy[i] = load_shared_word(from + i);
  if (load_acquire_word(&command->sequence) != before) return;
  Settings fresh;
  __builtin_memcpy(&fresh, copy, sizeof fresh);
  const float drop = fresh.c51_alpha_drop;
  if (drop > 0) c.c51_alpha = maximum(c.c51_alpha - drop, fresh.c51_alpha_floor);
  c.c51_alpha = clamp(c.c51_alpha, fresh.c51_alpha_floor, 1.0f);
  c.settings = fresh;
  c.command_seen = before;
}

struct ApplySettingsArgs {
  Control* control;
  const CommandBlock* command;  // mapped
};

FH_FN void apply_settings(const Block& block, const ApplySettingsArgs& a) {
  if (block.thread() == 0) take_settings(*a.control, a.command);
}

// EMAs that drive c51 alpha, IQN readiness and the mixture's lambda, from the losses of the step before: each step's schedules stand still
// while it runs, and a step that was refused for a NaN teaches them nothing.
FH_FN void advance_schedules(Control& c, float log_experts) {
  if (not_finite(c.last_mse) || not_finite(c.last_iqn) || not_finite(c.last_entropy)) return;
  const Settings& s = c.settings;
  c.mse_fast = c.mse_steps ? c.mse_fast + 0.05f * (c.last_mse - c.mse_fast) : c.last_mse;
  c.mse_slow = c.mse_steps ? c.mse_slow + 0.005f * (c.last_mse - c.mse_slow) : c.last_mse;
  ++c.mse_steps;
  const float apart = c.mse_fast > c.mse_slow ? c.mse_fast - c.mse_slow : c.mse_slow - c.mse_fast;
  if (apart <= 0.1f * c.mse_slow) c.c51_alpha += 1.0f / 2000.0f;
  c.c51_alpha = clamp(c.c51_alpha, s.c51_alpha_floor, 1.0f);
  c.iqn_ema = c.iqn_steps ? c.iqn_ema + 0.01f * (c.last_iqn - c.iqn_ema) : c.last_iqn;
  ++c.iqn_steps;
  if (c.since_reset <= 500) c.iqn_anchor = c.iqn_steps == 1 ? c.iqn_ema : maximum(c.iqn_anchor, c.iqn_ema);
  const bool ready = c.since_reset >= 500 && c.iqn_anchor > 0;
  c.iqn_readiness = ready ? clamp((c.iqn_anchor - c.iqn_ema) / c.iqn_anchor, 0.0f, 1.0f) : 0.0f;
  c.gate_entropy_ema = c.entropy_steps ? c.gate_entropy_ema + 0.05f * (c.last_entropy - c.gate_entropy_ema) : c.last_entropy;
  ++c.entropy_steps;
  const float share = log_experts > 0 ? c.gate_entropy_ema / log_experts : 1.0f;
  c.moe_lambda_now = s.moe_lambda * clamp(2.0f - 2.0f * share, 0.1f, 2.0f);
}

// The head of a step, one thread. tau = final + (init - final) (1 + cos(pi t / T)) / 2 with t the updates since the last reset.
struct BeginStepArgs {
  Control* control;
  const CommandBlock* command;     // mapped
  const InjectedScalars* injected; // mapped
  float log_experts;               // ln E
};

FH_FN void begin_step(const Block& block, const BeginStepArgs& a) {
  if (block.thread() != 0) return;
  Control& c = *a.control;
  // Both words are asked for before either is waited for: a read across the bus takes over a microsecond.
  const uint32_t halt = load_shared_word(&a.command->halt_request), sequence = load_shared_word(&a.command->sequence);
  if (halt) c.halt |= kHaltHost;
  if (c.halt) return;
  if (sequence != c.command_seen) take_settings(c, a.command);
  const Settings& s = c.settings;
  if (c.since_reset > 0 && !s.injected) advance_schedules(c, a.log_experts);
  ++c.step;
  ++c.adam_t;
  ++c.since_reset;
  c.bias1 = static_cast<float>(1.0 - pow(s.beta1, static_cast<double>(c.adam_t)));
  c.bias2 = static_cast<float>(1.0 - pow(s.beta2, static_cast<double>(c.adam_t)));
  const double progress = minimum(static_cast<double>(c.adam_t) / static_cast<double>(s.tau_anneal_steps), 1.0);
  const double cosine = 0.5 * (1.0 + cos(3.14159265358979323846 * progress));
  c.tau = static_cast<float>((s.tau_final + (static_cast<double>(s.tau_init) - s.tau_final) * cosine) * s.tau_scale);
  c.beta = s.beta_start + (s.beta_end - s.beta_start) * minimum(static_cast<float>(c.step) / s.beta_steps, 1.0f);
  if (s.injected) {
    for (int k = 0; k < kDepthBlocks; ++k) c.depth_scale[k] = a.injected->depth_scale[k];
    c.c51_alpha = a.injected->c51_alpha;
    c.iqn_readiness = a.injected->iqn_readiness;
    c.moe_lambda_now = a.injected->moe_lambda;
    return;
  }
  const Random4 r = philox(c.seed, static_cast<uint32_t>(Purpose::depth), c.step, 0);
  for (int k = 0; k < kDepthBlocks; ++k) c.depth_scale[k] = uniform(r.v[k]) < s.depth_keep ? 1.0f / s.depth_keep : 0.0f;
}

// The fold boundary's part of the control block; the global step, the random streams and the replay's counters of age stay.
struct ResetControlArgs {
  Control* control;
  uint32_t first;        // 1: a new run, everything from the start
  uint64_t seed;
  float c51_alpha_start;
};

FH_FN void reset_control(const Block& block, const ResetControlArgs& a) {
  if (block.thread() != 0) return;
  Control& c = *a.control;
  if (a.first) {
    c.seed = a.seed;
    c.step = c.collect_step = 0;
    c.halt = c.nan_flags = 0;
  }
  c.adam_t = c.since_reset = 0;
  c.c51_alpha = a.c51_alpha_start;
  c.iqn_readiness = 0;
  c.moe_lambda_now = c.settings.moe_lambda;
  c.last_mse = c.last_iqn = c.last_entropy = 0;
  c.mse_fast = c.mse_slow = c.iqn_ema = c.iqn_anchor = c.gate_entropy_ema = 0;
  c.mse_steps = c.iqn_steps = c.entropy_steps = 0;
  c.inserted = 0;
  c.replay_size = 0;
  c.max_priority = 1.0f;
  c.tau = 0;
  c.beta = c.settings.beta_start;
  for (int k = 0; k < kDepthBlocks; ++k) c.depth_scale[k] = 1.0f;
}

struct ClearHaltArgs {
  Control* control;
};

FH_FN void clear_halt(const Block& block, const ClearHaltArgs& a) {
  if (block.thread() == 0) a.control->halt = a.control->nan_flags = 0;
}

// Factorised noise, already transformed: f(e) = sign(e) sqrt|e| of standard normals, [layers, head_hidden] inputs, then
// [layers, wide] outputs; for `count` draws of the same shape one after another (online, target). Also cos(pi i tau) of the IQN levels.
struct DrawNoiseArgs {
  const Control* control;
  const float* injected;       // mapped [draws, (hidden + wide) layers] raw normals, or null
  float* noise;                // [draws, layers (hidden + wide)] overwritten
  const float* taus;           // [T]
  float* cosines;              // [T, C] overwritten; null: none
  int32_t layers, hidden, wide, draws, tau_count, cosine_count;
  uint32_t purpose[2];         // of each draw
  uint32_t per_collect_step;   // 1: addressed by collect_step, else by step
};

FH_FN void draw_noise(const Block& block, const DrawNoiseArgs& a) {
  const Control& c = *a.control;
  const int64_t each = static_cast<int64_t>(a.layers) * (a.hidden + a.wide), drawn = each * a.draws;
  const int64_t all = drawn + (a.cosines ? static_cast<int64_t>(a.tau_count) * a.cosine_count : 0);
  const Tile tile = tile_of(block.x, all, 256);
  const bool replaced = a.injected && c.settings.injected;
  block_each(block, tile.begin, tile.end, [&](int64_t i) {
    if (i >= drawn) {
      const int64_t k = i - drawn, t = k / a.cosine_count, n = k % a.cosine_count + 1;
      a.cosines[k] = static_cast<float>(cos(3.14159265358979323846 * static_cast<double>(n) * static_cast<double>(a.taus[t])));
      return;
    }
    const int64_t draw = i / each, element = i % each;
    float e;
    if (replaced) {
      e = a.injected[i];
    } else {
      const Random4 r = philox(c.seed, a.purpose[draw], a.per_collect_step ? c.collect_step : c.step, element / 2);
      e = element % 2 ? normal(r.v[2], r.v[3]) : normal(r.v[0], r.v[1]);
      if (!c.settings.noisy) e = 0;
    }
    const float root = sqrtf(e < 0 ? -e : e);
    a.noise[i] = e < 0 ? -root : root;
  });
}

}  // namespace foxhunt::kernels
