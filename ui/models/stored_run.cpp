// Reading of run.json and run.sqlite in batches, and following their growth.
#include "ui/models/stored_run.h"

#include <QElapsedTimer>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "engine/base/error.h"
#include "engine/run/run_list.h"
#include "engine/run/run_reader.h"
#include "engine/telemetry/tables.h"

namespace foxhunt::ui {
namespace {

constexpr std::int64_t kRowsABatch = 500;
constexpr std::size_t kBatchesPending = 8;
constexpr double kFollowSeconds = 0.5;
constexpr qint64 kFrameMilliseconds = 8;

double number(const RunRecord& row, const char* column) {
  const RunValue value = value_of(row, column);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return kNone;
}

int whole(const RunRecord& row, const char* column) {
  const RunValue value = value_of(row, column);
  const auto* found = std::get_if<std::int64_t>(&value);
  return found ? static_cast<int>(*found) : 0;
}

std::string text(const RunRecord& row, const char* column) {
  const RunValue value = value_of(row, column);
  const auto* found = std::get_if<std::string>(&value);
  return found ? *found : std::string();
}

SessionState stateOf(const std::string& status) {
  for (int s = 0; s <= static_cast<int>(SessionState::failed); ++s) {
    if (status == state_name(static_cast<SessionState>(s))) return static_cast<SessionState>(s);
  }
  return SessionState::stopped;  // interrupted
}

// Name of a telemetry word as a column of the run's tables, and where it stands in the engine's table; -1 for others.
std::vector<int> wordsOf(const std::vector<RunColumn>& columns, std::span<const telemetry::TableEntry> table) {
  std::vector<int> words;
  for (const RunColumn& column : columns) words.push_back(telemetry::find_entry(table, column.label));
  return words;
}

}  // namespace

// What the reading thread does; lives on that thread alone.
class StoredRunReading {
 public:
  StoredRunReading(std::shared_ptr<StoredRun::Shared> shared, RunReader reader)
      : shared_(std::move(shared)), reader_(std::move(reader)) {}

  // One look at everything that is new; false: stop.
  bool look() { return status() && events() && steps() && signals() && health() && epochs() && checkpoints(); }
  bool running() const { return reader_.running(); }

 private:
  bool push(StoredRun::Batch batch) { return shared_->push(std::move(batch)); }
  bool status();
  bool events();
  bool steps();
  bool signals();
  bool health();
  bool epochs();
  bool checkpoints();
  std::vector<RunData::StepRow> stepRows(std::int64_t after, std::int64_t limit, std::int64_t& last);
  std::shared_ptr<EpochView>& epochAt(int fold, int epoch);
  void readEquity();
  void readTrades();

  std::shared_ptr<StoredRun::Shared> shared_;
  RunReader reader_;
  std::int64_t event_ = 0, step_ = 0, signal_ = 0, health_ = 0, evaluation_ = 0, equity_ = 0, trade_ = 0;
  std::int64_t checkpoint_evaluation_ = 0;
  std::size_t checkpoint_count_ = 0;
  std::string status_text_;
  std::map<std::pair<int, int>, std::shared_ptr<EpochView>> epochs_;
};

bool StoredRunReading::status() {
  const RunSummary summary = summarize_run(reader_.folder());
  if (!summary.info) throw Error(summary.problem, {.file = reader_.folder().string()});
  const RunInfo& info = *summary.info;
  SessionStatus status;
  status.state = stateOf(summary.status);
  status.reason = info.reason;
  status.run_folder = reader_.folder();
  status.device = info.device;
  status.step = static_cast<std::uint64_t>(std::max<std::int64_t>(0, info.steps));
  status.fold = static_cast<int>(info.fold);
  status.epoch = static_cast<int>(info.epoch);
  const auto& c = info.configuration;
  if (c.contains("folds")) status.folds = c.at("folds").value("count", 0);
  if (c.contains("training")) {
    status.epochs = c.at("training").value("epochs", 0);
    status.steps_per_epoch = c.at("training").value("steps_per_epoch", std::uint64_t{0});
  }
  const QString word = summary.status == "interrupted" ? RunData::tr("Interrupted") : QString();
  const bool first = status_text_.empty();
  status_text_ = summary.status;
  const bool following = summary.running;
  return push([status, word, first, following, configuration = first ? c : nlohmann::ordered_json()](StoredRun& run) {
    run.following_ = following;
    if (first) {
      run.data_->setConfiguration(configuration);
      run.data_->setFolds(std::vector<FoldView>(static_cast<std::size_t>(std::max(0, status.folds))));
    }
    SessionStatus now = status;
    now.step = std::max<std::uint64_t>(now.step, run.data_->lastStep());
    run.data_->setStatus(std::make_shared<const SessionStatus>(now), word);
  });
}

bool StoredRunReading::events() {
  std::vector<EventView> views;
  for (const RunReader::Event& event : reader_.events(event_)) {
    event_ = event.id;
    EventView view;
    view.wall = event.wall;
    view.step = static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.step));
    view.fold = static_cast<int>(event.fold);
    view.epoch = static_cast<int>(event.epoch);
    view.kind = QString::fromStdString(event.kind);
    view.source = QString::fromStdString(event.source.empty() ? "session" : event.source);
    view.severity = QString::fromStdString(event.severity);
    view.message = QString::fromStdString(event.message);
    views.push_back(std::move(view));
  }
  if (views.empty()) return true;
  return push([views = std::move(views)](StoredRun& run) { run.data_->addEvents(views); });
}

std::vector<RunData::StepRow> StoredRunReading::stepRows(std::int64_t after, std::int64_t limit, std::int64_t& last) {
  const auto table = telemetry::step_table();
  const std::vector<RunColumn> columns = reader_.columns(RunTable::steps);
  std::vector<std::string> names = {"wall", "bucket"};
  std::vector<int> words;
  for (const RunColumn& column : columns) {
    const int word = telemetry::find_entry(table, column.label);
    if (word < 0) continue;
    words.push_back(word);
    names.push_back(column.name);
  }
  const RunRows mean = reader_.rows(RunTable::steps, after, limit, names);
  std::vector<RunData::StepRow> rows(mean.ids.size());
  std::map<std::int64_t, std::size_t> buckets;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RunData::StepRow& row = rows[i];
    row.mean.fill(0);
    row.min.fill(kNone);
    row.max.fill(kNone);
    row.not_finite.fill(0);
    row.wall = mean.values[0][i];
    row.count = mean.values[1][i] > 1 ? static_cast<std::uint64_t>(mean.values[1][i]) : 1;
    for (std::size_t w = 0; w < words.size(); ++w) row.mean[static_cast<std::size_t>(words[w])] = mean.values[w + 2][i];
    if (row.count > 1) buckets[mean.ids[i]] = i;
    last = mean.ids[i];
  }
  if (buckets.empty()) return rows;
  const std::vector<std::string> values(names.begin() + 2, names.end());
  const auto merge = [&](RunTable which, auto member) {
    const RunRows found = reader_.rows(which, after, static_cast<std::int64_t>(buckets.size()), values);
    for (std::size_t i = 0; i < found.ids.size(); ++i) {
      const auto at = buckets.find(found.ids[i]);
      if (at == buckets.end()) continue;
      for (std::size_t w = 0; w < words.size(); ++w) {
        (rows[at->second].*member)[static_cast<std::size_t>(words[w])] = found.values[w][i];
      }
    }
  };
  merge(RunTable::steps_min, &RunData::StepRow::min);
  merge(RunTable::steps_max, &RunData::StepRow::max);
  merge(RunTable::steps_not_finite, &RunData::StepRow::not_finite);
  return rows;
}

bool StoredRunReading::steps() {
  for (;;) {
    std::vector<RunData::StepRow> rows = stepRows(step_, kRowsABatch, step_);
    if (rows.empty()) return true;
    if (!push([rows = std::move(rows)](StoredRun& run) { run.data_->appendRows(rows); })) return false;
  }
}

bool StoredRunReading::signals() {
  const std::vector<RunColumn> columns = reader_.columns(RunTable::signals);
  const std::vector<int> words = wordsOf(columns, telemetry::signal_table());
  std::vector<std::string> names = {"step"};
  std::vector<int> known;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (words[i] < 0) continue;
    names.push_back(columns[i].name);
    known.push_back(words[i]);
  }
  if (known.empty()) return true;
  for (;;) {
    const RunRows found = reader_.rows(RunTable::signals, signal_, 400, names);
    if (found.ids.empty()) return true;
    signal_ = found.ids.back();
    std::vector<std::pair<std::uint64_t, std::vector<double>>> rows;
    for (std::size_t i = 0; i < found.ids.size(); ++i) {
      if (!(found.values[0][i] >= 0)) continue;
      std::vector<double> values(kernels::kSignals, 0.0);
      for (std::size_t w = 0; w < known.size(); ++w)
        values[static_cast<std::size_t>(known[w])] = found.values[w + 1][i];
      rows.emplace_back(static_cast<std::uint64_t>(found.values[0][i]), std::move(values));
    }
    const bool pushed = push([rows = std::move(rows)](StoredRun& run) {
      for (const auto& [step, values] : rows) run.data_->appendSignals(step, values);
      if (rows.empty()) return;
      telemetry::Snapshot snapshot = run.data_->snapshot().value_or(telemetry::Snapshot{});
      for (std::size_t s = 0; s < rows.back().second.size(); ++s) {
        snapshot.signals[s] = static_cast<float>(rows.back().second[s]);
      }
      snapshot.signal_step = static_cast<std::uint32_t>(rows.back().first);
      run.data_->setSnapshot(snapshot);
    });
    if (!pushed) return false;
  }
}

// The newest rows alone: panels show words of HealthDiag as they stand and their latest trend.
bool StoredRunReading::health() {
  const std::int64_t last = reader_.last_id(RunTable::health);
  if (last <= health_) return true;
  const auto most = static_cast<std::int64_t>(RunData::health_rows);
  const std::int64_t after = std::max(health_, last - most);
  health_ = last;
  const std::vector<RunColumn> columns = reader_.columns(RunTable::health);
  const auto table = telemetry::health_table();
  std::vector<std::string> names;
  std::vector<int> words;
  for (const RunColumn& column : columns) {
    const int word = telemetry::find_entry(table, column.label);
    if (word < 0) continue;
    names.push_back(column.name);
    words.push_back(word);
  }
  const RunRows found = reader_.rows(RunTable::health, after, most, names);
  using Bits = std::array<std::uint32_t, kernels::kHealthWords>;
  std::vector<Bits> rows(found.ids.size(), Bits{});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t w = 0; w < words.size(); ++w) {
      const double value = found.values[w][i];
      const auto at = static_cast<std::size_t>(words[w]);
      rows[i][at] = table[at].type == telemetry::WordType::u32
                        ? (value >= 0 ? static_cast<std::uint32_t>(value) : 0)
                        : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
  }
  if (rows.empty()) return true;
  return push([rows = std::move(rows)](StoredRun& run) {
    for (const Bits& bits : rows) {
      telemetry::Snapshot snapshot = run.data_->snapshot().value_or(telemetry::Snapshot{});
      std::memcpy(&snapshot.health, bits.data(), sizeof snapshot.health);
      snapshot.health_snapshots = 1;
      run.data_->setSnapshot(snapshot);
    }
  });
}

std::shared_ptr<EpochView>& StoredRunReading::epochAt(int fold, int epoch) {
  auto& view = epochs_[{fold, epoch}];
  if (!view) {
    view = std::make_shared<EpochView>();
    view->fold = fold;
    view->epoch = epoch;
  } else {
    view = std::make_shared<EpochView>(*view);  // what was handed over is not touched
  }
  return view;
}

void StoredRunReading::readEquity() {
  reader_.visit(RunTable::equity, equity_, [&](std::int64_t id, const RunRecord& row) {
    equity_ = id;
    const auto found = epochs_.find({whole(row, "fold"), whole(row, "epoch")});
    if (found == epochs_.end()) return true;
    const std::string policy = text(row, "policy");
    EpochView& view = *found->second;
    EquityCurve& curve = policy == "agent"          ? view.equity
                         : policy == "buy_and_hold" ? view.buy_and_hold_equity
                                                    : view.random_equity;
    const double time = number(row, "time") / 1e9;
    // A fold that was trained again writes its window anew: the last one stands.
    if (!curve.times.empty() && time <= curve.times.back()) curve = {};
    curve.times.push_back(time);
    curve.values.push_back(number(row, "equity"));
    return true;
  });
}

void StoredRunReading::readTrades() {
  reader_.visit(RunTable::trades, trade_, [&](std::int64_t id, const RunRecord& row) {
    trade_ = id;
    const auto found = epochs_.find({whole(row, "fold"), whole(row, "epoch")});
    if (found == epochs_.end()) return true;
    found->second->trades.push_back({number(row, "entry_time") / 1e9, number(row, "exit_time") / 1e9,
                                     number(row, "contracts"), number(row, "entry_price"), number(row, "exit_price"),
                                     number(row, "net"), whole(row, "bars"), number(row, "costs"), whole(row, "why")});
    return true;
  });
}

bool StoredRunReading::epochs() {
  if (reader_.last_id(RunTable::evaluations) <= evaluation_ && reader_.last_id(RunTable::equity) <= equity_)
    return true;
  for (auto& [key, view] : epochs_) view = std::make_shared<EpochView>(*view);
  reader_.visit(RunTable::evaluations, evaluation_, [&](std::int64_t id, const RunRecord& row) {
    evaluation_ = id;
    const std::string policy = text(row, "policy");
    auto& view = epochAt(whole(row, "fold"), whole(row, "epoch"));
    MetricList metrics;
    for (const auto& [name, value] : row) {
      if (name == "id" || name == "wall" || name == "step" || name == "fold" || name == "epoch" || name == "window" ||
          name == "policy") {
        continue;
      }
      metrics.emplace_back(name, number(row, name.c_str()));
    }
    view->step = static_cast<std::uint64_t>(whole(row, "step"));
    if (policy == "agent") {
      view->agent = std::move(metrics);
      view->trades.clear();
    } else if (policy == "flat") {
      view->flat = std::move(metrics);
    } else if (policy == "buy_and_hold") {
      view->buy_and_hold = std::move(metrics);
    } else {
      view->random = std::move(metrics);
    }
    return true;
  });
  readEquity();
  readTrades();
  std::map<int, std::pair<double, std::shared_ptr<EpochView>>> best;
  for (auto& [key, view] : epochs_) {
    view->best = false;
    const double sharpe = metricOf(view->agent, "sharpe");
    const double score = std::isfinite(sharpe) ? sharpe : 0;
    auto& top = best[key.first];
    if (!top.second || score > top.first) top = {score, view};
  }
  for (auto& [fold, top] : best) top.second->best = true;
  // Buy and hold is stored once a fold, with its first epoch; random differs from epoch to epoch.
  std::map<int, const EpochView*> firsts;
  for (auto& [key, view] : epochs_) {
    if (!view->buy_and_hold_equity.values.empty()) firsts[key.first] = view.get();
  }
  std::vector<std::shared_ptr<const EpochView>> views;
  for (auto& [key, view] : epochs_) {
    if (const auto first = firsts.find(key.first); first != firsts.end() && first->second != view.get()) {
      view->buy_and_hold_equity = first->second->buy_and_hold_equity;
    }
    views.push_back(view);
  }
  return push([views = std::move(views)](StoredRun& run) {
    std::vector<FoldView> folds = run.data_->folds();
    for (const auto& view : views) {
      const auto at = static_cast<std::size_t>(view->fold);
      if (at >= folds.size()) folds.resize(at + 1);
      if (view->equity.times.empty()) continue;
      folds[at].validation_first = view->equity.times.front();
      folds[at].validation_last = view->equity.times.back();
    }
    run.data_->setFolds(std::move(folds));
    run.data_->setEpochs(views);
  });
}

bool StoredRunReading::checkpoints() {
  const auto found = reader_.checkpoints();
  if (found.size() == checkpoint_count_ && evaluation_ == checkpoint_evaluation_) return true;
  checkpoint_count_ = found.size();
  checkpoint_evaluation_ = evaluation_;
  std::vector<CheckpointView> views;
  for (const RunReader::Checkpoint& checkpoint : found) {
    CheckpointView view;
    view.file = checkpoint.file;
    view.wall = checkpoint.wall;
    view.step = static_cast<std::uint64_t>(std::max<std::int64_t>(0, checkpoint.step));
    view.fold = static_cast<int>(checkpoint.fold);
    view.epoch = static_cast<int>(checkpoint.epoch);
    view.reason = QString::fromStdString(checkpoint.reason);
    view.kind = QString::fromStdString(checkpoint.kind);
    view.bytes = checkpoint.bytes;
    view.rejected = checkpoint.rejected;
    view.problem = QString::fromStdString(checkpoint.problem);
    const auto metrics = nlohmann::ordered_json::parse(checkpoint.metrics, nullptr, false);
    if (metrics.is_object()) {
      for (const auto& [name, value] : metrics.items()) {
        view.metrics.emplace_back(name, value.is_number() ? value.get<double>() : kNone);
      }
    }
    // One that was written before its step was validated has no metrics of its own.
    for (const auto& [place, epoch] : epochs_) {
      if (view.metrics.empty() && place.first == view.fold && epoch->step == view.step) view.metrics = epoch->agent;
    }
    views.push_back(std::move(view));
  }
  return push([views = std::move(views)](StoredRun& run) { run.data_->setCheckpoints(views); });
}

bool StoredRun::Shared::push(Batch batch) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return stop || batches.size() < kBatchesPending; });
  if (stop) return false;
  batches.push_back(std::move(batch));
  return true;
}

bool StoredRun::Shared::pause(double seconds) {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return stop; });
  return !stop;
}

StoredRun::StoredRun(FrameClock* clock, RunData* data, QObject* parent) : QObject(parent), data_(data) {
  clock->addReader(this, [this] { takeOver(); });
}

StoredRun::~StoredRun() {
  close();
}

void StoredRun::close() {
  if (shared_) {
    const std::scoped_lock lock(shared_->mutex);
    shared_->stop = true;
    shared_->changed.notify_all();
  }
  shared_.reset();
  open_ = loaded_ = following_ = false;
}

void StoredRun::open(const std::filesystem::path& folder) {
  close();
  open_ = true;
  shared_ = std::make_shared<Shared>();
  data_->begin(RunData::Source::stored, QString::fromStdString(folder.filename().string()), folder);
  std::thread([shared = shared_, folder] {
    try {
      StoredRunReading reading(shared, RunReader::open(folder));
      bool running = true;
      for (bool first = true; running; first = false) {
        running = reading.running();  // before the look: what was written until it ended is seen
        if (!reading.look()) return;
        if (first) {
          const bool told = shared->push([](StoredRun& run) {
            run.loaded_ = true;
            Q_EMIT run.loadedChanged();
          });
          if (!told) return;
        }
        if (running && !shared->pause(kFollowSeconds)) return;
      }
    } catch (const Error& error) {
      shared->push(
          [sentence = QString::fromStdString(error.sentence())](StoredRun& run) { Q_EMIT run.failed(sentence); });
    } catch (const std::exception& error) {
      shared->push([sentence = QString::fromLocal8Bit(error.what())](StoredRun& run) { Q_EMIT run.failed(sentence); });
    }
  }).detach();
}

void StoredRun::takeOver() {
  const auto shared = shared_;
  if (!shared) return;
  QElapsedTimer timer;
  timer.start();
  while (timer.elapsed() < kFrameMilliseconds) {
    Batch batch;
    {
      const std::scoped_lock lock(shared->mutex);
      if (shared->stop || shared->batches.empty()) return;
      batch = std::move(shared->batches.front());
      shared->batches.pop_front();
      shared->changed.notify_all();
    }
    batch(*this);
  }
}

}  // namespace foxhunt::ui
