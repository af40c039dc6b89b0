// Polling of a live session, once a frame.
#include "ui/session_bridge.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/config/load_config.h"
#include "engine/environment/metrics.h"
#include "ui/models/evaluation_view.h"
#include "ui/models/live_views.h"

namespace foxhunt::ui {
namespace {

constexpr double kSignalSeconds =
    0.1;  // between samples of the signal bus, and between looks at lists that seldom change

// Sessions that are being destroyed on threads of their own.
struct Leaving {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
};

std::shared_ptr<Leaving> leaving() {
  static const auto shared = std::make_shared<Leaving>();
  return shared;
}

// A session's end joins its worker, which may take seconds, or for ever if the engine hangs.
void destroyElsewhere(std::unique_ptr<SessionPort> port) {
  if (!port) return;
  const auto shared = leaving();
  {
    const std::scoped_lock lock(shared->mutex);
    ++shared->count;
  }
  std::thread([shared, gone = std::move(port)]() mutable {
    gone.reset();
    const std::scoped_lock lock(shared->mutex);
    --shared->count;
    shared->changed.notify_all();
  }).detach();
}

}  // namespace

SessionBridge::SessionBridge(FrameClock* clock, RunData* data, SessionFactory factory, QObject* parent)
    : QObject(parent), data_(data), factory_(std::move(factory)), status_(idleStatus()) {
  clock->addReader(this, [this] { poll(); });
}

SessionBridge::~SessionBridge() {
  destroyElsewhere(std::move(port_));
}

void SessionBridge::start(const Config& config, SessionOptions options) {
  FH_CHECK(!live(), "a session is live");
  ring_.reset();
  snapshots_.reset();
  heartbeat_.reset();
  destroyElsewhere(std::move(port_));
  options.stay = true;
  config_ = config;
  options_ = options;
  commands_.clear();
  results_.clear();
  checkpoints_.clear();
  plan_.reset();
  events_read_ = 0;
  torn_ = missed_ = 0;
  signal_step_ = health_step_ = 0;
  validations_ = 0;
  lists_read_ = 0;
  finished_ = false;
  data_->begin(RunData::Source::live, {}, {});
  data_->setConfiguration(to_json(config));
  status_ = std::make_shared<SessionStatus>();
  port_ = factory_(config, options);
  Q_EMIT started();
  poll();
}

void SessionBridge::showPreview(std::shared_ptr<const SessionPlan> plan) {
  FH_CHECK(!live(), "a session is live");
  data_->begin(RunData::Source::none, {}, {});
  data_->setFolds(foldViews(*plan));
  data_->setPlan(std::move(plan));
}

bool SessionBridge::busy() const {
  if (!live()) return false;
  return status_->state != SessionState::idle;
}

std::uint64_t SessionBridge::post(Command command) {
  if (!live() || port_->ended()) return 0;
  const std::uint64_t number = port_->post(std::move(command));
  readCommands();
  return number;
}

double SessionBridge::dataAge() const {
  if (!heartbeat_) return -1;
  return std::chrono::duration<double>(heartbeat_->age()).count();
}

std::uint64_t SessionBridge::torn() const {
  return torn_ + (ring_ ? ring_->torn() : 0) + (snapshots_ ? snapshots_->torn() : 0);
}

std::uint64_t SessionBridge::missed() const {
  return missed_ + (ring_ ? ring_->missed() : 0);
}

bool SessionBridge::waitForEnded(double seconds) {
  const auto shared = leaving();
  std::unique_lock lock(shared->mutex);
  return shared->changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return shared->count == 0; });
}

void SessionBridge::poll() {
  if (!port_ || finished_) return;
  QElapsedTimer timer;
  timer.start();
  const bool over = port_->ended();  // before the last look, so that nothing is left behind
  attach();
  readSteps(over);
  const auto status = port_->status();
  if (status != status_) {
    if (status->run_folder.native() != status_->run_folder.native()) {
      data_->setName(QString::fromStdString(status->run_folder.filename().string()), status->run_folder);
    }
    status_ = status;
    data_->setStatus(status_);
    Q_EMIT statusChanged();
  }
  readCommands();
  readEvents();
  if (const double now = steady_seconds(); over || now >= lists_read_ + kSignalSeconds) {
    lists_read_ = now;
    readPlan();
    readResults();
    readTrace(over);
    readCheckpoints();
  }
  poll_us_[polls_++ % poll_us_.size()] = static_cast<float>(timer.nsecsElapsed()) / 1e3F;
  if (over) finish();
}

double SessionBridge::pollMicroseconds() const {
  const std::size_t count = std::min(polls_, poll_us_.size());
  if (count == 0) return 0;
  std::vector<float> costs(poll_us_.begin(), poll_us_.begin() + static_cast<std::ptrdiff_t>(count));
  const auto middle = costs.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(costs.begin(), middle, costs.end());
  return static_cast<double>(*middle);
}

void SessionBridge::readPlan() {
  const auto plan = port_->plan();
  if (plan == plan_) return;
  plan_ = plan;
  data_->setFolds(foldViews(*plan_));
  data_->setPlan(plan_);
  Q_EMIT planChanged();
}

// Mapped memory appears once the session is prepared.
void SessionBridge::attach() {
  if (ring_ || port_->telemetry() == nullptr) return;
  const kernels::MappedTelemetry& mapped = *port_->telemetry();
  ring_ = std::make_unique<telemetry::StepRingReader>(mapped);
  snapshots_ = std::make_unique<telemetry::SnapshotReader>(mapped);
  heartbeat_ = std::make_unique<telemetry::Heartbeat>(mapped);
}

void SessionBridge::readSteps(bool last) {
  if (!ring_) return;
  records_.clear();
  const double now = wall_seconds();
  if (ring_->drain(records_) > 0) data_->appendSteps(records_, now);
  heartbeat_->age();
  if (now < signals_read_ + kSignalSeconds && !last) return;
  telemetry::Snapshot snapshot;
  if (!snapshots_->read(snapshot)) return;
  if (snapshot.signal_step == signal_step_ && snapshot.health.step == health_step_) return;
  signals_read_ = now;
  health_step_ = snapshot.health.step;
  if (snapshot.signal_step == signal_step_) return data_->setSnapshot(snapshot);
  signal_step_ = snapshot.signal_step;
  const std::vector<double> values(std::begin(snapshot.signals), std::end(snapshot.signals));
  data_->appendSignals(snapshot.signal_step, values);
  data_->setSnapshot(snapshot);
}

// Records that are done never change: only those from the first unsettled one on are read again.
void SessionBridge::readCommands() {
  std::size_t settled = 0;
  while (settled < commands_.size() && commands_[settled].stage >= CommandRecord::Stage::done) ++settled;
  std::vector<CommandRecord> fresh = port_->commands(settled);
  std::vector<quint64> changed;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const std::size_t at = settled + i;
    if (at < commands_.size() && commands_[at].stage == fresh[i].stage) continue;
    changed.push_back(fresh[i].number);
    if (at < commands_.size()) {
      commands_[at] = std::move(fresh[i]);
    } else {
      commands_.push_back(std::move(fresh[i]));
    }
  }
  for (const quint64 number : changed) {
    const CommandRecord& record = commands_.at(number - 1);
    if (record.command.kind == CommandKind::set_value && record.stage == CommandRecord::Stage::done && config_) {
      set_field(*config_, record.command.field, record.command.value);
      data_->setConfiguration(to_json(*config_));
    }
    Q_EMIT commandChanged(number);
  }
}

void SessionBridge::readEvents() {
  const std::vector<SessionEvent> fresh = port_->events(events_read_);
  if (fresh.empty()) return;
  events_read_ += fresh.size();
  std::vector<EventView> views;
  for (const SessionEvent& event : fresh) views.push_back(eventView(event));
  data_->addEvents(std::move(views));
}

void SessionBridge::readResults() {
  if (!plan_) return;
  auto fresh = port_->results();
  if (fresh == results_) return;
  results_ = std::move(fresh);
  std::vector<std::shared_ptr<const EpochView>> epochs;
  for (const auto& fold : results_) {
    for (const auto& epoch : fold->epochs) {
      const bool best = fold->best_step == epoch->step;
      const auto known = std::find_if(data_->epochs().begin(), data_->epochs().end(), [&](const auto& view) {
        return view->fold == fold->index && view->step == epoch->step && view->best == best;
      });
      epochs.push_back(known != data_->epochs().end() ? *known : epochView(*fold, *epoch, *plan_));
    }
  }
  data_->setEpochs(std::move(epochs));
}

// A pointer once an epoch, while a panel shows it; the last one in any case, for panels that are opened later.
void SessionBridge::readTrace(bool last) {
  if (last || data_->evaluation()->wanted()) data_->evaluation()->setLive(port_->trace());
}

void SessionBridge::readCheckpoints() {
  auto fresh = port_->checkpoints();
  // A checkpoint is often there before the validation of its step.
  const std::size_t validations = data_->epochs().size();
  if (fresh == checkpoints_ && validations == validations_) return;
  checkpoints_ = std::move(fresh);
  validations_ = validations;
  std::vector<CheckpointView> views;
  for (const auto& file : checkpoints_) {
    const auto known = std::find_if(data_->checkpoints().begin(), data_->checkpoints().end(),
                                    [&](const CheckpointView& view) { return view.file == file; });
    CheckpointView view = checkpointView(file, results_);
    if (known != data_->checkpoints().end()) view.wall = known->wall;
    view.epoch = data_->epochOfStep(view.step).value_or(view.epoch);
    views.push_back(std::move(view));
  }
  data_->setCheckpoints(std::move(views));
}

void SessionBridge::finish() {
  finished_ = true;
  torn_ = torn();
  missed_ = missed();
  ring_.reset();
  snapshots_.reset();
  heartbeat_.reset();
  destroyElsewhere(std::move(port_));
  if (status_->state == SessionState::failed) Q_EMIT failed(QString::fromStdString(status_->reason));
  Q_EMIT ended();
}

}  // namespace foxhunt::ui
