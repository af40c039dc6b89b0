// What the tests of market readers share: a sink that keeps everything, small files, the first records' checksum.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/market/file_reader.h"

namespace foxhunt::market::test {

struct Collected : RecordSink {
  std::vector<BarRecord> bars;
  std::vector<BookRecord> books;
  std::vector<TradeRecord> trades;
  void bar(const BarRecord& record) override { bars.push_back(record); }
  void book(const BookRecord& record) override { books.push_back(record); }
  void trade(const TradeRecord& record) override { trades.push_back(record); }
};

// Every field of every record in order: h = h * 1099511628211 + field, in 64 bits.
struct Checksum : RecordSink {
  std::uint64_t hash = 0;
  std::int64_t first = 0, last = 0;
  bool any = false;

  void add(std::uint64_t field) { hash = hash * 1'099'511'628'211ULL + field; }
  void at(Time time) {
    first = any ? first : time;
    last = time;
    any = true;
  }
  void bar(const BarRecord& r) override {
    at(r.open_time);
    for (const std::int64_t field : {r.open_time, r.close_time, r.open, r.high, r.low, r.close}) add(field);
    add(static_cast<std::uint64_t>(std::nearbyint(r.volume * 10'000)));
  }
  void book(const BookRecord& r) override {
    at(r.ts_recv);
    add(r.ts_event);
    add(r.ts_recv);
    add(r.price);
    add(r.size);
    add(static_cast<std::uint8_t>(r.action));
    add(static_cast<std::uint8_t>(r.side));
    add(r.flags);
    add(r.depth);
    add(r.sequence);
    for (const Level& level : r.levels) {
      add(level.bid_price);
      add(level.ask_price);
      for (const std::uint32_t field : {level.bid_size, level.ask_size, level.bid_count, level.ask_count}) add(field);
    }
  }
  void trade(const TradeRecord& r) override {
    at(r.ts_recv);
    add(r.ts_event);
    add(r.ts_recv);
    add(r.price);
    add(static_cast<std::uint64_t>(r.size));
    add(static_cast<std::uint8_t>(r.side));
    add(r.flags);
    add(r.sequence);
  }
};

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline std::filesystem::path write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

// The error of a read that must fail; a test failure when it does not.
inline Error error_of(const std::filesystem::path& path, InputKind kind, const DataConfig& config = {}) {
  Collected sink;
  DataReport report;
  try {
    read_file(path, kind, config, sink, report);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << path << " was read";
  return Error("none");
}

}  // namespace foxhunt::market::test
