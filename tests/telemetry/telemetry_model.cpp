// The model: rules of averages, references, snapshots and records, as documented in the tables.
#include "tests/telemetry/telemetry_model.h"

#include <algorithm>
#include <cmath>

#include "engine/telemetry/tables.h"

namespace foxhunt::test {
namespace {

using telemetry::health_table;
using telemetry::signal_table;

bool from_collector_by_name(std::string_view name) {
  for (std::string_view prefix : {"action.direction", "action.magnitude", "action.order", "action.urgency", "regime.",
                                  "reward.", "by_magnitude.", "risk.", "exploration.share"})
    if (name.starts_with(prefix)) return true;
  return false;
}

}  // namespace

double TelemetryModel::drift(double q) const {
  return has_previous_ && q_previous_ != 0 ? std::abs(q) / std::abs(q_previous_) : 0;
}

void TelemetryModel::step(const FakeStep& step, const CollectorSignals& collector, double device_time) {
  const Control& control = step.control[0];
  const auto words = expected_health(step);
  if (!control.halt) {
    const bool filled = collector.filled != 0, timed = device_time > 0;
    for (const auto& [name, value] : expected_signals(step, collector, device_time)) {
      const int slot = telemetry::find_entry(signal_table(), name);
      const bool of_collector = from_collector_by_name(name), of_time = name == "step.time";
      if ((of_collector && !filled) || (of_time && !timed) || !std::isfinite(value)) continue;
      const std::uint32_t updates = of_collector ? collections_ : (of_time ? times_ : updates_);
      const bool direct = signal_table()[slot].kind == SignalKind::direct;
      double& s = signals_[static_cast<std::size_t>(slot)];
      s = direct || updates == 0 ? value : s + 0.05 * (value - s);
    }
    ++updates_;
    collections_ += filled ? 1 : 0;
    times_ += timed ? 1 : 0;

    double next = 0;
    for (std::size_t i = 0; i < step.q_next.size(); ++i) next += step.q_next[i];
    next /= static_cast<double>(step.q_next.size());
    const double means[kReferences] = {words.at("q.mean.direction"), words.at("q.mean.magnitude"),
                                       words.at("q.mean.order"),     words.at("q.mean.urgency"),
                                       words.at("q.mean"),           next};
    for (int k = 0; k < kReferences; ++k)
      largest_[static_cast<std::size_t>(k)] = std::max(largest_[static_cast<std::size_t>(k)], std::abs(means[k]));
    q_sum_ += words.at("q.mean");
    ++epoch_steps_;
    if (control.step % std::max(control.settings.diag_interval, 1u) == 0) snapshot(step);
  }
  fill_record(step, words);
}

void TelemetryModel::snapshot(const FakeStep& step) {
  health_ = expected_health(step);
  for (const auto& word : health_table())
    if (word.mirror >= 0) health_[std::string(word.name)] = signals_[static_cast<std::size_t>(word.mirror)];
  for (int a = 0; a < kShownActions; ++a)
    health_[std::string(health_table()[health_greedy_direction_short + a].name)] = greedy_[static_cast<std::size_t>(a)];
  const char* controllers[] = {"lr", "tau", "gamma", "epsilon", "clip", "alpha"};
  for (int i = 0; i < kControllers; ++i) health_[std::string("controller.") + controllers[i]] = words_.controllers[i];
  health_["scale.reward_median"] = words_.reward_median;
  health_["scale.reward_iqr"] = words_.reward_iqr;
  health_["safety.drift_ratio"] = drift(health_.at("q.mean"));
  ++snapshots_;
}

void TelemetryModel::fill_record(const FakeStep& step, const std::map<std::string, double>& words) {
  const Control& c = step.control[0];
  std::map<std::string, double> r;
  r["step"] = r["step_last"] = static_cast<double>(c.step);
  r["fold"] = c.settings.fold;
  r["epoch"] = c.settings.epoch;
  const char* terms[] = {"total",      "c51", "mse",        "iqn",           "iql_high",
                         "iql_low",    "cql", "aux_return", "aux_direction", "aux_volatility",
                         "moe_balance"};
  for (int i = 0; i < kLossTerms; ++i) r[std::string("loss.") + terms[i]] = step.losses[i];
  r["c51_alpha"] = c.c51_alpha;
  r["gradient.norm_raw"] = step.gradient_norm[0];
  r["gradient.norm_clipped"] = step.gradient_norm[0] * step.gradient_norm[1];
  r["lr"] = c.settings.lr;
  r["tau"] = c.tau;
  r["beta"] = c.beta;
  for (const char* name : {"q.mean.direction", "q.mean.magnitude", "q.mean.order", "q.mean.urgency", "q.mean"})
    r[name] = words.at(name);
  r["td.mean"] = words.at("loss.td_mean");
  r["td.max"] = words.at("loss.td_max");
  r["action.entropy"] = expected_action_entropy(step);
  r["nan_flags"] = c.nan_flags;
  r["halt"] = c.halt;
  r["drift_ratio"] = drift(words.at("q.mean"));
  r["epsilon"] = c.settings.epsilon;
  for (int w = step_word_reserved_33; w <= step_word_reserved_38; ++w)
    r[std::string(telemetry::step_table()[w].name)] = 0;
  record_ = std::move(r);
}

void TelemetryModel::end_epoch(const FakeStep& step, const EpochWords& words) {
  words_ = words;
  snapshot(step);
  if (epoch_steps_ == 0) return;
  const int slots[kReferences] = {21, 16, 17, 18, 19, 20};
  for (std::size_t k = 0; k < kReferences; ++k) {
    double& s = signals_[static_cast<std::size_t>(slots[k])];
    s = reference_updates_ == 0 ? largest_[k] : s + 0.05 * (largest_[k] - s);
  }
  ++reference_updates_;
  q_previous_ = q_sum_ / epoch_steps_;
  has_previous_ = true;
  largest_ = {};
  q_sum_ = 0;
  epoch_steps_ = 0;
}

void TelemetryModel::begin_fold() {
  for (int slot = 0; slot < kSignals; ++slot)
    if (slot < 16 || slot > 21) signals_[static_cast<std::size_t>(slot)] = 0;
  updates_ = collections_ = times_ = 0;
}

void TelemetryModel::validation(const Shared<std::int32_t>& greedy, int rows) {
  for (int a = 0; a < kShownActions; ++a) {
    const int d = a < 4 ? 0 : (a - 1) / 3;
    int count = 0;
    for (int i = 0; i < rows; ++i) count += greedy[static_cast<std::size_t>(i) * 4 + d] == a - kFirstAction[d] ? 1 : 0;
    greedy_[static_cast<std::size_t>(a)] = static_cast<double>(count) / rows;
  }
}

}  // namespace foxhunt::test
