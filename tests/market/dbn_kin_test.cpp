// DBN files made here from the format's description in every combination of version, schema, compression, frames,
// lengths and odd records: read exactly as a second decoder reads them, or cut and refused as stated.
#include <gtest/gtest.h>

#include <random>

#include "tests/market/plain_decoder.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

using foxhunt::test::scratch_folder;

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
void put_at(std::string& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

struct Options {
  int version = 3;
  std::uint16_t schema = 2;
  std::uint8_t stype_in = 1;
  bool ts_out = false;
};

std::string header(const Options& o) {
  const std::size_t length = o.version == 1 ? 22 : 71;
  const auto text = [](std::string s, std::size_t size) {
    s.resize(size, '\0');
    return s;
  };
  std::string rest = text("GLBX.MDP3", 16);
  put(rest, o.schema);
  put(rest, std::uint64_t{1'609'113'600'000'000'000});
  put(rest, std::uint64_t{1'609'200'000'000'000'000});
  put(rest, std::uint64_t{0});
  if (o.version == 1) put(rest, ~std::uint64_t{0});
  rest += {static_cast<char>(o.stype_in), '\0', static_cast<char>(o.ts_out ? 1 : 0)};
  if (o.version > 1) put(rest, static_cast<std::uint16_t>(length));
  rest.resize(100, '\0');
  put(rest, std::uint32_t{0});
  put(rest, std::uint32_t{1});
  rest += text("ESH1", length);
  put(rest, std::uint32_t{0});
  put(rest, std::uint32_t{0});
  put(rest, std::uint32_t{1});
  rest += text("ESH1", length);
  put(rest, std::uint32_t{1});
  put(rest, std::uint32_t{20'201'228});
  put(rest, std::uint32_t{20'201'229});
  rest += text("5482", length);
  if (o.version == 3) rest.resize((rest.size() + 7) / 8 * 8, '\0');
  std::string out = "DBN";
  out += static_cast<char>(o.version);
  put(out, static_cast<std::uint32_t>(rest.size()));
  return out + rest;
}

// A record of a type, its body from the generator; `extra` words beyond the structure.
std::string record(int type, std::size_t size, std::uint64_t time, std::mt19937_64& random, std::size_t extra) {
  std::string r(size + 4 * extra, '\0');
  r[0] = static_cast<char>(r.size() / 4);
  r[1] = static_cast<char>(type);
  put_at(r, 2, std::uint16_t{1});
  put_at(r, 4, std::uint32_t{5482});
  put_at(r, 8, time - 700);
  const auto price = [&random] {
    return random() % 16 == 0 ? kUndefinedPrice : (static_cast<Price>(random() % 20'000) - 3000) * 250'000'000;
  };
  const auto small = [&random] { return static_cast<std::uint32_t>(random() % 1000); };
  if (type >= 0x20 && type <= 0x23) {
    put_at(r, 8, time);
    for (std::size_t i = 0; i < 4; ++i) put_at(r, 16 + 8 * i, static_cast<Price>(random() % 9'000'000) - 100'000);
    put_at(r, 48, random() % 100'000);
    return r;
  }
  put_at(r, 16, type == 0x00 ? static_cast<Price>(random() % 9'000'000) : price());
  put_at(r, 24, small());
  r[28] = type == 0x00 ? 'T' : "ACMRTFN"[random() % 7];
  if (r[28] == 'T') put_at(r, 16, static_cast<Price>(random() % 9'000'000));
  r[29] = "ABN"[random() % 3];
  r[30] = static_cast<char>(random());
  r[31] = static_cast<char>(random() % 10);
  put_at(r, 32, time);
  put_at(r, 40, static_cast<std::int32_t>(random() % 100'000));
  put_at(r, 44, small());
  const std::size_t levels = type == 0x0A ? 10 : type == 0x01 ? 1 : 0;
  for (std::size_t i = 0; i < levels; ++i) {
    put_at(r, 48 + 32 * i, price());
    put_at(r, 56 + 32 * i, price());
    for (std::size_t k = 0; k < 4; ++k) put_at(r, 64 + 32 * i + 4 * k, small());
  }
  return r;
}

std::string frame(const std::string& data) {
  std::string out(ZSTD_compressBound(data.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), data.data(), data.size(), 3));
  return out;
}

// Frames that border anywhere, with skippable ones between.
std::string packed(const std::string& data, std::mt19937_64& random) {
  std::string out;
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t size = std::min<std::size_t>(data.size() - at, 1 + random() % (data.size() / 2 + 1));
    if (random() % 3 == 0) {
      put(out, static_cast<std::uint32_t>(0x184D2A50U + random() % 16));
      const std::size_t length = random() % 40;
      put(out, static_cast<std::uint32_t>(length));
      out.append(length, 'x');
    }
    out += frame(data.substr(at, size));
    at += size;
  }
  return out;
}

struct Kind {
  std::uint16_t schema;
  int type;
  std::size_t size;
  InputKind kind;
};
constexpr Kind kKinds[] = {{2, 0x0A, 368, InputKind::book},  {2, 0x0A, 368, InputKind::trades},
                           {4, 0x00, 48, InputKind::trades}, {1, 0x01, 80, InputKind::trades},
                           {1, 0x01, 80, InputKind::book},   {6, 0x21, 56, InputKind::bars},
                           {5, 0x20, 56, InputKind::bars},   {8, 0x23, 56, InputKind::bars}};

Checksum second_decoder(const std::string& bytes, const Kind& kind, std::uint64_t& records) {
  Checksum out;
  const PlainDbn file(bytes);
  records = 0;
  for (const auto& r : file.records) {
    if (PlainDbn::type(r) != kind.type) continue;
    if (kind.kind == InputKind::bars) {
      out.bar(plain_bar(r));
    } else if (kind.kind == InputKind::book) {
      out.book(plain_book(r));
    } else {
      if (r[28] != 'T') continue;
      out.trade(plain_trade(r));
    }
    ++records;
  }
  return out;
}

std::string make(const Kind& kind, const Options& options, int count, std::mt19937_64& random, int& unknown) {
  std::string bytes = header(options);
  std::uint64_t time = 1'609'160'400'000'000'000;
  unknown = 0;
  for (int i = 0; i < count; ++i) {
    time += random() % 4 == 0 ? 0 : random() % 60'000'000'000;
    if (random() % 50 == 0)
      time -= std::min<std::uint64_t>(random() % 90'000'000'000, 300'000'000'000);  // out of order
    if (random() % 9 == 0) {
      const int other = random() % 2 ? 0x77 : 0x12;  // of no known type, and a status
      unknown += other == 0x77;
      bytes += record(other, 40, time, random, 0);
    }
    bytes +=
        record(kind.type, kind.size, time, random, (options.ts_out ? 2 : 0) + (random() % 5 == 0 ? random() % 4 : 0));
  }
  return bytes;
}

TEST(DbnKin, EveryVersionSchemaAndPackingIsReadExactly) {
  std::mt19937_64 random(12);
  const auto path = scratch_folder() / "kin.dbn";
  for (int round = 0; round < 400; ++round) {
    const Kind& kind = kKinds[random() % std::size(kKinds)];
    Options options;
    options.version = 1 + static_cast<int>(random() % 3);
    options.schema = kind.schema;
    options.ts_out = random() % 2 == 0;
    int unknown = 0;
    const std::string bytes = make(kind, options, static_cast<int>(random() % 60), random, unknown);
    const bool compress = random() % 2 == 0;
    SCOPED_TRACE("round " + std::to_string(round) + " version " + std::to_string(options.version) + " schema " +
                 std::to_string(kind.schema) + (compress ? " zstd" : ""));
    write_bytes(path, compress ? packed(bytes, random) : bytes);
    std::uint64_t records = 0;
    const Checksum want = second_decoder(bytes, kind, records);
    Checksum got;
    DataReport report;
    const ReadSummary summary = read_file(path, kind.kind, {}, got, report);
    ASSERT_EQ(summary.records, records);
    ASSERT_EQ(got.hash, want.hash);
    ASSERT_EQ(got.first, want.first);
    ASSERT_EQ(got.last, want.last);
    ASSERT_EQ(report.anomalies.contains("unknown_record_type") ? report.anomalies.at("unknown_record_type").count : 0U,
              static_cast<std::uint64_t>(unknown));
    ASSERT_FALSE(summary.truncated);
  }
}

TEST(DbnKin, ACutAnywhereKeepsTheWholeRecordsOrRefusesTheStream) {
  std::mt19937_64 random(13);
  const auto path = scratch_folder() / "cut.dbn";
  for (int round = 0; round < 300; ++round) {
    const Kind& kind = kKinds[random() % std::size(kKinds)];
    Options options;
    options.version = 1 + static_cast<int>(random() % 3);
    options.schema = kind.schema;
    int unknown = 0;
    const std::string bytes = make(kind, options, 12, random, unknown);
    const std::size_t first = header(options).size();
    if (random() % 2 == 0) {
      const std::string small = frame(bytes);
      write_bytes(path, small.substr(0, 1 + random() % (small.size() - 1)));
      EXPECT_FALSE(error_of(path, kind.kind).place().file.empty());
      continue;
    }
    const std::size_t size = random() % bytes.size();
    write_bytes(path, bytes.substr(0, size));
    if (size < first) {
      EXPECT_FALSE(error_of(path, kind.kind).place().file.empty());
      continue;
    }
    std::size_t whole = first;
    while (whole < size && whole + 4 * static_cast<unsigned char>(bytes[whole]) <= size)
      whole += 4 * static_cast<unsigned char>(bytes[whole]);
    std::uint64_t records = 0;
    const Checksum want = second_decoder(bytes.substr(0, whole), kind, records);
    Checksum got;
    DataReport report;
    const ReadSummary summary = read_file(path, kind.kind, {}, got, report);
    EXPECT_EQ(summary.records, records);
    EXPECT_EQ(got.hash, want.hash);
    EXPECT_EQ(summary.truncated, whole != size);
    if (whole != size) {
      EXPECT_NE(
          report.warnings.at(0).message.find(std::to_string(size - whole) + " bytes at byte " + std::to_string(whole)),
          std::string::npos)
          << report.warnings[0].message;
    }
  }
}

TEST(DbnKin, OddHeadersAndLengths) {
  std::mt19937_64 random(14);
  const auto path = scratch_folder() / "odd.dbn";
  const Kind& book = kKinds[0];
  int unknown = 0;
  const auto expect_refused = [&](const Options& o, std::size_t at, auto value, const char* part) {
    std::string bytes = make(book, o, 3, random, unknown);
    put_at(bytes, at, value);
    const Error error = error_of(write_bytes(path, bytes), InputKind::book);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  };
  for (const int version : {0, 4, 255}) expect_refused({}, 3, static_cast<std::uint8_t>(version), "version");
  expect_refused({}, 24, std::uint16_t{77}, "schema is 77");
  expect_refused({}, 53, std::uint16_t{65'535}, "symbol length is 65535");
  expect_refused({}, 4, std::uint32_t{0xFFFF'FFFF}, "metadata length");
  // An unknown symbology loads with a warning, and its mappings are not used.
  Options odd;
  odd.stype_in = 99;
  write_bytes(path, make(book, odd, 5, random, unknown));
  Collected sink;
  DataReport report;
  read_file(path, InputKind::book, {}, sink, report);
  EXPECT_EQ(sink.books.size(), 5U);
  ASSERT_GE(report.warnings.size(), 1U);
  EXPECT_NE(report.warnings[0].message.find("99"), std::string::npos);
  // A record whose length is that of another type, or nothing.
  for (const int words : {0, 3, 12, 91}) {
    std::string bytes = header({}) + record(0x0A, 368, 1'609'160'400'000'000'000, random, 0);
    bytes[header({}).size()] = static_cast<char>(words);
    EXPECT_NE(std::string(error_of(write_bytes(path, bytes), InputKind::book).what()).find("record 0"),
              std::string::npos);
  }
  // The bars of 2022 and before: one record type for all lengths, told by the schema.
  Options old;
  old.version = 1;
  old.schema = 7;
  std::string bytes = header(old) + record(0x21, 56, 1'609'160'400'000'000'000, random, 0);
  bytes[header(old).size() + 1] = 0x11;
  Collected bars;
  DataReport bar_report;
  EXPECT_EQ(read_file(write_bytes(path, bytes), InputKind::bars, {}, bars, bar_report).bar_interval, 3'600'000'000'000);
  EXPECT_EQ(bars.bars.size(), 1U);
}

}  // namespace
}  // namespace foxhunt::market::test
