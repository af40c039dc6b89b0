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
enum class CsvFamily { other, databento, tardis, binance_kline, metatrader, lean };

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
  struct LevelColumns {
    int bid_price = -1, ask_price = -1, bid_size = -1, ask_size = -1, bid_count = -1, ask_count = -1;
  };
  std::array<LevelColumns, kBookLevels> levels;
  int level_count = 0;  // levels whose prices and sizes are all there
};

struct CsvLayout {
  char delimiter = ',';
  bool header = false;
  std::string header_text;
  std::vector<std::string> names;  // as written, or "column 3"
  CsvFamily family = CsvFamily::other;
  CsvColumns columns;
  TimeFormat time, receive_time;
  std::shared_ptr<const TimeZone> zone;
  bool descending = false;  // newest row first
  NumberStyle numbers;
  Decimal scale{1, 0};    // file price x scale = points
  int size_decimals = 0;  // of a book's sizes: they are counted in units of 10^-this
  bool stamped_at_close = false;
  std::int64_t interval = 0;  // ns
};

// Fills names, family and columns from a header's fields.
void columns_by_name(const std::vector<std::string_view>& fields, CsvLayout& layout);
// The same without header from the fields of a row; false when no known shape of bars fits.
bool columns_by_shape(const std::vector<std::string_view>& fields, CsvLayout& layout);
// Whether the fields are a header: words, and not one number or time.
bool is_header(const std::vector<std::string_view>& fields);
const char* family_name(CsvFamily family);
// Lower case, without < > and quotes, other signs as underscores.
std::string plain_name(std::string_view name);

}  // namespace foxhunt::market
