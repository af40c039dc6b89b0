// Series, lists and what follows from them: scales, fold states, the guard's trip level.
#include "ui/models/run_data.h"

#include <algorithm>
#include <cmath>

#include "engine/telemetry/tables.h"
#include "ui/models/evaluation_view.h"

namespace foxhunt::ui {
namespace {

using kernels::kSignals;
using kernels::kStepWords;

// Three quarters of the budget for the 40 words of every step, the rest for the slower signals.
std::size_t step_budget(std::size_t budget) {
  return budget * 3 / 4 / kStepWords;
}
std::size_t signal_budget(std::size_t budget) {
  return budget / 4 / kSignals;
}

EventKind kind_of(const EventView& event) {
  if (event.kind == QLatin1String("fold")) return EventKind::fold;
  if (event.kind == QLatin1String("epoch")) return EventKind::epoch;
  if (event.kind == QLatin1String("checkpoint")) return EventKind::checkpoint;
  if (event.kind == QLatin1String("setting")) return EventKind::setting;
  if (event.kind == QLatin1String("guard")) return EventKind::guard;
  if (event.severity != QLatin1String("info")) return EventKind::warning;
  return EventKind::note;
}

// The few words that stand beside a line on a chart.
QString label_of(const EventView& event) {
  if (event.kind == QLatin1String("fold")) return RunData::tr("fold %1").arg(event.fold + 1);
  if (event.kind == QLatin1String("setting")) return event.message.section(QLatin1String(" at step"), 0, 0);
  if (event.kind == QLatin1String("rule")) return event.message.section(QLatin1Char(' '), 0, 0);  // what it watches
  if (event.kind == QLatin1String("command")) return event.message.section(QLatin1String(" at step"), 0, 0);
  return event.kind;
}

}  // namespace

std::shared_ptr<const SessionStatus> idleStatus() {
  auto status = std::make_shared<SessionStatus>();
  status->state = SessionState::idle;
  return status;
}

double metricOf(const MetricList& metrics, const std::string& name) {
  for (const auto& [known, value] : metrics) {
    if (known == name) return value;
  }
  return kNone;
}

RunData::RunData(std::size_t budget_bytes, QObject* parent)
    : QObject(parent), budget_(budget_bytes), evaluation_(new EvaluationView(this)), link_(new ChartLink(this)) {
  begin(Source::none, {}, {});
}

RunData::~RunData() = default;

RunData::Series RunData::steps(int word) const {
  return steps_->at(static_cast<std::size_t>(word));
}

RunData::Series RunData::signal(int signal) const {
  return signals_->at(static_cast<std::size_t>(signal));
}

std::vector<std::shared_ptr<const XScale>> RunData::xScales() const {
  return {step_scale_, wall_scale_, epoch_scale_};
}

void RunData::begin(Source source, const QString& name, const std::filesystem::path& folder) {
  source_ = source;
  name_ = name;
  folder_ = folder;
  word_.clear();
  steps_.emplace(kStepWords, step_budget(budget_));
  signals_.emplace(kSignals, signal_budget(budget_));
  step_count_ = last_step_ = last_signal_ = bucketed_ = 0;
  snapshot_.reset();
  health_.clear();
  events_.clear();
  epochs_.clear();
  folds_.clear();
  checkpoints_.clear();
  status_ = idleStatus();
  configuration_ = nullptr;
  plan_.reset();
  evaluation_->clear();
  step_scale_ = std::make_shared<StepScale>(tr("step"));
  wall_scale_ = std::make_shared<AnchoredScale>(tr("wall time"), AnchoredScale::Unit::date);
  epoch_scale_ = std::make_shared<AnchoredScale>(tr("epoch"), AnchoredScale::Unit::number);
  last_anchor_wall_ = 0;
  last_anchor_step_ = -1;
  epochs_seen_ = 0;
  now_.reset();
  q_ = {};
  q_now_ = 0;
  q_previous_.reset();
  link_->setEvents({});
  link_->fit();
  Q_EMIT cleared();
  Q_EMIT nameChanged();
  Q_EMIT statusChanged();
}

void RunData::setName(const QString& name, const std::filesystem::path& folder) {
  name_ = name;
  folder_ = folder;
  Q_EMIT nameChanged();
}

void RunData::setConfiguration(const nlohmann::ordered_json& configuration) {
  configuration_ = configuration;
  Q_EMIT nameChanged();
}

// Scales and the guard's memory of the epoch before.
void RunData::noteStep(std::uint64_t step, int fold, int epoch, double wall, double q_mean, double count) {
  const auto x = static_cast<double>(step);
  if (!now_ || *now_ != std::pair(fold, epoch)) {
    if (now_) q_previous_ = q_.mean();
    q_ = {};
    now_ = std::pair(fold, epoch);
    epoch_scale_->addAnchor(x, epochs_seen_++);
  }
  if (std::isfinite(q_mean)) {
    q_.sum += q_mean * count;
    q_.count += count;
  }
  q_now_ = q_mean;
  const bool due = wall >= last_anchor_wall_ + 1 || last_anchor_step_ < 0;
  if (due && x > last_anchor_step_) {
    wall_scale_->addAnchor(x, wall);
    last_anchor_wall_ = wall;
    last_anchor_step_ = x;
  }
}

void RunData::appendSteps(std::span<const telemetry::StepRecord> records, double wall) {
  // A session that went back: what was drawn stands.
  while (!records.empty() && records.front().step <= last_step_) records = records.subspan(1);
  if (records.empty()) return;
  std::array<double, kStepWords> words;
  for (const telemetry::StepRecord& record : records) {
    for (int w = 0; w < kStepWords; ++w) words[static_cast<std::size_t>(w)] = telemetry::word_value(record, w);
    steps_->append(static_cast<double>(record.step), words);
    last_step_ = record.step;
    ++step_count_;
    noteStep(record.step, static_cast<int>(record.fold), static_cast<int>(record.epoch), wall,
             static_cast<double>(record.q_mean), 1);
  }
  steps_->take_turns();
  Q_EMIT stepsAppended();
}

// A bucket is drawn as its least, greatest and mean value, all at its last step: the band on screen is exact.
void RunData::appendRows(std::span<const StepRow> rows) {
  using kernels::step_word_epoch, kernels::step_word_fold, kernels::step_word_q_mean, kernels::step_word_step;
  for (const StepRow& row : rows) {
    const double x = row.mean[step_word_step];
    if (!std::isfinite(x) || x <= static_cast<double>(last_step_)) continue;
    for (std::size_t w = 0; w < kStepWords; ++w) {
      MinMaxPyramid& series = *steps_->at(w);
      if (row.count > 1) {
        if (std::isfinite(row.min[w])) series.append(x, row.min[w]);
        if (std::isfinite(row.max[w])) series.append(x, row.max[w]);
        if (row.not_finite[w] > 0) series.append(x, kNone);
      }
      if (row.count == 1 || std::isfinite(row.mean[w])) series.append(x, row.mean[w]);
    }
    last_step_ = static_cast<std::uint64_t>(x);
    step_count_ += row.count;
    if (row.count > 1) bucketed_ += row.count;
    noteStep(last_step_, static_cast<int>(row.mean[step_word_fold]), static_cast<int>(row.mean[step_word_epoch]),
             row.wall, row.mean[step_word_q_mean], static_cast<double>(row.count));
  }
  if (!rows.empty()) Q_EMIT stepsAppended();
}

void RunData::appendSignals(std::uint64_t step, std::span<const double> values) {
  if (step < last_signal_ || values.size() != signals_->size()) return;
  last_signal_ = step;
  signals_->append(static_cast<double>(step), values);
  signals_->take_turns();
}

void RunData::setSnapshot(const telemetry::Snapshot& snapshot) {
  const bool fresh =
      snapshot.health_snapshots > 0 && (health_.empty() || !snapshot_ || snapshot_->health_snapshots == 0 ||
                                        snapshot_->health.step != snapshot.health.step);
  snapshot_ = snapshot;
  if (fresh) {
    HealthRow row;
    for (std::size_t w = 0; w < row.size(); ++w) {
      row[w] = static_cast<float>(telemetry::word_value(snapshot.health, static_cast<int>(w)));
    }
    health_.push_back(row);
    if (health_.size() > health_rows) health_.pop_front();
  }
  Q_EMIT snapshotChanged();
}

std::optional<int> RunData::epochOfStep(std::uint64_t step) const {
  const MinMaxPyramid& epochs = *steps_->at(kernels::step_word_epoch);
  const std::size_t at = epochs.lower_bound(static_cast<double>(step));
  if (at >= epochs.size() || epochs.x_at(at) != static_cast<double>(step)) return std::nullopt;
  return static_cast<int>(epochs.y_at(at));
}

void RunData::addEvents(std::vector<EventView> events) {
  if (events.empty()) return;
  for (EventView& event : events) {
    // Lines of every epoch would hide the curves; those of folds, checkpoints, settings and guards are few.
    const bool every_epoch = event.kind == QLatin1String("epoch") || event.kind == QLatin1String("controller");
    if (!every_epoch && event.kind != QLatin1String("status") && event.step > 0) {
      link_->addEvent({static_cast<double>(event.step), kind_of(event), label_of(event), event.message});
    }
    events_.push_back(std::move(event));
  }
  Q_EMIT eventsAdded();
}

void RunData::setEpochs(std::vector<std::shared_ptr<const EpochView>> epochs) {
  std::sort(epochs.begin(), epochs.end(),
            [](const auto& a, const auto& b) { return std::pair(a->fold, a->epoch) < std::pair(b->fold, b->epoch); });
  epochs_ = std::move(epochs);
  updateFolds();
  Q_EMIT resultsChanged();
  Q_EMIT foldsChanged();
}

void RunData::setFolds(std::vector<FoldView> folds) {
  folds_ = std::move(folds);
  updateFolds();
  Q_EMIT foldsChanged();
}

void RunData::setPlan(std::shared_ptr<const SessionPlan> plan) {
  plan_ = std::move(plan);
  Q_EMIT planChanged();
}

void RunData::setCheckpoints(std::vector<CheckpointView> checkpoints) {
  checkpoints_ = std::move(checkpoints);
  Q_EMIT checkpointsChanged();
}

void RunData::setStatus(std::shared_ptr<const SessionStatus> status, const QString& word) {
  const bool moved =
      status->state != status_->state || status->fold != status_->fold || status->epoch != status_->epoch;
  status_ = std::move(status);
  word_ = word;
  if (moved) {
    updateFolds();
    Q_EMIT foldsChanged();
  }
  Q_EMIT statusChanged();
}

void RunData::updateFolds() {
  const SessionState s = status_->state;
  const bool running = s == SessionState::training || s == SessionState::paused || s == SessionState::validating;
  for (std::size_t i = 0; i < folds_.size(); ++i) {
    FoldView& fold = folds_[i];
    fold.best_sharpe.reset();
    fold.best_net.reset();
    fold.epochs_done = 0;
    for (const auto& epoch : epochs_) {
      if (epoch->fold != static_cast<int>(i)) continue;
      ++fold.epochs_done;
      const double sharpe = metricOf(epoch->agent, "sharpe"), net = metricOf(epoch->agent, "net");
      if (std::isfinite(sharpe) && sharpe > fold.best_sharpe.value_or(-INFINITY)) fold.best_sharpe = sharpe;
      if (std::isfinite(net) && net > fold.best_net.value_or(-INFINITY)) fold.best_net = net;
    }
    if (running && status_->fold == static_cast<int>(i)) {
      fold.state = FoldState::running;
    } else if (fold.epochs_done == 0) {
      fold.state = FoldState::waiting;
    } else {
      fold.state = status_->epochs > 0 && fold.epochs_done < status_->epochs ? FoldState::partial : FoldState::done;
    }
  }
}

QString RunData::stateWord() const {
  if (!word_.isEmpty()) return word_;
  switch (status_->state) {
    case SessionState::idle:
      return tr("Idle");
    case SessionState::preparing:
      return tr("Preparing");
    case SessionState::training:
      return tr("Training");
    case SessionState::paused:
      return tr("Paused");
    case SessionState::validating:
      return tr("Validating");
    case SessionState::stopping:
      return tr("Stopping");
    case SessionState::finished:
      return tr("Finished");
    case SessionState::stopped:
      return tr("Stopped");
    case SessionState::halted:
      return tr("Halted");
    case SessionState::failed:
      return tr("Failed");
  }
  return {};
}

// Trips when |q| > factor |q before| and |q| > floor, floor = max(least floor, reference factor x max(slots 16, 21)).
GuardView RunData::guard() const {
  GuardView view;
  view.q = std::abs(q_now_);
  if (!configuration_.is_object() || !configuration_.contains("guards")) return view;
  const auto& guards = configuration_.at("guards");
  view.mode = QString::fromStdString(guards.value("drift", std::string("armed")));
  view.factor = guards.value("drift_factor", 2.0);
  view.floor = guards.value("drift_floor", 0.5);
  view.reference_factor = guards.value("drift_reference_factor", 3.0);
  if (!q_previous_) return view;
  if (snapshot_)
    view.reference = std::max(snapshot_->signals[kernels::signal_q_reference_magnitude],
                              snapshot_->signals[kernels::signal_q_reference_direction]);
  view.q_previous = std::abs(*q_previous_);
  if (view.q_previous > 0) view.ratio = view.q / view.q_previous;
  view.trip = std::max({view.factor * view.q_previous, view.floor, view.reference_factor * view.reference});
  return view;
}

}  // namespace foxhunt::ui
