// The worker's side of a session: prepares data and device, runs folds and epochs, obeys commands between launches.
//
// Epoch: collect -> K steps -> guards -> read the previous epoch's validation -> controllers -> launch validation from
// a snapshot slot -> checkpoints. What training depends on is read at these fixed places alone, so that a run does not
// depend on how fast it went.
//
// Folds, epochs and environments are counted from 0 in everything that is stored; sentences for people count folds and
// epochs from 1. "epoch" is the one that was begun last: at its end and until the next one begins, it stays.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/device.h"
#include "engine/environment/collector.h"
#include "engine/environment/evaluator.h"
#include "engine/environment/reward_statistics.h"
#include "engine/learner/learner.h"
#include "engine/learner/policy.h"
#include "engine/market/market_table.h"
#include "engine/run/run_sink.h"
#include "engine/run/run_store.h"
#include "engine/session/checkpointer.h"
#include "engine/session/controllers.h"
#include "engine/session/session.h"
#include "engine/telemetry/drift_guard.h"
#include "engine/telemetry/recorder.h"

namespace foxhunt {

class Trainer {
 public:
  explicit Trainer(Session& session);
  ~Trainer();

  void run();
  // Ends recording and saving; says in the run folder how it ended. Never throws.
  void close() noexcept;

 private:
  enum class Flow { go_on, limit, stop_save, stop_now, halted };

  // trainer_prepare.cpp
  void prepare();
  void load_data();
  void build();
  void open_run();
  void start_recording();

  // trainer_state.cpp: what a full checkpoint keeps of the session beside the device's memory
  nlohmann::ordered_json session_state() const;
  std::map<std::string, std::string> checkpoint_metadata(const std::string& reason,
                                                         const nlohmann::ordered_json& metrics, bool full) const;
  void resume(const std::filesystem::path& checkpoint);
  void restore(const nlohmann::json& state);
  void adopt_best(const std::filesystem::path& resumed_from);

  // trainer_rules.cpp
  void rule_fired(const telemetry::RuleEvent& event);  // on the thread that drains
  void watch_history();

  // trainer_controllers.cpp
  void take_gradient_norms();
  ControllerDecision decide(const telemetry::Snapshot& snapshot);
  void apply_controlled(double alpha_drop);
  void note_decision(const ControlledValues& before, const ControllerDecision& decision);

  // trainer.cpp
  Flow train_folds(int first, int last);
  Flow run_fold(int index);
  Flow run_epoch();
  Flow collect();
  Flow run_steps();
  Flow one_step();
  Flow obey(bool wait);  // commands between launches
  Flow command(const Session::Pending& pending);
  Flow check_live();
  void set_value(const Command& command);
  void set_state(SessionState state, const std::string& reason = {});
  void end_session(Flow flow);
  void show_progress();

  // trainer_epoch.cpp
  Flow end_epoch();
  void apply_rewards();
  Flow check_drift(const telemetry::Snapshot& snapshot);
  void start_validation(bool whole_epoch);
  void launch_validation(int epoch, std::uint64_t step);
  void read_validation();
  void publish_trace(EpochResult& result);
  void keep_best(const EpochResult& result, bool whole_epoch);
  void record_epoch(const telemetry::Snapshot& snapshot);
  void record_evaluation(const EpochResult& result);
  void show_greedy_actions(const EvaluationResult& result);
  void save(const std::string& reason, const nlohmann::ordered_json& metrics = nullptr, std::uint64_t command = 0);
  void save_best(const EpochResult& result);
  void write_checkpoint(SaveRequest request, RunCheckpoint row, std::uint64_t command);
  void saved(RunCheckpoint row, std::uint64_t command, const SaveResult& result);
  void save_when_ready();
  void forget_old_checkpoints();
  void write_flight();
  void note(const std::string& kind, const std::string& severity, const std::string& message,
            const std::string& source = "session");

  Session& session_;
  Config config_;
  market::MarketTable table_;
  std::vector<market::Fold> folds_;
  std::shared_ptr<const market::WindowBars> window_bars_;  // of the last validation window; traces share it
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<DeviceMarket> market_;
  std::unique_ptr<Policy> noisy_, mean_, greedy_;
  std::unique_ptr<Collector> collector_;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<RunStore> store_;
  std::unique_ptr<RunStoreSink> sink_;
  std::unique_ptr<telemetry::RuleMonitor> rules_;
  std::unique_ptr<telemetry::RunRecorder> recorder_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<device::Event> snapshot_event_;

  // Where training stands.
  int fold_ = 0, last_fold_ = 0;
  int epoch_ = 0, begun_epoch_ = 0;  // to be trained now or next; begun last
  // In which the newest step was made: what a checkpoint is of, also when the next epoch has begun without a step.
  int step_epoch() const { return epoch_step_ > 0 || epoch_ == 0 ? epoch_ : epoch_ - 1; }
  std::uint64_t epoch_step_ = 0, steps_ = 0;
  bool begun_ = false;      // some fold has been trained
  bool resumed_ = false;    // in the middle of fold_, epoch_, epoch_step_
  bool collected_ = false;  // this epoch's experience is in the replay
  bool paused_ = false;
  std::optional<std::uint64_t> single_step_;  // a paused session's command to take one, not yet done
  FoldModel model_;
  RewardStatistics rewards_, next_rewards_;  // in use; of this epoch's collection, for the next one
  bool has_scale_ = false;
  telemetry::DriftGuard guard_;
  CollectorStatistics statistics_;

  // Validation in flight and what has come of the fold.
  int slot_ = 0;
  std::optional<EpochResult> pending_;
  bool pending_whole_ = false;          // of a whole epoch: the rules below follow these alone, for a run that stops in
                                        // the middle of an epoch and is resumed must go on as if it had not
  std::optional<bool> validated_best_;  // whether the validation read since the last epoch's end was the best
  std::optional<double> best_epoch_sharpe_;
  int epochs_without_best_ = 0;
  std::optional<std::pair<int, std::uint64_t>> resumed_pending_;  // epoch and step of a validation to launch again
  FoldResult fold_result_;
  std::optional<double> best_sharpe_;
  std::string best_file_;  // name of the best checkpoint of the fold
  std::int64_t trials_ = 0;
  std::vector<double> trial_sharpes_;
  Controllers controllers_;
  std::vector<double> gradient_norms_;  // before clipping, of the epoch's last steps
  std::uint64_t next_norm_ = 1;         // step whose norm is taken next
  double epoch_started_ = 0, rate_started_ = 0;
  std::uint64_t rate_steps_ = 0;
  double shown_ = 0;
  std::vector<std::filesystem::path> periodic_;  // full files that may be removed when newer ones stand
  // Command that waits for the validation in flight, or for the file before it.
  std::uint64_t deferred_save_ = 0;
  std::string stopped_by_;       // the rule that stopped the session, or empty
  std::string history_problem_;  // as last noted
  std::string save_error_;       // of the last file; the writing thread's until it is drained
  bool closed_ = false;
};

}  // namespace foxhunt
