// The controllers inside the trainer: what an epoch showed, from telemetry and the control block, and the scalars they
// move, through the command block.
#include <cmath>
#include <utility>

#include "engine/learner/transfer.h"
#include "engine/session/trainer.h"
#include "engine/telemetry/telemetry.h"

namespace foxhunt {
namespace {

// Gradient norms of an epoch's last steps that the clip controller looks at: as many as the step ring holds, so that an
// epoch without interruption finds them all there.
constexpr std::size_t kNorms = kernels::kRingRecords;

void add_change(std::string& text, const char* name, double before, double after) {
  if (before != after) text += fmt::format("{}{} {:.4g} to {:.4g}", text.empty() ? "" : ", ", name, before, after);
}

}  // namespace

// Norms of the steps since the last call, from the ring.
void Trainer::take_gradient_norms() {
  learner_->drain();
  const std::uint64_t oldest = steps_ >= kNorms ? steps_ - kNorms + 1 : 1;
  telemetry::StepRingReader reader(learner_->telemetry()->mapped(), std::max(next_norm_, oldest));
  std::vector<telemetry::StepRecord> records;
  if (next_norm_ <= steps_) reader.drain(records);
  for (const auto& record : records)
    if (std::isfinite(record.grad_norm_raw)) gradient_norms_.push_back(static_cast<double>(record.grad_norm_raw));
  if (gradient_norms_.size() > kNorms)
    gradient_norms_.erase(gradient_norms_.begin(), gradient_norms_.end() - static_cast<std::ptrdiff_t>(kNorms));
  next_norm_ = steps_ + 1;
}

ControllerDecision Trainer::decide(const telemetry::Snapshot& snapshot) {
  take_gradient_norms();
  ControllerInputs inputs;
  inputs.best = std::exchange(validated_best_, std::nullopt);
  inputs.target_drift = static_cast<double>(snapshot.signals[kernels::signal_target_distance]);
  inputs.action_entropy = static_cast<double>(snapshot.signals[kernels::signal_action_entropy]);
  inputs.gradient_norms = gradient_norms_;
  inputs.mse_ema = static_cast<double>(download(*device_, learner_->stream(), learner_->control(), 1).front().mse_slow);
  double trades = 0, bars = 0;
  for (std::size_t m = 0; m < statistics_.trades.size(); ++m) {
    trades += static_cast<double>(statistics_.trades[m]);
    bars += static_cast<double>(statistics_.trades[m]) * statistics_.mean_hold[m];
  }
  inputs.mean_hold = trades > 0 ? bars / trades : 0;
  if (config_.training.controllers == "off") {
    ControllerDecision none;
    none.values = controllers_.values();
    return none;
  }
  return controllers_.end_epoch(inputs);
}

// In effect from the next step on. The drop is taken from c51 alpha once: the device must have seen it before it is 0
// again.
void Trainer::apply_controlled(double alpha_drop) {
  const ControlledValues& v = controllers_.values();
  const auto put = [&](double drop) {
    learner_->edit_settings([&](kernels::Settings& s) {
      s.lr = static_cast<float>(v.lr);
      s.tau_scale = static_cast<float>(v.tau_scale);
      for (std::size_t d = 0; d < v.gamma.size(); ++d) s.gamma[d] = static_cast<float>(v.gamma[d]);
      s.epsilon = static_cast<float>(v.epsilon);
      s.max_grad_norm = static_cast<float>(v.max_grad_norm);
      s.c51_alpha_drop = static_cast<float>(drop);
    });
    learner_->apply_settings();
    learner_->drain();
  };
  put(alpha_drop);
  if (alpha_drop > 0) put(0);
}

void Trainer::note_decision(const ControlledValues& before, const ControllerDecision& decision) {
  std::string text;
  const ControlledValues& after = controllers_.values();
  add_change(text, "learning rate", before.lr, after.lr);
  add_change(text, "factor of tau", before.tau_scale, after.tau_scale);
  for (std::size_t d = 0; d < after.gamma.size(); ++d)
    add_change(text, fmt::format("gamma of {}", config_.learner.branches[d].first).c_str(), before.gamma[d],
               after.gamma[d]);
  add_change(text, "epsilon", before.epsilon, after.epsilon);
  add_change(text, "gradient clip", before.max_grad_norm, after.max_grad_norm);
  if (decision.alpha_drop > 0)
    text += fmt::format("{}c51 alpha less {}", text.empty() ? "" : ", ", decision.alpha_drop);
  if (!text.empty()) note("controller", "info", "controllers: " + text);
}

}  // namespace foxhunt
