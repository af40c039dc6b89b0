// LOBSTER pairs: a message file and an order book file whose rows belong together, without headers. Prices are in units
// of 0.0001, times in seconds after midnight of the date in the files' names (New York for NASDAQ).
#pragma once

#include <filesystem>
#include <string_view>

#include "engine/market/file_reader.h"

namespace foxhunt::market {

// Whether `head`, the start of a text file called `file_name`, is either file of a pair.
bool is_lobster(std::string_view head, const std::string& file_name);

// Book: one record a row, the state after the message; an execution takes size away, as a cancel does in MBP. Trades:
// executions of visible and hidden orders; the aggressor is the other side of the resting order. Crosses (type 6) have
// no aggressor; halts (7) are no trades. Either file's path may be given; the book needs both.
class LobsterReader {
 public:
  LobsterReader(const std::filesystem::path& path, InputKind kind, const DataConfig& config, RecordSink& sink,
                DataReport& report, const Progress& progress)
      : path_(path), kind_(kind), config_(config), sink_(sink), report_(report), progress_(progress) {}

  ReadSummary read();

 private:
  const std::filesystem::path& path_;
  InputKind kind_;
  const DataConfig& config_;
  RecordSink& sink_;
  DataReport& report_;
  const Progress& progress_;
};

}  // namespace foxhunt::market
