// The user's rules at work in a live session: the recorder feeds them with what it drains, any thread may change them.
#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/telemetry/rules.h"
#include "engine/telemetry/telemetry_sink.h"

namespace foxhunt::telemetry {

// Rules of their texts, each named by its text. Errors: usage_error whose field is "rules[2]", counted from 0, and
// whose sentence has the character; also for a text that stands there twice.
std::vector<Rule> parse_rules(std::span<const std::string> texts);

class RuleMonitor {
 public:
  // Called on the thread that observes, outside of the monitor's lock, in the order of the samples.
  using Fired = std::function<void(const RuleEvent&)>;
  explicit RuleMonitor(Fired fired) : fired_(std::move(fired)) {}

  // A rule that stays keeps what it has seen. Errors: usage_error of check_rule.
  void set(std::vector<Rule> rules);

  // One thread at a time. Every step that is drained is a sample of the step rules, whether or not it becomes a row of
  // its own; of the signal and health rules, what becomes a row.
  void observe(std::span<const StepRow> rows);
  void observe_signals(double wall, std::uint32_t step, std::span<const float> signals);
  void observe_health(double wall, const HealthDiag& health);

 private:
  void report(std::vector<RuleEvent>& events);

  Fired fired_;
  std::mutex mutex_;  // of engine_
  RuleEngine engine_;
  std::uint32_t fold_ = 0, epoch_ = 0;  // of the newest step
};

}  // namespace foxhunt::telemetry
