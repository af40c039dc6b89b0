// Draining, grouping, and the thread that does it.
#include "engine/telemetry/recorder.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/log.h"

namespace foxhunt::telemetry {
namespace {

double wall_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

void write_rows(std::span<const StepRow> rows, std::size_t allowed, TelemetrySink& sink, RecorderState& state) {
  if (rows.empty()) return;
  allowed = std::max<std::size_t>(allowed, 1);
  if (rows.size() <= allowed) {
    sink.step_rows(rows);
    state.rows += rows.size();
    return;
  }
  const std::size_t size = (rows.size() + allowed - 1) / allowed;
  for (std::size_t at = 0; at < rows.size(); at += size) {
    const auto part = rows.subspan(at, std::min(size, rows.size() - at));
    sink.step_bucket(make_bucket(part.back().wall, part));
    ++state.buckets;
  }
}

RunRecorder::RunRecorder(const kernels::MappedTelemetry& mapped, TelemetrySink& sink, const RecorderOptions& options)
    : options_(options),
      sink_(sink),
      ring_(mapped, options.next_step),
      snapshots_(mapped),
      flight_(options.flight_seconds),
      last_drain_(wall_now()),
      budget_(options.rows_per_second) {
  FH_CHECK(options.rows_per_second > 0 && options.pace_seconds > 0, "{} rows a second, a drain every {} s",
           options.rows_per_second, options.pace_seconds);
  Snapshot snapshot;
  if (snapshots_.read(snapshot)) {  // what was published before is not this recording's
    last_signal_step_ = snapshot.signal_step;
    last_snapshot_ = snapshot.health_snapshots;
  }
  thread_ = std::thread([this] { run(); });
}

RunRecorder::~RunRecorder() {
  {
    std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void RunRecorder::run() {
  const std::chrono::duration<double> pace(options_.pace_seconds);
  std::unique_lock lock(mutex_);
  do {
    wake_.wait_for(lock, pace, [this] { return stopping_; });
    drain();
  } while (!stopping_);
}

void RunRecorder::flush() {
  std::scoped_lock lock(mutex_);
  drain();
}

void RunRecorder::restart(std::uint64_t next_step) {
  std::scoped_lock lock(mutex_);
  drain();
  ring_.restart(next_step);
}

FlightReport RunRecorder::flight() {
  std::scoped_lock lock(mutex_);
  drain();
  return flight_.report();
}

RecorderState RunRecorder::state() const {
  std::scoped_lock lock(mutex_);
  return state_;
}

void RunRecorder::drain() {
  const double wall = wall_now();
  drain_steps(wall, std::max(wall - last_drain_, 0.0));
  drain_snapshot(wall);
  last_drain_ = wall;
}

void RunRecorder::into_sink(const std::function<void()>& write) {
  if (!state_.error.empty()) return;
  try {
    write();
  } catch (const std::exception& error) {
    state_.error = error.what();
    log_error("recording of telemetry has ended: {}", error.what());
  }
}

void RunRecorder::drain_steps(double wall, double elapsed) {
  records_.clear();
  rows_.clear();
  const std::uint64_t missed = ring_.missed();
  ring_.drain(records_);
  state_.drained = ring_.delivered();
  state_.missed = ring_.missed();
  state_.torn = ring_.torn();
  for (const StepRecord& record : records_) rows_.push_back({wall, record});
  flight_.add(rows_);
  into_sink([&] { write_steps(wall, elapsed, ring_.missed() - missed); });
  if (options_.rules) options_.rules->observe(rows_);
}

// Rows that a quiet moment did not use are kept for one second.
void RunRecorder::write_steps(double wall, double elapsed, std::uint64_t missed) {
  budget_ = std::min(budget_ + elapsed * options_.rows_per_second, options_.rows_per_second);
  if (missed > 0) sink_.missed_steps(wall, missed);
  if (rows_.empty()) return;
  const std::uint64_t before = state_.rows + state_.buckets;
  write_rows(rows_, static_cast<std::size_t>(std::max(budget_, 1.0)), sink_, state_);
  budget_ -= static_cast<double>(state_.rows + state_.buckets - before);
}

void RunRecorder::drain_snapshot(double wall) {
  Snapshot snapshot;
  const bool whole = snapshots_.read(snapshot);
  state_.torn_snapshots = snapshots_.torn();
  if (!whole) return;
  if (snapshot.signal_step != last_signal_step_) {
    FlightSignals signals{wall, snapshot.signal_step, {}};
    std::copy(std::begin(snapshot.signals), std::end(snapshot.signals), signals.signals.begin());
    flight_.add(signals);
  }
  const bool fresh = snapshot.health_snapshots != last_snapshot_;
  const bool due = wall - last_signals_ >= 1 / options_.signals_per_second;
  if (snapshot.signal_step != last_signal_step_ && (fresh || due)) {
    into_sink([&] { sink_.signals_row(wall, snapshot.signal_step, snapshot.signals); });
    if (options_.rules) options_.rules->observe_signals(wall, snapshot.signal_step, snapshot.signals);
    last_signals_ = wall;
  }
  last_signal_step_ = snapshot.signal_step;
  if (!fresh) return;
  into_sink([&] {
    sink_.health_row(wall, snapshot.health);
    ++state_.health_rows;
  });
  if (options_.rules) options_.rules->observe_health(wall, snapshot.health);
  state_.health_skipped += snapshot.health_snapshots - last_snapshot_ - 1;
  last_snapshot_ = snapshot.health_snapshots;
}

}  // namespace foxhunt::telemetry
