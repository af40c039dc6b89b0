// Writes one instrument's bars, book or trades as DBN 3, plain or zstd: what `simulate` makes, readable by any DBN
// reader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/market/dbn_format.h"
#include "engine/market/records.h"

namespace foxhunt::market {

// The file appears under its name only when finish() returns; before that it is written beside it, under a temporary
// name that the destructor removes. Errors of the file system throw Error.
class DbnWriter {
 public:
  // `schema`: ohlcv_1s, ohlcv_1m, ohlcv_1h, mbp_10 or trades. `symbol`: at most 70 bytes. `end`: UTC ns, exclusive,
  // when known (0: not). The metadata's start is the first record's time.
  DbnWriter(std::filesystem::path path, dbn::Schema schema, std::string symbol, std::uint32_t instrument_id,
            bool compress, Time end = 0);
  ~DbnWriter();
  DbnWriter(const DbnWriter&) = delete;
  DbnWriter& operator=(const DbnWriter&) = delete;

  // Only the record type of the schema; anything else is a failed check. Fractional or too large sizes throw.
  void write(const BarRecord& record);
  void write(const BookRecord& record);
  void write(const TradeRecord& record);

  // Flushes, syncs and renames. An empty file (metadata only) is legal.
  void finish();
  std::uint64_t records() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foxhunt::market
