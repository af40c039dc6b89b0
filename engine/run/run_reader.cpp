// Values are taken by their stored type: a text where a number belongs is 'nan' or a fault.
#include "engine/run/run_reader.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/error.h"
#include "engine/run/run_folder.h"
#include "engine/run/sqlite.h"

namespace foxhunt {
namespace {

struct NumberOf {
  double operator()(std::monostate) const { return std::nan(""); }
  double operator()(std::int64_t value) const { return static_cast<double>(value); }
  double operator()(double value) const { return value; }
  double operator()(const std::string&) const { return std::nan(""); }
};

std::int64_t whole(const RunRecord& row, const char* column) {
  const double x = std::visit(NumberOf{}, value_of(row, column));
  return std::isfinite(x) && std::abs(x) < 9e18 ? static_cast<std::int64_t>(x) : 0;
}

std::string text(const RunRecord& row, const char* column) {
  const RunValue value = value_of(row, column);
  const auto* held = std::get_if<std::string>(&value);
  return held ? *held : std::string();
}

RunValue value_at(const Statement& statement, int column, bool telemetry) {
  if (statement.is_null(column)) return telemetry ? RunValue(std::nan("")) : RunValue();
  if (statement.is_integer(column)) return statement.integer(column);
  if (statement.is_real(column)) return statement.real(column);
  return statement.text(column);
}

}  // namespace

RunReader::RunReader(std::filesystem::path folder) : folder_(std::move(folder)) {}
RunReader::RunReader(RunReader&&) noexcept = default;
RunReader& RunReader::operator=(RunReader&&) noexcept = default;
RunReader::~RunReader() = default;

RunReader RunReader::open(const std::filesystem::path& folder) {
  RunReader made(folder);
  made.info();
  try {
    made.database();
  } catch (const Error& error) {
    made.problem_ = error.sentence();
  }
  return made;
}

RunInfo RunReader::info() const {
  return read_run_info(folder_);
}

bool RunReader::running() const {
  return RunLock::is_held(folder_);
}

std::int64_t RunReader::last_step() const {
  const Database* database = this->database();
  if (!database) return 0;
  const auto present = column_names(*database, RunTable::steps);
  if (std::find(present.begin(), present.end(), "step") == present.end()) return 0;
  // Rows come in the order of their steps.
  return database->single_integer("SELECT coalesce((SELECT step FROM steps ORDER BY id DESC LIMIT 1), 0)");
}

const Database* RunReader::database() const {
  if (database_) return database_.get();
  const auto file = folder_ / "run.sqlite";
  if (!std::filesystem::exists(file)) return nullptr;
  auto opened = std::make_unique<Database>(file, Database::Mode::read_only);
  // A run that is just being made: the file is there, its tables are not yet.
  if (opened->single_integer("PRAGMA user_version") == 0 &&
      opened->single_integer("SELECT count(*) FROM sqlite_master") == 0)
    return nullptr;
  check_run_database(*opened);
  database_ = std::move(opened);
  problem_.clear();
  return database_.get();
}

std::vector<RunColumn> RunReader::columns(RunTable table) const {
  const Database* database = this->database();
  if (!database) return {};
  std::vector<RunColumn> columns;
  Statement statement(
      *database, fmt::format("SELECT t.name, t.type, c.label, c.unit, c.column_group, c.meaning FROM "
                             "pragma_table_info('{0}') t LEFT JOIN columns c "
                             "ON c.table_name = '{0}' AND c.column_name = t.name WHERE t.name <> 'id' ORDER BY t.cid",
                             table_name(table)));
  while (statement.step()) {
    columns.push_back({statement.text(0), statement.text(2), statement.text(3), statement.text(4), statement.text(5),
                       statement.text(1) == "INTEGER"});
  }
  return columns;
}

std::int64_t RunReader::last_id(RunTable table) const {
  const Database* database = this->database();
  return database ? database->single_integer(fmt::format("SELECT coalesce(max(id), 0) FROM {}", table_name(table))) : 0;
}

RunRows RunReader::rows(RunTable table, std::int64_t after, std::int64_t limit,
                        const std::vector<std::string>& wanted) const {
  RunRows out;
  const Database* database = this->database();
  if (!database) {
    out.columns = wanted;
    out.values.resize(wanted.size());
    return out;
  }
  std::vector<std::string> present;
  {
    Statement types(
        *database,
        fmt::format(
            "SELECT name FROM pragma_table_info('{}') WHERE type IN ('REAL', 'INTEGER') AND name <> 'id' ORDER BY cid",
            table_name(table)));
    while (types.step()) present.push_back(types.text(0));
  }
  out.columns = wanted.empty() ? present : wanted;
  std::string sql = "SELECT id";
  for (const std::string& column : out.columns) {
    if (std::find(present.begin(), present.end(), column) == present.end()) {
      throw Error(fmt::format("the table {} has no numeric column \"{}\"", table_name(table), column),
                  {database->path(), {}, {}, column, "see RunReader::columns"});
    }
    sql += ", " + sql_name(column);
  }
  Statement statement(*database, sql + fmt::format(" FROM {} WHERE id > ?1 ORDER BY id LIMIT ?2", table_name(table)));
  statement.bind(1, after);
  statement.bind(2, limit);
  out.values.resize(out.columns.size());
  while (statement.step()) {
    out.ids.push_back(statement.integer(0));
    for (std::size_t c = 0; c < out.columns.size(); ++c) {
      const int at = static_cast<int>(c) + 1;
      if (statement.is_text(at) && statement.text(at) != "nan") {
        throw Error(fmt::format("row {} of {} has the text \"{}\" where a number belongs", out.ids.back(),
                                table_name(table), statement.text(at).substr(0, 40)),
                    {database->path(), {}, {}, out.columns[c], "the file is damaged"});
      }
      const bool number = statement.is_integer(at) || statement.is_real(at);
      out.values[c].push_back(number ? statement.real(at) : std::nan(""));
    }
  }
  return out;
}

void RunReader::visit(RunTable table, std::int64_t after,
                      const std::function<bool(std::int64_t id, const RunRecord& row)>& use) const {
  const Database* database = this->database();
  if (!database) return;
  Statement statement(*database, fmt::format("SELECT * FROM {} WHERE id > ?1 ORDER BY id", table_name(table)));
  statement.bind(1, after);
  RunRecord row(static_cast<std::size_t>(statement.columns()));
  for (int c = 0; c < statement.columns(); ++c) row[static_cast<std::size_t>(c)].first = statement.column_name(c);
  while (statement.step()) {
    std::int64_t id = 0;
    for (int c = 0; c < statement.columns(); ++c) {
      auto& [name, value] = row[static_cast<std::size_t>(c)];
      value = value_at(statement, c, is_telemetry(table));
      if (name == "id") id = statement.integer(c);
      // How a NaN is stored in a table where NULL means something else.
      const auto* held = std::get_if<std::string>(&value);
      if (held && *held == "nan") value = std::nan("");
    }
    if (!use(id, row)) break;
  }
}

std::vector<RunRecord> RunReader::records(RunTable table, std::int64_t after, std::int64_t limit) const {
  std::vector<RunRecord> records;
  if (limit <= 0) return records;
  visit(table, after, [&](std::int64_t, const RunRecord& row) {
    records.push_back(row);
    return static_cast<std::int64_t>(records.size()) < limit;
  });
  return records;
}

std::vector<RunReader::Event> RunReader::events(std::int64_t after) const {
  std::vector<Event> events;
  visit(RunTable::events, after, [&](std::int64_t id, const RunRecord& row) {
    Event& event = events.emplace_back();
    event.id = id;
    event.wall = std::visit(NumberOf{}, value_of(row, "wall"));
    event.step = whole(row, "step");
    event.fold = whole(row, "fold");
    event.epoch = whole(row, "epoch");
    event.kind = text(row, "kind");
    event.source = text(row, "source");
    event.severity = text(row, "severity");
    event.message = text(row, "message");
    event.details = text(row, "details");
    return true;
  });
  return events;
}

std::vector<RunReader::Checkpoint> RunReader::checkpoints() const {
  std::vector<Checkpoint> checkpoints;
  visit(RunTable::checkpoints, 0, [&](std::int64_t id, const RunRecord& row) {
    Checkpoint& checkpoint = checkpoints.emplace_back();
    checkpoint.id = id;
    checkpoint.wall = std::visit(NumberOf{}, value_of(row, "wall"));
    checkpoint.step = whole(row, "step");
    checkpoint.fold = whole(row, "fold");
    checkpoint.epoch = whole(row, "epoch");
    checkpoint.reason = text(row, "reason");
    checkpoint.kind = text(row, "kind");
    checkpoint.path = text(row, "path");
    checkpoint.bytes = whole(row, "bytes");
    checkpoint.rejected = whole(row, "rejected") != 0;
    checkpoint.metrics = text(row, "metrics");
    try {
      checkpoint.file = path_inside(folder_, checkpoint.path);
      if (!std::filesystem::is_regular_file(checkpoint.file)) checkpoint.problem = "the file is gone";
      // Old periodic files make room for newer ones: a run that was killed in between may still list one.
      if (!checkpoint.problem.empty() && checkpoint.reason == "periodic") checkpoints.pop_back();
    } catch (const Error& error) {
      checkpoint.problem = error.what();
    }
    return true;
  });
  return checkpoints;
}

}  // namespace foxhunt
