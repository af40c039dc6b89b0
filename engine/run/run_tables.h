// The tables of run.sqlite. Plain columns and one row a fact, so that any SQLite browser or pandas reads them.
//
// NaN: SQLite stores none. In the telemetry tables (steps, steps_min, steps_max, steps_not_finite, health, signals)
// NULL stands for NaN, since every value is always there. In the others NULL means "not available" and a NaN is the
// text 'nan'. Infinities are stored as such.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace foxhunt {

class Database;

enum class RunTable {
  steps,             // one row a step, or the means of `bucket` steps
  steps_min,         // where bucket > 1: least values, under the same id
  steps_max,         // and greatest
  steps_not_finite,  // and how many of its values were NaN or infinite; they are left out of mean, least and greatest
  health,            // HealthDiag snapshots
  signals,           // signal bus
  epochs,
  evaluations,  // metrics of a window and a policy (agent or a baseline)
  equity,       // curve of an evaluation, a row a bar
  trades,       // round trips of an evaluation
  events,
  checkpoints,
};
inline constexpr int kRunTables = 12;

const char* table_name(RunTable table);
// Whether NULL stands for NaN.
bool is_telemetry(RunTable table);

// A column whose text documents it in the table `columns`.
struct RunColumn {
  std::string name;   // a-z, 0-9, _
  std::string label;  // as the window shows it: "q.mean.direction"; may be empty
  std::string unit, group, meaning;
  bool whole = false;  // integers
};

// Columns of the telemetry tables, from the telemetry tables of the engine. steps must have "step"; "fold" and "epoch"
// are used where they are there.
struct TelemetryColumns {
  std::vector<RunColumn> steps, health, signals;
};

// One fact of the other tables, by column name; a column that the table lacks is added to it.
using RunValue = std::variant<std::monostate, std::int64_t, double, std::string>;  // monostate: not available
using RunRecord = std::vector<std::pair<std::string, RunValue>>;

// Value of a record, or monostate.
RunValue value_of(const RunRecord& record, const std::string& column);

inline constexpr int kRunSchemaVersion = 1;

// Brings a new or older database to the present schema; throws Error for one of a newer program.
void migrate_run_database(const Database& database);
// Refuses one of a newer program and one that is no run's; for readers.
void check_run_database(const Database& database);
// Adds to a table what it lacks of `columns`, and their documentation.
void add_columns(const Database& database, RunTable table, std::span<const RunColumn> columns);
std::vector<std::string> column_names(const Database& database, RunTable table);
void check_column_name(const std::string& name);

}  // namespace foxhunt
