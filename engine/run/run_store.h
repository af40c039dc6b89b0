// The writing side of a run folder. Rows are queued by the caller in microseconds and committed by a thread of the
// store at least every second, so that a kill at any moment loses at most one second. A full disk is reported and
// retried; it never stops the caller.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/base/error.h"
#include "engine/run/run_info.h"
#include "engine/run/run_tables.h"

namespace foxhunt {

struct RunStoreOptions {
  double commit_seconds = 0.5;  // longest a row waits; at most 1
  std::int64_t max_bytes = 0;   // of run.sqlite; 0: the disk
  std::size_t max_pending_bytes =
      64 << 20;  // kept in memory while the disk is full; beyond it the oldest rows are lost and counted
};

struct RunStoreState {
  std::uint64_t rows_written = 0;  // committed
  std::uint64_t rows_pending = 0;
  std::uint64_t rows_lost = 0;
  std::optional<Error> error;  // of the last try; empty when it succeeded
};

struct RunEvent {
  double wall = 0;  // seconds since 1970 UTC; 0: now
  std::int64_t step = 0, fold = 0, epoch = 0;
  std::string kind;               // command, guard, checkpoint, fold, epoch, warning, setting, status, ...
  std::string source;             // who or which rule: "user", "q-drift", ...
  std::string severity = "info";  // info, warning, error
  std::string message;
  std::string details;  // JSON text, or empty
};

struct RunCheckpoint {
  double wall = 0;
  std::int64_t step = 0, fold = 0, epoch = 0;
  std::string reason;  // best, periodic, manual, stop, rejected
  std::string kind;    // model, full
  std::string path;    // relative to the run folder
  std::int64_t bytes = 0;
  bool rejected = false;
  std::string metrics;  // JSON text, or empty
};

// All members may be called from any thread.
class RunStore {
 public:
  // A new run in runs/<utc>-<slug>, or in exactly `folder` (absent or empty). Writes run.json, takes the lock, adds
  // log.txt to the log.
  static std::unique_ptr<RunStore> create(const std::filesystem::path& runs_folder, std::string_view slug, RunInfo info,
                                          const TelemetryColumns& columns, const RunStoreOptions& options = {});
  static std::unique_ptr<RunStore> create_at(const std::filesystem::path& folder, RunInfo info,
                                             const TelemetryColumns& columns, const RunStoreOptions& options = {});
  // An existing run, to go on with it. Throws Error naming the holder when another controller has it (RunReader reads
  // it all the same).
  static std::unique_ptr<RunStore> open(const std::filesystem::path& folder, const TelemetryColumns& columns,
                                        const RunStoreOptions& options = {});
  // Commits what is queued; the status stays as it is.
  ~RunStore();
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  const std::filesystem::path& folder() const;
  std::filesystem::path checkpoints_folder() const;
  std::filesystem::path flight_folder() const;

  // run.json. `change` gets the present content; the file is replaced after it. A file that cannot be written (a full
  // disk) is reported in the log and tried again with every commit.
  RunInfo info() const;
  void update_info(const std::function<void(RunInfo&)>& change);
  // Sets finished too, when the status is terminal.
  void set_status(const std::string& status, const std::string& reason = {});
  // Where training stands; takes microseconds. The file follows at least once a second.
  void set_progress(std::int64_t steps, std::int64_t fold, std::int64_t epoch);

  // Values in the order of TelemetryColumns; `wall` in seconds since 1970 UTC.
  void append_step(double wall, std::span<const double> values);
  // Stands for `count` steps; `not_finite`: how many of them had no finite value, per column.
  struct StepBucket {
    std::int64_t count = 1;
    std::vector<double> mean, min, max, not_finite;
  };
  void append_step_bucket(double wall, const StepBucket& bucket);
  void append_health(double wall, std::span<const double> values);
  void append_signals(double wall, std::int64_t step, std::int64_t fold, std::int64_t epoch,
                      std::span<const double> values);
  // epochs, evaluations, equity, trades, events, checkpoints.
  void append(RunTable table, RunRecord record);
  void append(const RunEvent& event);
  void append(const RunCheckpoint& checkpoint);
  // Takes the checkpoint of that relative path out of the list: its file was removed.
  void forget_checkpoint(const std::string& path);

  // Returns when all that was appended before is committed; throws the Error of the try when it could not be.
  void flush();
  RunStoreState state() const;

 private:
  struct Impl;
  explicit RunStore(std::unique_ptr<Impl> impl);
  static std::unique_ptr<RunStore> start(const std::filesystem::path& folder, std::optional<RunInfo> info,
                                         const TelemetryColumns& columns, const RunStoreOptions& options);
  std::unique_ptr<Impl> impl_;
};

}  // namespace foxhunt
