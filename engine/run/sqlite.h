// The few SQLite calls that a run needs, with errors as Error: file, what SQLite said, what to do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace foxhunt {

class Database;

// A prepared statement; must not outlive its database.
class Statement {
 public:
  Statement(const Database& database, const std::string& sql);
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  // Parameters from 1. A NaN is bound as NULL: SQLite has none.
  void bind(int parameter, double value);
  void bind(int parameter, std::int64_t value);
  void bind(int parameter, std::string_view value);
  void bind_null(int parameter);
  // True when a row is there; after false the statement is reset.
  bool step();
  // Runs to the end and resets.
  void run();
  void reset();

  int columns() const;
  std::string column_name(int column) const;
  bool is_null(int column) const;
  bool is_integer(int column) const;
  bool is_real(int column) const;
  bool is_text(int column) const;
  double real(int column) const;
  std::int64_t integer(int column) const;
  std::string text(int column) const;

 private:
  const Database* database_;
  sqlite3_stmt* handle_ = nullptr;
};

class Database {
 public:
  enum class Mode { read_only, create };

  // Throws Error for a file that is no database. `max_bytes`: 0 for no limit; beyond it writes fail as on a full disk.
  Database(const std::filesystem::path& path, Mode mode, std::int64_t max_bytes = 0);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql) const;
  std::int64_t single_integer(const std::string& sql) const;
  std::int64_t last_id() const;
  const std::string& path() const { return path_; }
  [[noreturn]] void fail(const std::string& doing) const;

 private:
  friend class Statement;
  void open(const std::string& name, int flags);

  std::string path_;
  sqlite3* handle_ = nullptr;
};

// "name" with quotes, so that words of SQL can be columns.
std::string sql_name(std::string_view name);

}  // namespace foxhunt
