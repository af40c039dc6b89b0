// The reading side of a run folder, for a finished run and for one that another process is writing.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/run/run_info.h"
#include "engine/run/run_store.h"
#include "engine/run/run_tables.h"

namespace foxhunt {

class Database;

// Numeric columns of some rows.
struct RunRows {
  std::vector<std::string> columns;
  std::vector<std::int64_t> ids;  // [n], rising
  std::vector<std::vector<double>>
      values;  // [columns][n]; NaN where NaN was written (and, outside telemetry, where nothing was)
};

// One thread at a time.
class RunReader {
 public:
  // Throws Error for a folder without run.json. A run that has written no history yet has empty tables. `problem()`
  // tells of a history that cannot be read; the rest of the run can.
  static RunReader open(const std::filesystem::path& folder);
  RunReader(RunReader&&) noexcept;
  RunReader& operator=(RunReader&&) noexcept;
  ~RunReader();

  const std::filesystem::path& folder() const { return folder_; }
  RunInfo info() const;                                    // read anew at each call
  bool running() const;                                    // some process controls it now
  const std::string& problem() const { return problem_; }  // sentence, or empty

  // All throw Error for a damaged database; all are empty while there is none.
  std::vector<RunColumn> columns(RunTable table) const;  // in the order of the table, without "id"
  std::int64_t last_id(RunTable table) const;            // 0: no rows
  std::int64_t last_step() const;                        // number of the last recorded step; 0: none
  // Rows with id > after, at most `limit`. `wanted`: names of numeric columns in the order asked for; empty: all
  // numeric ones.
  RunRows rows(RunTable table, std::int64_t after = 0, std::int64_t limit = 1'000'000,
               const std::vector<std::string>& wanted = {}) const;
  // Rows with their id as first field, one call each, in order; the callback returns false to stop.
  void visit(RunTable table, std::int64_t after,
             const std::function<bool(std::int64_t id, const RunRecord& row)>& use) const;
  std::vector<RunRecord> records(RunTable table, std::int64_t after = 0, std::int64_t limit = 1'000'000) const;

  struct Event : RunEvent {
    std::int64_t id = 0;
  };
  struct Checkpoint : RunCheckpoint {
    std::int64_t id = 0;
    std::filesystem::path file;  // absolute; empty when the path leads outside the run
    std::string problem;         // why the file cannot be used, or empty
  };
  std::vector<Event> events(std::int64_t after = 0) const;
  std::vector<Checkpoint> checkpoints() const;  // oldest first, without periodic ones that were removed for newer ones

 private:
  explicit RunReader(std::filesystem::path folder);
  const Database* database() const;  // opens it when it has come; null while there is none

  std::filesystem::path folder_;
  mutable std::unique_ptr<Database> database_;
  mutable std::string problem_;
};

}  // namespace foxhunt
