// Telemetry rows have fixed prepared statements; records have one for each set of columns seen.
#include "engine/run/row_writer.h"

#include <cmath>

#include "engine/base/error.h"
#include "engine/base/log.h"

namespace foxhunt::detail {
namespace {

struct TypeOf {
  const char* operator()(std::monostate) const { return ""; }
  const char* operator()(std::int64_t) const { return "INTEGER"; }
  const char* operator()(double) const { return "REAL"; }
  const char* operator()(const std::string&) const { return "TEXT"; }
};

struct Binder {
  Statement& statement;
  int parameter;
  void operator()(std::monostate) const { statement.bind_null(parameter); }
  void operator()(std::int64_t value) const { statement.bind(parameter, value); }
  void operator()(double value) const {
    if (std::isnan(value)) return statement.bind(parameter, std::string_view("nan"));
    statement.bind(parameter, value);
  }
  void operator()(const std::string& value) const { statement.bind(parameter, std::string_view(value)); }
};

}  // namespace

std::size_t PendingRow::bytes() const {
  std::size_t sum = sizeof(PendingRow) + numbers.size() * sizeof(double);
  for (const auto& [name, value] : record) {
    sum += sizeof(RunRecord::value_type) + name.size();
    if (const auto* text = std::get_if<std::string>(&value)) sum += text->size();
  }
  return sum;
}

RowWriter::RowWriter(const std::filesystem::path& file, const TelemetryColumns& columns, std::int64_t max_bytes)
    : database_(file, Database::Mode::create, max_bytes) {
  Statement journal(database_, "PRAGMA journal_mode = WAL");
  if (journal.step() && journal.text(0) != "wal") {
    log_warning("{}: the file system allows no write-ahead log; readers may have to wait", file.string());
  }
  journal.reset();
  // A kill of the process loses nothing committed; a power cut may lose the last commits, never the file.
  database_.execute("PRAGMA synchronous = NORMAL");
  // Tables and telemetry's columns appear at once: a reader sees all of them or none.
  database_.execute("BEGIN IMMEDIATE");
  migrate_run_database(database_);
  prepare_telemetry(RunTable::steps, {"wall", "bucket"}, columns.steps);
  prepare_telemetry(RunTable::steps_min, {"id"}, columns.steps);
  prepare_telemetry(RunTable::steps_max, {"id"}, columns.steps);
  prepare_telemetry(RunTable::steps_not_finite, {"id"}, columns.steps);
  prepare_telemetry(RunTable::health, {"wall"}, columns.health);
  prepare_telemetry(RunTable::signals, {"wall", "step", "fold", "epoch"}, columns.signals);
  database_.execute("COMMIT");
}

void RowWriter::prepare_telemetry(RunTable table, const std::vector<std::string>& lead,
                                  std::span<const RunColumn> columns) {
  add_columns(database_, table, columns);
  std::string names, places;
  const auto add = [&](const std::string& name) {
    names += (names.empty() ? "" : ", ") + sql_name(name);
    places += places.empty() ? "?" : ", ?";
  };
  for (const std::string& name : lead) add(name);
  std::set<std::string> seen(lead.begin(), lead.end());
  for (const RunColumn& column : columns) {
    FH_CHECK(seen.insert(column.name).second && column.name != "id", "the column {} of {} twice", column.name,
             table_name(table));
    add(column.name);
  }
  widths_[table] = columns.size();
  inserts_.emplace(
      table, Statement(database_, fmt::format("INSERT INTO {} ({}) VALUES ({})", table_name(table), names, places)));
}

void RowWriter::write(const std::deque<PendingRow>& rows) {
  database_.execute("BEGIN IMMEDIATE");
  try {
    for (const PendingRow& row : rows) write_row(row);
    database_.execute("COMMIT");
  } catch (...) {
    // After some errors SQLite has rolled back by itself; then this one fails, which changes nothing.
    try {
      database_.execute("ROLLBACK");
    } catch (const Error&) {
    }
    present_.clear();  // columns that this transaction added are gone again
    record_inserts_.clear();
    throw;
  }
}

void RowWriter::write_numbers(RunTable table, std::span<const double> lead, std::span<const double> values,
                              std::optional<std::int64_t> id) {
  Statement& insert = inserts_.at(table);
  int parameter = 0;
  if (id) insert.bind(++parameter, *id);
  for (const double x : lead) insert.bind(++parameter, x);
  for (const double x : values) insert.bind(++parameter, x);
  insert.run();
}

void RowWriter::write_row(const PendingRow& row) {
  if (row.removal) return remove_rows(row);
  if (!is_telemetry(row.table)) return write_record(row);
  const std::span<const double> numbers(row.numbers);
  const std::size_t width = widths_.at(row.table);
  const std::size_t lead = row.table == RunTable::steps ? 2 : row.table == RunTable::signals ? 4 : 1;
  write_numbers(row.table, numbers.first(lead), numbers.subspan(lead, width), {});
  if (numbers.size() == lead + width) return;
  const std::int64_t id = database_.last_id();
  write_numbers(RunTable::steps_min, {}, numbers.subspan(lead + width, width), id);
  write_numbers(RunTable::steps_max, {}, numbers.subspan(lead + 2 * width, width), id);
  write_numbers(RunTable::steps_not_finite, {}, numbers.subspan(lead + 3 * width, width), id);
}

void RowWriter::remove_rows(const PendingRow& row) {
  std::string sql = fmt::format("DELETE FROM {} WHERE ", table_name(row.table));
  for (std::size_t i = 0; i < row.record.size(); ++i)
    sql += fmt::format("{}{} = ?{}", i ? " AND " : "", sql_name(row.record[i].first), i + 1);
  Statement statement(database_, sql);
  for (std::size_t i = 0; i < row.record.size(); ++i)
    std::visit(Binder{statement, static_cast<int>(i) + 1}, row.record[i].second);
  statement.run();
}

void RowWriter::write_record(const PendingRow& row) {
  std::set<std::string>& present = present_[row.table];
  if (present.empty()) {
    for (std::string& name : column_names(database_, row.table)) present.insert(std::move(name));
  }
  std::string sql = fmt::format("INSERT INTO {} (", table_name(row.table)), places;
  for (const auto& [name, value] : row.record) {
    if (present.insert(name).second) {
      database_.execute(fmt::format("ALTER TABLE {} ADD COLUMN {} {}", table_name(row.table), sql_name(name),
                                    std::visit(TypeOf{}, value)));
    }
    sql += (places.empty() ? "" : ", ") + sql_name(name);
    places += places.empty() ? "?" : ", ?";
  }
  sql += ") VALUES (" + places + ")";
  auto found = record_inserts_.find(sql);
  if (found == record_inserts_.end()) found = record_inserts_.emplace(sql, Statement(database_, sql)).first;
  int parameter = 0;
  for (const auto& [name, value] : row.record) std::visit(Binder{found->second, ++parameter}, value);
  found->second.run();
}

}  // namespace foxhunt::detail
