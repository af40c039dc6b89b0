// CSV conventions on small texts: what is recognised, what is refused as ambiguous, and where a bad row is.
#include <gtest/gtest.h>
#include <zstd.h>

#include "engine/market/calendar.h"
#include "tests/market/reader_support.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

using foxhunt::test::scratch_folder;

DataConfig zone(const std::string& name) {
  DataConfig config;
  config.timezone = name;
  return config;
}

struct Read {
  Collected sink;
  DataReport report;
  ReadSummary summary;

  std::string inferred(const std::string& what) const {
    for (const auto& [key, value] : report.inferred) {
      if (key.ends_with(": " + what)) return value;
    }
    return "";
  }
};

Read read(const std::string& text, const DataConfig& config = zone("UTC"), InputKind kind = InputKind::bars,
          const std::string& name = "file.csv") {
  Read out;
  const auto path = write_bytes(scratch_folder() / name, text);
  out.summary = read_file(path, kind, config, out.sink, out.report);
  return out;
}

Error refusal(const std::string& text, const DataConfig& config = zone("UTC"), InputKind kind = InputKind::bars,
              const std::string& name = "file.csv") {
  return error_of(write_bytes(scratch_folder() / name, text), kind, config);
}

std::string opened(const Read& read, std::size_t i) {
  return format_time(read.sink.bars.at(i).open_time);
}

constexpr const char* kHeader = "time,open,high,low,close,volume\n";

TEST(CsvReader, ReadsCommaSemicolonAndTab) {
  for (const std::string delimiter : {",", ";", "\t"}) {
    std::string text =
        "time,open,high,low,close,volume\n2024-01-02 09:30,1.5,2,1.25,1.75,10\n2024-01-02 09:31,1.75,2,1.5,2,20\n";
    for (char& c : text) c = c == ',' ? delimiter[0] : c;
    const Read bars = read(text);
    ASSERT_EQ(bars.sink.bars.size(), 2U);
    EXPECT_EQ(opened(bars, 0), "2024-01-02T09:30:00Z");
    EXPECT_EQ(bars.sink.bars[0].open, 1'500'000'000);
    EXPECT_EQ(bars.sink.bars[0].low, 1'250'000'000);
    EXPECT_EQ(bars.sink.bars[1].volume, 20);
    EXPECT_EQ(bars.summary.bar_interval, 60 * kSecond);
  }
}

TEST(CsvReader, ReadsWindowsLinesQuotesMarkAndComments) {
  const Read bars = read(
      "\xEF\xBB\xBF# exported\r\n\"Time\",\"Open\",\"High\",\"Low\",\"Close\",\"Volume\"\r\n\r\n"
      "\"2024-01-02T09:30:00\",\"4,800.25\",\"4,801.50\",\"4,799.75\",\"4,800.50\",\"1,234\"\r\n"
      "\"2024-01-02T09:31:00\",\"4,800.50\",\"4,801.00\",\"4,800.00\",\"4,800.75\",\"987\"\r\n");
  ASSERT_EQ(bars.sink.bars.size(), 2U);
  EXPECT_EQ(bars.sink.bars[0].open, 4'800'250'000'000);
  EXPECT_EQ(bars.sink.bars[0].volume, 1234);
}

TEST(CsvReader, ReadsDecimalCommaWithGroups) {
  const Read german = read(
      "date;time;open;high;low;close;volume\n02.01.2024;09:30;4.800,25;4.801,5;4.799,75;4.800,5;1.234\n"
      "13.01.2024;09:30;4.800,25;4.801,5;4.799,75;4.800,5;12\n");
  ASSERT_EQ(german.sink.bars.size(), 2U);
  EXPECT_EQ(german.sink.bars[0].open, 4'800'250'000'000);
  EXPECT_EQ(german.sink.bars[0].volume, 1234);
  EXPECT_EQ(opened(german, 0), "2024-01-02T09:30:00Z");
}

TEST(CsvReader, RefusesANumberThatCanBeReadTwoWays) {
  const Error error = refusal("time;open;high;low;close;volume\n2024-01-02 09:30;1,107;1,108;1,106;1,107;5\n");
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_NE(std::string(error.what()).find("1,107"), std::string::npos) << error.what();
}

// The signs of numbers as the configuration states them, over the same file.
TEST(CsvReader, SignsOfNumbersCanBeStated) {
  const std::string text = "time;open;high;low;close;volume\n2024-01-02 09:30;1,107;1,108;1,106;1,107;5\n";
  const auto first_open = [&](const char* decimal, const char* thousands) {
    DataConfig config = zone("UTC");
    config.decimal_sign = decimal;
    config.thousands_sign = thousands;
    const Read bars = read(text, config);
    EXPECT_NE(bars.inferred("numbers").find("as the configuration says"), std::string::npos);
    return bars.sink.bars.at(0).open;
  };
  constexpr Price whole = 1'107'000'000'000, fraction = 1'107'000'000;
  EXPECT_EQ(first_open(",", ""), fraction);
  EXPECT_EQ(first_open(".", ""), whole) << "the mark that is left groups";
  EXPECT_EQ(first_open("", ","), whole);
  EXPECT_EQ(first_open("", "."), fraction);
  EXPECT_EQ(first_open("", "none"), fraction) << "where nothing groups, the only mark is the decimal sign";
  EXPECT_EQ(first_open(".", ","), whole);
  const std::string plain = "time;open;high;low;close;volume\n2024-01-02 09:30;4800.125;4801.5;4799.125;4800.5;5\n";
  DataConfig wrong = zone("UTC");
  wrong.decimal_sign = ",";
  const Error error = refusal(plain, wrong);
  EXPECT_NE(std::string(error.what()).find("4800.125"), std::string::npos) << error.what();
  const std::string spaced = "time;open;high;low;close;volume\n2024-01-02 09:30;4 800.5;4 801.5;4 799.5;4 800.5;5\n";
  DataConfig space = zone("UTC");
  space.thousands_sign = "space";
  EXPECT_EQ(read(spaced, space).sink.bars.at(0).open, 4'800'500'000'000);
}

TEST(CsvReader, EveryDelimiterCanBeStated) {
  for (const auto& [name, sign] : {std::pair(",", ","), std::pair(";", ";"), std::pair("tab", "\t"),
                                   std::pair("bar", "|"), std::pair("space", "  ")}) {
    std::string text;
    for (const char* word : {"time", "open", "high", "low", "close"}) text += std::string(word) + sign;
    text += "volume\n";
    for (const char* word : {"2024-01-02T09:30", "4800.5", "4801.5", "4799.5", "4800.5"})
      text += std::string(word) + sign;
    text += "7\n";
    DataConfig config = zone("UTC");
    config.delimiter = name;
    const Read bars = read(text, config);
    ASSERT_EQ(bars.sink.bars.size(), 1U) << name;
    EXPECT_EQ(bars.sink.bars[0].open, 4'800'500'000'000) << name;
    EXPECT_EQ(bars.sink.bars[0].volume, 7) << name;
    EXPECT_TRUE(bars.inferred("delimiter").ends_with("as data.delimiter says")) << bars.inferred("delimiter");
  }
}

TEST(CsvReader, DayAndMonthAreDecidedByTheWholeFile) {
  std::string text = kHeader;
  for (int i = 0; i < 60; ++i)
    text += "03/04/2024 10:" + std::string(i < 10 ? "0" : "") + std::to_string(i) + ",1,1,1,1,1\n";
  EXPECT_EQ(refusal(text).kind(), ErrorKind::usage);
  EXPECT_EQ(opened(read(text + "25/04/2024 10:00,1,1,1,1,1\n"), 0), "2024-04-03T10:00:00Z");
  EXPECT_EQ(opened(read(text + "04/25/2024 10:00,1,1,1,1,1\n"), 0), "2024-03-04T10:00:00Z");
  EXPECT_EQ(refusal(text + "25/04/2024 10:00,1,1,1,1,1\n04/25/2024 10:00,1,1,1,1,1\n").kind(), ErrorKind::usage);
  DataConfig chosen = zone("UTC");
  chosen.timestamp_format = "month_first";
  EXPECT_EQ(opened(read(text, chosen), 0), "2024-03-04T10:00:00Z");
}

TEST(CsvReader, ReadsTimesInTheirForms) {
  struct Form {
    const char* first;
    const char* second;
    const char* expected;
  };
  const Form forms[] = {
      {"2024-01-02T09:30:00Z", "2024-01-02T09:31:00Z", "2024-01-02T09:30:00Z"},
      {"2024-01-02 09:30:00.250000+02:00", "2024-01-02 09:31:00.250000+02:00", "2024-01-02T07:30:00.250Z"},
      {"2024/01/02 09:30", "2024/01/02 09:31", "2024-01-02T09:30:00Z"},
      {"20240102 093000125", "20240102 093100125", "2024-01-02T09:30:00.125Z"},
      {"202401020930", "202401020931", "2024-01-02T09:30:00Z"},
      {"20240102093000", "20240102093100", "2024-01-02T09:30:00Z"},
      {"2024-01-02 12:30 AM", "2024-01-02 12:31 AM", "2024-01-02T00:30:00Z"},
      {"2024-01-02 12:30:00 pm", "2024-01-02 12:31:00 pm", "2024-01-02T12:30:00Z"},
      {"1704187800", "1704187860", "2024-01-02T09:30:00Z"},
      {"1704187800.5", "1704187860.5", "2024-01-02T09:30:00.500Z"},
      {"1704187800000", "1704187860000", "2024-01-02T09:30:00Z"},
      {"1704187800000000", "1704187860000000", "2024-01-02T09:30:00Z"},
      {"1704187800000000007", "1704187860000000007", "2024-01-02T09:30:00.000000007Z"},
      {"20240102", "20240103", "2024-01-02T00:00:00Z"},
  };
  for (const Form& form : forms) {
    SCOPED_TRACE(form.first);
    const Read bars = read(std::string(kHeader) + form.first + ",1,1,1,1,1\n" + form.second + ",1,1,1,1,1\n");
    ASSERT_EQ(bars.sink.bars.size(), 2U);
    EXPECT_EQ(opened(bars, 0), form.expected);
  }
}

TEST(CsvReader, RefusesImpossibleTimesWithTheirLine) {
  for (const char* bad :
       {"2024-02-30 10:00", "2024-01-02 24:00", "2024-01-02 10:60", "2024-13-01 10:00", "10:00", "yesterday", ""}) {
    const Error error = refusal(std::string(kHeader) + "2024-01-02 09:59,1,1,1,1,1\n" + bad +
                                ",1,1,1,1,1\n2024-01-02 10:02,1,1,1,1,1\n");
    EXPECT_EQ(error.place().line.value_or(0), 3U) << bad;
    EXPECT_EQ(error.place().field, "time");
  }
}

TEST(CsvReader, MidnightCountsNeedADate) {
  const std::string text = "34200000,1.5,1.5,1.5,1.5,3\n34260000,1.5,1.5,1.5,1.5,3\n";
  EXPECT_EQ(refusal(text).place().field, "data.date");
  DataConfig config = zone("America/New_York");
  config.date = "2013-10-07";
  EXPECT_EQ(opened(read(text, config), 0), "2013-10-07T13:30:00Z");
  EXPECT_EQ(opened(read(text, zone("UTC"), InputKind::bars, "20131008_es_minute_trade.csv"), 0),
            "2013-10-08T09:30:00Z");
}

TEST(CsvReader, ARepeatedHourIsKeptInOrderAndASkippedTimeRefused) {
  std::string text = kHeader;
  for (const char* time : {"00:30", "01:00", "01:30", "01:00", "01:30", "02:00"})
    text += std::string("2025-11-02 ") + time + ",1,1,1,1,1\n";
  const Read bars = read(text, zone("America/New_York"));
  ASSERT_EQ(bars.sink.bars.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(bars.sink.bars[i].open_time,
              (days_from_civil(2025, 11, 2) * 86'400 + 16'200 + static_cast<std::int64_t>(i) * 1800) * kSecond);
  }
  EXPECT_EQ(bars.report.anomalies.at("repeated_local_time").count, 4U);
  // Newest row first.
  std::string reversed = kHeader;
  for (const char* time : {"02:00", "01:30", "01:00", "01:30", "01:00", "00:30"})
    reversed += std::string("2025-11-02 ") + time + ",1,1,1,1,1\n";
  const Read backwards = read(reversed, zone("America/New_York"));
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(backwards.sink.bars[i].open_time, bars.sink.bars[5 - i].open_time) << i;
  const Error skipped = refusal(std::string(kHeader) + "2026-03-08 01:30,1,1,1,1,1\n2026-03-08 02:30,1,1,1,1,1\n",
                                zone("America/New_York"));
  EXPECT_EQ(*skipped.place().line, 3U);
  EXPECT_NE(std::string(skipped.what()).find("does not exist"), std::string::npos);
}

TEST(CsvReader, ANaiveTimeNeedsAZoneUnlessTheColumnNamesOne) {
  const std::string rows = ",open,high,low,close,volume\n2024-01-02 09:30,1,1,1,1,1\n";
  EXPECT_EQ(refusal("time" + rows, {}).kind(), ErrorKind::usage);
  EXPECT_EQ(opened(read("timestamp_utc" + rows, {}), 0), "2024-01-02T09:30:00Z");
  EXPECT_EQ(opened(read("Gmt time" + rows, {}), 0), "2024-01-02T09:30:00Z");
  EXPECT_EQ(opened(read("timestamp_utc" + rows, zone("Asia/Tokyo")), 0), "2024-01-02T00:30:00Z");
  EXPECT_EQ(refusal("time" + rows, zone("Mars/Olympus")).kind(), ErrorKind::usage);
  const Error mixed = refusal(std::string(kHeader) + "2024-01-02T09:30:00Z,1,1,1,1,1\n2024-01-02T09:31:00,1,1,1,1,1\n");
  EXPECT_EQ(*mixed.place().line, 3U);
}

TEST(CsvReader, BarsAreStampedAtOpenOrClose) {
  const std::string rows = ",open,high,low,close,volume\n2024-01-02 09:30,1,1,1,1,1\n2024-01-02 09:35,1,1,1,1,1\n";
  const Read assumed = read("time" + rows);
  EXPECT_NE(assumed.inferred("bar stamp").find("assumed"), std::string::npos);
  EXPECT_EQ(opened(assumed, 0), "2024-01-02T09:30:00Z");
  EXPECT_EQ(opened(read("close_time" + rows), 0), "2024-01-02T09:25:00Z");
  EXPECT_EQ(opened(read("open_time" + rows), 0), "2024-01-02T09:30:00Z");
  DataConfig config = zone("UTC");
  config.bar_stamp = "close";
  const Read chosen = read("time" + rows, config);
  EXPECT_EQ(opened(chosen, 0), "2024-01-02T09:25:00Z");
  EXPECT_EQ(format_time(chosen.sink.bars[0].close_time), "2024-01-02T09:30:00Z");
  // Trading that stops at 17:00 and resumes at 18:00.
  std::string text = kHeader;
  for (const char* day : {"02", "03", "04"}) {
    for (const char* time : {"16:56", "16:57", "16:58", "16:59", "17:00", "18:01", "18:02", "18:03", "18:04"}) {
      text += std::string("2024-01-") + day + " " + time + ",1,1,1,1,1\n";
    }
  }
  const Read breaks = read(text);
  EXPECT_TRUE(breaks.inferred("bar stamp").starts_with("close")) << breaks.inferred("bar stamp");
  EXPECT_EQ(opened(breaks, 0), "2024-01-02T16:55:00Z");
}

TEST(CsvReader, PricesMayBeScaled) {
  DataConfig config = zone("UTC");
  config.price_scale = 0.01;
  const Read bars = read(std::string(kHeader) + "2024-01-02 09:30,480025,480050,479975,480000,1\n", config);
  EXPECT_EQ(bars.sink.bars[0].open, 4'800'250'000'000);
  const Error raw =
      refusal(std::string(kHeader) + "2024-01-02 09:30,4800250000000,4800250000000,4800250000000,4800250000000,1\n");
  EXPECT_NE(raw.place().hint.find("price_scale"), std::string::npos);
  const Read noise = read(std::string(kHeader) + "2024-01-02 09:30,1.10760000000001,1.2,1.1,1.1,1\n");
  EXPECT_EQ(noise.sink.bars[0].open, 1'107'600'000);
  EXPECT_EQ(noise.report.anomalies.at("rounded_price").count, 1U);
}

TEST(CsvReader, RefusesARowThatIsNotNumbersWithLineColumnAndValue) {
  const Error error = refusal(std::string(kHeader) + "2024-01-02 09:30,1,1,1,1,1\n2024-01-02 09:31,1,n/a,1,1,1\n");
  EXPECT_EQ(*error.place().line, 3U);
  EXPECT_EQ(error.place().field, "high");
  EXPECT_NE(std::string(error.what()).find("'n/a'"), std::string::npos);
  const Error few =
      refusal(std::string(kHeader) + "2024-01-02 09:30,1,1,1,1,1\n2024-01-02 09:31,1,1\n2024-01-02 09:32,1,1,1,1,1\n");
  EXPECT_EQ(*few.place().line, 3U);
  EXPECT_NE(std::string(few.what()).find("3 fields where 6"), std::string::npos) << few.what();
  const Error open = refusal(std::string(kHeader) + "2024-01-02 09:30,1,1,1,1,1\n\"2024-01-02 09:31,1,1,1,1,1\n");
  EXPECT_EQ(*open.place().line, 3U);
}

TEST(CsvReader, ACutLastLineIsDroppedWithAWarning) {
  const std::string whole = std::string(kHeader) + "2024-01-02 09:30,1,1,1,1,1\n2024-01-02 09:31,1,1,1,1,1\n";
  const Read cut = read(whole + "2024-01-02 09:3");
  EXPECT_EQ(cut.summary.records, 2U);
  EXPECT_TRUE(cut.summary.truncated);
  ASSERT_EQ(cut.report.warnings.size(), 1U);
  EXPECT_EQ(*cut.report.warnings[0].offset, whole.size());
  EXPECT_NE(cut.report.warnings[0].message.find("15 bytes"), std::string::npos);
  const Read whole_line = read(whole + "2024-01-02 09:32,1,1,1,1,1");
  EXPECT_EQ(whole_line.summary.records, 3U);
  EXPECT_FALSE(whole_line.summary.truncated);
}

TEST(CsvReader, CutAtEveryByteNeverCrashes) {
  const std::string whole =
      std::string(kHeader) + "2024-01-02 09:30,1.25,1.5,1,1.25,10\n2024-01-02 09:31,1.25,1.5,1,1.25,10\n";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    Collected sink;
    DataReport report;
    const auto path = write_bytes(scratch_folder() / "cut.csv", whole.substr(0, size));
    try {
      const ReadSummary summary = read_file(path, InputKind::bars, zone("UTC"), sink, report);
      EXPECT_LE(summary.records, 2U);
    } catch (const Error& error) {
      EXPECT_LT(size, whole.size()) << error.sentence();
    }
  }
}

TEST(CsvReader, ColumnsWithoutHeaderMustLookLikeBars) {
  const Read bars = read("2024-01-02 09:30,2,3,1,2,10\n2024-01-02 09:31,2,3,1,2,10\n");
  EXPECT_EQ(bars.sink.bars.at(1).high, 3'000'000'000);
  const Error swapped = refusal("2024-01-02 09:30,2,1,3,2,10\n2024-01-02 09:31,2,1,3,2,10\n");
  EXPECT_NE(std::string(swapped.what()).find("not open, high, low and close"), std::string::npos) << swapped.what();
}

TEST(CsvReader, SeveralSymbolsNeedOne) {
  const std::string text =
      "time,open,high,low,close,volume,symbol\n2024-01-02 09:30,1,1,1,1,1,ES\n2024-01-02 09:30,2,2,2,2,2,NQ\n"
      "2024-01-02 09:31,1,1,1,1,1,ES\n";
  const Error several = refusal(text);
  EXPECT_EQ(several.kind(), ErrorKind::usage);
  EXPECT_NE(std::string(several.what()).find("ES, NQ"), std::string::npos);
  DataConfig config = zone("UTC");
  config.symbol = "NQ";
  EXPECT_EQ(read(text, config).sink.bars.at(0).open, 2'000'000'000);
  config.symbol = "YM";
  EXPECT_NE(std::string(refusal(text, config).what()).find("ES, NQ"), std::string::npos);
}

TEST(CsvReader, ReadsTradesOfOtherSources) {
  const Read trades =
      read("timestamp,price,quantity,is_buyer_maker\n1704187800000,42000.5,0.125,true\n1704187800100,42001,1,false\n",
           {}, InputKind::trades);
  ASSERT_EQ(trades.sink.trades.size(), 2U);
  EXPECT_EQ(trades.sink.trades[0].side, Side::ask);
  EXPECT_EQ(trades.sink.trades[0].size, 0.125);
  EXPECT_EQ(trades.sink.trades[1].side, Side::bid);
  EXPECT_EQ(refusal("timestamp,price,size,side\n1704187800000,1,1,sideways\n", {}, InputKind::trades).place().field,
            "side");
}

TEST(CsvReader, ReadsCompressedTextAndRepeatedHeaders) {
  const std::string text =
      std::string(kHeader) + "2024-01-02 09:30,1,1,1,1,1\n" + kHeader + "2024-01-02 09:31,1,1,1,1,1\n";
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  const Read bars = read(packed);
  EXPECT_EQ(bars.summary.records, 2U);
  EXPECT_EQ(bars.report.anomalies.at("repeated_header").count, 1U);
}

TEST(CsvReader, RefusesTextThatIsNoTable) {
  EXPECT_NE(std::string(refusal("once upon a time\nthere was a market\n").what()).find("not a table"),
            std::string::npos);
  EXPECT_FALSE(refusal(std::string(70'000, 'a')).place().file.empty());
  EXPECT_FALSE(
      refusal(std::string(kHeader) + std::string(5000, 'x') + std::string(2, '\0') + ",1\n").place().file.empty());
}

}  // namespace
}  // namespace foxhunt::market::test
