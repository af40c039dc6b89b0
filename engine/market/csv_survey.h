// The first pass over a CSV file: what its conventions are, from a sample of its rows, each finding with its evidence.
#pragma once

#include "engine/market/csv_layout.h"

namespace foxhunt::market {

// Reads the first rows of `path` (all rows where only they can tell the order of day and month) and settles every
// convention; `config` overrides what it names. Findings go to report.inferred under "<file name>: <what>". Throws
// Error when the file cannot be of `kind`, usage_error when only the configuration can settle a question.
CsvLayout survey_csv(const std::filesystem::path& path, InputKind kind, const DataConfig& config, DataReport& report,
                     const Progress& progress);

}  // namespace foxhunt::market
