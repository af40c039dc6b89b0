// The metadata header of a DBN file, versions 1 to 3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/market/byte_stream.h"
#include "engine/market/data_report.h"
#include "engine/market/dbn_format.h"

namespace foxhunt::market::dbn {

// Dates are yyyymmdd in UTC, the end exclusive. `symbol` is the other name in the interval.
struct MappingInterval {
  std::uint32_t start = 0, end = 0;
  std::string symbol;
};

struct Mapping {
  std::string raw_symbol;
  std::vector<MappingInterval> intervals;
};

struct Metadata {
  int version = 0;
  std::string dataset;
  std::uint16_t schema = kMixedSchema;
  std::uint8_t stype_in = kStypeNone, stype_out = kStypeNone;
  bool ts_out = false;  // every record has a trailing u64
  std::vector<std::string> symbols;
  std::vector<Mapping> mappings;
};

// Reads prelude and metadata from the start of `stream` and leaves it at the first record. Every count is checked
// against the bytes that are there before anything is allocated by it. Throws Error naming field and offset.
Metadata read_metadata(ByteStream& stream, DataReport& report);

}  // namespace foxhunt::market::dbn
