// Columns by name; see csv_layout.h. Those without a header are csv_shapes.cpp's.
#include "engine/market/csv_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <map>
#include <optional>

namespace foxhunt::market {
namespace {

bool is_number(std::string_view text) {
  return parse_decimal(text).has_value();
}

// The columns with one of the names, in the order of the names.
class Names {
 public:
  explicit Names(const std::vector<std::string_view>& fields) {
    for (const auto field : fields) {
      std::string name = plain_name(field);
      // "1. open": numbered names.
      const std::size_t word = name.find_first_not_of("0123456789_");
      if (word != std::string::npos && word > 0) name.erase(0, word);
      plain_.push_back(std::move(name));
    }
  }

  int find(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      const auto found = std::find(plain_.begin(), plain_.end(), name);
      if (found != plain_.end()) return static_cast<int>(found - plain_.begin());
    }
    return -1;
  }
  bool has(const char* name) const { return find({name}) >= 0; }
  const std::vector<std::string>& all() const { return plain_; }

 private:
  std::vector<std::string> plain_;
};

CsvFamily family_of(const Names& names) {
  if (names.has("ts_event")) return CsvFamily::databento;
  if (names.has("local_timestamp") && names.has("exchange")) return CsvFamily::tardis;
  if (names.has("tickvol") || (names.has("tick_volume") && names.has("spread"))) return CsvFamily::metatrader;
  return CsvFamily::other;
}

void find_times(const Names& names, CsvColumns& columns) {
  columns.receive_time = names.find({"ts_recv", "local_timestamp"});
  columns.time = names.find({"ts_event",
                             "open_time",
                             "time_open",
                             "opentime",
                             "bar_start",
                             "start_time",
                             "start",
                             "window_start",
                             "timestamp",
                             "datetime",
                             "date_time",
                             "timestamp_utc",
                             "datetime_utc",
                             "time_utc",
                             "utc",
                             "gmt_time",
                             "ts",
                             "timestamp_ms",
                             "timestamp_us",
                             "timestamp_ns",
                             "timestamp_s",
                             "time_ms",
                             "time_us",
                             "time_ns",
                             "unix",
                             "unix_time",
                             "unix_timestamp",
                             "unixtime",
                             "epoch",
                             "epoch_ms",
                             "trade_time",
                             "transact_time",
                             "transaction_time",
                             "event_time",
                             "exchange_timestamp",
                             "time_stamp",
                             "bar_time",
                             "candle_time"});
  const int date = names.find({"date", "day", "dtyyyymmdd", "datum", "fecha", "data", "trade_date", "date_local"});
  const int time = names.find({"time", "time_of_day", "zeit", "uhrzeit", "heure", "hora", "ora", "time_local"});
  columns.close_time = names.find({"close_time", "time_close", "closetime", "bar_end", "end_time", "end"});
  if (columns.time >= 0) return;
  if (date >= 0) {
    columns.time = date;
    columns.time_of_day = time;
  } else {
    columns.time = time >= 0 ? time : names.find({"local_time"});
  }
  if (columns.time < 0) std::swap(columns.time, columns.close_time);
}

void find_volumes(const Names& names, CsvColumns& columns) {
  for (const char* name : {"volume", "vol", "v", "real_volume", "tick_volume", "tickvol", "tick_vol", "volumen",
                           "total_volume", "trade_volume"}) {
    if (const int found = names.find({name}); found >= 0) columns.volumes.push_back(found);
  }
  for (std::size_t i = 0; i < names.all().size() && columns.volumes.empty(); ++i) {
    if (names.all()[i].starts_with("volume")) columns.volumes.push_back(static_cast<int>(i));
  }
}

// What a column of a book's level is called: "bid_px_00" (Databento), "asks[0].price" (Tardis), "BidPrice1",
// "ask_3_qty", "best_bid", "bid". A price where nothing else is said.
struct LevelName {
  bool bid = false;
  enum class What { price, size, count } what = What::price;
  int number = -1;  // as written; -1: none
};

std::optional<LevelName> level_name(std::string_view plain) {
  LevelName name;
  std::string words;
  for (std::size_t i = 0; i < plain.size();) {
    if (plain[i] >= '0' && plain[i] <= '9') {
      if (name.number >= 0) return std::nullopt;
      name.number = 0;
      for (; i < plain.size() && plain[i] >= '0' && plain[i] <= '9'; ++i) {
        if (name.number > 999) return std::nullopt;
        name.number = name.number * 10 + (plain[i] - '0');
      }
    } else {
      if (plain[i] != '_') words += plain[i];
      ++i;
    }
  }
  for (const std::string_view front : {"best", "top", "l", "level"}) {
    if (words.starts_with(std::string(front) + "bid") || words.starts_with(std::string(front) + "ask"))
      words.erase(0, front.size());
  }
  if (words.starts_with("offer")) words.replace(0, 5, "ask");
  name.bid = words.starts_with("bid");
  if (!name.bid && !words.starts_with("ask")) return std::nullopt;
  std::string_view what = std::string_view(words).substr(3);
  if (what.starts_with("s")) {
    if (what.size() == 1 || !(what == "size" || what == "sz")) what.remove_prefix(1);  // bids, asks
  }
  const auto is = [&what](std::initializer_list<const char*> list) {
    return std::find(list.begin(), list.end(), what) != list.end();
  };
  if (is({"", "price", "px", "p", "prc"})) return name;
  name.what = LevelName::What::size;
  if (is({"size", "sz", "amount", "qty", "quantity", "volume", "vol", "q", "v"})) return name;
  name.what = LevelName::What::count;
  if (is({"count", "ct", "orders", "num", "cnt", "ordercount"})) return name;
  return std::nullopt;
}

void find_levels(const Names& names, CsvColumns& columns) {
  std::map<int, CsvColumns::LevelColumns> found;  // by number
  for (std::size_t i = 0; i < names.all().size(); ++i) {
    const auto name = level_name(names.all()[i]);
    if (!name) continue;
    auto& level = found[name->number];
    int& column = name->what == LevelName::What::price  ? (name->bid ? level.bid_price : level.ask_price)
                  : name->what == LevelName::What::size ? (name->bid ? level.bid_size : level.ask_size)
                                                        : (name->bid ? level.bid_count : level.ask_count);
    if (column < 0) column = static_cast<int>(i);
  }
  if (found.size() > 1) found.erase(-1);  // totals beside numbered levels
  int next = found.empty() ? 0 : found.begin()->first;
  if (next > 1) return;
  for (const auto& [number, level] : found) {
    if (number != next++ || std::min(level.bid_price, level.ask_price) < 0 || columns.level_count == kBookLevels)
      return;
    const bool sizes = std::min(level.bid_size, level.ask_size) >= 0;
    if (columns.level_count > 0 && sizes != columns.level_sizes) return;
    columns.level_sizes = sizes;
    columns.levels[static_cast<std::size_t>(columns.level_count++)] = level;
  }
}

}  // namespace

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '<' || c == '>' || c == '"') continue;
    const bool word = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (!word && (plain.empty() || plain.back() == '_')) continue;
    plain += word ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '_';
  }
  while (!plain.empty() && plain.back() == '_') plain.pop_back();
  return plain;
}

const char* family_name(CsvFamily family) {
  switch (family) {
    case CsvFamily::databento:
      return "Databento";
    case CsvFamily::tardis:
      return "Tardis";
    case CsvFamily::binance_kline:
      return "Binance kline";
    case CsvFamily::binance_trades:
      return "Binance trades";
    case CsvFamily::metatrader:
      return "MetaTrader";
    case CsvFamily::lean:
      return "LEAN";
    case CsvFamily::other:
      break;
  }
  return "";
}

bool is_header(const std::vector<std::string_view>& fields) {
  bool words = false;
  for (const auto field : fields) {
    if (is_number(field) || is_date(field)) return false;
    words = words || std::any_of(field.begin(), field.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  }
  return words;
}

void columns_by_name(const std::vector<std::string_view>& fields, CsvLayout& layout) {
  const Names names(fields);
  for (const auto field : fields) layout.names.emplace_back(field);
  layout.family = family_of(names);
  CsvColumns& c = layout.columns;
  find_times(names, c);
  c.open = names.find({"open", "o", "open_price", "opening_price", "openprice", "eroffnung", "er_ffnung", "ouverture",
                       "ouv", "apertura"});
  c.high = names.find({"high", "h", "high_price", "highprice", "max", "hoch", "haut", "plus_haut", "maximo", "m_ximo"});
  c.low = names.find({"low", "l", "low_price", "lowprice", "min", "tief", "bas", "plus_bas", "minimo", "m_nimo"});
  c.close = names.find({"close", "c", "close_price", "closeprice", "last", "close_last", "schluss", "schlusskurs",
                        "cloture", "cl_ture", "clot", "cierre", "ultimo", "latest", "price"});
  find_volumes(names, c);
  c.symbol = names.find({"symbol", "raw_symbol", "ticker", "instrument", "contract"});
  if (c.symbol < 0) {
    c.symbol = names.find({"instrument_id"});
    c.symbol_is_id = c.symbol >= 0;
  }
  c.price = names.find({"price", "px", "trade_price", "tradeprice", "last_price", "last", "p"});
  c.size = names.find({"size", "amount", "qty", "quantity", "trade_size", "last_size", "base_qty", "base_amount",
                       "trade_qty", "volume", "vol", "q"});
  c.side = names.find({"side", "aggressor", "aggressor_side", "taker_side", "direction"});
  c.action = names.find({"action"});
  c.buyer_is_maker = names.find({"is_buyer_maker", "isbuyermaker", "buyer_maker", "m"});
  c.order_id = names.find({"order_id", "orderid"});
  if (c.order_id < 0 && c.action >= 0 && layout.family == CsvFamily::other) c.order_id = names.find({"id"});
  c.snapshot = names.find({"is_snapshot"});
  c.update_type = names.find({"update_type"});
  c.update = names.find({"last_update_id", "final_update_id", "update_id"});
  if (layout.family == CsvFamily::databento) {  // other sources' columns of these names mean other things
    c.flags = names.find({"flags"});
    c.depth = names.find({"depth"});
    c.sequence = names.find({"sequence"});
    c.record_type = names.find({"rtype"});
  }
  find_levels(names, c);
}

}  // namespace foxhunt::market
