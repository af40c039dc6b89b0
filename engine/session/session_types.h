// Plain structs that a session hands out: states, commands, events, results.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/environment/evaluation_result.h"
#include "engine/market/data_preview.h"
#include "engine/market/data_report.h"
#include "engine/market/folds.h"
#include "engine/market/records.h"
#include "engine/market/window_bars.h"

namespace foxhunt {

enum class SessionState { idle, preparing, training, paused, validating, stopping, finished, stopped, halted, failed };
const char* state_name(SessionState state);  // "training"
inline bool is_terminal(SessionState s) {
  return s == SessionState::finished || s == SessionState::stopped || s == SessionState::halted ||
         s == SessionState::failed;
}

struct SessionOptions {
  std::filesystem::path runs_folder = "runs";
  std::filesystem::path run_folder;    // not empty: exactly this, absent or empty
  std::string slug;                    // of a folder under runs_folder; empty: from the data's symbol
  int first_fold = 0, last_fold = -1;  // -1: the last one
  std::uint64_t max_steps = 0;         // 0: no limit
  std::filesystem::path resume;        // full checkpoint; empty: a new start
  bool accept_rejected = false;        // resume a checkpoint that a guard rejected
  bool start = true;                   // train the folds at once; else wait for start_folds
  bool stay = false;                   // after the folds, wait for commands instead of ending (the window)
  bool eager = false;                  // never capture: tests compare with captured
};

enum class CommandKind { start_folds, pause, resume, one_step, save_checkpoint, stop_and_save, stop_now, set_value };
const char* command_name(CommandKind kind);  // "save checkpoint"

struct Command {
  CommandKind kind = CommandKind::pause;
  int first = 0, last = -1;  // start_folds
  std::string field, value;  // set_value: a live scalar, "learner.lr" to "3e-5"; or "rules" to a JSON list of them
  std::string by{};          // who asks: a rule, by its text; empty: the user
};

struct CommandRecord {
  enum class Stage { requested, acknowledged, done, refused };
  std::uint64_t number = 0;
  Command command;
  Stage stage = Stage::requested;
  std::uint64_t step = 0;                            // at which it took effect
  double requested = 0, acknowledged = 0, done = 0;  // wall seconds since 1970
  std::string message;                               // what came of it
};

struct SessionEvent {
  double wall = 0;  // seconds since 1970
  std::uint64_t step = 0;
  int fold = 0, epoch = 0;
  std::string kind, severity, message;  // severity: info, warning, error
  std::string source{};                 // who or which rule: "user", "q-drift", a rule's text, "session"
  std::string details{};                // JSON, or empty: of a rule that fired its text, value, action and command
};

struct SessionStatus {
  SessionState state = SessionState::preparing;
  std::string reason;    // of the last state: why it halted, failed, stopped
  std::string activity;  // what is being prepared, in words
  double progress = 0;   // of the activity, 0 to 1
  int fold = 0, folds = 0, epoch = 0, epochs = 0;
  std::uint64_t step = 0;  // updates done in this run
  std::uint64_t epoch_step = 0, steps_per_epoch = 0;
  std::uint64_t planned_steps = 0;  // of all folds asked for
  double steps_per_second = 0;
  double seconds_left = 0;  // of all folds asked for; 0 while unknown
  double started = 0;       // wall seconds
  std::string device;       // "cpu AMD EPYC ..."
  std::filesystem::path run_folder;
  double save_blocked_ms = 0;   // what the last background save cost training
  std::string history_problem;  // why the run's history is not being written; empty while it is
};

struct SessionPlan {
  std::string symbol;
  bool simulated = false, order_flow = false;
  std::int64_t bars = 0;
  market::Time first = 0, last = 0;  // open of the first bar, close of the last
  market::DataReport report;
  std::vector<market::Fold> folds;
  std::vector<market::Time> times;                     // close of every bar
  std::shared_ptr<const market::DataPreview> preview;  // of all bars, in at most kPreviewBuckets candles
};

inline constexpr std::size_t kPreviewBuckets = 4000;

// What a policy did in a validation window, bar by bar. A session keeps that of its newest validation alone.
struct ValidationTrace {
  int fold = 0, epoch = 0;
  std::uint64_t step = 0;
  double lot = 1;                                  // contracts
  int windows = 1;                                 // that the evaluation was split into, each starting flat
  std::shared_ptr<const market::WindowBars> bars;  // of the window; rows of what follows are those of the market table
  std::vector<BarTrace> trace;
  std::vector<TradeRecord> trades;
  std::vector<FillRecord> fills;
};

struct EpochResult {
  int epoch = 0;
  std::uint64_t step = 0;
  bool best = false;
  EvaluationResult evaluation;  // its trace and fills are in the session's trace(), while it is the newest
};

struct FoldResult {
  int index = 0;
  std::uint64_t best_step = 0;
  nlohmann::ordered_json best_metrics;  // null while there is none
  std::vector<std::shared_ptr<const EpochResult>> epochs;
};

}  // namespace foxhunt
