// User rules on any signal, step word or HealthDiag word: when they fire, and what then happens. The engine that runs
// them live is the one that back-tests them.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/telemetry/snapshot_reader.h"

namespace foxhunt::telemetry {

enum class RuleSource { step, signal, health };
enum class RuleKind { above, below, rises, no_progress };
enum class RuleAction { mark, notify, checkpoint, pause, stop };

// "no_progress"; and back (usage_error listing what is allowed).
const char* rule_word(RuleSource source);
const char* rule_word(RuleKind kind);
const char* rule_word(RuleAction action);
RuleSource rule_source(std::string_view word);
RuleKind rule_kind(std::string_view word);
RuleAction rule_action(std::string_view word);

struct Rule {
  std::string name;
  RuleSource source = RuleSource::signal;
  std::string column;  // name in the source's table
  RuleKind kind = RuleKind::above;
  // above, below: the bound. no_progress: the least improvement that counts.
  double threshold = 0;
  double sigmas = 3;  // rises: a sample more than `sigmas` standard deviations above the mean of the `window` before
  int window = 100;   // samples: of rises; without an improvement, of no_progress
  bool lower_is_better = true;  // no_progress
  // Fires when the condition holds in `needed` of the last `of` samples.
  int needed = 1, of = 1;
  double cool_down = 60;  // seconds after firing in which it stays silent
  RuleAction action = RuleAction::mark;
  bool enabled = true;  // off: kept, but not at work in a live session

  bool operator==(const Rule&) const = default;
};

// Throws usage_error naming the field: an unknown column, a window below 2, needed above of, ...
void check_rule(const Rule& rule);

struct RuleSample {
  double wall = 0;  // seconds
  std::uint64_t step = 0;
  double value = 0;
};

struct RuleEvent {
  std::string rule;
  RuleAction action = RuleAction::mark;
  double wall = 0;
  std::uint64_t step = 0;
  double value = 0;
  std::string reason;                 // a sentence
  std::uint32_t fold = 0, epoch = 0;  // of the newest step; 0 in a back-test
};

// One rule at work.
class RuleState {
 public:
  explicit RuleState(Rule rule);  // checked

  // Takes the next sample; true when the rule fires at it, then `event` is set. A value that is not finite meets the
  // conditions above, below and rises, and is no improvement.
  bool observe(const RuleSample& sample, RuleEvent& event);
  const Rule& rule() const { return rule_; }
  bool at_work(RuleSource source) const { return rule_.enabled && rule_.source == source; }
  int index() const { return index_; }  // of the column in its table

 private:
  bool condition(double value);
  bool rises(double value);
  bool stands_still(double value);
  std::string reason(double value) const;  // why the newest sample met the condition

  Rule rule_;
  int index_ = 0;
  std::deque<double> window_;
  double mean_ = 0, deviation_ = 0;  // of the window before the newest sample
  std::deque<bool> met_;
  int met_count_ = 0;
  double best_ = 0;
  bool has_best_ = false;
  int since_best_ = 0;
  bool fired_ = false;
  double last_fired_ = 0;
};

// All rules of a session. Those that are not enabled see nothing.
class RuleEngine {
 public:
  // Checked. A rule that was there as it is keeps what it has seen; the others begin anew.
  void set(std::vector<Rule> rules);
  // Each takes one row of its source and returns what fired.
  std::vector<RuleEvent> observe(double wall, const StepRecord& record);
  std::vector<RuleEvent> observe_signals(double wall, std::uint64_t step, std::span<const float> signals);
  std::vector<RuleEvent> observe_health(double wall, const HealthDiag& health);

 private:
  std::vector<RuleState> states_;
};

// When the rule would have fired over a recorded series, in the order of the series.
std::vector<RuleEvent> back_test(const Rule& rule, std::span<const RuleSample> series);

}  // namespace foxhunt::telemetry
