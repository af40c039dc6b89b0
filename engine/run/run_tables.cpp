// Schema and migrations of run.sqlite.
#include "engine/run/run_tables.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/run/sqlite.h"

namespace foxhunt {
namespace {

constexpr std::array<const char*, kRunTables> kNames = {"steps",  "steps_min", "steps_max", "steps_not_finite",
                                                        "health", "signals",   "epochs",    "evaluations",
                                                        "equity", "trades",    "events",    "checkpoints"};

// wall: seconds since 1970 UTC. Migration i brings version i to i + 1; a published one is never changed.
constexpr std::array<const char*, kRunSchemaVersion> kMigrations = {R"(
CREATE TABLE columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, label TEXT, unit TEXT, column_group TEXT, meaning TEXT,
                      PRIMARY KEY (table_name, column_name));
CREATE TABLE steps (id INTEGER PRIMARY KEY, wall REAL, bucket INTEGER);
CREATE TABLE steps_min (id INTEGER PRIMARY KEY);
CREATE TABLE steps_max (id INTEGER PRIMARY KEY);
CREATE TABLE steps_not_finite (id INTEGER PRIMARY KEY);
CREATE TABLE health (id INTEGER PRIMARY KEY, wall REAL);
CREATE TABLE signals (id INTEGER PRIMARY KEY, wall REAL, step INTEGER, fold INTEGER, epoch INTEGER);
CREATE TABLE epochs (id INTEGER PRIMARY KEY, wall REAL, step INTEGER, fold INTEGER, epoch INTEGER);
CREATE TABLE evaluations (id INTEGER PRIMARY KEY, wall REAL, step INTEGER, fold INTEGER, epoch INTEGER, "window" TEXT, policy TEXT);
CREATE TABLE equity (id INTEGER PRIMARY KEY, fold INTEGER, epoch INTEGER, "window" TEXT, policy TEXT, bar INTEGER, time INTEGER,
                     equity REAL, position REAL);
CREATE TABLE trades (id INTEGER PRIMARY KEY, fold INTEGER, epoch INTEGER, "window" TEXT, policy TEXT, entry_time INTEGER,
                     exit_time INTEGER, contracts REAL, entry_price REAL, exit_price REAL, net REAL, costs REAL, bars INTEGER);
CREATE TABLE events (id INTEGER PRIMARY KEY, wall REAL, step INTEGER, fold INTEGER, epoch INTEGER, kind TEXT, source TEXT,
                     severity TEXT, message TEXT, details TEXT);
CREATE TABLE checkpoints (id INTEGER PRIMARY KEY, wall REAL, step INTEGER, fold INTEGER, epoch INTEGER, reason TEXT, kind TEXT,
                          path TEXT, bytes INTEGER, rejected INTEGER, metrics TEXT);
)"};

void refuse_newer(const Database& database, std::int64_t version) {
  if (version <= kRunSchemaVersion) return;
  throw Error(
      fmt::format("the schema version is {}; this program knows up to {}", version, kRunSchemaVersion),
      {database.path(), {}, {}, "user_version", "a newer version of the program made this run: open it with that one"});
}

}  // namespace

const char* table_name(RunTable table) {
  return kNames[static_cast<std::size_t>(table)];
}

bool is_telemetry(RunTable table) {
  return table <= RunTable::signals;
}

RunValue value_of(const RunRecord& record, const std::string& column) {
  for (const auto& [name, value] : record) {
    if (name == column) return value;
  }
  return std::monostate{};
}

void migrate_run_database(const Database& database) {
  const std::int64_t version = database.single_integer("PRAGMA user_version");
  refuse_newer(database, version);
  if (version < 0)
    throw Error(fmt::format("the schema version is {}", version),
                {database.path(), {}, {}, "user_version", "no run's database"});
  if (version == 0 && database.single_integer("SELECT count(*) FROM sqlite_master") > 0) {
    throw Error("a database that is not a run's is in its place",
                {database.path(), {}, {}, "user_version", "move it away"});
  }
  for (std::int64_t v = version; v < kRunSchemaVersion; ++v) {
    database.execute(fmt::format("SAVEPOINT migration; {} PRAGMA user_version = {}; RELEASE migration",
                                 kMigrations[static_cast<std::size_t>(v)], v + 1));
  }
}

void check_run_database(const Database& database) {
  const std::int64_t version = database.single_integer("PRAGMA user_version");
  refuse_newer(database, version);
  if (version < 1) {
    throw Error(fmt::format("the schema version is {}; allowed: 1 to {}", version, kRunSchemaVersion),
                {database.path(), {}, {}, "user_version", "this is not a run's database"});
  }
  for (const char* name : kNames) {
    // A view of that name could run anything.
    if (database.single_integer(
            fmt::format("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '{}'", name)) != 1) {
      throw Error(fmt::format("there is no table {}", name),
                  {database.path(), {}, {}, name, "this is not a run's database, or it is damaged"});
    }
  }
}

std::vector<std::string> column_names(const Database& database, RunTable table) {
  std::vector<std::string> names;
  Statement statement(database, fmt::format("SELECT name FROM pragma_table_info('{}')", table_name(table)));
  while (statement.step()) names.push_back(statement.text(0));
  return names;
}

void check_column_name(const std::string& name) {
  FH_CHECK(!name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
                                std::string::npos,
           "a column called \"{}\"", name);
}

void add_columns(const Database& database, RunTable table, std::span<const RunColumn> columns) {
  const std::vector<std::string> present = column_names(database, table);
  std::vector<std::string> missing;
  Statement document(database, "INSERT OR REPLACE INTO columns VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
  for (const RunColumn& column : columns) {
    check_column_name(column.name);
    if (std::find(present.begin(), present.end(), column.name) == present.end()) {
      missing.push_back(sql_name(column.name) + (column.whole ? " INTEGER" : " REAL"));
    }
    document.bind(1, std::string_view(table_name(table)));
    document.bind(2, column.name);
    document.bind(3, column.label);
    document.bind(4, column.unit);
    document.bind(5, column.group);
    document.bind(6, column.meaning);
    document.run();
  }
  if (missing.empty()) return;
  if (database.single_integer(fmt::format("SELECT EXISTS (SELECT 1 FROM {})", table_name(table))) != 0) {
    for (const std::string& column : missing) {
      database.execute(fmt::format("ALTER TABLE {} ADD COLUMN {}", table_name(table), column));
    }
    return;
  }
  // An empty table is made anew in one go: each ALTER parses the whole schema again, which takes seconds for hundreds.
  std::string text;
  {
    Statement schema(
        database, fmt::format("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = '{}'", table_name(table)));
    if (schema.step()) text = schema.text(0);
  }
  FH_CHECK(text.find_last_of(')') != std::string::npos, "the table {} is \"{}\"", table_name(table), text);
  text.erase(text.find_last_of(')'));
  for (const std::string& column : missing) text += ", " + column;
  database.execute(fmt::format("DROP TABLE {}; {})", table_name(table), text));
}

}  // namespace foxhunt
