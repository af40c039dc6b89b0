// Every CSV file of the shared folders against plain code of its own for each: every row and every value.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "tests/market/plain_decoder.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

using foxhunt::test::shared;
using Cells = std::vector<std::string>;

constexpr Time kSecond = 1'000'000'000;

std::vector<Cells> table(const std::string& file, char delimiter, int headers) {
  std::vector<Cells> rows;
  std::string line;
  std::istringstream text(unpacked(read_bytes(shared("data/" + file))));
  while (std::getline(text, line)) {
    if (line.ends_with('\r')) line.pop_back();
    if (headers-- > 0 || line.empty()) continue;
    Cells cells(1);
    for (const char c : line) {
      if (c == delimiter) {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

// The digits of a decimal times 10^decimals; what is beyond must be zeros.
std::int64_t fixed(std::string text, int decimals) {
  const bool negative = text[0] == '-';
  if (negative) text.erase(0, 1);
  const std::size_t point = text.find('.');
  std::string digits = text.substr(0, point), rest = point == std::string::npos ? "" : text.substr(point + 1);
  while (decimals < 0 && digits.size() > 1) digits.pop_back(), ++decimals;
  rest.resize(std::max<std::size_t>(rest.size(), static_cast<std::size_t>(decimals)), '0');
  EXPECT_EQ(rest.find_first_not_of('0', static_cast<std::size_t>(decimals)), std::string::npos) << text;
  const std::int64_t value = std::stoll(digits + rest.substr(0, static_cast<std::size_t>(decimals)));
  return negative ? -value : value;
}
Price points(const std::string& text) {
  return fixed(text, 9);
}

// Seconds of a civil time in a zone, by the C library.
Time seconds(const std::string& zone, int year, int month, int day, int hour, int minute, int second) {
  setenv("TZ", zone.c_str(), 1);
  tzset();
  std::tm civil{};
  civil.tm_year = year - 1900, civil.tm_mon = month - 1, civil.tm_mday = day;
  civil.tm_hour = hour, civil.tm_min = minute, civil.tm_sec = second, civil.tm_isdst = -1;
  return std::mktime(&civil);
}

struct ZoneGuard {
  ~ZoneGuard() {
    unsetenv("TZ");
    tzset();
  }
};

Time civil(const std::string& zone, const std::string& text) {
  int y = 0, m = 0, d = 0, h = 0, n = 0, s = 0;
  EXPECT_GE(std::sscanf(text.c_str(), "%4d%*c%2d%*c%2d%*c%2d:%2d:%2d", &y, &m, &d, &h, &n, &s), 5) << text;
  return seconds(zone, y, m, d, h, n, s);
}

struct Read {
  Collected sink;
  DataReport report;
  ReadSummary summary;
};

Read read(const std::string& file, InputKind kind, const std::string& zone = "") {
  Read out;
  DataConfig config;
  config.timezone = zone;
  out.summary = read_file(shared("data/" + file), kind, config, out.sink, out.report);
  return out;
}

template <class Record>
std::uint64_t checksum(const std::vector<Record>& records) {
  Checksum sum;
  for (const auto& record : records) {
    if constexpr (std::is_same_v<Record, BarRecord>) {
      sum.bar(record);
    } else if constexpr (std::is_same_v<Record, BookRecord>) {
      sum.book(record);
    } else {
      sum.trade(record);
    }
  }
  return sum.hash;
}

void expect_bars(const std::string& file, const Read& got, const std::vector<BarRecord>& want) {
  SCOPED_TRACE(file);
  ASSERT_EQ(got.sink.bars.size(), want.size());
  EXPECT_EQ(got.summary.records, want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const BarRecord &a = got.sink.bars[i], &b = want[i];
    ASSERT_EQ(a.open_time, b.open_time) << "row " << i;
    ASSERT_EQ(a.close_time, b.close_time) << "row " << i;
    ASSERT_EQ((std::array{a.open, a.high, a.low, a.close}), (std::array{b.open, b.high, b.low, b.close}))
        << "row " << i;
    ASSERT_EQ(a.volume, b.volume) << "row " << i;
  }
  EXPECT_EQ(checksum(got.sink.bars), checksum(want));
}

// Bars whose time is one civil text, or two; prices from column `first` on.
struct CivilBars {
  const char* file;
  const char* zone;
  char delimiter;
  int headers, first;
  Time length;  // s
  bool close_stamp;
  int volume;  // column
};

TEST(CsvFolders, BarsWithCivilTimes) {
  FH_NEEDS_SHARED("data/ohlcv");
  const ZoneGuard guard;
  const CivilBars files[] = {
      {"ohlcv/ES_5min_202602-202604.csv.zst", "America/New_York", ',', 1, 1, 300, false, 5},
      {"ohlcv/ES_2min_202603-202604.csv.zst", "America/New_York", ',', 1, 1, 120, false, 5},
      {"ohlcv/nautilus_6EH4.XCME_1min_bars_20240101_20240131.csv.zst", "UTC", ',', 1, 1, 60, true, 5},
      {"ohlcv/nautilus_6EH4.XCME_1min_bars_semicolon.csv", "UTC", ';', 1, 1, 60, false, 5},
      {"ohlcv/nautilus_btc-perp-20211231-20220201_1m.csv.zst", "UTC", ',', 1, 1, 60, false, 5},
      {"ohlcv/mt5_EURUSD5_2025.csv.zst", "Europe/Athens", ',', 1, 1, 300, false, 5},
      {"ohlcv/mt4_noheader_EURUSD60_2013-2014.csv", "Europe/Athens", ',', 0, 2, 3600, false, 6},
  };
  for (const CivilBars& f : files) {
    std::vector<BarRecord> want;
    for (const Cells& c : table(f.file, f.delimiter, f.headers)) {
      const auto k = static_cast<std::size_t>(f.first);
      const std::string when = k == 2 ? c[0] + " " + c[1] : c[0];
      const Time open = (civil(f.zone, when) - (f.close_stamp ? f.length : 0)) * kSecond;
      want.push_back({open, open + f.length * kSecond, points(c[k]), points(c[k + 1]), points(c[k + 2]),
                      points(c[k + 3]), std::strtod(c[static_cast<std::size_t>(f.volume)].c_str(), nullptr)});
    }
    ASSERT_GT(want.size(), 8U);
    expect_bars(f.file, read(f.file, InputKind::bars, f.zone), want);
  }
}

TEST(CsvFolders, BarsWithCountedTimes) {
  FH_NEEDS_SHARED("data/ohlcv");
  const ZoneGuard guard;
  for (const char* name :
       {"nautilus_binance_kline_ADABTC-1m-2021-11-28", "nautilus_binance_kline_noheader_ADABTC-1m-2021-11-27"}) {
    const std::string file = std::string("ohlcv/") + name + ".csv";
    std::vector<BarRecord> want;
    for (const Cells& c : table(file, ',', 0)) {
      want.push_back({std::stoll(c[0]) * 1'000'000, (std::stoll(c[6]) + 1) * 1'000'000, points(c[1]), points(c[2]),
                      points(c[3]), points(c[4]), std::strtod(c[5].c_str(), nullptr)});
    }
    expect_bars(file, read(file, InputKind::bars), want);
  }
  // LEAN: milliseconds since midnight of the name's date; equities in New York and in units of 0.0001.
  std::vector<std::string> lean = {"ohlcv/lean_20131007_spy_minute_trade.csv"};
  for (const auto& entry : std::filesystem::directory_iterator(shared("data/ohlcv/lean_es_minute_201310"))) {
    const std::string name = entry.path().filename().string();
    if (name.find("trade") != std::string::npos) lean.push_back("ohlcv/lean_es_minute_201310/" + name);
  }
  EXPECT_GE(lean.size(), 14U);
  for (const std::string& file : lean) {
    const bool equity = file.find("spy") != std::string::npos;
    const std::string zone = equity ? "America/New_York" : "UTC";
    const std::string date = file.substr(file.find("2013", file.rfind('/')), 8);
    const Time midnight = seconds(zone, std::stoi(date.substr(0, 4)), std::stoi(date.substr(4, 2)),
                                  std::stoi(date.substr(6, 2)), 0, 0, 0);
    std::vector<BarRecord> want;
    for (const Cells& c : table(file, ',', 0)) {
      const Time open = midnight * kSecond + std::stoll(c[0]) * 1'000'000;
      const auto price = [&](std::size_t i) { return fixed(c[i], equity ? 5 : 9); };
      want.push_back(
          {open, open + 60 * kSecond, price(1), price(2), price(3), price(4), std::strtod(c[5].c_str(), nullptr)});
    }
    expect_bars(file, read(file, InputKind::bars, zone), want);
  }
}

void expect_books(const std::string& file, const Read& got, const std::vector<BookRecord>& want) {
  SCOPED_TRACE(file);
  ASSERT_EQ(got.sink.books.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const BookRecord &a = got.sink.books[i], &b = want[i];
    ASSERT_EQ(a.ts_recv, b.ts_recv) << "row " << i;
    ASSERT_EQ(a.ts_event, b.ts_event) << "row " << i;
    for (std::size_t k = 0; k < a.levels.size(); ++k) {
      ASSERT_EQ(a.levels[k].bid_price, b.levels[k].bid_price) << "row " << i << " level " << k;
      ASSERT_EQ(a.levels[k].ask_price, b.levels[k].ask_price) << "row " << i << " level " << k;
      ASSERT_EQ(a.levels[k].bid_size, b.levels[k].bid_size) << "row " << i << " level " << k;
      ASSERT_EQ(a.levels[k].ask_size, b.levels[k].ask_size) << "row " << i << " level " << k;
    }
    ASSERT_EQ(a.action, b.action) << "row " << i;
    ASSERT_NEAR(a.size_unit, b.size_unit, 1e-12);
    ASSERT_TRUE(a.last()) << "row " << i;
  }
}

TEST(CsvFolders, QuotesAreABookOfOneLevel) {
  FH_NEEDS_SHARED("data/ticks");
  const ZoneGuard guard;
  const auto quote = [](Time time, const std::string& bid, const std::string& ask) {
    BookRecord out;
    out.ts_event = out.ts_recv = time;
    out.levels[0] = {points(bid), points(ask), 1, 1, 0, 0};
    return out;
  };
  std::vector<BookRecord> want;
  const std::string truefx = "ticks/nautilus_truefx_usdjpy-ticks.csv";
  for (const Cells& c : table(truefx, ',', 1)) {
    const Time part = c[0].find('.') == std::string::npos ? 0 : std::stoll(c[0].substr(c[0].find('.') + 1, 6)) * 1000;
    want.push_back(quote(civil("UTC", c[0]) * kSecond + part, c[1], c[2]));
  }
  ASSERT_EQ(want.size(), 1000U);
  expect_books(truefx, read(truefx, InputKind::book), want);

  const std::string histdata = "ticks/nautilus_quote_tick_data_histdata_ascii.csv";
  want.clear();
  for (const Cells& c : table(histdata, ',', 0)) {
    const auto part = [&](std::size_t from, std::size_t count) { return std::stoi(c[0].substr(from, count)); };
    const Time utc =
        seconds("UTC", part(0, 4), part(4, 2), part(6, 2), part(9, 2), part(11, 2), part(13, 2)) + 5 * 3600;
    want.push_back(quote(utc * kSecond + part(15, 3) * 1'000'000, c[1], c[2]));
  }
  ASSERT_EQ(want.size(), 9500U);
  expect_books(histdata, read(histdata, InputKind::book, "-05:00"), want);
  EXPECT_EQ(error_of(shared("data/" + histdata), InputKind::book).place().field, "data.timezone");
}

TEST(CsvFolders, BarsOfQuotesAreABookAtTheirEnd) {
  FH_NEEDS_SHARED("data/ohlcv/lean_es_minute_201310");
  const ZoneGuard guard;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(shared("data/ohlcv/lean_es_minute_201310"))) {
    const std::string name = entry.path().filename().string();
    if (name.find("quote") == std::string::npos) continue;
    const std::string file = "ohlcv/lean_es_minute_201310/" + name;
    std::vector<BookRecord> want;
    for (const Cells& c : table(file, ',', 0)) {
      BookRecord out;
      out.ts_event = out.ts_recv = seconds("UTC", 2013, 10, 7, 0, 1, 0) * kSecond + std::stoll(c[0]) * 1'000'000;
      if (!c[4].empty())
        out.levels[0].bid_price = points(c[4]), out.levels[0].bid_size = static_cast<unsigned>(std::stoul(c[5]));
      if (!c[9].empty())
        out.levels[0].ask_price = points(c[9]), out.levels[0].ask_size = static_cast<unsigned>(std::stoul(c[10]));
      want.push_back(out);
    }
    expect_books(file, read(file, InputKind::book, "UTC"), want);
    const Error error = error_of(entry.path(), InputKind::bars);
    EXPECT_NE(std::string(error.what()).find("they look like quotes"), std::string::npos) << error.what();
    ++files;
  }
  EXPECT_EQ(files, 5);
}

TEST(CsvFolders, TardisTradesAndSnapshots) {
  FH_NEEDS_SHARED("data/lob");
  const std::string file = "ticks/nautilus_tardis_bitmex_trades_XBTUSD.csv";
  const Read trades = read(file, InputKind::trades);
  const auto rows = table(file, ',', 1);
  ASSERT_EQ(trades.sink.trades.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const TradeRecord& t = trades.sink.trades[i];
    EXPECT_EQ(t.ts_event, std::stoll(rows[i][2]) * 1000);
    EXPECT_EQ(t.ts_recv, std::stoll(rows[i][3]) * 1000);
    EXPECT_EQ(t.side, rows[i][5] == "sell" ? Side::ask : Side::bid);
    EXPECT_EQ(t.price, points(rows[i][6]));
    EXPECT_EQ(t.size, std::strtod(rows[i][7].c_str(), nullptr));
  }
  for (const int depth : {5, 25}) {
    const std::string name = "lob/nautilus_tardis_book_snapshot_" + std::to_string(depth) + "_BTCUSDT.csv";
    std::vector<BookRecord> want;
    for (const Cells& c : table(name, ',', 1)) {
      BookRecord out;
      out.ts_event = std::stoll(c[2]) * 1000, out.ts_recv = std::stoll(c[3]) * 1000;
      out.size_unit = 1e-3;
      for (std::size_t k = 0; k < static_cast<std::size_t>(std::min(depth, 10)); ++k) {
        const auto size = [&](std::size_t column) { return static_cast<std::uint32_t>(fixed(c[column], 3)); };
        out.levels[k] = {
            points(c[4 + 4 * k + 2]), points(c[4 + 4 * k]), size(4 + 4 * k + 3), size(4 + 4 * k + 1), 0, 0};
      }
      want.push_back(out);
    }
    expect_books(name, read(name, InputKind::book), want);
  }
}

// Sizes of levels in thousandths, applied as they come; one state for each run of rows with the same key.
std::vector<BookRecord> plain_increments(const std::vector<Cells>& rows, std::map<Price, std::int64_t> (&sides)[2],
                                         const std::function<std::string(const Cells&)>& key,
                                         const std::function<bool(const Cells&)>& snapshot, std::size_t side,
                                         std::size_t price,
                                         const std::function<std::array<Time, 2>(const Cells&)>& times, int decimals) {
  std::vector<BookRecord> out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Cells& c = rows[i];
    if (snapshot(c) && (i == 0 || key(rows[i - 1]) != key(c))) sides[0].clear(), sides[1].clear();
    const bool bid = c[side][0] == 'b';
    const Price at = bid ? -points(c[price]) : points(c[price]);
    const std::int64_t size = fixed(c[price + 1], decimals);
    const bool there = sides[bid ? 0 : 1].contains(at);
    if (size == 0) sides[bid ? 0 : 1].erase(at);
    if (size != 0) sides[bid ? 0 : 1][at] = size;
    if (i + 1 < rows.size() && key(rows[i + 1]) == key(c)) continue;
    BookRecord state;
    state.ts_event = times(c)[0], state.ts_recv = times(c)[1];
    state.size_unit = std::pow(10.0, -decimals);
    const bool alone = i == 0 || key(rows[i - 1]) != key(c);
    state.action = !alone ? Action::none : size == 0 ? Action::cancel : there ? Action::modify : Action::add;
    for (int s = 0; s < 2; ++s) {
      std::size_t k = 0;
      for (const auto& [p, q] : sides[s]) {
        if (k == 10) break;
        (s == 0 ? state.levels[k].bid_price : state.levels[k].ask_price) = s == 0 ? -p : p;
        (s == 0 ? state.levels[k].bid_size : state.levels[k].ask_size) = static_cast<std::uint32_t>(q);
        ++k;
      }
    }
    out.push_back(state);
  }
  return out;
}

TEST(CsvFolders, IncrementsOfTardisAndBinance) {
  FH_NEEDS_SHARED("data/lob");
  const std::string deribit = "lob/nautilus_tardis_deribit_incremental_book_L2.csv";
  std::map<Price, std::int64_t> book[2];
  const auto want = plain_increments(
      table(deribit, ',', 1), book, [](const Cells& c) { return c[2] + c[3] + c[4]; },
      [](const Cells& c) { return c[4] == "true"; }, 5, 6,
      [](const Cells& c) {
        return std::array<Time, 2>{std::stoll(c[2]) * 1000, std::stoll(c[3]) * 1000};
      },
      0);
  expect_books(deribit, read(deribit, InputKind::book), want);
  EXPECT_NE(std::string(error_of(shared("data/" + deribit), InputKind::trades).what()).find("book updates"),
            std::string::npos);

  // The updates go on from the snapshot when both are files of one feed.
  const std::string snap = "lob/nautilus_binance_btcusdt-depth-snap.csv",
                    update = "lob/nautilus_binance_btcusdt-depth-update.csv";
  const auto times = [](const Cells& c) {
    return std::array<Time, 2>{std::stoll(c[1]) * 1'000'000, std::stoll(c[1]) * 1'000'000};
  };
  const auto key = [](const Cells& c) { return c[1] + c[3] + c[5]; };
  const auto is_snap = [](const Cells& c) { return c[5] == "snap"; };
  std::map<Price, std::int64_t> both[2], alone[2];
  const auto first = plain_increments(table(snap, ',', 1), both, key, is_snap, 4, 6, times, 3);
  const auto second = plain_increments(table(update, ',', 1), both, key, is_snap, 4, 6, times, 3);
  ASSERT_EQ(first.size(), 1U);
  ASSERT_GE(second.size(), 1U);
  ReadCarry carry;
  Read got;
  for (const std::string& file : {snap, update})
    got.summary = read_file(shared("data/" + file), InputKind::book, {}, got.sink, got.report, {}, &carry);
  auto all = first;
  all.insert(all.end(), second.begin(), second.end());
  expect_books("both", got, all);
  expect_books(update, read(update, InputKind::book),
               plain_increments(table(update, ',', 1), alone, key, is_snap, 4, 6, times, 3));
}

TEST(CsvFolders, LobsterPair) {
  FH_NEEDS_SHARED("data/lob");
  const ZoneGuard guard;
  const std::string name = "lob/lobster_AMZN_2012-06-21_34200000_57600000_";
  const auto messages = table(name + "message_1.csv.zst", ',', 0), books = table(name + "orderbook_1.csv.zst", ';', 0);
  ASSERT_EQ(messages.size(), books.size());
  const Time midnight = seconds("America/New_York", 2012, 6, 21, 0, 0, 0);
  std::vector<BookRecord> want;
  std::vector<TradeRecord> trades;
  std::uint64_t at_touch = 0, visible = 0;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Cells &m = messages[i], &b = books[i];
    BookRecord out;
    out.ts_event = out.ts_recv = midnight * kSecond + fixed(m[0], 9);
    const char type = m[1][0];
    out.action = type == '1' ? Action::add : type >= '2' && type <= '4' ? Action::cancel : Action::none;
    out.levels[0] = {fixed(b[2], 5),
                     fixed(b[0], 5),
                     static_cast<unsigned>(std::stoul(b[3])),
                     static_cast<unsigned>(std::stoul(b[1])),
                     0,
                     0};
    want.push_back(out);
    if (type != '4' && type != '5') continue;
    const Side side = m[5] == "-1" ? Side::bid : Side::ask;
    trades.push_back({out.ts_recv, out.ts_recv, fixed(m[4], 5), static_cast<double>(std::stoll(m[3])), side, 0,
                      static_cast<std::uint32_t>(i + 1)});
    if (type == '4' && i > 0) {
      ++visible;
      at_touch += fixed(m[4], 5) == fixed(books[i - 1][side == Side::bid ? 0 : 2], 5);
    }
  }
  EXPECT_GT(at_touch * 100, visible * 99);  // the pair's own rows belong together
  for (const char* half : {"orderbook_1.csv.zst", "message_1.csv.zst"}) {
    const Read got = read(name + half, InputKind::book, "America/New_York");
    expect_books(half, got, want);
    EXPECT_EQ(got.summary.symbol, "AMZN");
  }
  const Read got = read(name + "message_1.csv.zst", InputKind::trades, "America/New_York");
  EXPECT_EQ(got.sink.trades.size(), 8974U + 2445U);
  EXPECT_EQ(checksum(got.sink.trades), checksum(trades));
  EXPECT_EQ(error_of(shared("data/" + name + "message_1.csv.zst"), InputKind::book).place().field, "data.timezone");
  EXPECT_NE(std::string(error_of(shared("data/" + name + "message_1.csv.zst"), InputKind::bars).what()).find("no bars"),
            std::string::npos);
}

TEST(CsvFolders, DatabentoStylesEqualTheBinaryFiles) {
  FH_NEEDS_SHARED("data/es_derived");
  const auto dbn = [](const char* name) {
    return PlainDbn(unpacked(read_bytes(shared(std::string("data/es_derived/esh4_20231225.") + name + ".v3.dbn.zst"))));
  };
  std::vector<BarRecord> minutes, short_bars;
  for (const auto& r : dbn("ohlcv-1m").records) minutes.push_back(plain_bar(r));
  for (const auto& r : dbn("ohlcv-1s").records) short_bars.push_back(plain_bar(r));
  expect_bars("1m", read("es_derived/esh4_20231225.ohlcv-1m.raw.csv", InputKind::bars), minutes);
  expect_bars("1s", read("es_derived/esh4_20231225.ohlcv-1s.pretty.csv", InputKind::bars), short_bars);
  std::vector<TradeRecord> trades;
  for (const auto& r : dbn("trades").records) trades.push_back(plain_trade(r));
  for (const char* style : {"raw", "pretty"}) {
    const Read got = read(std::string("es_derived/esh4_20231225.trades.") + style + ".csv", InputKind::trades);
    EXPECT_EQ(got.sink.trades.size(), trades.size());
    EXPECT_EQ(checksum(got.sink.trades), checksum(trades));
  }
  std::vector<BookRecord> books;
  for (const auto& r : dbn("mbp-10").records) books.push_back(plain_book(r));
  for (const auto& [style, rows] : {std::pair("raw", 3000U), std::pair("pretty", 6000U)}) {
    const Read got = read(std::string("es_derived/esh4_20231225_2259.mbp-10.") + style + ".csv.zst", InputKind::book);
    ASSERT_EQ(got.sink.books.size(), rows);
    const auto first = std::find_if(books.begin(), books.end(), [&](const BookRecord& r) {
      return r.ts_recv == got.sink.books[0].ts_recv && r.sequence == got.sink.books[0].sequence;
    });
    ASSERT_GE(books.end() - first, static_cast<std::ptrdiff_t>(rows));
    EXPECT_EQ(checksum(got.sink.books), checksum(std::vector<BookRecord>(first, first + rows)));
  }
}

}  // namespace
}  // namespace foxhunt::market::test
