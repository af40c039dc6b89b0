// DBN reading and writing on files made here: round trips, damage at every byte, odd records, progress and cancel.
#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>

#include "engine/market/dbn_writer.h"
#include "tests/market/reader_support.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

using dbn::Schema;
using foxhunt::test::scratch_folder;
using foxhunt::test::shared;

constexpr Time kStart = 1'704'067'200'000'000'000;  // 2024-01-01
constexpr Time kMinute = 60'000'000'000;

BarRecord bar(int i) {
  const Price close = 4'800'000'000'000 + i * 250'000'000LL;
  return {kStart + i * kMinute,  kStart + (i + 1) * kMinute, close - 250'000'000,
          close + 500'000'000,   close - 1'000'000'000,      close,
          static_cast<double>(i)};
}

BookRecord book(int i) {
  BookRecord record;
  record.ts_event = kStart + i;
  record.ts_recv = kStart + i + 500;
  record.price = -13'250'000'000;
  record.size = static_cast<std::uint32_t>(i);
  record.action = Action::modify;
  record.side = Side::ask;
  record.flags = 130;
  record.depth = 3;
  record.sequence = 1000U + static_cast<std::uint32_t>(i);
  for (int j = 0; j < 7; ++j) record.levels[j] = {100 - j, 101 + j, 5, 6, 1, 2};
  return record;
}

std::filesystem::path make_bars(const std::filesystem::path& path, int count, bool compress) {
  DbnWriter writer(path, Schema::ohlcv_1m, "ESH4", 17077, compress, kStart + count * kMinute);
  for (int i = 0; i < count; ++i) writer.write(bar(i));
  writer.finish();
  return path;
}

ReadSummary read(const std::filesystem::path& path, InputKind kind, RecordSink& sink, DataReport& report,
                 const DataConfig& config = {}) {
  return read_file(path, kind, config, sink, report);
}

TEST(DbnWriter, BarsComeBack) {
  for (const bool compress : {false, true}) {
    const auto path = make_bars(scratch_folder() / "bars.dbn", 5000, compress);
    EXPECT_EQ(static_cast<unsigned char>(read_bytes(path)[0]), compress ? 0x28 : 'D');
    Checksum back, direct;
    DataReport report;
    const ReadSummary summary = read(path, InputKind::bars, back, report);
    for (int i = 0; i < 5000; ++i) direct.bar(bar(i));
    EXPECT_EQ(back.hash, direct.hash);
    EXPECT_EQ(summary.records, 5000U);
    EXPECT_EQ(summary.symbol, "ESH4");
    EXPECT_EQ(summary.bar_interval, kMinute);
    EXPECT_TRUE(report.warnings.empty());
  }
}

TEST(DbnWriter, BookAndTradesComeBack) {
  const auto folder = scratch_folder();
  DbnWriter books(folder / "book.dbn.zst", Schema::mbp_10, "ESH4", 17077, true);
  DbnWriter trades(folder / "trades.dbn", Schema::trades, "ESH4", 17077, false);
  Checksum direct_books, direct_trades;
  for (int i = 0; i < 4000; ++i) {
    books.write(book(i));
    direct_books.book(book(i));
    const TradeRecord trade{kStart + i,
                            kStart + i + 7,
                            4'800'250'000'000 - i,
                            static_cast<double>(i),
                            i % 2 != 0 ? Side::bid : Side::ask,
                            0,
                            static_cast<std::uint32_t>(i)};
    trades.write(trade);
    direct_trades.trade(trade);
  }
  books.finish();
  trades.finish();
  Checksum back_books, back_trades;
  DataReport report;
  read(folder / "book.dbn.zst", InputKind::book, back_books, report);
  read(folder / "trades.dbn", InputKind::trades, back_trades, report);
  EXPECT_EQ(back_books.hash, direct_books.hash);
  EXPECT_EQ(back_trades.hash, direct_trades.hash);
  EXPECT_EQ(read_bytes(folder / "trades.dbn").size(),
            360U + 4000U * 48U);  // the first record of version 3 is at byte 360
}

TEST(DbnWriter, LeavesNothingBehindWithoutFinish) {
  const auto folder = scratch_folder();
  write_bytes(folder / "bars.dbn", "what was there");
  {
    DbnWriter writer(folder / "bars.dbn", Schema::ohlcv_1m, "ESH4", 1, false);
    writer.write(bar(0));
  }
  EXPECT_EQ(read_bytes(folder / "bars.dbn"), "what was there");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST(DbnWriter, RefusesFractionalSizes) {
  DbnWriter writer(scratch_folder() / "trades.dbn", Schema::trades, "X", 1, false);
  TradeRecord trade;
  trade.size = 1.5;
  EXPECT_THROW(writer.write(trade), Error);
}

TEST(DbnReader, EmptyFileIsNoError) {
  const auto path = make_bars(scratch_folder() / "bars.dbn", 0, false);
  Collected sink;
  DataReport report;
  EXPECT_EQ(read(path, InputKind::bars, sink, report).records, 0U);
  EXPECT_TRUE(report.warnings.empty());
}

TEST(DbnReader, CutAtEveryByteEitherRefusesOrReadsWhatIsWhole) {
  const auto folder = scratch_folder();
  const std::string whole = read_bytes(make_bars(folder / "bars.dbn", 4, false));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_bytes(folder / "cut.dbn", whole.substr(0, size));
    Collected sink;
    DataReport report;
    try {
      const ReadSummary summary = read(folder / "cut.dbn", InputKind::bars, sink, report);
      ASSERT_GE(size, 360U);
      EXPECT_EQ(summary.records, (size - 360) / 56);
      EXPECT_EQ(summary.truncated, (size - 360) % 56 != 0) << size;
      EXPECT_EQ(report.warnings.size(), summary.truncated ? 1U : 0U);
    } catch (const Error& error) {
      EXPECT_LT(size, 360U) << error.what();
      EXPECT_FALSE(error.place().hint.empty());
    }
  }
}

TEST(DbnReader, CutCompressedFileIsRefusedAtEveryByte) {
  const auto folder = scratch_folder();
  const std::string whole = read_bytes(make_bars(folder / "bars.dbn.zst", 300, true));
  for (std::size_t size = 0; size < whole.size(); size += size < 64 ? 1 : 7) {
    const Error error = error_of(write_bytes(folder / "cut.dbn.zst", whole.substr(0, size)), InputKind::bars);
    ASSERT_TRUE(error.place().offset.has_value() || error.place().line.has_value()) << size;
  }
}

TEST(DbnReader, AnyByteOfTheMetadataMayBeAnything) {
  const auto folder = scratch_folder();
  const std::string whole = read_bytes(make_bars(folder / "bars.dbn", 2, false));
  int refused = 0;
  for (std::size_t at = 0; at < 360 + 16; ++at) {
    for (const char value : {'\x00', '\x01', '\x7F', '\x80', '\xFF'}) {
      std::string bytes = whole;
      bytes[at] = value;
      write_bytes(folder / "odd.dbn", bytes);
      Collected sink;
      DataReport report;
      try {
        EXPECT_LE(read(folder / "odd.dbn", InputKind::bars, sink, report).records, 2U);
      } catch (const Error& error) {
        ++refused;
        EXPECT_FALSE(std::string(error.what()).empty());
      }
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(DbnReader, EveryCountBeyondTheMetadataIsRefused) {
  const auto folder = scratch_folder();
  const std::string whole = read_bytes(make_bars(folder / "bars.dbn", 2, false));
  // symbols, partial, not_found, mappings, intervals: by the layout of one symbol of 71 bytes.
  for (const std::size_t at : {112, 187, 191, 195, 270}) {
    for (const std::uint32_t count : {5U, 1000U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
      std::string bytes = whole;
      std::memcpy(bytes.data() + at, &count, 4);
      const Error error = error_of(write_bytes(folder / "count.dbn", bytes), InputKind::bars);
      EXPECT_NE(std::string(error.what()).find(std::to_string(count)), std::string::npos) << error.what();
      EXPECT_EQ(*error.place().offset, at);
    }
  }
}

TEST(DbnReader, RecordsOfLengthZeroAreRefusedAndShortTailsDropped) {
  const auto folder = scratch_folder();
  const std::string whole = read_bytes(make_bars(folder / "bars.dbn", 2, false));
  const Error zero = error_of(write_bytes(folder / "zero.dbn", whole + std::string(100, '\0')), InputKind::bars);
  EXPECT_NE(std::string(zero.what()).find("length is 0"), std::string::npos);
  EXPECT_EQ(*zero.place().offset, whole.size());
  Collected sink;
  DataReport report;
  EXPECT_TRUE(
      read(write_bytes(folder / "tail.dbn", whole + std::string(5, '\0')), InputKind::bars, sink, report).truncated);
  EXPECT_EQ(sink.bars.size(), 2U);
}

TEST(DbnReader, UnknownTypesAreSkippedAndLongerRecordsRead) {
  const auto folder = scratch_folder();
  std::string bytes = read_bytes(make_bars(folder / "bars.dbn", 1, false));
  std::string record = bytes.substr(360);
  std::string longer = record + std::string(8, '\x55');
  longer[0] = 16;
  std::string unknown = record;
  unknown[1] = '\x77';
  write_bytes(folder / "odd.dbn", bytes + unknown + longer + unknown);
  Collected sink;
  DataReport report;
  EXPECT_EQ(read(folder / "odd.dbn", InputKind::bars, sink, report).records, 2U);
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(*report.warnings[0].offset, 416U);
  EXPECT_EQ(report.anomalies.at("unknown_record_type").count, 2U);
}

TEST(DbnReader, FramesMayBorderInsideARecord) {
  const auto folder = scratch_folder();
  const std::string whole = read_bytes(make_bars(folder / "bars.dbn", 50, false));
  const auto frame = [](const std::string& bytes) {
    std::string out(ZSTD_compressBound(bytes.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
    return out;
  };
  const std::string skippable = std::string("\x5A\x2A\x4D\x18\x03\x00\x00\x00", 8) + "abc";
  for (const std::size_t cut : {1UL, 5UL, 8UL, 111UL, 360UL, 361UL, 380UL, 700UL}) {
    write_bytes(folder / "frames.dbn", skippable + frame(whole.substr(0, cut)) + skippable + frame(whole.substr(cut)));
    Collected sink;
    DataReport report;
    EXPECT_EQ(read(folder / "frames.dbn", InputKind::bars, sink, report).records, 50U) << cut;
  }
  const Error garbage = error_of(write_bytes(folder / "garbage.dbn", frame(whole) + "garbage"), InputKind::bars);
  EXPECT_EQ(*garbage.place().offset, frame(whole).size());
}

TEST(DbnReader, ParentSymbolsGiveOutrightsUnlessNamed) {
  const auto folder = scratch_folder();
  // The writer's metadata with a second mapping, copied from the first and renamed.
  std::string bytes = read_bytes(make_bars(folder / "bars.dbn", 1, false));
  std::string record = bytes.substr(360);
  std::string other = record;
  const std::uint32_t spread_id = 99;
  std::memcpy(other.data() + 4, &spread_id, 4);
  std::string mapping = bytes.substr(199, 154);  // cstr, count, interval
  std::string spread = mapping;
  std::memcpy(spread.data(), "ESH4-ESM4", 10);
  std::memcpy(spread.data() + 71 + 4 + 8, "99\0\0\0\0", 6);
  std::string metadata = bytes.substr(0, 353) + spread;
  metadata.resize((metadata.size() + 7) / 8 * 8, '\0');
  const std::uint32_t mappings = 2, length = static_cast<std::uint32_t>(metadata.size() - 8);
  std::memcpy(metadata.data() + 195, &mappings, 4);
  std::memcpy(metadata.data() + 4, &length, 4);
  metadata[50] = 4;  // stype_in: parent
  write_bytes(folder / "parent.dbn", metadata + record + other + record);
  Collected outrights, named;
  DataReport report;
  EXPECT_EQ(read(folder / "parent.dbn", InputKind::bars, outrights, report).symbol, "ESH4");
  EXPECT_EQ(outrights.bars.size(), 2U);
  DataConfig config;
  config.symbol = "ESH4-ESM4";
  EXPECT_EQ(read(folder / "parent.dbn", InputKind::bars, named, report, config).symbol, "ESH4-ESM4");
  EXPECT_EQ(named.bars.size(), 1U);
  metadata[50] = 1;  // raw symbols: two instruments
  const Error several = error_of(write_bytes(folder / "raw.dbn", metadata + record + other), InputKind::bars);
  EXPECT_NE(std::string(several.what()).find("ESH4, ESH4-ESM4"), std::string::npos) << several.what();
}

TEST(DbnReader, ReportsProgressAndStopsOnCancel) {
  const auto folder = scratch_folder();
  const auto path = make_bars(folder / "bars.dbn", 200'000, false);  // 11 MB
  std::atomic<bool> cancel = false;
  std::uint64_t calls = 0, last = 0, total = 0;
  Progress progress;
  progress.cancel = &cancel;
  progress.report = [&](std::uint64_t done, std::uint64_t all, const std::string&) {
    ++calls;
    last = done;
    total = all;
  };
  Checksum sink;
  DataReport report;
  read_file(path, InputKind::bars, {}, sink, report, progress);
  EXPECT_GE(calls, 3U);
  EXPECT_EQ(last, std::filesystem::file_size(path));
  EXPECT_EQ(total, last);
  progress.report = [&](std::uint64_t, std::uint64_t, const std::string&) { cancel = true; };
  try {
    read_file(path, InputKind::bars, {}, sink, report, progress);
    ADD_FAILURE() << "not cancelled";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cancelled");
  }
}

TEST(DbnReader, NamesWhatAForeignFileLooksLike) {
  const auto folder = scratch_folder();
  EXPECT_NE(std::string(error_of(write_bytes(folder / "a", ""), InputKind::bars).what()).find("empty"),
            std::string::npos);
  EXPECT_NE(std::string(error_of(write_bytes(folder / "a", "\x1F\x8B\x08\x01 and so on"), InputKind::bars).what())
                .find("gzip"),
            std::string::npos);
  EXPECT_NE(
      std::string(error_of(write_bytes(folder / "a", "PAR1\x01\x02\x03"), InputKind::bars).what()).find("Parquet"),
      std::string::npos);
  const std::string wide("t\0i\0m\0e\0,\0o\0", 12);  // UTF-16 without its mark
  EXPECT_NE(std::string(error_of(write_bytes(folder / "a", wide), InputKind::bars).what()).find("UTF-16"),
            std::string::npos);
  EXPECT_NE(std::string(error_of(folder / "absent", InputKind::bars).what()).find("cannot be opened"),
            std::string::npos);
}

}  // namespace
}  // namespace foxhunt::market::test
