// Conditions, K of N, cool-down.
#include "engine/telemetry/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/base/error.h"

namespace foxhunt::telemetry {
namespace {

constexpr std::array<std::string_view, 3> kSources = {"step", "signal", "health"};
constexpr std::array<std::string_view, 4> kKinds = {"above", "below", "rises", "no_progress"};
constexpr std::array<std::string_view, 5> kActions = {"mark", "notify", "checkpoint", "pause", "stop"};
constexpr int kMaxSamples = 1'000'000;
constexpr int kMaxWindow = 10'000;  // of rises, which looks at all of it with every sample

template <class Enum, std::size_t N>
Enum parse(std::string_view word, const std::array<std::string_view, N>& words, const char* field) {
  for (std::size_t i = 0; i < N; ++i) {
    if (words[i] == word) return static_cast<Enum>(i);
  }
  throw usage_error(fmt::format("\"{}\" is no {} of a rule; allowed: {}", word, field, fmt::join(words, ", ")),
                    {.field = field});
}

std::span<const TableEntry> table_of(RuleSource source) {
  switch (source) {
    case RuleSource::step:
      return step_table();
    case RuleSource::signal:
      return signal_table();
    case RuleSource::health:
      return health_table();
  }
  return {};
}

void check_count(const Rule& rule, const char* field, int value, int low, int high) {
  if (value >= low && value <= high) return;
  throw usage_error(fmt::format("rule \"{}\": {} is {}; allowed: {} to {}", rule.name, field, value, low, high),
                    {.field = field});
}

void check_number(const Rule& rule, const char* field, double value, double low) {
  if (std::isfinite(value) && value >= low) return;
  throw usage_error(
      fmt::format("rule \"{}\": {} is {}; it must be a number of at least {}", rule.name, field, value, low),
      {.field = field});
}

}  // namespace

const char* rule_word(RuleSource source) {
  return kSources[static_cast<std::size_t>(source)].data();
}
const char* rule_word(RuleKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].data();
}
const char* rule_word(RuleAction action) {
  return kActions[static_cast<std::size_t>(action)].data();
}
RuleSource rule_source(std::string_view word) {
  return parse<RuleSource>(word, kSources, "source");
}
RuleKind rule_kind(std::string_view word) {
  return parse<RuleKind>(word, kKinds, "kind");
}
RuleAction rule_action(std::string_view word) {
  return parse<RuleAction>(word, kActions, "action");
}

void check_rule(const Rule& rule) {
  const int index = find_entry(table_of(rule.source), rule.column);
  if (index < 0 || table_of(rule.source)[static_cast<std::size_t>(index)].reserved()) {
    throw usage_error(
        fmt::format("rule \"{}\": there is no {} column \"{}\"", rule.name, rule_word(rule.source), rule.column),
        {.field = "column", .hint = "columns are listed by the monitor's signal and health panels"});
  }
  check_count(rule, "of", rule.of, 1, kMaxSamples);
  check_count(rule, "needed", rule.needed, 1, rule.of);
  check_number(rule, "cool_down", rule.cool_down, 0);
  if (rule.kind == RuleKind::rises) {
    check_count(rule, "window", rule.window, 2, kMaxWindow);
    check_number(rule, "sigmas", rule.sigmas, 0);
  } else if (rule.kind == RuleKind::no_progress) {
    check_count(rule, "window", rule.window, 1, kMaxSamples);
    check_number(rule, "threshold", rule.threshold, 0);
  } else {
    check_number(rule, "threshold", rule.threshold, -std::numeric_limits<double>::max());
  }
}

RuleState::RuleState(Rule rule) : rule_(std::move(rule)) {
  check_rule(rule_);
  index_ = find_entry(table_of(rule_.source), rule_.column);
}

// Mean and standard deviation (of the population) of the `window` samples before this one.
bool RuleState::rises(double value) {
  bool met = !std::isfinite(value);
  if (static_cast<int>(window_.size()) == rule_.window) {
    double mean = 0, square = 0;
    for (double x : window_) mean += x;
    mean /= rule_.window;
    for (double x : window_) square += (x - mean) * (x - mean);
    mean_ = mean;
    deviation_ = std::sqrt(square / rule_.window);
    met = !(value <= mean_ + rule_.sigmas * deviation_);
  }
  if (std::isfinite(value)) {
    window_.push_back(value);
    if (static_cast<int>(window_.size()) > rule_.window) window_.pop_front();
  }
  return met;
}

bool RuleState::stands_still(double value) {
  const double sign = rule_.lower_is_better ? -1 : 1;
  const bool better = std::isfinite(value) && (!has_best_ || sign * (value - best_) > rule_.threshold);
  if (better) {
    best_ = value;
    has_best_ = true;
    since_best_ = 0;
    return false;
  }
  return ++since_best_ >= rule_.window;
}

bool RuleState::condition(double value) {
  switch (rule_.kind) {
    case RuleKind::above:
      return !std::isfinite(value) || value > rule_.threshold;
    case RuleKind::below:
      return !std::isfinite(value) || value < rule_.threshold;
    case RuleKind::rises:
      return rises(value);
    case RuleKind::no_progress:
      return stands_still(value);
  }
  return false;
}

std::string RuleState::reason(double value) const {
  std::string text;
  if (rule_.kind == RuleKind::no_progress) {
    text = has_best_ ? fmt::format("{} has not improved on {:.6g} for {} samples", rule_.column, best_, since_best_)
                     : fmt::format("{} has had no finite value for {} samples", rule_.column, since_best_);
  } else if (!std::isfinite(value)) {
    text = fmt::format("{} = {}, which is no number", rule_.column, value);
  } else if (rule_.kind == RuleKind::rises) {
    text =
        fmt::format("{} = {:.6g} is above {:.6g} + {} x {:.6g}", rule_.column, value, mean_, rule_.sigmas, deviation_);
  } else {
    text = fmt::format("{} = {:.6g} is {} {:.6g}", rule_.column, value, rule_word(rule_.kind), rule_.threshold);
  }
  if (rule_.of > 1) text += fmt::format(", in {} of the last {} samples", met_count_, met_.size());
  return text;
}

bool RuleState::observe(const RuleSample& sample, RuleEvent& event) {
  const bool met = condition(sample.value);
  met_.push_back(met);
  met_count_ += met ? 1 : 0;
  if (static_cast<int>(met_.size()) > rule_.of) {
    met_count_ -= met_.front() ? 1 : 0;
    met_.pop_front();
  }
  if (!met || met_count_ < rule_.needed) return false;
  if (fired_ && sample.wall - last_fired_ < rule_.cool_down) return false;
  fired_ = true;
  last_fired_ = sample.wall;
  event = {rule_.name, rule_.action, sample.wall, sample.step, sample.value, reason(sample.value), 0, 0};
  return true;
}

void RuleEngine::set(std::vector<Rule> rules) {
  std::vector<RuleState> states;
  for (Rule& rule : rules) {
    const auto same =
        std::find_if(states_.begin(), states_.end(), [&](const RuleState& old) { return old.rule() == rule; });
    states.push_back(same != states_.end() ? *same : RuleState(std::move(rule)));
  }
  states_ = std::move(states);
}

std::vector<RuleEvent> RuleEngine::observe(double wall, const StepRecord& record) {
  std::vector<RuleEvent> events;
  RuleEvent event;
  for (RuleState& state : states_) {
    if (!state.at_work(RuleSource::step)) continue;
    if (state.observe({wall, record.step, word_value(record, state.index())}, event)) events.push_back(event);
  }
  return events;
}

std::vector<RuleEvent> RuleEngine::observe_signals(double wall, std::uint64_t step, std::span<const float> signals) {
  FH_CHECK(signals.size() == kernels::kSignals, "{} signals", signals.size());
  std::vector<RuleEvent> events;
  RuleEvent event;
  for (RuleState& state : states_) {
    if (!state.at_work(RuleSource::signal)) continue;
    if (state.observe({wall, step, signals[state.index()]}, event)) events.push_back(event);
  }
  return events;
}

std::vector<RuleEvent> RuleEngine::observe_health(double wall, const HealthDiag& health) {
  std::vector<RuleEvent> events;
  RuleEvent event;
  for (RuleState& state : states_) {
    if (!state.at_work(RuleSource::health)) continue;
    if (state.observe({wall, health.step, word_value(health, state.index())}, event)) events.push_back(event);
  }
  return events;
}

std::vector<RuleEvent> back_test(const Rule& rule, std::span<const RuleSample> series) {
  RuleState state(rule);
  std::vector<RuleEvent> events;
  RuleEvent event;
  for (const RuleSample& sample : series) {
    if (state.observe(sample, event)) events.push_back(event);
  }
  return events;
}

}  // namespace foxhunt::telemetry
