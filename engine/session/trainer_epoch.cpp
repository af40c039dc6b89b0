// The end of an epoch: guards, validation, rewards, checkpoints, and the rows that the run folder keeps of it.
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/base/atomic_file.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/json_number.h"
#include "engine/config/load_config.h"
#include "engine/session/checkpoint_load.h"
#include "engine/session/run_setup.h"
#include "engine/session/trainer.h"
#include "engine/telemetry/telemetry.h"

namespace foxhunt {
namespace {

RunValue number(double x) {
  return x;
}
RunValue number(std::optional<double> x) {
  return x ? RunValue(*x) : RunValue(std::monostate{});
}

double variance(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double mean = 0, sum = 0;
  for (const double x : values) mean += x / static_cast<double>(values.size());
  for (const double x : values) sum += (x - mean) * (x - mean);
  return sum / static_cast<double>(values.size() - 1);
}

constexpr std::size_t kPeriodicKept = 2;

std::string checkpoint_file_name(int fold, std::uint64_t step, const std::string& reason) {
  return fmt::format("fold{}-step{:09}-{}.safetensors", fold, step, reason);
}

}  // namespace

Trainer::Flow Trainer::end_epoch() {
  learner_->drain();
  telemetry::Snapshot snapshot;
  FH_CHECK(telemetry::SnapshotReader(learner_->telemetry()->mapped()).read(snapshot), "no telemetry after an epoch");
  const Flow drift = check_drift(snapshot);
  ControllerDecision decision;
  const ControlledValues before = controllers_.values();
  if (drift == Flow::go_on) {
    set_state(SessionState::validating);
    read_validation();
    save_when_ready();
    decision = decide(snapshot);
  }
  device::Recorder recorder(*device_, learner_->stream(), device::ModuleSet::eager);
  kernels::EpochWords words{};
  for (std::size_t i = 0; i < decision.fired.size(); ++i) words.controllers[i] = decision.fired[i];
  words.reward_median = static_cast<float>(rewards_.spread().median);
  words.reward_iqr = static_cast<float>(rewards_.spread().iqr);
  learner_->telemetry()->record_end_epoch(recorder, words);
  learner_->drain();
  recorder_->flush();
  record_epoch(snapshot);
  if (drift != Flow::go_on) return drift;
  note_decision(before, decision);
  apply_controlled(decision.alpha_drop);
  start_validation(true);
  ++epoch_;
  epoch_step_ = 0;
  collected_ = false;
  gradient_norms_.clear();
  const int every = config_.training.checkpoint_epochs;
  const bool last = epoch_ >= config_.training.epochs;
  rewards_ = next_rewards_;
  if (every > 0 && epoch_ % every == 0 && !last) save("periodic");
  show_progress();
  set_state(paused_ ? SessionState::paused : SessionState::training);
  return Flow::go_on;
}

// The scale and supports that the last epoch's collection gave; a run's first epoch uses its own.
void Trainer::apply_rewards() {
  if (!has_scale_) rewards_.update_scale(collector_->rewards());
  has_scale_ = true;
  learner_->edit_settings([&](kernels::Settings& s) {
    s.reward_scale = static_cast<float>(rewards_.scale());
    for (std::size_t d = 0; d < kernels::kTrainingBranches; ++d) {
      s.v_min[d] = static_cast<float>(rewards_.supports()[d].low);
      s.v_max[d] = static_cast<float>(rewards_.supports()[d].high);
    }
  });
}

Trainer::Flow Trainer::check_drift(const telemetry::Snapshot& snapshot) {
  const auto verdict = guard_.end_epoch(static_cast<double>(snapshot.q_epoch_mean),
                                        static_cast<double>(snapshot.signals[kernels::signal_q_reference_magnitude]),
                                        static_cast<double>(snapshot.signals[kernels::signal_q_reference_direction]));
  if (!verdict.exceeded) return Flow::go_on;
  note("guard", verdict.halt ? "error" : "warning", verdict.sentence(), "q-drift");
  if (!verdict.halt) return Flow::go_on;
  set_state(SessionState::halted, verdict.sentence());
  return Flow::halted;
}

void Trainer::start_validation(bool whole_epoch) {
  ++trials_;
  pending_whole_ = whole_epoch;
  launch_validation(epoch_, steps_);
}

void Trainer::launch_validation(int epoch, std::uint64_t step) {
  slot_ = (slot_ + 1) % Learner::kSlots;
  learner_->snapshot(slot_);
  device_->record(*snapshot_event_, learner_->stream());
  evaluator_->start({.params = learner_->snapshot_params(slot_),
                     .control = learner_->snapshot_control(slot_),
                     .signals = learner_->snapshot_signals(slot_),
                     .window = folds_[static_cast<std::size_t>(fold_)].validation,
                     .trials = trials_,
                     .trial_variance = variance(trial_sharpes_),
                     .after = snapshot_event_.get()});
  pending_ = EpochResult{};
  pending_->epoch = epoch;
  pending_->step = step;
}

void Trainer::read_validation() {
  if (!pending_) return;
  evaluator_->wait();
  auto result = std::make_shared<EpochResult>(std::move(*pending_));
  pending_.reset();
  result->evaluation = evaluator_->result();
  publish_trace(*result);
  if (const auto sharpe = result->evaluation.metrics.bar_sharpe) trial_sharpes_.push_back(*sharpe);
  keep_best(*result, pending_whole_);
  result->best = fold_result_.best_step == result->step;
  fold_result_.epochs.push_back(result);
  record_evaluation(*result);
  show_greedy_actions(result->evaluation);
  session_.publish_result(std::make_shared<FoldResult>(fold_result_));
  note(
      "epoch", "info",
      fmt::format("fold {} epoch {}: validation net {:.2f}, Sharpe {}, {} trades, weights of step {}{}", fold_ + 1,
                  result->epoch + 1, result->evaluation.metrics.net,
                  result->evaluation.metrics.sharpe ? fmt::format("{:.3f}", *result->evaluation.metrics.sharpe) : "n/a",
                  result->evaluation.metrics.trades, result->step, result->best ? ", best so far" : ""));
}

// Candles are copied once a fold, the trace is moved: what a session keeps of older epochs does not grow with bars.
void Trainer::publish_trace(EpochResult& result) {
  EvaluationResult& e = result.evaluation;
  if (!window_bars_ || window_bars_->rows.begin != e.window.begin || window_bars_->rows.end != e.window.end)
    window_bars_ = std::make_shared<market::WindowBars>(market::window_bars(table_, e.window));
  auto trace = std::make_shared<ValidationTrace>();
  trace->fold = fold_;
  trace->epoch = result.epoch;
  trace->step = result.step;
  trace->lot = evaluator_->options().contract.lot;
  trace->windows = e.windows;
  trace->bars = window_bars_;
  trace->trace = std::move(e.trace);
  trace->trades = e.trades;
  trace->fills = std::move(e.fills);
  e.trace.clear();
  e.fills.clear();
  session_.publish_trace(std::move(trace));
}

// The shares of the greedy actions become words of HealthDiag: rows with as many of each action as were taken.
void Trainer::show_greedy_actions(const EvaluationResult& result) {
  constexpr int kBranches = kernels::kTrainingBranches;
  const auto& counts = result.action_counts;
  const std::int64_t rows =
      std::accumulate(counts.begin(), counts.begin() + kernels::branch_actions(0), std::int64_t{0});
  if (rows == 0) return;
  device::MappedBuffer<std::int32_t> greedy(*device_, static_cast<std::size_t>(rows) * kBranches);
  for (int b = 0; b < kBranches; ++b) {
    std::int32_t* next = greedy.host() + b;
    for (int k = 0; k < kernels::branch_actions(b); ++k)
      for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(kernels::branch_first(b) + k)];
           ++i, next += kBranches)
        *next = k;
  }
  device::Recorder recorder(*device_, learner_->stream(), device::ModuleSet::eager);
  learner_->telemetry()->record_evaluation_histogram(recorder, greedy.device(), rows);
  learner_->drain();  // before the buffer goes
}

// By Sharpe; a policy that never trades has none, and is better only than a loss.
void Trainer::keep_best(const EpochResult& result, bool whole_epoch) {
  const Metrics& m = result.evaluation.metrics;
  const double sharpe = m.sharpe.value_or(0.0);
  if (whole_epoch) {
    const bool better = !best_epoch_sharpe_ || sharpe > *best_epoch_sharpe_;
    validated_best_ = better;
    epochs_without_best_ = better ? 0 : epochs_without_best_ + 1;
    if (better) best_epoch_sharpe_ = sharpe;
  }
  if (best_sharpe_ && sharpe <= *best_sharpe_) return;
  best_sharpe_ = sharpe;
  fold_result_.best_step = result.step;
  fold_result_.best_metrics = metrics_json(m);
  store_->update_info([&](RunInfo& info) {  // of all folds
    const auto known = info.best.find("sharpe");
    if (known != info.best.end() && known->second >= sharpe) return;
    info.best["net"] = m.net;
    info.best["sharpe"] = sharpe;
  });
  save_best(result);
}

void Trainer::record_epoch(const telemetry::Snapshot& snapshot) {
  const CollectorStatistics& s = statistics_;
  RunRecord row{{"wall", wall_seconds()},
                {"step", static_cast<std::int64_t>(steps_)},
                {"fold", std::int64_t{fold_}},
                {"epoch", std::int64_t{begun_epoch_}},
                {"seconds", steady_seconds() - epoch_started_},
                {"q_mean", static_cast<double>(snapshot.q_epoch_mean)},
                {"reward_scale", rewards_.scale()},
                {"collected_steps", s.steps},
                {"episodes", s.episodes},
                {"ruins", s.ruins},
                {"episode_return", s.episode_return},
                {"exposure", s.exposure},
                {"turnover", s.turnover},
                {"reward_mean", s.reward_mean}};
  store_->append(RunTable::epochs, std::move(row));
}

void Trainer::record_evaluation(const EpochResult& result) {
  const EvaluationResult& e = result.evaluation;
  const auto base = [&](const char* policy) {
    return RunRecord{{"wall", wall_seconds()},
                     {"step", static_cast<std::int64_t>(result.step)},
                     {"fold", std::int64_t{fold_}},
                     {"epoch", std::int64_t{result.epoch}},
                     {"window", std::string("validation")},
                     {"policy", std::string(policy)}};
  };
  const auto metrics = [&](const char* policy, const Metrics& m) {
    RunRecord row = base(policy);
    for (const auto& [name, value] : metric_values(m)) row.emplace_back(name, number(value));
    store_->append(RunTable::evaluations, std::move(row));
  };
  metrics("agent", e.metrics);
  metrics("flat", e.baselines.flat);
  metrics("buy_and_hold", e.baselines.buy_and_hold);
  RunRecord random = base("random");
  random.emplace_back("net", number(e.baselines.random.net));
  random.emplace_back("trades", number(e.baselines.random.trades));
  store_->append(RunTable::evaluations, std::move(random));
  const auto curve = [&](const char* policy, const std::vector<double>& equity) {
    for (std::size_t i = 0; i < equity.size(); ++i) {
      const std::int64_t bar = e.window.begin + static_cast<std::int64_t>(i);
      store_->append(RunTable::equity, {{"fold", std::int64_t{fold_}},
                                        {"epoch", std::int64_t{result.epoch}},
                                        {"window", std::string("validation")},
                                        {"policy", std::string(policy)},
                                        {"bar", bar},
                                        {"time", table_.close_time[static_cast<std::size_t>(bar)]},
                                        {"equity", equity[i]}});
    }
  };
  curve("agent", e.equity);
  // Holding is the same in every epoch of a fold; random trades as often as the agent did in this one.
  if (fold_result_.epochs.size() == 1) curve("buy_and_hold", e.baselines.buy_and_hold_equity);
  curve("random", e.baselines.random.equity);
  for (const TradeRecord& t : e.trades) {
    store_->append(RunTable::trades, {{"fold", std::int64_t{fold_}},
                                      {"epoch", std::int64_t{result.epoch}},
                                      {"window", std::string("validation")},
                                      {"policy", std::string("agent")},
                                      {"entry_time", table_.close_time[static_cast<std::size_t>(t.entry_bar)]},
                                      {"exit_time", table_.close_time[static_cast<std::size_t>(t.exit_bar)]},
                                      {"contracts", static_cast<double>(t.side * t.lots)},
                                      {"entry_price", t.entry},
                                      {"exit_price", t.exit},
                                      {"net", t.result},
                                      {"bars", std::int64_t{t.hold}},
                                      {"costs", t.costs},
                                      {"why", std::int64_t{t.why}}});
  }
}

// What stands now, to go on from.
void Trainer::save(const std::string& reason, const nlohmann::ordered_json& metrics, std::uint64_t command) {
  take_gradient_norms();
  RunCheckpoint row;
  row.step = static_cast<std::int64_t>(steps_);
  row.epoch = step_epoch();
  row.reason = reason;
  row.kind = "full";
  row.rejected = reason == "rejected";
  row.metrics = metrics.is_null() ? "" : metrics.dump();
  SaveRequest request;
  request.metadata = checkpoint_metadata(reason, metrics, true);
  write_checkpoint(std::move(request), std::move(row), command);
}

// The model of a snapshot slot, which is of the validated epoch and not of now.
void Trainer::save_best(const EpochResult& result) {
  RunCheckpoint row;
  row.step = static_cast<std::int64_t>(result.step);
  row.epoch = result.epoch;
  row.reason = "best";
  row.kind = "model";
  row.metrics = fold_result_.best_metrics.dump();
  SaveRequest request;
  request.full = false;
  request.slot = slot_;
  request.metadata = checkpoint_metadata("best", fold_result_.best_metrics, false);
  request.metadata["step"] = std::to_string(row.step);
  request.metadata["epoch"] = std::to_string(row.epoch);
  best_file_ = checkpoint_file_name(fold_, result.step, "best");
  write_checkpoint(std::move(request), std::move(row), 0);
}

void Trainer::write_checkpoint(SaveRequest request, RunCheckpoint row, std::uint64_t command) {
  row.fold = fold_;
  request.path =
      store_->checkpoints_folder() / checkpoint_file_name(fold_, static_cast<std::uint64_t>(row.step), row.reason);
  request.model = model_;
  checkpointer_->save(std::move(request),
                      [this, row = std::move(row), command](const SaveResult& result) { saved(row, command, result); });
  const double blocked = checkpointer_->blocked_ms();
  session_.publish([&](SessionStatus& s) { s.save_blocked_ms = blocked; });
}

// A checkpoint of now must hold what the validation in flight will say, and needs the memory of the one before it;
// training goes on until both are there.
void Trainer::save_when_ready() {
  if (!deferred_save_ || (pending_ && !evaluator_->ready()) || (!paused_ && !checkpointer_->ready())) return;
  read_validation();
  save("manual", nullptr, std::exchange(deferred_save_, 0));
}

// On the writing thread.
void Trainer::saved(RunCheckpoint row, std::uint64_t command, const SaveResult& result) {
  save_error_ = result.error;
  if (!result.error.empty()) {
    const std::string message = "a checkpoint could not be written: " + result.error;
    session_.note({.wall = 0,
                   .step = static_cast<std::uint64_t>(row.step),
                   .fold = static_cast<int>(row.fold),
                   .epoch = static_cast<int>(row.epoch),
                   .kind = "checkpoint",
                   .severity = "error",
                   .message = message});
    RunEvent event;
    event.step = row.step;
    event.fold = row.fold;
    event.epoch = row.epoch;
    event.kind = "checkpoint";
    event.severity = "error";
    event.message = message;
    store_->append(event);
    if (command) session_.finish(command, message, true);
    return;
  }
  row.path = std::filesystem::relative(result.path, store_->folder()).string();
  row.bytes = static_cast<std::int64_t>(result.bytes);
  store_->append(row);
  session_.add_checkpoint(std::filesystem::absolute(result.path));
  if (command) session_.finish(command, fmt::format("saved as {}", result.path.filename().string()));
  if (row.reason == "periodic") {
    periodic_.push_back(result.path);
    forget_old_checkpoints();
  }
}

// Full files are large: of the periodic ones the newest two stay, of the others all.
void Trainer::forget_old_checkpoints() {
  while (periodic_.size() > kPeriodicKept) {
    std::error_code ignored;
    std::filesystem::remove(periodic_.front(), ignored);
    store_->forget_checkpoint(std::filesystem::relative(periodic_.front(), store_->folder()).string());
    session_.remove_checkpoint(std::filesystem::absolute(periodic_.front()));
    periodic_.erase(periodic_.begin());
  }
}

// The last seconds at full rate, as JSON: columns once, a row a step, and the value that left its healthy range first.
// A disk that takes no more must not hide why training halted.
void Trainer::write_flight() try {
  recorder_->flush();
  const telemetry::FlightReport report = recorder_->flight();
  nlohmann::ordered_json out{{"step", steps_}, {"reason", session_.status()->reason}};
  if (report.first_unhealthy) {
    const auto& m = *report.first_unhealthy;
    out["first_unhealthy"] = {{"name", m.name},
                              {"step", m.step},
                              {"value", json_number(m.value)},
                              {"low", json_number(m.low)},
                              {"high", json_number(m.high)},
                              {"unit", m.unit}};
  }
  for (const auto& entry : telemetry::step_table()) out["columns"].push_back(entry.name);
  for (const auto& row : report.steps) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (int w = 0; w < kernels::kStepWords; ++w) values.push_back(json_number(telemetry::word_value(row.record, w)));
    out["steps"].push_back(std::move(values));
  }
  std::filesystem::create_directories(store_->flight_folder());
  write_file_atomically(store_->flight_folder() / fmt::format("step{:09}.json", steps_), out.dump());
} catch (const std::exception& e) {
  note("warning", "error", fmt::format("the flight recording could not be written: {}", e.what()));
}

void Trainer::note(const std::string& kind, const std::string& severity, const std::string& message,
                   const std::string& source) {
  session_.note({.wall = 0,
                 .step = steps_,
                 .fold = fold_,
                 .epoch = begun_epoch_,
                 .kind = kind,
                 .severity = severity,
                 .message = message,
                 .source = source});
  if (!store_) return;
  RunEvent event;
  event.step = static_cast<std::int64_t>(steps_);
  event.fold = fold_;
  event.epoch = begun_epoch_;
  event.kind = kind;
  event.source = source;
  event.severity = severity;
  event.message = message;
  store_->append(event);
}

}  // namespace foxhunt
