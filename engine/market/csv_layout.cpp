// Columns by name and by shape; see csv_layout.h.
#include "engine/market/csv_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>

namespace foxhunt::market {
namespace {

bool is_number(std::string_view text) {
  return parse_decimal(text).has_value();
}

bool is_date(std::string_view text) {
  const bool separated = text.find_first_of("-/.:", 1) != std::string_view::npos;
  return (separated && parse_civil(text, DateOrder::year_first)) || day_and_month(text);
}

// The columns with one of the names, in the order of the names.
class Names {
 public:
  explicit Names(const std::vector<std::string_view>& fields) {
    for (const auto field : fields) plain_.push_back(plain_name(field));
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
  columns.time =
      names.find({"ts_event", "open_time",    "time_open",     "bar_start",    "start_time",     "start", "timestamp",
                  "datetime", "date_time",    "timestamp_utc", "datetime_utc", "time_utc",       "utc",   "gmt_time",
                  "ts",       "timestamp_ms", "timestamp_ns",  "unix",         "unix_timestamp", "epoch"});
  const int date = names.find({"date", "day"});
  const int time = names.find({"time", "time_of_day"});
  columns.close_time = names.find({"close_time", "time_close", "bar_end", "end_time", "end"});
  if (columns.time >= 0) return;
  if (date >= 0) {
    columns.time = date;
    columns.time_of_day = time;
  } else {
    columns.time = time >= 0 ? time : names.find({"local_time"});
  }
  if (columns.time < 0) std::swap(columns.time, columns.close_time);
  if (columns.time < 0) columns.time = names.find({"", "unnamed_0", "index"});  // a data frame's index
}

void find_volumes(const Names& names, CsvColumns& columns) {
  for (const char* name : {"volume", "vol", "v", "real_volume", "tick_volume", "tickvol", "tick_vol"}) {
    if (const int found = names.find({name}); found >= 0) columns.volumes.push_back(found);
  }
  for (std::size_t i = 0; i < names.all().size() && columns.volumes.empty(); ++i) {
    if (names.all()[i].starts_with("volume")) columns.volumes.push_back(static_cast<int>(i));
  }
}

// Databento "bid_px_00", Tardis "asks[0].price" (plain: asks_0_price).
void find_levels(const Names& names, CsvColumns& columns) {
  for (int i = 0; i < kBookLevels; ++i) {
    auto& level = columns.levels[i];
    const auto find = [&](const char* databento, const std::string& tardis) {
      return names.find({fmt::format("{}_{:02}", databento, i).c_str(), tardis.c_str()});
    };
    level.bid_price = find("bid_px", fmt::format("bids_{}_price", i));
    level.ask_price = find("ask_px", fmt::format("asks_{}_price", i));
    level.bid_size = find("bid_sz", fmt::format("bids_{}_amount", i));
    level.ask_size = find("ask_sz", fmt::format("asks_{}_amount", i));
    level.bid_count = names.find({fmt::format("bid_ct_{:02}", i).c_str()});
    level.ask_count = names.find({fmt::format("ask_ct_{:02}", i).c_str()});
    if (std::min({level.bid_price, level.ask_price, level.bid_size, level.ask_size}) < 0) return;
    columns.level_count = i + 1;
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
  c.open = names.find({"open", "o", "open_price", "opening_price"});
  c.high = names.find({"high", "h", "high_price", "max"});
  c.low = names.find({"low", "l", "low_price", "min"});
  c.close = names.find({"close", "c", "close_price", "last"});
  find_volumes(names, c);
  c.symbol = names.find({"symbol", "raw_symbol", "ticker", "instrument", "contract"});
  if (c.symbol < 0) {
    c.symbol = names.find({"instrument_id"});
    c.symbol_is_id = c.symbol >= 0;
  }
  c.price = names.find({"price", "px", "trade_price"});
  c.size = names.find({"size", "amount", "qty", "quantity", "trade_size", "volume"});
  c.side = names.find({"side", "aggressor", "aggressor_side", "taker_side"});
  c.action = names.find({"action"});
  c.buyer_is_maker = names.find({"is_buyer_maker", "isbuyermaker", "buyer_maker"});
  c.flags = names.find({"flags"});
  c.depth = names.find({"depth"});
  c.sequence = names.find({"sequence"});
  c.record_type = names.find({"rtype"});
  find_levels(names, c);
}

bool columns_by_shape(const std::vector<std::string_view>& fields, CsvLayout& layout) {
  CsvColumns& c = layout.columns;
  for (std::size_t i = 0; i < fields.size(); ++i) layout.names.push_back(fmt::format("column {}", i + 1));
  const bool split_time = fields.size() >= 6 && is_date(fields[0]) && parse_time_of_day(fields[1]) &&
                          fields[1].find(':') != std::string_view::npos;
  const int first = split_time ? 2 : 1;
  if (fields.size() < static_cast<std::size_t>(first) + 4) return false;
  c.time = 0;
  c.time_of_day = split_time ? 1 : -1;
  c.open = first;
  c.high = first + 1;
  c.low = first + 2;
  c.close = first + 3;
  if (fields.size() > static_cast<std::size_t>(first) + 4) c.volumes = {first + 4};
  if (split_time && fields[0].find('.') != std::string_view::npos) layout.family = CsvFamily::metatrader;
  const auto opened = parse_decimal(fields[0]);
  if (opened && opened->exponent == 0 && opened->mantissa < 86'400'000 && fields[0].size() <= 8) {
    layout.family = CsvFamily::lean;
    return fields.size() == 6;  // eleven columns are bid and ask bars
  }
  const auto closed = fields.size() >= 11 ? parse_decimal(fields[6]) : std::nullopt;
  if (opened && closed && opened->mantissa > 600'000'000 && closed->mantissa > opened->mantissa) {
    layout.family = CsvFamily::binance_kline;
    c.close_time = 6;
  }
  return true;
}

}  // namespace foxhunt::market
