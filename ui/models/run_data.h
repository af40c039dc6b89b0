// Everything that panels show of one run, whatever its source: a live session, or a run folder that may still be
// written by another process. Sources write into it on the GUI thread in batches; panels only read.
#pragma once

#include <QObject>
#include <array>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "engine/session/session_types.h"
#include "engine/telemetry/snapshot_reader.h"
#include "ui/charts/chart_link.h"
#include "ui/charts/series_set.h"
#include "ui/charts/x_scale.h"
#include "ui/models/run_types.h"

namespace foxhunt::ui {

class EvaluationView;

// That of no session.
std::shared_ptr<const SessionStatus> idleStatus();

class RunData : public QObject {
  Q_OBJECT
 public:
  enum class Source { none, live, stored };
  using Series = std::shared_ptr<const MinMaxPyramid>;

  // Bytes that all series together may hold; old samples are coarsened beyond it.
  explicit RunData(std::size_t budget_bytes = 512u << 20, QObject* parent = nullptr);
  ~RunData() override;

  // --- what panels read ---
  Source source() const { return source_; }
  const QString& name() const { return name_; }                    // the run folder's name; empty without a run
  const std::filesystem::path& folder() const { return folder_; }  // may be empty
  // Never null. The pointers change only with cleared().
  Series steps(int word) const;     // kernels::StepWord; x is the step
  Series signal(int signal) const;  // kernels::Signal; x is the step, at most 10 samples a second
  std::uint64_t stepCount() const { return step_count_; }  // steps that the series stand for
  std::uint64_t lastStep() const { return last_step_; }
  // Steps of the history that are stored as buckets: least, greatest and mean are shown, not each step.
  std::uint64_t bucketedSteps() const { return bucketed_; }
  // The newest snapshot; for a stored run made of its last rows. Empty before the first.
  const std::optional<telemetry::Snapshot>& snapshot() const { return snapshot_; }

  // Words of the newest HealthDiag snapshots, oldest first; at most health_rows.
  static constexpr std::size_t health_rows = 60;
  using HealthRow = std::array<float, kernels::kHealthWords>;
  const std::deque<HealthRow>& healthTrend() const { return health_; }
  // Epoch of a recorded step; empty when that step is not in the series.
  std::optional<int> epochOfStep(std::uint64_t step) const;

  const std::vector<EventView>& events() const { return events_; }
  const std::vector<std::shared_ptr<const EpochView>>& epochs() const { return epochs_; }  // by fold, then epoch
  const std::vector<FoldView>& folds() const { return folds_; }
  const std::vector<CheckpointView>& checkpoints() const { return checkpoints_; }  // oldest first
  const SessionStatus& status() const { return *status_; }
  QString stateWord() const;  // "Training", also of stored runs ("Interrupted")
  const nlohmann::ordered_json& configuration() const { return configuration_; }  // resolved; null without a run
  GuardView guard() const;
  // What the session's data are, also of a preview before any session; null until they are loaded, and of stored runs.
  std::shared_ptr<const SessionPlan> plan() const { return plan_; }
  // The evaluation that market lanes and trade list show. Never null.
  EvaluationView* evaluation() const { return evaluation_; }

  // What all live charts of the run share: x range, crosshair, event lines. Never null.
  ChartLink* link() const { return link_; }
  // Step, wall time, epoch; new ones come with cleared().
  std::vector<std::shared_ptr<const XScale>> xScales() const;

  // --- what sources write ---
  // Forgets everything.
  void begin(Source source, const QString& name, const std::filesystem::path& folder);
  void setName(const QString& name, const std::filesystem::path& folder);
  void setConfiguration(const nlohmann::ordered_json& configuration);
  void appendSteps(std::span<const telemetry::StepRecord> records, double wall);
  // A row that stands for `count` steps. Arrays by word; NaN where there is none.
  struct StepRow {
    double wall = 0;
    std::uint64_t count = 1;
    std::array<double, kernels::kStepWords> mean, min, max, not_finite;
  };
  void appendRows(std::span<const StepRow> rows);
  void appendSignals(std::uint64_t step, std::span<const double> values);  // [160]
  void setSnapshot(const telemetry::Snapshot& snapshot);
  void addEvents(std::vector<EventView> events);
  void setEpochs(std::vector<std::shared_ptr<const EpochView>> epochs);
  void setFolds(std::vector<FoldView> folds);
  void setPlan(std::shared_ptr<const SessionPlan> plan);
  void setCheckpoints(std::vector<CheckpointView> checkpoints);
  // `word` overrides the state's own, for states that only stored runs have.
  void setStatus(std::shared_ptr<const SessionStatus> status, const QString& word = {});

 Q_SIGNALS:
  void cleared();        // all of it, series pointers included
  void stepsAppended();  // once a batch
  void snapshotChanged();
  void eventsAdded();
  void resultsChanged();  // epochs
  void foldsChanged();    // rows, dates, states, best
  void checkpointsChanged();
  void statusChanged();
  void nameChanged();  // name, folder or configuration
  void planChanged();

 private:
  struct EpochMean {
    double sum = 0;
    double count = 0;
    double mean() const { return count > 0 ? sum / count : 0; }
  };
  void noteStep(std::uint64_t step, int fold, int epoch, double wall, double q_mean, double count);
  void updateFolds();

  Source source_ = Source::none;
  std::size_t budget_;
  QString name_, word_;
  std::filesystem::path folder_;
  std::optional<SeriesSet> steps_, signals_;  // there from the first begin() on
  std::uint64_t step_count_ = 0, last_step_ = 0, last_signal_ = 0, bucketed_ = 0;
  std::optional<telemetry::Snapshot> snapshot_;
  std::deque<HealthRow> health_;
  std::vector<EventView> events_;
  std::vector<std::shared_ptr<const EpochView>> epochs_;
  std::vector<FoldView> folds_;
  std::vector<CheckpointView> checkpoints_;
  std::shared_ptr<const SessionStatus> status_;  // never null
  nlohmann::ordered_json configuration_;
  std::shared_ptr<const SessionPlan> plan_;
  EvaluationView* evaluation_;
  ChartLink* link_;
  std::shared_ptr<StepScale> step_scale_;
  std::shared_ptr<AnchoredScale> wall_scale_, epoch_scale_;
  double last_anchor_wall_ = 0;
  double last_anchor_step_ = -1;
  int epochs_seen_ = 0;
  std::optional<std::pair<int, int>> now_;  // fold and epoch of the last step
  EpochMean q_;
  double q_now_ = 0;
  std::optional<double> q_previous_;
};

}  // namespace foxhunt::ui
