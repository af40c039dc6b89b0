// Every DBN file of the shared folders, whatever its name, against a second decoder: rows, first and last record and
// every value; or the refusal that its content must meet.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/market/plain_decoder.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

using foxhunt::test::shared;
namespace fs = std::filesystem;

// What a record of the file gives for `kind`, by schema: the record types that serve; empty: nothing does.
std::set<int> serving(const PlainDbn& file, InputKind kind) {
  const auto holds = [&](int type) {
    return std::any_of(file.records.begin(), file.records.end(),
                       [type](const auto& record) { return PlainDbn::type(record) == type; });
  };
  if (kind == InputKind::bars) {
    if ((file.schema >= 5 && file.schema <= 8) || file.schema == 0xFFFF) return {0x20, 0x21, 0x22, 0x23};
    return {};
  }
  const bool trades = kind == InputKind::trades;
  if (file.schema == 0xFFFF) {
    for (const int type : trades ? std::vector{0x00, 0x01, 0x0A, 0xA0} : std::vector{0x0A, 0xA0, 0x01, 0xC3}) {
      if (holds(type)) return {type};
    }
    return {};
  }
  switch (file.schema) {
    case 0:
      return {0xA0};
    case 1:
      return {0x01};
    case 2:
      return {0x0A};
    case 3:
      return trades ? std::set{0x01} : std::set<int>{};
    case 4:
      return trades ? std::set{0x00} : std::set<int>{};
    case 18:
    case 19:
      return trades ? std::set<int>{} : std::set{0xC3, 0xC4};
    default:
      return {};
  }
}

struct Sums {
  std::uint64_t records = 0;
  Checksum sum;
};

// Orders: the book that each packet leaves (messages of one packet share time and sequence), if its last one ends an
// event.
struct EventEnds : RecordSink {
  std::map<std::pair<Time, std::uint32_t>, std::array<Level, kBookLevels>> states;
  std::uint64_t trades = 0;
  void book(const BookRecord& r) override {
    trades += r.action == Action::trade;
    states[{r.ts_recv, r.sequence}] = r.levels;
  }
};

Sums decode(const PlainDbn& file, InputKind kind, const std::set<int>& types, std::uint32_t id) {
  Sums out;
  for (const auto& record : file.records) {
    if (!types.contains(PlainDbn::type(record)) || at<std::uint32_t>(record, 4) != id) continue;
    if (kind == InputKind::bars) {
      out.sum.bar(plain_bar(record));
    } else if (kind == InputKind::book) {
      out.sum.book(plain_book(record));
    } else if (PlainDbn::type(record) == 0xA0) {
      if (record[38] != 'T') continue;
      out.sum.trade({at<std::int64_t>(record, 8), at<std::int64_t>(record, 40), at<std::int64_t>(record, 24),
                     static_cast<double>(at<std::uint32_t>(record, 32)), static_cast<Side>(record[39]),
                     static_cast<std::uint8_t>(record[36]), at<std::uint32_t>(record, 52)});
    } else {
      if (record[28] != 'T') continue;
      out.sum.trade(plain_trade(record));
    }
    ++out.records;
  }
  return out;
}

void check_orders(const PlainDbn& file, const fs::path& path) {
  EventEnds ends;
  DataReport report;
  read_file(path, InputKind::book, {}, ends, report);
  PlainOrders orders;
  std::uint64_t compared = 0, trades = 0;
  const auto key = [](const std::string& record) {
    return std::pair(at<std::int64_t>(record, 40), at<std::uint32_t>(record, 52));
  };
  for (std::size_t i = 0; i < file.records.size(); ++i) {
    const std::string& record = file.records[i];
    orders.apply(record);
    trades += record[38] == 'T';
    if ((record[36] & '\x80') == 0 || (i + 1 < file.records.size() && key(file.records[i + 1]) == key(record)))
      continue;
    const auto state = ends.states.find(key(record));
    if (state == ends.states.end()) continue;  // nothing within the ten levels changed
    ++compared;
    if (compared % 64 != 1) continue;  // each plain state sums all orders
    const auto shown = orders.levels();
    ASSERT_EQ(std::memcmp(shown.data(), state->second.data(), sizeof shown), 0)
        << "at " << state->first.first << " sequence " << state->first.second;
  }
  EXPECT_EQ(ends.trades, trades);
  if (file.records.size() > 100) {
    EXPECT_GE(compared, 1U);
  }
}

struct Tally {
  int read = 0, refused = 0;
};

void check(const fs::path& path, const PlainDbn& file, InputKind kind, Tally& tally) {
  SCOPED_TRACE(path.filename().string() + " as " + std::to_string(static_cast<int>(kind)));
  const std::set<int> types = serving(file, kind);
  if (types.empty()) {
    const Error error = error_of(path, kind);
    EXPECT_NE(std::string(error.what()).find("holds"), std::string::npos) << error.what();
    ++tally.refused;
    return;
  }
  const auto ids = file.instruments(types);
  if (ids.size() > 1) {
    const Error error = error_of(path, kind);
    EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    for (const std::uint32_t id : ids)
      EXPECT_NE(std::string(error.what()).find(file.names.at(id)), std::string::npos) << error.what();
  }
  if (kind == InputKind::book && types.contains(0xA0)) {
    check_orders(file, path);
    ++tally.read;
    return;
  }
  for (const std::uint32_t id : ids.empty() ? std::set<std::uint32_t>{0} : ids) {
    const Sums expected = decode(file, kind, types, id);
    DataConfig config;
    if (ids.size() > 1) config.symbol = file.names.at(id);
    Checksum sink;
    DataReport report;
    const ReadSummary summary = read_file(path, kind, config, sink, report);
    EXPECT_EQ(summary.records, expected.records);
    EXPECT_EQ(sink.first, expected.sum.first);
    EXPECT_EQ(sink.last, expected.sum.last);
    EXPECT_EQ(sink.hash, expected.sum.hash);
    EXPECT_FALSE(summary.truncated);
    // Trades asked of a file that has other records only are not passed over in silence.
    const bool none = kind == InputKind::trades && expected.records == 0 && !file.records.empty();
    EXPECT_EQ(report.warnings.size(), none ? 1U : 0U);
    if (none) {
      EXPECT_NE(report.warnings.at(0).message.find("is a trade"), std::string::npos);
    }
    ++tally.read;
  }
}

TEST(DbnFolders, EveryFileEqualsASecondDecoder) {
  FH_NEEDS_SHARED("data/dbn");
  Tally tally;
  for (const char* folder : {"dbn", "dbn_edge", "dbn_nautilus", "es_derived"}) {
    for (const auto& entry : fs::directory_iterator(shared(std::string("data/") + folder))) {
      const std::string name = entry.path().filename().string();
      if (name.find(".dbn") == std::string::npos || name.find(".frag") != std::string::npos) continue;
      const PlainDbn file(unpacked(read_bytes(entry.path())));
      for (const InputKind kind : {InputKind::bars, InputKind::book, InputKind::trades})
        check(entry.path(), file, kind, tally);
    }
  }
  EXPECT_GT(tally.read, 90);
  EXPECT_GT(tally.refused, 150);
}

TEST(DbnFolders, LegacyFilesAndFragmentsAreRefusedByName) {
  FH_NEEDS_SHARED("data/dbn");
  int refused = 0;
  for (const auto& entry : fs::directory_iterator(shared("data/dbn"))) {
    const std::string name = entry.path().filename().string();
    const bool legacy = name.ends_with(".dbz"), fragment = name.find(".frag") != std::string::npos;
    if (!legacy && !fragment) continue;
    for (const InputKind kind : {InputKind::bars, InputKind::book, InputKind::trades}) {
      const Error error = error_of(entry.path(), kind);
      EXPECT_NE(std::string(error.what()).find(legacy ? "DBZ" : "fragment"), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 30);
}

}  // namespace
}  // namespace foxhunt::market::test
