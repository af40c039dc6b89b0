// The recorder thread: drains the step ring at a steady pace into a sink, so that a run without a window loses nothing.
// Up to `rows_per_second` every step is a row; above that, consecutive steps are joined to buckets with exact minimum,
// maximum, mean and count.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/telemetry/flight_recorder.h"
#include "engine/telemetry/rule_monitor.h"
#include "engine/telemetry/step_ring_reader.h"

namespace foxhunt::telemetry {

struct RecorderOptions {
  double rows_per_second = 200;   // step rows
  double signals_per_second = 5;  // rows of the signal bus, while it moves
  double pace_seconds = 0.025;    // between drains: 4,096 records last that long up to 160,000 steps a second
  double flight_seconds = 10;
  std::uint64_t next_step = 0;   // as StepRingReader's
  RuleMonitor* rules = nullptr;  // sees every step that is drained, also after recording has ended; may be null
};

struct RecorderState {
  std::uint64_t drained = 0, missed = 0, torn = 0;  // steps
  std::uint64_t rows = 0, buckets = 0;              // given to the sink
  std::uint64_t health_rows = 0;
  std::uint64_t health_skipped = 0;  // snapshots replaced by the next before they were read
  std::uint64_t torn_snapshots = 0;  // envelope copies thrown away
  std::string error;                 // why the sink gave up; recording has ended then
};

// Groups one drain's rows: at most `allowed` rows or buckets come of them (at least one). Buckets hold ceil(n /
// allowed) consecutive rows; the last one may hold fewer.
void write_rows(std::span<const StepRow> rows, std::size_t allowed, TelemetrySink& sink, RecorderState& state);

class RunRecorder {
 public:
  // Starts the thread. The sink must outlive it.
  RunRecorder(const kernels::MappedTelemetry& mapped, TelemetrySink& sink, const RecorderOptions& options = {});
  ~RunRecorder();  // drains once more
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;

  // Drains now, on the calling thread: what was published before is in the sink on return. At an epoch's end, so that
  // its HealthDiag row is there.
  void flush();
  // The step number goes on at `next_step` (a checkpoint was loaded).
  void restart(std::uint64_t next_step);
  // Flushes and returns the last seconds at full rate.
  FlightReport flight();
  RecorderState state() const;

 private:
  void run();
  void drain();                                        // with mutex_ held
  void into_sink(const std::function<void()>& write);  // unless recording has ended
  void drain_steps(double wall, double elapsed);
  void write_steps(double wall, double elapsed, std::uint64_t missed);
  void drain_snapshot(double wall);

  RecorderOptions options_;
  TelemetrySink& sink_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  StepRingReader ring_;
  SnapshotReader snapshots_;
  FlightRecorder flight_;
  RecorderState state_;
  std::vector<StepRecord> records_;
  std::vector<StepRow> rows_;
  double last_drain_ = 0, last_signals_ = 0;  // wall seconds
  std::uint32_t last_signal_step_ = 0, last_snapshot_ = 0;
  double budget_ = 0;  // rows that may be written now
  std::thread thread_;
};

}  // namespace foxhunt::telemetry
