// Columns of files without a header, from what the first rows hold; see csv_layout.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "engine/market/csv_layout.h"

namespace foxhunt::market {
namespace {

using Row = std::vector<std::string_view>;
using Rows = std::vector<Row>;

// Instants that a market file can have: 1990 to 2100, in s, ms, us or ns.
bool is_instant(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) return false;
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  for (const double unit : {1.0, 1e3, 1e6, 1e9}) {
    if (value >= 631'152'000.0 * unit && value < 4'102'444'800.0 * unit) return true;
  }
  return false;
}

bool is_compact_date(std::string_view text) {
  return text.size() == 8 && text.find_first_not_of("0123456789") == std::string_view::npos && is_date(text);
}

bool is_truth(std::string_view text) {
  return text == "true" || text == "false" || text == "True" || text == "False" || text == "TRUE" || text == "FALSE";
}

bool is_side_word(std::string_view text) {
  for (const char* word : {"buy", "sell", "Buy", "Sell", "BUY", "SELL", "B", "S", "A", "N", "b", "s"}) {
    if (text == word) return true;
  }
  return false;
}

bool has_letter(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); });
}

// Whether every row of the width of the first one passes.
bool all(const Rows& rows, const std::function<bool(const Row&)>& test) {
  return std::all_of(rows.begin(), rows.end(),
                     [&](const Row& row) { return row.size() != rows.front().size() || test(row); });
}

double value(std::string_view text) {
  const auto number = parse_decimal(text);
  return number ? to_double(*number) : std::nan("");
}

// Two columns of prices of one market: within 5 % in all rows that have both. Nothing when a row has no number.
enum class Near { far, rising, falling };  // rising: the second is not below the first (but in a row of 20: crossed)
std::optional<Near> nearness(const Rows& rows, int a, int b) {
  bool close = true;
  std::size_t both = 0, rising = 0, falling = 0;
  for (const Row& row : rows) {
    if (row.size() != rows.front().size() || row[a].empty() || row[b].empty()) continue;
    const double x = value(row[a]), y = value(row[b]);
    if (std::isnan(x) || std::isnan(y)) return std::nullopt;
    ++both;
    close = close && std::abs(x - y) <= 0.05 * std::max(std::abs(x), std::abs(y));
    rising += y >= x ? 1 : 0;
    falling += x >= y ? 1 : 0;
  }
  if (both == 0) return std::nullopt;
  if (!close) return Near::far;
  const auto nearly_all = [both](std::size_t count) { return 20 * count >= 19 * both; };
  return nearly_all(rising) ? Near::rising : nearly_all(falling) ? Near::falling : Near::far;
}

void set_level(CsvColumns& c, int bid, int ask, int bid_size, int ask_size) {
  c.levels[0] = {bid, ask, bid_size, ask_size, -1, -1};
  c.level_count = 1;
  c.level_sizes = bid_size >= 0;
}

// Bid and ask at `first`, in either order, with sizes after both or after each; LEAN's bars of quotes.
bool quotes(const Rows& rows, int first, CsvLayout& layout) {
  CsvColumns& c = layout.columns;
  const int rest = static_cast<int>(rows.front().size()) - first;
  if (layout.family == CsvFamily::lean && rest == 10) {
    set_level(c, first + 3, first + 8, first + 4, first + 9);
    const auto sides = nearness(rows, first + 3, first + 8);
    return !sides || *sides != Near::falling;  // a side may be missing throughout, or far off in a back month
  }
  if (rest < 2) return false;
  const auto next = nearness(rows, first, first + 1);
  if (next == Near::rising || next == Near::falling) {
    const int bid = next == Near::rising ? first : first + 1, ask = 2 * first + 1 - bid;
    const bool sizes = rest >= 4 && nearness(rows, first + 1, first + 2) == Near::far;
    set_level(c, bid, ask, sizes ? bid + 2 : -1, sizes ? ask + 2 : -1);
    return true;
  }
  if (rest < 4 || nearness(rows, first, first + 2) != Near::rising) return false;
  set_level(c, first, first + 2, first + 1, first + 3);
  return true;
}

// Price, size and perhaps a side word at `first`.
bool trades(const Rows& rows, int first, CsvLayout& layout) {
  CsvColumns& c = layout.columns;
  const int rest = static_cast<int>(rows.front().size()) - first;
  if (rest < 2) return false;
  const auto next = nearness(rows, first, first + 1);
  if (!next || next == Near::rising) return false;  // no numbers, or bid and ask
  c.price = first;
  c.size = first + 1;
  if (rest >= 3 && all(rows, [&](const Row& row) { return is_side_word(row[first + 2]); })) c.side = first + 2;
  return true;
}

// id, price, quantity, quote quantity, time, buyer is maker; or the aggregated ones: id, price, quantity, first id,
// last id, time, buyer is maker. A last column (best match) may follow.
bool binance_trades(const Rows& rows, CsvLayout& layout) {
  const std::size_t width = rows.front().size();
  for (const int time : {4, 5}) {
    const auto maker = static_cast<std::size_t>(time) + 1;
    if (width != maker + 1 && width != maker + 2) continue;
    const auto fits = [&](const Row& row) { return is_instant(row[maker - 1]) && is_truth(row[maker]); };
    if (!all(rows, fits)) continue;
    CsvColumns& c = layout.columns;
    layout.family = CsvFamily::binance_trades;
    c.time = time;
    c.price = 1;
    c.size = 2;
    c.buyer_is_maker = time + 1;
    return true;
  }
  return false;
}

bool bars(const Rows& rows, int first, CsvLayout& layout) {
  const Row& fields = rows.front();
  CsvColumns& c = layout.columns;
  const auto width = static_cast<int>(fields.size());
  if (width < first + 4) return false;
  if (layout.family == CsvFamily::lean && width != first + 5) return false;  // more columns are bid and ask bars
  c.open = first;
  c.high = first + 1;
  c.low = first + 2;
  c.close = first + 3;
  if (width > first + 4) c.volumes = {first + 4};
  if (width < 11 || first != 1) return true;
  const auto opened = parse_decimal(fields[0]), closed = parse_decimal(fields[6]);
  if (opened && closed && is_instant(fields[0]) && closed->mantissa > opened->mantissa) {
    layout.family = CsvFamily::binance_kline;
    c.close_time = 6;
  }
  return true;
}

// The number of columns that tell instrument and time; 0 when the rows do not begin so.
int lead(const Rows& rows, CsvLayout& layout) {
  const Row& fields = rows.front();
  CsvColumns& c = layout.columns;
  int at = 0;
  if (fields.size() > 5 && has_letter(fields[0]) && !is_date(fields[0]) &&
      (is_date(fields[1]) || is_instant(fields[1]))) {
    c.symbol = 0;
    at = 1;
  }
  c.time = at;
  const auto next = static_cast<std::size_t>(at) + 1;
  if (fields.size() <= next) return 0;
  const bool dated = is_date(fields[at]);
  const bool clock =
      dated && all(rows, [&](const Row& row) {
        if (!parse_time_of_day(row[next])) return false;
        return row[next].find(':') != std::string_view::npos || (is_compact_date(row[at]) && fields.size() >= next + 6);
      });
  if (clock) {
    c.time_of_day = static_cast<int>(next);
    if (fields[at].find('.') != std::string_view::npos) layout.family = CsvFamily::metatrader;
    return static_cast<int>(next) + 1;
  }
  const auto count = parse_decimal(fields[at]);
  const bool midnight =
      at == 0 && !dated && count && count->exponent == 0 && count->mantissa < 86'400'000 && fields[0].size() <= 8;
  if (midnight) layout.family = CsvFamily::lean;
  return static_cast<int>(next);
}

}  // namespace

bool is_date(std::string_view text) {
  return parse_civil(text, DateOrder::year_first) || day_and_month(text);
}

int time_by_content(const std::vector<std::vector<std::string_view>>& rows) {
  for (std::size_t i = 0; !rows.empty() && i < rows.front().size(); ++i) {
    if (all(rows, [i](const Row& row) { return is_date(row[i]) || is_instant(row[i]); })) return static_cast<int>(i);
  }
  return -1;
}

bool columns_by_shape(const std::vector<std::vector<std::string_view>>& rows, InputKind kind, CsvLayout& layout) {
  for (std::size_t i = 0; i < rows.front().size(); ++i) layout.names.push_back(fmt::format("column {}", i + 1));
  if (kind == InputKind::trades && binance_trades(rows, layout)) return true;
  const int first = lead(rows, layout);
  if (first == 0) return false;
  switch (kind) {
    case InputKind::bars:
      return bars(rows, first, layout);
    case InputKind::book:
      return quotes(rows, first, layout);
    case InputKind::trades:
      return trades(rows, first, layout);
  }
  return false;
}

}  // namespace foxhunt::market
