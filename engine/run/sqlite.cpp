// Thin: each call checks its result.
#include "engine/run/sqlite.h"

#include <sqlite3.h>

#include <cmath>
#include <utility>

#include "engine/base/error.h"

namespace foxhunt {
namespace {

const char* hint_for(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "free some disk space; what is committed is safe";
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return "the file is damaged: restore it from a copy, or remove it to keep the rest of the run";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another program holds the file: close it";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return "check the folder and its permissions";
    default:
      return "check the disk";
  }
}

}  // namespace

Database::Database(const std::filesystem::path& path, Mode mode, std::int64_t max_bytes) : path_(path.string()) {
  if (mode == Mode::create) {
    open(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  } else {
    if (!std::filesystem::is_regular_file(path))
      throw Error("there is no such file", {path_, {}, {}, {}, "check the path"});
    open(path_, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX);
    // In a folder that cannot be written the shared-memory file of the log cannot be made: then nobody else writes
    // either.
    if (sqlite3_exec(handle_, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr) == SQLITE_CANTOPEN) {
      sqlite3_close(std::exchange(handle_, nullptr));
      std::string uri = "file:";
      for (const char c : path_)
        uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", c) : std::string(1, c);
      open(uri + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI);
    }
  }
  sqlite3_busy_timeout(handle_, 2000);
  try {
    // Nothing of the file's schema may run code; damaged pages are noticed when they are read.
    execute("PRAGMA trusted_schema = OFF");
    execute("PRAGMA cell_size_check = ON");
    if (max_bytes > 0) {
      execute(fmt::format("PRAGMA max_page_count = {}",
                          std::max<std::int64_t>(1, max_bytes / single_integer("PRAGMA page_size"))));
    }
    execute("SELECT count(*) FROM sqlite_master");
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Database::~Database() {
  sqlite3_close(handle_);
}

void Database::open(const std::string& name, int flags) {
  if (sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr) == SQLITE_OK) {
    sqlite3_extended_result_codes(handle_, 1);
    return;
  }
  const int code = handle_ ? sqlite3_errcode(handle_) : SQLITE_NOMEM;
  const std::string what = handle_ ? sqlite3_errmsg(handle_) : "out of memory";
  sqlite3_close(std::exchange(handle_, nullptr));
  throw Error(fmt::format("cannot be opened: {}", what), {path_, {}, {}, {}, hint_for(code)});
}

void Database::fail(const std::string& doing) const {
  throw Error(fmt::format("{}: {}", doing, sqlite3_errmsg(handle_)),
              {path_, {}, {}, {}, hint_for(sqlite3_errcode(handle_))});
}

void Database::execute(const std::string& sql) const {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail("the run's database fails");
}

std::int64_t Database::single_integer(const std::string& sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::int64_t Database::last_id() const {
  return sqlite3_last_insert_rowid(handle_);
}

Statement::Statement(const Database& database, const std::string& sql) : database_(&database) {
  if (sqlite3_prepare_v2(database.handle_, sql.c_str(), -1, &handle_, nullptr) != SQLITE_OK)
    database.fail("the run's database fails");
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), handle_(std::exchange(other.handle_, nullptr)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(handle_, other.handle_);
  return *this;
}

Statement::~Statement() {
  sqlite3_finalize(handle_);
}

void Statement::bind(int parameter, double value) {
  FH_CHECK(sqlite3_bind_double(handle_, parameter, value) == SQLITE_OK, "parameter {}", parameter);
}
void Statement::bind(int parameter, std::int64_t value) {
  FH_CHECK(sqlite3_bind_int64(handle_, parameter, value) == SQLITE_OK, "parameter {}", parameter);
}
void Statement::bind(int parameter, std::string_view value) {
  FH_CHECK(sqlite3_bind_text(handle_, parameter, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT) ==
               SQLITE_OK,
           "parameter {}", parameter);
}
void Statement::bind_null(int parameter) {
  FH_CHECK(sqlite3_bind_null(handle_, parameter) == SQLITE_OK, "parameter {}", parameter);
}

bool Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    struct Resetter {
      Statement& statement;
      ~Resetter() { statement.reset(); }
    } resetter{*this};
    database_->fail("the run's database fails");
  }
  reset();
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

void Statement::reset() {
  sqlite3_reset(handle_);
}

int Statement::columns() const {
  return sqlite3_column_count(handle_);
}
std::string Statement::column_name(int column) const {
  return sqlite3_column_name(handle_, column);
}
bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}
bool Statement::is_integer(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_INTEGER;
}
bool Statement::is_real(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_FLOAT;
}
bool Statement::is_text(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_TEXT;
}
double Statement::real(int column) const {
  return sqlite3_column_double(handle_, column);
}
std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_, column);
}
std::string Statement::text(int column) const {
  const void* data = sqlite3_column_blob(handle_, column);  // blob: keeps bytes that are no text as they are
  return data ? std::string(static_cast<const char*>(data),
                            static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)))
              : std::string();
}

std::string sql_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace foxhunt
