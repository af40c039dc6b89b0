// One table of bars, written in some two thousand combinations of conventions: the reader must give its values back
// exactly, whatever the delimiter, number style, quoting, line end, encoding, order of columns and form of time.
#include <gtest/gtest.h>

#include <fmt/chrono.h>

#include <random>

#include "tests/market/reader_support.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

using foxhunt::test::scratch_folder;

constexpr Time kSecond = 1'000'000'000;
constexpr Time kStart = 1'705'312'800;  // 2024-01-15T10:00:00Z: a day above 12

struct Bar {
  Time open;                      // s
  std::int64_t price[4], volume;  // hundredths of points; contracts
};

std::vector<Bar> bars() {
  std::mt19937_64 random(4);
  std::vector<Bar> out;
  std::int64_t close = 480'025;
  for (int i = 0; i < 24; ++i) {
    const std::int64_t open = close + static_cast<std::int64_t>(random() % 7) - 3;
    close = open + static_cast<std::int64_t>(random() % 401) - 200;
    const auto up = static_cast<std::int64_t>(random() % 90), down = static_cast<std::int64_t>(random() % 90);
    out.push_back({kStart + i * 300 + (i >= 12 ? 86'400 : 0),
                   {open, std::max(open, close) + up, std::min(open, close) - down, close},
                   static_cast<std::int64_t>(random() % 90'000 + 1200)});
  }
  return out;
}

// What a writer may choose.
struct Convention {
  char delimiter;
  char decimal;
  std::string thousands;
  bool quoted;
  std::string line_end;
  enum class Encoding { plain, utf8_mark, utf16_little, utf16_big } encoding;
  int time;  // index into kTimes
  bool header;
  int columns;  // 0: usual order; 1: volume first, extra columns; 2: closes first
  bool close_stamp;
};

constexpr std::array kTimes = {"iso_z",     "iso_offset",      "iso_space",     "iso_fraction",
                               "day_first", "month_first_12h", "dots_mt",       "epoch_s",
                               "epoch_ms",  "epoch_us",        "epoch_ns",      "split",
                               "split_12h", "compact",         "compact_split", "named_month"};

std::string time_cell(int form, Time t, int part) {
  const auto utc = fmt::gmtime(static_cast<std::time_t>(t));
  switch (form) {
    case 0:
      return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc);
    case 1:
      return fmt::format("{:%Y-%m-%d %H:%M:%S}+05:30", fmt::gmtime(static_cast<std::time_t>(t + 19'800)));
    case 2:
      return fmt::format("{:%Y-%m-%d %H:%M}", utc);
    case 3:
      return fmt::format("{:%Y/%m/%d %H:%M:%S}.000000000", utc);
    case 4:
      return fmt::format("{:%d/%m/%Y %H:%M:%S}", utc);
    case 5:
      return fmt::format("{:%m/%d/%Y %I:%M:%S %p}", utc);
    case 6:
      return fmt::format("{:%Y.%m.%d %H:%M}", utc);
    case 7:
      return fmt::format("{}", t);
    case 8:
      return fmt::format("{}000", t);
    case 9:
      return fmt::format("{}000000", t);
    case 10:
      return fmt::format("{}000000000", t);
    case 11:
      return part == 0 ? fmt::format("{:%Y-%m-%d}", utc) : fmt::format("{:%H:%M:%S}", utc);
    case 12:
      return part == 0 ? fmt::format("{:%d.%m.%Y}", utc) : fmt::format("{:%I:%M %p}", utc);
    case 13:
      return fmt::format("{:%Y%m%d %H%M%S}", utc);
    case 14:
      return part == 0 ? fmt::format("{:%Y%m%d}", utc) : fmt::format("{:%H%M%S}", utc);
    default:
      return fmt::format("{:%d-%b-%Y %H:%M:%S}", utc);
  }
}

bool two_columns(int time) {
  return time == 11 || time == 12 || time == 14;
}

std::string number(std::int64_t hundredths, const Convention& c) {
  std::string whole = std::to_string(hundredths / 100);
  for (auto at = static_cast<std::ptrdiff_t>(whole.size()) - 3; at > 0; at -= 3)
    whole.insert(static_cast<std::size_t>(at), c.thousands);
  return fmt::format("{}{}{:02}", whole, c.decimal, hundredths % 100);
}

std::string text_of(const Convention& c) {
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) out += c.delimiter;
      out += c.quoted ? "\"" + cells[i] + "\"" : cells[i];
    }
    out += c.line_end;
  };
  const bool two = two_columns(c.time);
  if (c.header) {
    std::vector<std::string> times =
        two ? std::vector<std::string>{"Date", "Time"} : std::vector<std::string>{"timestamp"};
    std::vector<std::string> names = times;
    const auto more = [&](std::initializer_list<const char*> list) {
      names.insert(names.end(), list.begin(), list.end());
    };
    if (c.columns == 0) more({"Open", "High", "Low", "Close", "Volume"});
    if (c.columns == 2) more({"close", "low", "high", "open", "vol"});
    if (c.columns == 1) {
      names = {"Volume", "exchange"};
      names.insert(names.end(), times.begin(), times.end());
      more({"<HIGH>", "<LOW>", "<OPEN>", "<CLOSE>", "remark"});
    }
    line(names);
  }
  for (const Bar& bar : bars()) {
    const Time stamp = bar.open + (c.close_stamp ? 300 : 0);
    std::vector<std::string> cells;
    if (c.columns == 1 && c.header) {
      cells = {number(bar.volume * 100, c), "CME"};
      cells[0].resize(cells[0].size() - 3);
    }
    cells.push_back(time_cell(c.time, stamp, 0));
    if (two) cells.push_back(time_cell(c.time, stamp, 1));
    constexpr int kOrders[3][4] = {{0, 1, 2, 3}, {1, 2, 0, 3}, {3, 2, 1, 0}};
    for (const int k : kOrders[c.header ? c.columns : 0]) cells.push_back(number(bar.price[k], c));
    if (c.columns == 1 && c.header) {
      cells.push_back("none");
    } else {
      std::string volume = number(bar.volume * 100, c);
      volume.resize(volume.size() - 3);  // whole contracts
      cells.push_back(volume);
    }
    line(cells);
  }
  return out;
}

std::string encoded(const std::string& text, Convention::Encoding encoding) {
  using Encoding = Convention::Encoding;
  if (encoding == Encoding::plain) return text;
  if (encoding == Encoding::utf8_mark) return "\xEF\xBB\xBF" + text;
  const bool big = encoding == Encoding::utf16_big;
  std::string out = big ? "\xFE\xFF" : "\xFF\xFE";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    std::uint32_t unit = c;
    if (c >= 0xE0) {
      unit = (c & 0x0FU) << 12 | (static_cast<unsigned char>(text[i + 1]) & 0x3FU) << 6 |
             (static_cast<unsigned char>(text[i + 2]) & 0x3FU);
      i += 2;
    } else if (c >= 0xC0) {
      unit = (c & 0x1FU) << 6 | (static_cast<unsigned char>(text[i + 1]) & 0x3FU);
      i += 1;
    }
    const char high = static_cast<char>(unit >> 8), low = static_cast<char>(unit & 0xFF);
    out += big ? high : low;
    out += big ? low : high;
  }
  return out;
}

// Whether a file of this convention can be read at all: its parts must be told apart.
bool possible(const Convention& c) {
  const std::string marks = std::string(1, c.decimal) + (c.thousands.size() == 1 ? c.thousands : "");
  if (!c.quoted && marks.find(c.delimiter) != std::string::npos) return false;
  if (c.thousands.size() == 1 && c.thousands[0] == c.decimal) return false;
  if (c.quoted && (c.delimiter == ' ')) return false;
  if (c.delimiter == ' ' && (c.thousands == " " || c.thousands.size() > 1)) return false;
  // A space between date and time is a delimiter then.
  if (c.delimiter == ' ' && c.time != 0 && !(c.time >= 7 && c.time <= 11) && c.time != 14) return false;
  // Commas split such lines as well.
  if (c.delimiter == ' ' && (c.decimal == ',' || c.thousands == ",") && !c.header) return false;
  if (!c.header && c.columns != 0) return false;
  if (!c.header && c.time == 12) return false;  // a twelve-hour clock without a header is not told from a date alone
  return true;
}

Convention pick(std::mt19937_64& random) {
  const auto any = [&random](auto list) { return list[random() % list.size()]; };
  Convention c;
  do {
    c.delimiter = any(std::array{',', ';', '\t', '|', ' '});
    c.decimal = any(std::array{'.', ','});
    c.thousands = any(std::array<std::string, 7>{"", "", ",", ".", " ", "'", "\xC2\xA0"});
    if (random() % 8 == 0) c.thousands = any(std::array<std::string, 2>{"\xE2\x80\xAF", "\xE2\x80\x99"});
    c.quoted = random() % 2 == 0;
    c.line_end = any(std::array<std::string, 3>{"\n", "\r\n", "\r"});
    c.encoding = static_cast<Convention::Encoding>(random() % 4);
    c.time = static_cast<int>(random() % kTimes.size());
    c.header = random() % 4 != 0;
    c.columns = static_cast<int>(random() % 3);
    c.close_stamp = random() % 4 == 0;
  } while (!possible(c));
  return c;
}

TEST(CsvKin, EveryConventionGivesTheSameBars) {
  std::mt19937_64 random(20'240'115);
  const auto path = scratch_folder() / "kin.csv";
  const auto want = bars();
  for (int round = 0; round < 2000; ++round) {
    const Convention c = pick(random);
    const std::string text = text_of(c);
    SCOPED_TRACE(fmt::format("round {}: time {}, header {}, columns {}, encoding {}, stamp {}\n{}", round,
                             kTimes[static_cast<std::size_t>(c.time)], c.header, c.columns,
                             static_cast<int>(c.encoding), c.close_stamp, text.substr(0, 200)));
    write_bytes(path, encoded(text, c.encoding));
    DataConfig config;
    config.timezone = "UTC";
    if (c.close_stamp) config.bar_stamp = "close";
    Collected sink;
    DataReport report;
    try {
      read_file(path, InputKind::bars, config, sink, report);
    } catch (const Error& error) {
      FAIL() << error.sentence();
    }
    ASSERT_EQ(sink.bars.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(sink.bars[i].open_time, want[i].open * kSecond) << i;
      ASSERT_EQ(sink.bars[i].close_time, (want[i].open + 300) * kSecond) << i;
      ASSERT_EQ(sink.bars[i].open, want[i].price[0] * 10'000'000) << i;
      ASSERT_EQ(sink.bars[i].high, want[i].price[1] * 10'000'000) << i;
      ASSERT_EQ(sink.bars[i].low, want[i].price[2] * 10'000'000) << i;
      ASSERT_EQ(sink.bars[i].close, want[i].price[3] * 10'000'000) << i;
      ASSERT_EQ(sink.bars[i].volume, static_cast<double>(want[i].volume)) << i;
    }
    ASSERT_TRUE(report.warnings.empty()) << report.warnings[0].message;
  }
}

Collected read_text(const std::string& text, InputKind kind = InputKind::bars, const std::string& name = "file.csv",
                    DataReport* report = nullptr, const std::string& symbol = "") {
  Collected sink;
  DataReport own;
  DataConfig config;
  config.timezone = "UTC";
  config.symbol = symbol;
  try {
    read_file(write_bytes(scratch_folder() / name, text), kind, config, sink, report != nullptr ? *report : own);
  } catch (const Error& error) {
    ADD_FAILURE() << error.sentence();
  }
  return sink;
}

// Exports of known programs and exchanges: the first bar opens at 2024-01-15T09:30 UTC at 4800.25, high 4801.5, low
// 4799, close 4800.5, volume 1234.
TEST(CsvKin, BarsOfManySources) {
  const char* files[] = {
      // CryptoDataDownload: a title above the header.
      "https://www.CryptoDataDownload.com\nunix,date,symbol,open,high,low,close,Volume BTC,Volume USDT\n"
      "1705311000000,2024-01-15 09:30:00,X,4800.25,4801.5,4799,4800.5,1234,5\n"
      "1705311060000,2024-01-15 09:31:00,X,4800.5,4801.5,4799,4800.5,1,5\n",
      // A spreadsheet's separator line.
      "sep=;\nDate;Time;Open;High;Low;Close;Volume\n15.01.2024;09:30;4800,25;4801,5;4799;4800,5;1234\n"
      "15.01.2024;09:31;4800,25;4801,5;4799;4800,5;1\n",
      // MetaTrader 5's export.
      "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n"
      "2024.01.15\t09:30:00\t4800.25\t4801.5\t4799\t4800.5\t1234\t0\t2\n"
      "2024.01.15\t09:31:00\t4800.25\t4801.5\t4799\t4800.5\t1\t0\t2\n",
      // Stooq.
      "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\n"
      "ES.F,1,20240115,093000,4800.25,4801.5,4799,4800.5,1234,0\nES.F,1,20240115,093100,4800.25,4801.5,4799,4800.5,1,"
      "0\n",
      // The same without leading zeros and without a header.
      "ES,20240115,93000,4800.25,4801.5,4799,4800.5,1234\nES,20240115,93100,4800.25,4801.5,4799,4800.5,1\n",
      // HistData and NinjaTrader.
      "20240115 093000;4800.25;4801.5;4799;4800.5;1234\n20240115 093100;4800.25;4801.5;4799;4800.5;1\n",
      // Kibot.
      "01/15/2024,09:30,4800.25,4801.5,4799,4800.5,1234\n01/15/2024,09:31,4800.25,4801.5,4799,4800.5,1\n",
      // Sierra Chart.
      "Date, Time, Open, High, Low, Last, Volume, NumberOfTrades, BidVolume, AskVolume\n"
      "2024/1/15, 09:30:00, 4800.25, 4801.50, 4799.00, 4800.50, 1234, 10, 5, 5\n"
      "2024/1/15, 09:31:00, 4800.25, 4801.50, 4799.00, 4800.50, 1, 10, 5, 5\n",
      // Dukascopy.
      "Gmt time,Open,High,Low,Close,Volume\n15.01.2024 09:30:00.000,4800.25,4801.5,4799,4800.5,1234\n"
      "15.01.2024 09:31:00.000,4800.25,4801.5,4799,4800.5,1\n",
      "Local time,Open,High,Low,Close,Volume\n15.01.2024 10:30:00.000 GMT+0100,4800.25,4801.5,4799,4800.5,1234\n"
      "15.01.2024 10:31:00.000 GMT+0100,4800.25,4801.5,4799,4800.5,1\n",
      // Investing.com: newest first, the close first, thousands, a suffix.
      "\"Date\",\"Price\",\"Open\",\"High\",\"Low\",\"Vol.\",\"Change %\"\n"
      "\"01/15/2024 09:31\",\"4,800.50\",\"4,800.25\",\"4,801.50\",\"4,799.00\",\"\",\"0.1%\"\n"
      "\"01/15/2024 09:30\",\"4,800.50\",\"4,800.25\",\"4,801.50\",\"4,799.00\",\"1.234K\",\"0.1%\"\n",
      // Nasdaq: currency signs.
      "Date,Close/Last,Volume,Open,High,Low\n01/15/2024 09:30,$4800.50,1234,$4800.25,$4801.50,$4799.00\n"
      "01/15/2024 09:31,$4800.50,1,$4800.25,$4801.50,$4799.00\n",
      // Polygon: nanoseconds, the close before the high.
      "ticker,volume,open,close,high,low,window_start,transactions\n"
      "ES,1234,4800.25,4800.5,4801.5,4799,1705311000000000000,7\nES,1,4800.25,4800.5,4801.5,4799,1705311060000000000,"
      "7\n",
      // One letter a column; rows without trading are empty.
      "t,o,h,l,c,v\n2024-01-15T09:30:00Z,4800.25,4801.5,4799,4800.5,1234\n2024-01-15T09:31:00Z,,,,,\n"
      "2024-01-15T09:32:00Z,NaN,NaN,NaN,NaN,NaN\n2024-01-15T09:33:00Z,4800.25,4801.5,4799,4800.5,1\n",
      // Kraken, without a header.
      "1705311000,4800.25,4801.5,4799,4800.5,1234,7\n1705311060,4800.25,4801.5,4799,4800.5,1,7\n",
      // Numbers in scientific notation, an unnamed index, the zone's name behind the offset.
      ",when,open,high,low,close,volume\n0,2024-01-15T10:30:00+01:00[Europe/"
      "Paris],4.80025e3,4801.5,4799,4.8005E+3,1.234e3\n"
      "1,2024-01-15T10:31:00+01:00[Europe/Paris],4800.25,4801.5,4799,4800.5,1\n",
      // German names.
      "Datum;Zeit;Er\xC3\xB6"
      "ffnung;Hoch;Tief;Schluss;Volumen\n15.01.2024;09:30;4.800,25;4.801,50;4.799,00;4.800,50;1.234\n"
      "15.01.2024;09:31;4.800,25;4.801,50;4.799,00;4.800,50;1\n",
      // A morning clock with points.
      "Time,Open,High,Low,Close,Volume\n2024-01-15 9:30 a.m.,4800.25,4801.5,4799,4800.5,1234\n"
      "2024-01-15 9:31 a.m.,4800.25,4801.5,4799,4800.5,1\n",
      "Time,Open,High,Low,Close,Volume\n\"Jan 15, 2024, 9:30:00 AM\",4800.25,4801.5,4799,4800.5,1234\n"
      "\"Jan 15, 2024, 9:31:00 AM\",4800.25,4801.5,4799,4800.5,1\n",
  };
  for (const char* file : files) {
    SCOPED_TRACE(file);
    Collected got = read_text(file);
    ASSERT_EQ(got.bars.size(), 2U);
    const BarRecord& bar = got.bars[0].open_time < got.bars[1].open_time ? got.bars[0] : got.bars[1];
    EXPECT_EQ(bar.open_time, 1'705'311'000 * kSecond);
    EXPECT_EQ(bar.open, 4'800'250'000'000);
    EXPECT_EQ(bar.high, 4'801'500'000'000);
    EXPECT_EQ(bar.low, 4'799'000'000'000);
    EXPECT_EQ(bar.close, 4'800'500'000'000);
    EXPECT_EQ(bar.volume, 1234);
  }
}

// The first trade: 2024-01-15T09:30:00.5 UTC, 2.5 at 4800.25, bought.
TEST(CsvKin, TradesOfManySources) {
  const char* files[] = {
      "1,4800.25,2.5,12000.6,1705311000500,false,true\n2,4800.25,1,4800.25,1705311000600,true,true\n",    // Binance
      "1,4800.25,2.5,10,12,1705311000500000,False,True\n2,4800.25,1,13,13,1705311000600000,True,True\n",  // aggregated
      "agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker\n"
      "1,4800.25,2.5,10,12,1705311000500,false\n2,4800.25,1,13,13,1705311000600,true\n",
      "timestamp,symbol,side,size,price,tickDirection\n1705311000.5,X,Buy,2.5,4800.25,PlusTick\n"
      "1705311000.6,X,Sell,1,4800.25,PlusTick\n",  // Bybit
      "timestamp,symbol,side,size,price\n2024-01-15D09:30:00.500000000,X,Buy,2.5,4800.25\n"
      "2024-01-15D09:30:00.600000000,X,Sell,1,4800.25\n",  // BitMEX
      "time_exchange;time_coinapi;guid;price;base_amount;taker_side\n"
      "2024-01-15T09:30:00.5000000Z;2024-01-15T09:30:00.6Z;a;4800.25;2.5;BUY\n"
      "2024-01-15T09:30:00.6000000Z;2024-01-15T09:30:00.7Z;b;4800.25;1;SELL\n",
      "2024-01-15 09:30:00.500,4800.25,2.5,buy\n2024-01-15 09:30:00.600,4800.25,1,sell\n",
      // Quotes and trades in one file.
      "<DATE>\t<TIME>\t<BID>\t<ASK>\t<LAST>\t<VOLUME>\t<SIDE>\n2024.01.15\t09:30:00.100\t4800\t4800.25\t\t\t\n"
      "2024.01.15\t09:30:00.500\t4800\t4800.25\t4800.25\t2.5\tbuy\n2024.01.15\t09:30:00.600\t\t\t4800.25\t1\tsell\n",
  };
  for (const char* file : files) {
    SCOPED_TRACE(file);
    const Collected got = read_text(file, InputKind::trades);
    ASSERT_EQ(got.trades.size(), 2U);
    EXPECT_EQ(got.trades[0].ts_event, 1'705'311'000 * kSecond + 500'000'000);
    EXPECT_EQ(got.trades[0].price, 4'800'250'000'000);
    EXPECT_EQ(got.trades[0].size, 2.5);
    EXPECT_EQ(got.trades[0].side, Side::bid);
    EXPECT_EQ(got.trades[1].side, Side::ask);
  }
}

// The last state: 4800 x 3 bid, 4800.25 x 4 asked, at 2024-01-15T09:30:01 UTC.
TEST(CsvKin, BooksOfManySources) {
  struct Source {
    const char* text;
    int levels;
    bool sizes;
  };
  const Source files[] = {
      {"time,bid,ask\n2024-01-15 09:30:00,4799.75,4800\n2024-01-15 09:30:01,4800,4800.25\n", 1, false},
      {"20240115 093000000,4799.75,4800,0\n20240115 093001000,4800,4800.25,0\n", 1, false},
      {"Gmt time,Ask,Bid,AskVolume,BidVolume\n15.01.2024 09:30:00.000,4800,4799.75,1,1\n"
       "15.01.2024 09:30:01.000,4800.25,4800,4,3\n",
       1, true},
      {"update_id,best_bid_price,best_bid_qty,best_ask_price,best_ask_qty,transaction_time,event_time\n"
       "1,4799.75,1,4800,1,1705311000000,1705311000000\n2,4800,3,4800.25,4,1705311001000,1705311001000\n",
       1, true},
      {"Time;BidPrice1;BidVolume1;AskPrice1;AskVolume1;BidPrice2;BidVolume2;AskPrice2;AskVolume2\n"
       "2024-01-15 09:30:00;4799,75;1;4800,00;1;4799,5;1;4800,25;1\n2024-01-15 "
       "09:30:01;4800;3;4800,25;4;4799,75;5;4800,5;6\n",
       2, true},
      {"timestamp,bids[0].price,bids[0].amount,asks[0].price,asks[0].amount\n1705311000000,4799.75,1,4800,1\n"
       "1705311001000,4800,3,4800.25,4\n",
       1, true},
      {"2024-01-15 09:30:00,4799.75,1,4800,1\n2024-01-15 09:30:01,4800,3,4800.25,4\n", 1, true},
      // MetaTrader 5's ticks: a field that did not change is empty.
      {"<DATE>\t<TIME>\t<BID>\t<ASK>\t<LAST>\t<VOLUME>\t<FLAGS>\n2024.01.15\t09:30:00.000\t4800\t4800\t\t\t6\n"
       "2024.01.15\t09:30:01.000\t\t4800.25\t\t\t4\n",
       1, false},
      // Orders, as ob-analytics writes them.
      {"id,timestamp,exchange.timestamp,price,volume,action,direction\n"
       "1,1705311000000,1705311000000,4800,5,created,bid\n2,1705311000000,1705311000000,4800.25,4,created,ask\n"
       "3,1705311000500,1705311000500,4800,2,created,bid\n1,1705311000700,1705311000700,4800,1,changed,bid\n"
       "4,1705311000800,1705311000800,4800.25,9,created,ask\n4,1705311001000,1705311001000,4800.25,0,deleted,ask\n",
       1, true},
      // Databento's orders.
      {"ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,price,size,channel_id,order_id,flags,ts_in_delta,"
       "sequence\n"
       "1705311000000000000,1705311000000000000,160,1,7,R,N,9223372036854775807,0,0,0,8,0,1\n"
       "1705311000000000000,1705311000000000000,160,1,7,A,B,4800000000000,3,0,1,128,0,2\n"
       "1705311001000000000,1705311001000000000,160,1,7,A,A,4800250000000,4,0,2,128,0,3\n",
       1, true},
      // Databento's sampled quotes, with an event time that is not known.
      {"ts_recv,ts_event,rtype,publisher_id,instrument_id,side,price,size,flags,sequence,bid_px_00,ask_px_00,bid_sz_00,"
       "ask_sz_00,bid_ct_00,ask_ct_00\n"
       "1705311001000000000,18446744073709551615,196,1,7,N,9223372036854775807,0,0,1,4800000000000,4800250000000,3,4,1,"
       "1\n",
       1, true},
  };
  for (const Source& file : files) {
    SCOPED_TRACE(file.text);
    const Collected got = read_text(file.text, InputKind::book);
    ASSERT_FALSE(got.books.empty());
    const BookRecord& last = got.books.back();
    EXPECT_EQ(last.ts_recv, 1'705'311'001 * kSecond);
    EXPECT_TRUE(last.last());
    EXPECT_EQ(last.levels[0].bid_price, 4'800'000'000'000);
    EXPECT_EQ(last.levels[0].ask_price, 4'800'250'000'000);
    EXPECT_EQ(last.levels[0].bid_size * last.size_unit, file.sizes ? 3 : 1);
    EXPECT_EQ(last.levels[0].ask_size * last.size_unit, file.sizes ? 4 : 1);
    EXPECT_EQ(last.levels[1].bid_price != kUndefinedPrice, file.levels > 1);
  }
}

// A file of another input is told from the one asked for, and the sentence says what it is.
TEST(CsvKin, TheWrongInputIsNamed) {
  const auto refusal = [](const char* text, InputKind kind) {
    DataConfig config;
    config.timezone = "UTC";
    return std::string(error_of(write_bytes(scratch_folder() / "file.csv", text), kind, config).what());
  };
  EXPECT_NE(refusal("time,bid,ask\n2024-01-15 09:30:00,1,2\n", InputKind::trades).find("quotes"), std::string::npos);
  EXPECT_NE(refusal("2024-01-15 09:30:00,1.1,1.1001\n2024-01-15 09:30:01,1.1,1.1002\n", InputKind::bars).find("quotes"),
            std::string::npos);
  EXPECT_NE(refusal("time,price,size\n2024-01-15 09:30:00,1.1,5\n", InputKind::bars).find("missing open"),
            std::string::npos);
  EXPECT_NE(refusal("timestamp,symbol,is_snapshot,side,price,amount\n1705311000000,X,true,bid,1,2\n", InputKind::trades)
                .find("book updates"),
            std::string::npos);
  EXPECT_NE(
      refusal("time,open,high,low,close,volume\n2024-01-15 09:30,1,2,1,1,5\n", InputKind::book).find("missing book"),
      std::string::npos);
}

// The same values whatever becomes of one byte: the file is read, or refused with a sentence that names it.
TEST(CsvKin, AnyByteMayBeAnything) {
  std::mt19937_64 random(7);
  const auto path = scratch_folder() / "damaged.csv";
  int refused = 0;
  for (int round = 0; round < 700; ++round) {
    const Convention c = pick(random);
    std::string bytes = encoded(text_of(c), c.encoding);
    for (std::size_t k = 0; k < 1 + random() % 3; ++k) {
      const std::size_t at = random() % bytes.size();
      if (random() % 3 == 0) {
        bytes.resize(at + 1);
      } else {
        bytes[at] = static_cast<char>(random());
      }
    }
    write_bytes(path, bytes);
    DataConfig config;
    config.timezone = "UTC";
    Collected sink;
    DataReport report;
    try {
      read_file(path, InputKind::bars, config, sink, report);
      EXPECT_LE(sink.bars.size(), 24U);
    } catch (const Error& error) {
      ++refused;
      EXPECT_FALSE(error.place().file.empty()) << error.sentence();
    }
  }
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace foxhunt::market::test
