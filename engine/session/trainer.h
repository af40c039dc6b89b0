// The worker's side of a session: prepares data and device, runs folds and epochs, obeys commands between launches.
//
// Epoch: collect -> K steps -> guards -> launch validation from a snapshot slot -> read the previous epoch's validation
// -> checkpoints. Validation is read at these fixed places alone, so that a run does not depend on how fast it went.
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
  void open_run();
  void build();
  void resume(const std::filesystem::path& checkpoint);

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
  void start_validation();
  void read_validation();
  void keep_best(const EpochResult& result);
  void record_epoch(const telemetry::Snapshot& snapshot);
  void record_evaluation(const EpochResult& result);
  void save(const std::string& reason, bool full, int slot = -1, const nlohmann::ordered_json& metrics = nullptr);
  void saved(const std::string& reason, bool full, std::uint64_t step, int fold, int epoch, const std::string& metrics,
             const SaveResult& result);
  void forget_old_checkpoints();
  void write_flight();
  std::map<std::string, std::string> checkpoint_metadata(const std::string& reason,
                                                         const nlohmann::ordered_json& metrics) const;
  void note(const std::string& kind, const std::string& severity, const std::string& message);

  Session& session_;
  Config config_;
  market::MarketTable table_;
  std::vector<market::Fold> folds_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<DeviceMarket> market_;
  std::unique_ptr<Policy> noisy_, mean_, greedy_;
  std::unique_ptr<Collector> collector_;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<RunStore> store_;
  std::unique_ptr<RunStoreSink> sink_;
  std::unique_ptr<telemetry::RunRecorder> recorder_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<device::Event> snapshot_event_;

  // Where training stands.
  int fold_ = 0, last_fold_ = 0, epoch_ = 0;
  std::uint64_t epoch_step_ = 0, steps_ = 0;
  bool begun_ = false;      // some fold has been trained
  bool resumed_ = false;    // in the middle of fold_, epoch_, epoch_step_
  bool collected_ = false;  // this epoch's experience is in the replay
  bool paused_ = false;
  FoldModel model_;
  RewardStatistics rewards_, next_rewards_;  // in use; of this epoch's collection, for the next one
  bool has_scale_ = false;
  telemetry::DriftGuard guard_;
  CollectorStatistics statistics_;

  // Validation in flight and what has come of the fold.
  int slot_ = 0;
  std::optional<EpochResult> pending_;
  FoldResult fold_result_;
  std::optional<double> best_sharpe_, best_net_;
  int epochs_without_best_ = 0;
  std::int64_t trials_ = 0;
  std::vector<double> trial_sharpes_;
  double epoch_started_ = 0, rate_started_ = 0;
  std::uint64_t rate_steps_ = 0;
  double shown_ = 0;
  std::vector<std::filesystem::path> periodic_;  // full files that may be removed when newer ones stand
  bool closed_ = false;
};

}  // namespace foxhunt
