// What the columns of a CSV file mean: by their names, or without a header by their shape.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "engine/market/csv_time.h"
#include "engine/market/decimal.h"
#include "engine/market/file_reader.h"

namespace foxhunt::market {

// Families whose conventions are documented, so that what they do not spell out is known and not assumed.
enum class CsvFamily { other, databento, tardis, binance_kline, binance_trades, metatrader, lean };

// What a row of a book file is.
enum class BookForm {
  levels,     // a whole state of one or more levels; quotes are a state of one level
  increment,  // one price level's new size; rows of one time are one event
  order       // one order's message
};

// Column numbers from 0; -1: absent.
struct CsvColumns {
  int time = -1, time_of_day = -1;  // of the event, or of the bar
  int receive_time = -1;
  int close_time = -1;  // beside an open time: the bar's last moment
  int open = -1, high = -1, low = -1, close = -1;
  std::vector<int> volumes;  // candidates, the best first; `volume` is the one chosen
  int volume = -1;
  int symbol = -1;
  bool symbol_is_id = false;  // the column holds instrument ids
  int price = -1, size = -1, side = -1, action = -1, buyer_is_maker = -1;
  int flags = -1, depth = -1, sequence = -1, record_type = -1;
  int order_id = -1;                                 // of single orders
  int snapshot = -1, update_type = -1, update = -1;  // of increments: true or false, snap or set, number of the event
  struct LevelColumns {
    int bid_price = -1, ask_price = -1, bid_size = -1, ask_size = -1, bid_count = -1, ask_count = -1;
  };
  std::array<LevelColumns, kBookLevels> levels;
  int level_count = 0;      // levels of which both prices are there
  bool level_sizes = true;  // false: quotes without sizes, each counted as 1
};

struct CsvLayout {
  char delimiter = ',';
  bool header = false;
  std::string header_text;
  std::vector<std::string> names;  // as written, or "column 3"
  CsvFamily family = CsvFamily::other;
  BookForm book_form = BookForm::levels;
  CsvColumns columns;
  TimeFormat time, receive_time;
  std::shared_ptr<const TimeZone> zone;
  bool descending = false;  // newest row first
  NumberStyle numbers;
  Decimal scale{1, 0};    // file price x scale = points
  int size_decimals = 0;  // of a book's sizes: they are counted in units of 10^-this
  bool stamped_at_close = false;
  std::int64_t interval = 0;     // ns
  std::uint64_t first_line = 1;  // of the header or the first row: what comes before it is a preamble
};

// Fills names, family and columns from a header's fields.
void columns_by_name(const std::vector<std::string_view>& fields, CsvLayout& layout);
// The same without header from the fields of the first rows; false when no known shape of `kind` fits.
bool columns_by_shape(const std::vector<std::vector<std::string_view>>& rows, InputKind kind, CsvLayout& layout);
// A time column that has none of the known names: the first one in which every row has a date or an instant since 1990.
int time_by_content(const std::vector<std::vector<std::string_view>>& rows);
// Whether text is a date, with or without time.
bool is_date(std::string_view text);
// Whether the fields are a header: words, and not one number or time.
bool is_header(const std::vector<std::string_view>& fields);
const char* family_name(CsvFamily family);
// Lower case, without < > and quotes, other signs as underscores.
std::string plain_name(std::string_view name);

}  // namespace foxhunt::market
