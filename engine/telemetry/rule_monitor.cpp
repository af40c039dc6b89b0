// Samples in, events out.
#include "engine/telemetry/rule_monitor.h"

#include <fmt/format.h>

#include <set>

#include "engine/base/error.h"
#include "engine/telemetry/rule_text.h"

namespace foxhunt::telemetry {

std::vector<Rule> parse_rules(std::span<const std::string> texts) {
  std::vector<Rule> rules;
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string field = fmt::format("rules[{}]", i);
    const RuleCheck check = check_rule_text(texts[i]);
    if (!check.rule)
      throw usage_error(
          fmt::format("{} is \"{}\"; character {}: {}", field, texts[i], check.position + 1, check.sentence),
          {.field = field, .hint = "for example: signal risk.exposure above 0.9, 3 of 5, notify"});
    if (!seen.insert(texts[i]).second)
      throw usage_error(fmt::format("{} is \"{}\", which stands there before", field, texts[i]),
                        {.field = field, .hint = "leave one of them out"});
    rules.push_back(*check.rule);
  }
  return rules;
}

void RuleMonitor::set(std::vector<Rule> rules) {
  const std::scoped_lock lock(mutex_);
  engine_.set(std::move(rules));
}

void RuleMonitor::report(std::vector<RuleEvent>& events) {
  for (RuleEvent& event : events) {
    event.fold = fold_;
    event.epoch = epoch_;
    fired_(event);
  }
}

void RuleMonitor::observe(std::span<const StepRow> rows) {
  for (const StepRow& row : rows) {
    std::vector<RuleEvent> events;
    {
      const std::scoped_lock lock(mutex_);
      events = engine_.observe(row.wall, row.record);
    }
    fold_ = row.record.fold;
    epoch_ = row.record.epoch;
    report(events);
  }
}

void RuleMonitor::observe_signals(double wall, std::uint32_t step, std::span<const float> signals) {
  std::vector<RuleEvent> events;
  {
    const std::scoped_lock lock(mutex_);
    events = engine_.observe_signals(wall, step, signals);
  }
  report(events);
}

void RuleMonitor::observe_health(double wall, const HealthDiag& health) {
  std::vector<RuleEvent> events;
  {
    const std::scoped_lock lock(mutex_);
    events = engine_.observe_health(wall, health);
  }
  report(events);
}

}  // namespace foxhunt::telemetry
