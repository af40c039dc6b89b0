// Writes queued rows into run.sqlite, one transaction a batch.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/run/run_tables.h"
#include "engine/run/sqlite.h"

namespace foxhunt::detail {

struct PendingRow {
  RunTable table = RunTable::events;
  std::vector<double>
      numbers;  // telemetry: leading columns, then values (a bucket: means, minima, maxima, counts of not finite ones)
  RunRecord record;      // the other tables
  bool removal = false;  // of the rows whose columns are as in the record
  std::size_t bytes() const;
};

class RowWriter {
 public:
  RowWriter(const std::filesystem::path& file, const TelemetryColumns& columns, std::int64_t max_bytes);

  // All or none; throws Error.
  void write(const std::deque<PendingRow>& rows);
  std::size_t width(RunTable table) const { return widths_.at(table); }  // values of a telemetry row

 private:
  void write_row(const PendingRow& row);
  void write_numbers(RunTable table, std::span<const double> lead, std::span<const double> values,
                     std::optional<std::int64_t> id);
  void write_record(const PendingRow& row);
  void remove_rows(const PendingRow& row);
  void prepare_telemetry(RunTable table, const std::vector<std::string>& lead, std::span<const RunColumn> columns);

  Database database_;
  std::map<RunTable, std::size_t> widths_;
  std::map<RunTable, Statement> inserts_;              // of the telemetry tables
  std::map<RunTable, std::set<std::string>> present_;  // columns of the others
  std::map<std::string, Statement> record_inserts_;    // by SQL text
};

}  // namespace foxhunt::detail
