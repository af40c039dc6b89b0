// What the user's rules bring about, and what is said of a history that cannot be written.
#include "engine/base/json_number.h"
#include "engine/session/trainer.h"

namespace foxhunt {

using telemetry::RuleAction;

// The command goes the way of the user's own: through the queue, acknowledged between two launches.
void Trainer::rule_fired(const telemetry::RuleEvent& fired) {
  std::uint64_t number = 0;
  const auto ask = [&](CommandKind kind) {
    number = session_.post({.kind = kind, .first = 0, .last = -1, .field = {}, .value = {}, .by = fired.rule});
  };
  std::string message = fired.reason;
  switch (fired.action) {
    case RuleAction::mark:
    case RuleAction::notify:
      break;
    case RuleAction::checkpoint:
      ask(CommandKind::save_checkpoint);
      message += "; a checkpoint is asked for";
      break;
    case RuleAction::pause:
      ask(CommandKind::pause);
      message += "; a pause is asked for";
      break;
    case RuleAction::stop:
      ask(CommandKind::stop_and_save);
      message += "; the session is asked to stop and save";
      break;
  }
  nlohmann::ordered_json details{{"rule", fired.rule},
                                 {"action", telemetry::rule_word(fired.action)},
                                 {"step", fired.step},
                                 {"value", json_number(fired.value)}};
  if (number) details["command"] = number;
  const char* severity = fired.action == RuleAction::mark ? "info" : "warning";
  session_.note({.wall = 0,
                 .step = fired.step,
                 .fold = static_cast<int>(fired.fold),
                 .epoch = static_cast<int>(fired.epoch),
                 .kind = "rule",
                 .severity = severity,
                 .message = message,
                 .source = fired.rule,
                 .details = details.dump()});
  RunEvent event;
  event.step = static_cast<std::int64_t>(fired.step);
  event.fold = fired.fold;
  event.epoch = fired.epoch;
  event.kind = "rule";
  event.source = fired.rule;
  event.severity = severity;
  event.message = message;
  event.details = details.dump();
  store_->append(event);
}

// Training goes on while the disk is full; whoever looks is told.
void Trainer::watch_history() {
  const RunStoreState state = store_->state();
  const std::string problem = state.error ? state.error->sentence() : "";
  if (problem == history_problem_) return;
  const bool began = history_problem_.empty();
  history_problem_ = problem;
  session_.publish([&](SessionStatus& s) { s.history_problem = problem; });
  if (problem.empty()) {
    note("warning", "info", fmt::format("the run's history is written again; {} rows were lost", state.rows_lost));
  } else if (began) {
    note("warning", "warning", "the run's history cannot be written, training goes on: " + problem);
  }
}

}  // namespace foxhunt
