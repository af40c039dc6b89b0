// Times as text files write them: civil dates and times in any of their forms, counts since 1970, counts since
// midnight.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/market/records.h"
#include "engine/market/time_zone.h"

namespace foxhunt::market {

enum class DateOrder { year_first, day_first, month_first };

struct TimeFormat {
  enum class Kind { civil, epoch, midnight } kind = Kind::civil;
  DateOrder order = DateOrder::year_first;  // civil
  bool zoned = false;                       // civil: every text carries Z or an offset
  std::int64_t unit = 0;                    // epoch, midnight: ns of one count
  std::int64_t day = 0;                     // midnight: days since 1970 of the file's date
};

// A date with or without time, as if it were UTC.
struct CivilTime {
  std::int64_t seconds = 0;      // since 1970-01-01, local
  std::int64_t nanoseconds = 0;  // within the second
  bool timed = false;            // a time of day is there
  bool zoned = false;
  std::int64_t offset = 0;  // seconds east, when zoned
};

// Dates 2026-03-08, 2026/3/8, 2026.03.08, 20260308, 8-Mar-2026, Mar 8, 2026 (as year_first: nothing is ambiguous),
// 08.03.2026 and 3/8/2026 by `order`; then, after T or spaces, 14:05, 2:05:06.789 PM, 140506 or 140506789; then Z, UTC,
// +02:00, -0500. Nothing for any other text or an impossible date.
std::optional<CivilTime> parse_civil(std::string_view text, DateOrder order);
// Empty, or Databento's largest 64-bit count: no time is known.
inline bool is_undefined_time(std::string_view text) {
  return text.empty() || text == "18446744073709551615";
}
// A time of day alone, in nanoseconds; digits alone may lack their leading zero (93000). Nothing for any other text.
std::optional<std::int64_t> parse_time_of_day(std::string_view text);
// The three numbers of a date whose year comes last: {first, second}; nothing for another form.
std::optional<std::pair<int, int>> day_and_month(std::string_view text);

// Reads one column row by row. Local times go through `zone`; a repeated hour is kept in file order.
class TimeReader {
 public:
  enum class Status { ok, not_a_time, zone_differs, skipped };

  TimeReader() = default;
  // `descending`: the file runs from the newest row to the oldest.
  TimeReader(TimeFormat format, std::shared_ptr<const TimeZone> zone, bool descending)
      : format_(format), zone_(std::move(zone)), descending_(descending) {}

  // `time_of_day` is the second column of a split date and time; empty: none.
  Status read(std::string_view text, std::string_view time_of_day, Time& out);
  // Whether the last time read was one that the clocks showed twice.
  bool repeated() const { return repeated_; }
  const TimeFormat& format() const { return format_; }

 private:
  Status from_local(std::int64_t seconds, std::int64_t nanoseconds, Time& out);

  TimeFormat format_;
  std::shared_ptr<const TimeZone> zone_;
  bool descending_ = false, repeated_ = false, any_ = false;
  Time previous_ = 0;
};

}  // namespace foxhunt::market
