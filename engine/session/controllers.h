// The six controllers that adjust scalars at epoch ends: what an epoch showed goes in, new values and fire flags come
// out. Each moves by one bounded factor an epoch; an input that is not finite leaves its controller alone.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "engine/config/config.h"

namespace foxhunt {

inline constexpr int kControllerBranches = 4;

// In the order of HealthDiag's words 136 to 141.
enum class Controller { lr, tau, gamma, epsilon, clip, alpha };
inline constexpr int kControllerCount = 6;

// The scalars under control, as kernels::Settings holds them. tau_scale multiplies the annealed tau.
struct ControlledValues {
  double lr = 1e-4;
  double tau_scale = 1;
  std::array<double, kControllerBranches> gamma = {0.99, 0.98, 0.95, 0.95};
  double epsilon = 0.02;
  double max_grad_norm = 10;
};

// What the configuration starts with.
ControlledValues configured_values(const Config& config);

// Thresholds and bounds.
struct ControllerLimits {
  int lr_patience = 3;                                                       // epochs without a best validation
  double lr_factor = 0.5, lr_least = 1.0 / 64;                               // least: share of the first lr
  double drift_low = 0.01, drift_high = 0.1, tau_down = 0.8, tau_up = 1.25;  // |online - target| / |target|
  double tau_scale_least = 0.1, tau_scale_most = 10;
  double holds = 2, horizon_most = 2, horizon_factor = 1.25;                           // see next_gamma
  double entropy_low = 0.5, entropy_high = 0.9, epsilon_up = 1.5, epsilon_down = 0.9;  // share of the maximal entropy
  double epsilon_least = 0.1, epsilon_most = 0.2;  // least: share of the first epsilon; most: share of actions
  double clip_medians = 2, clip_least = 1, clip_most = 100;
  double mse_growth = 2, alpha_drop = 0.1;
};

struct ControllerInputs {
  std::optional<bool> best;                // whether the validation read this epoch was the best so far; none was read
  double target_drift = 0;                 // signal target.distance
  double mean_hold = 0;                    // bars, mean of the epoch's trades; 0: no trade
  double action_entropy = 0;               // share of its maximum, signal action.entropy
  std::span<const double> gradient_norms;  // before clipping, of the epoch's steps
  double mse_ema = 0;                      // Control::mse_slow at the epoch's end
};

struct ControllerDecision {
  ControlledValues values;  // from the next epoch on
  double alpha_drop = 0;    // to be subtracted from c51 alpha once
  std::array<bool, kControllerCount> fired{};
  bool operator[](Controller c) const { return fired[static_cast<std::size_t>(c)]; }
};

class Controllers {
 public:
  explicit Controllers(const ControlledValues& first, const ControllerLimits& limits = {});

  ControllerDecision end_epoch(const ControllerInputs& inputs);
  // First values again; neither the patience nor the MSE of another fold counts.
  void begin_fold();

  const ControlledValues& values() const { return state_.values; }
  const ControlledValues& first() const { return first_; }
  // Other first values, set while it runs: a scalar whose first value changes goes to the new one, the others stay.
  void set_first(const ControlledValues& first);

  // Kept in checkpoints: a resumed run goes on with it.
  struct State {
    ControlledValues values;
    int epochs_without_best = 0;    // since the last best or the last cut of lr
    std::optional<double> mse_ema;  // at the end of the epoch before
  };
  const State& state() const { return state_; }
  void restore(const State& state) { state_ = state; }

 private:
  bool adjust_lr(std::optional<bool> best);
  bool adjust_tau(double drift);
  bool adjust_gamma(double mean_hold);
  bool adjust_epsilon(double entropy);
  bool adjust_clip(std::span<const double> norms);
  bool mse_doubled(double ema);
  double next_gamma(double gamma, double base, double mean_hold) const;

  ControlledValues first_;
  ControllerLimits limits_;
  State state_;
};

}  // namespace foxhunt
