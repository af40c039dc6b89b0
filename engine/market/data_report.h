// What was inferred about the inputs, what was odd in them and what was done about it: shown before a run starts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace foxhunt::market {

struct Warning {
  std::string message;
  std::string file;
  std::optional<std::uint64_t> offset;
};

// A kind of oddity (duplicate, out_of_order, gap, zero_volume, ghost_open, ...): how many, the first few in words.
struct Anomaly {
  std::uint64_t count = 0;
  std::vector<std::string> examples;  // at most 5, each with file and line or offset, time and value
};

// What one file gave.
struct FileFacts {
  std::string file;    // path as configured
  std::string kind;    // bars, book, trades
  std::string symbol;  // empty: the file names none
  std::uint64_t records = 0;
  std::int64_t first = 0,
               last = 0;      // UTC ns: open of the first and close of the last bar, else ts_recv; 0 without records
  std::int64_t interval = 0;  // ns, of bars; 0 when nothing fixes it
  bool truncated = false;     // its last record was cut off
};

struct DataReport {
  std::vector<FileFacts> files;                 // in reading order: bars, book, trades; empty for the simulated market
  std::map<std::string, std::string> inferred;  // e.g. "bars.csv: delimiter" -> "','"
  std::map<std::string, Anomaly> anomalies;
  std::vector<Warning> warnings;

  void add(const std::string& kind, const std::string& example) {
    auto& anomaly = anomalies[kind];
    ++anomaly.count;
    if (anomaly.examples.size() < 5) anomaly.examples.push_back(example);
  }
};

}  // namespace foxhunt::market
