// CSV and JSON stream row by row, so that memory does not grow with the run.
#include "engine/run/export.h"

#include <cmath>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/json_number.h"

namespace foxhunt {
namespace {

constexpr std::size_t kBuffer = 1 << 18;

// Text into an atomic file in large pieces.
class TextFile {
 public:
  explicit TextFile(const std::filesystem::path& path) : file_(path) {}
  TextFile& operator<<(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBuffer) drain();
    return *this;
  }
  void commit() {
    drain();
    file_.commit();
  }

 private:
  void drain() {
    file_.write(buffer_.data(), buffer_.size());
    buffer_.clear();
  }
  AtomicFile file_;
  std::string buffer_;
};

std::string number_text(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return fmt::format("{}", x);
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

struct CsvOf {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return number_text(value); }
  std::string operator()(const std::string& value) const { return csv_cell(value); }
};

struct JsonTextOf {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const {
    return std::isfinite(value) ? number_text(value) : '"' + number_text(value) + '"';
  }
  std::string operator()(const std::string& value) const {
    return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
};

void export_csv(const RunReader& reader, RunTable table, const std::filesystem::path& path) {
  TextFile file(path);
  std::string line = "id";
  for (const RunColumn& column : reader.columns(table)) line += "," + csv_cell(column.name);
  file << line << "\n";
  reader.visit(table, 0, [&](std::int64_t, const RunRecord& row) {
    line.clear();
    for (const auto& [name, value] : row) {
      if (&name != &row.front().first) line += ',';
      line += std::visit(CsvOf{}, value);
    }
    file << line << "\n";
    return true;
  });
  file.commit();
}

void export_json(const RunReader& reader, RunTable table, const std::filesystem::path& path) {
  TextFile file(path);
  nlohmann::ordered_json columns = {
      {{"name", "id"}, {"label", ""}, {"unit", ""}, {"group", ""}, {"meaning", "row number"}}};
  for (const RunColumn& column : reader.columns(table)) {
    columns.push_back({{"name", column.name},
                       {"label", column.label},
                       {"unit", column.unit},
                       {"group", column.group},
                       {"meaning", column.meaning}});
  }
  file << "{\"table\": \"" << table_name(table)
       << "\",\n\"columns\": " << columns.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
       << ",\n\"rows\": [";
  bool first = true;
  std::string line;
  reader.visit(table, 0, [&](std::int64_t, const RunRecord& row) {
    line = first ? "\n[" : ",\n[";
    first = false;
    for (const auto& [name, value] : row) {
      if (&name != &row.front().first) line += ", ";
      line += std::visit(JsonTextOf{}, value);
    }
    file << line << "]";
    return true;
  });
  file << "\n]}\n";
  file.commit();
}

std::filesystem::path run_json(const RunReader& reader, const std::filesystem::path& out) {
  write_file_atomically(
      out / "run.json",
      to_json(reader.info()).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  return out / "run.json";
}

}  // namespace

ExportFormat export_format_of(std::string_view name) {
  if (name == "csv") return ExportFormat::csv;
  if (name == "json") return ExportFormat::json;
  if (name == "tensorboard") return ExportFormat::tensorboard;
  throw usage_error(fmt::format("there is no export format \"{}\"", name),
                    {{}, {}, {}, "--format", "allowed: csv, json, tensorboard"});
}

std::vector<std::filesystem::path> export_run(const RunReader& reader, ExportFormat format,
                                              const std::filesystem::path& out) {
  if (!reader.problem().empty())
    throw Error("the run's history cannot be read: " + reader.problem(),
                {reader.folder().string(), {}, {}, {}, "nothing was exported"});
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error)
    throw Error(fmt::format("the folder cannot be made: {}", error.message()),
                {out.string(), {}, {}, "--out", "check the path and its permissions"});
  if (std::filesystem::equivalent(out, reader.folder(), error)) {
    throw usage_error("the export would be written into the run itself",
                      {out.string(), {}, {}, "--out", "name another folder"});
  }
  std::vector<std::filesystem::path> written;
  if (format == ExportFormat::tensorboard) {
    TensorBoardExport board(out, std::filesystem::weakly_canonical(reader.folder()).filename().string());
    board.update(reader);
    written = board.files();
  } else {
    for (int t = 0; t < kRunTables; ++t) {
      const auto table = static_cast<RunTable>(t);
      const bool csv = format == ExportFormat::csv;
      written.push_back(out / fmt::format("{}.{}", table_name(table), csv ? "csv" : "json"));
      (csv ? export_csv : export_json)(reader, table, written.back());
    }
  }
  written.push_back(run_json(reader, out));
  return written;
}

}  // namespace foxhunt
