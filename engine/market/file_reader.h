// Reading of one market file: DBN 1 to 3, CSV or a LOBSTER pair, plain or zstd, told apart by content, streamed to a
// sink.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "engine/config/config.h"
#include "engine/market/data_report.h"
#include "engine/market/level_book.h"
#include "engine/market/records.h"

namespace foxhunt::market {

// What is asked of a file. A file that cannot give it is refused with what it holds instead.
enum class InputKind { bars, book, trades };

// May be left empty. `report` is called every few MiB on the reading thread: bytes of the file done and in all, the
// file name. When `*cancel` becomes true, the reading function throws Error("cancelled").
struct Progress {
  std::function<void(std::uint64_t done, std::uint64_t total, const std::string& what)> report;
  const std::atomic<bool>* cancel = nullptr;
};

struct ReadSummary {
  std::uint64_t records = 0;      // handed to the sink
  std::string symbol;             // the one read; empty when the file names none (most CSV)
  bool truncated = false;         // the last record was cut: read up to there, a warning says where
  std::int64_t bar_interval = 0;  // ns, of bars; 0 when nothing fixes it (a CSV of fewer than two rows)
};

// What a feed of single changes leaves for the file that goes on with it: give the same one to the files of one feed,
// in order. (MBO files begin with a snapshot of their own and need none.)
struct ReadCarry {
  LevelBook book;
};

// Reads `path` and hands every record of `kind` of the wanted instrument (config.symbol; empty: the only one) to `sink`
// in file order, prices in 1e-9 points, times in UTC ns. Uses symbol, timezone, delimiter, decimal_sign,
// thousands_sign, timestamp_format, bar_stamp, price_scale and date of `config`. What was inferred, skipped or odd goes
// to `report`; nothing is logged. Nothing is sorted and no duplicate is dropped. Memory does not grow with the file.
// Throws Error with file, offset (of the compressed stream where it is compressed) or line, field, value and hint;
// usage_error where only the configuration can settle it: several instruments, a naive time without a zone, an
// ambiguous date order, an unknown zone.
ReadSummary read_file(const std::filesystem::path& path, InputKind kind, const DataConfig& config, RecordSink& sink,
                      DataReport& report, const Progress& progress = {}, ReadCarry* carry = nullptr);

}  // namespace foxhunt::market
