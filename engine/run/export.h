// A run's history in files that other tools read.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run/event_file.h"
#include "engine/run/run_reader.h"

namespace foxhunt {

enum class ExportFormat { csv, json, tensorboard };

// "csv", "json", "tensorboard"; throws usage Error listing them.
ExportFormat export_format_of(std::string_view name);

// csv: <out>/<table>.csv, a header line, numbers in their shortest exact form, NaN as nan, infinities as inf, "not
// available" as nothing. json: <out>/<table>.json {table, columns [{name, label, unit, group, meaning}], rows [[...]]};
// non-finite numbers as strings, "not available" as null. tensorboard: as TensorBoardExport. All write run.json beside;
// returns what was written. A CSV or JSON file appears whole or not at all.
std::vector<std::filesystem::path> export_run(const RunReader& reader, ExportFormat format,
                                              const std::filesystem::path& out);

// Event files with folds as sub-runs: <out>/<run>/fold-<k>/events.out.tfevents.*. Tags: <label or group/name> of steps,
// points as slashes (of a bucket its mean, and its least and greatest values as <tag>_min, <tag>_max), health/...,
// signals/..., epochs/..., evaluations/<window>/<policy>/<metric>. update() writes the rows that have come since the
// last one, for a run that goes on.
class TensorBoardExport {
 public:
  TensorBoardExport(std::filesystem::path out, std::string run);
  // Rows written; throws Error.
  std::int64_t update(const RunReader& reader);
  std::vector<std::filesystem::path> files() const;

 private:
  std::int64_t update_table(const RunReader& reader, RunTable table);
  EventFileWriter& writer(std::int64_t fold);

  std::filesystem::path folder_;
  std::map<std::int64_t, std::unique_ptr<EventFileWriter>> writers_;
  std::map<RunTable, std::int64_t> done_;  // last id written
};

}  // namespace foxhunt
