// Rules of the controllers.
#include "engine/session/controllers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

namespace foxhunt {
namespace {

// Whether the value moved by more than rounding.
bool assign(double& value, double next) {
  const bool moved = std::abs(next - value) > 1e-12 * std::abs(value);
  value = next;
  return moved;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace

ControlledValues configured_values(const Config& config) {
  ControlledValues out;
  out.lr = config.learner.lr;
  for (std::size_t d = 0; d < std::min(out.gamma.size(), config.learner.gamma.size()); ++d)
    out.gamma[d] = config.learner.gamma[d];
  out.epsilon = config.environment.epsilon;
  out.max_grad_norm = config.learner.max_grad_norm;
  return out;
}

Controllers::Controllers(const ControlledValues& first, const ControllerLimits& limits)
    : first_(first), limits_(limits), state_{.values = first, .epochs_without_best = 0, .mse_ema = {}} {}

void Controllers::begin_fold() {
  state_ = {.values = first_, .epochs_without_best = 0, .mse_ema = {}};
}

void Controllers::set_first(const ControlledValues& first) {
  const auto take = [](double& old_first, double& value, double fresh) {
    if (fresh == old_first) return;
    old_first = value = fresh;
  };
  take(first_.lr, state_.values.lr, first.lr);
  take(first_.epsilon, state_.values.epsilon, first.epsilon);
  take(first_.max_grad_norm, state_.values.max_grad_norm, first.max_grad_norm);
  for (std::size_t d = 0; d < first.gamma.size(); ++d) take(first_.gamma[d], state_.values.gamma[d], first.gamma[d]);
}

ControllerDecision Controllers::end_epoch(const ControllerInputs& in) {
  ControllerDecision out;
  out.fired = {adjust_lr(in.best),
               adjust_tau(in.target_drift),
               adjust_gamma(in.mean_hold),
               adjust_epsilon(in.action_entropy),
               adjust_clip(in.gradient_norms),
               mse_doubled(in.mse_ema)};
  out.alpha_drop = out[Controller::alpha] ? limits_.alpha_drop : 0;
  out.values = state_.values;
  return out;
}

bool Controllers::adjust_lr(std::optional<bool> best) {
  if (!best) return false;
  state_.epochs_without_best = *best ? 0 : state_.epochs_without_best + 1;
  if (state_.epochs_without_best < limits_.lr_patience) return false;
  state_.epochs_without_best = 0;
  double& lr = state_.values.lr;
  return assign(lr, std::min(lr, std::max(lr * limits_.lr_factor, first_.lr * limits_.lr_least)));
}

// A target far behind follows faster, one that has caught up follows slower.
bool Controllers::adjust_tau(double drift) {
  if (!std::isfinite(drift)) return false;
  const double factor = drift > limits_.drift_high  ? limits_.tau_up
                        : drift < limits_.drift_low ? limits_.tau_down
                                                    : 1.0;
  double& scale = state_.values.tau_scale;
  return assign(scale, std::clamp(scale * factor, limits_.tau_scale_least, limits_.tau_scale_most));
}

// The horizon 1 / (1 - gamma) goes towards `holds` mean holds (at 2, a trade's end weighs e^-0.5), at most by
// `horizon_factor` an epoch, and stays between the base's and `horizon_most` times it.
double Controllers::next_gamma(double gamma, double base, double mean_hold) const {
  const double horizon = 1 / (1 - gamma), least = 1 / (1 - base);
  const double wanted = std::clamp(limits_.holds * mean_hold, least, limits_.horizon_most * least);
  const double next = std::clamp(wanted, horizon / limits_.horizon_factor, horizon * limits_.horizon_factor);
  return 1 - 1 / next;
}

bool Controllers::adjust_gamma(double mean_hold) {
  if (!std::isfinite(mean_hold) || mean_hold <= 0) return false;
  bool moved = false;
  for (std::size_t d = 0; d < state_.values.gamma.size(); ++d) {
    double& gamma = state_.values.gamma[d];
    moved |= assign(gamma, next_gamma(gamma, first_.gamma[d], mean_hold));
  }
  return moved;
}

bool Controllers::adjust_epsilon(double entropy) {
  if (!std::isfinite(entropy)) return false;
  double& epsilon = state_.values.epsilon;
  if (entropy < limits_.entropy_low)
    return assign(epsilon, std::min(epsilon * limits_.epsilon_up, std::max(first_.epsilon, limits_.epsilon_most)));
  if (entropy > limits_.entropy_high)
    return assign(epsilon, std::max(epsilon * limits_.epsilon_down, first_.epsilon * limits_.epsilon_least));
  return false;
}

bool Controllers::adjust_clip(std::span<const double> norms) {
  std::vector<double> finite;
  std::copy_if(norms.begin(), norms.end(), std::back_inserter(finite), [](double x) { return std::isfinite(x); });
  if (finite.empty()) return false;
  return assign(state_.values.max_grad_norm,
                std::clamp(limits_.clip_medians * median(finite), limits_.clip_least, limits_.clip_most));
}

// Against the end of the epoch before.
bool Controllers::mse_doubled(double ema) {
  if (!std::isfinite(ema)) return false;
  const std::optional<double> before = std::exchange(state_.mse_ema, ema);
  return before && *before > 0 && ema >= limits_.mse_growth * *before;
}

}  // namespace foxhunt
