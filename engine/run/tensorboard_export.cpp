// Rows of a run as scalar events.
#include <algorithm>
#include <cmath>
#include <set>

#include "engine/run/export.h"

namespace foxhunt {
namespace {

// Columns that say where a row belongs; they are no curves.
const std::set<std::string>& places() {
  static const std::set<std::string> names = {"id", "wall", "step", "fold", "epoch", "bucket", "window", "policy"};
  return names;
}

struct Scalar {
  bool is_number = true;
  double value = 0;
};

Scalar scalar_of(const RunValue& value) {
  if (const auto* x = std::get_if<double>(&value)) return {true, *x};
  if (const auto* x = std::get_if<std::int64_t>(&value)) return {true, static_cast<double>(*x)};
  return {false, 0};
}

std::int64_t whole(const RunRecord& row, const char* column) {
  const Scalar scalar = scalar_of(value_of(row, column));
  return scalar.is_number && std::isfinite(scalar.value) && std::abs(scalar.value) < 9e18
             ? static_cast<std::int64_t>(scalar.value)
             : 0;
}

std::string text(const RunRecord& row, const char* column) {
  const RunValue value = value_of(row, column);
  const auto* held = std::get_if<std::string>(&value);
  return held ? *held + "/" : std::string();
}

std::string prefix_of(RunTable table, const RunRecord& row) {
  if (table <= RunTable::steps_max) return {};
  if (table == RunTable::evaluations) return "evaluations/" + text(row, "window") + text(row, "policy");
  return std::string(table_name(table)) + "/";
}

// TensorBoard groups its cards by what stands before the first slash.
std::string tag_of(const RunColumn& column) {
  std::string tag = column.label.empty() ? column.name : column.label;
  if (tag.find('.') == std::string::npos && !column.group.empty()) tag = column.group + "/" + tag;
  std::replace(tag.begin(), tag.end(), '.', '/');
  return tag;
}

using Scalars = std::vector<std::pair<std::string, double>>;

void add_scalars(Scalars& out, const RunRecord& row, const std::string& prefix,
                 const std::map<std::string, std::string>& tags, const char* suffix) {
  for (const auto& [name, value] : row) {
    if (places().contains(name)) continue;
    const Scalar scalar = scalar_of(value);
    if (!scalar.is_number) continue;
    const auto tag = tags.find(name);
    out.emplace_back(prefix + (tag == tags.end() ? name : tag->second) + suffix, scalar.value);
  }
}

}  // namespace

TensorBoardExport::TensorBoardExport(std::filesystem::path out, std::string run)
    : folder_(std::move(out) / (run.empty() ? std::string("run") : std::move(run))) {}

EventFileWriter& TensorBoardExport::writer(std::int64_t fold) {
  auto& writer = writers_[fold];
  if (!writer) writer = std::make_unique<EventFileWriter>(folder_ / fmt::format("fold-{}", fold));
  return *writer;
}

std::vector<std::filesystem::path> TensorBoardExport::files() const {
  std::vector<std::filesystem::path> files;
  for (const auto& [fold, writer] : writers_) files.push_back(writer->path());
  return files;
}

std::int64_t TensorBoardExport::update(const RunReader& reader) {
  std::int64_t rows = 0;
  for (const RunTable table :
       {RunTable::steps, RunTable::health, RunTable::signals, RunTable::epochs, RunTable::evaluations}) {
    rows += update_table(reader, table);
  }
  for (const auto& [fold, writer] : writers_) writer->flush();
  return rows;
}

std::int64_t TensorBoardExport::update_table(const RunReader& reader, RunTable table) {
  std::map<std::string, std::string> tags;
  for (const RunColumn& column : reader.columns(table)) tags[column.name] = tag_of(column);
  std::int64_t rows = 0;
  reader.visit(table, done_[table], [&](std::int64_t id, const RunRecord& row) {
    Scalars scalars;
    const std::string prefix = prefix_of(table, row);
    add_scalars(scalars, row, prefix, tags, "");
    if (table == RunTable::steps && whole(row, "bucket") > 1) {
      for (const auto& [extremes, suffix] : {std::pair(RunTable::steps_min, "_min"), {RunTable::steps_max, "_max"}}) {
        for (const RunRecord& extreme : reader.records(extremes, id - 1, 1)) {
          if (whole(extreme, "id") == id) add_scalars(scalars, extreme, prefix, tags, suffix);
        }
      }
    }
    const Scalar wall = scalar_of(value_of(row, "wall"));
    if (!scalars.empty())
      writer(whole(row, "fold")).scalars(wall.is_number ? wall.value : 0, whole(row, "step"), scalars);
    done_[table] = id;
    ++rows;
    return true;
  });
  return rows;
}

}  // namespace foxhunt
