// Civil dates from day numbers, and times in words; see calendar.h.
#include "engine/market/calendar.h"

#include <fmt/format.h>

namespace foxhunt::market {

std::int64_t date_number(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = floor_divide(days, 146'097);
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const std::int64_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const std::int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  return year * 10'000 + month * 100 + day;
}

std::string format_time(Time time) {
  const std::int64_t days = floor_divide(time, kDay);
  const std::int64_t rest = time - days * kDay;
  const std::int64_t date = date_number(days);
  const std::int64_t seconds = rest / kSecond;
  const std::int64_t nanoseconds = rest % kSecond;
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", date / 10'000, date / 100 % 100, date % 100,
                                 seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (nanoseconds != 0) {
    std::string decimals = fmt::format(".{:09}", nanoseconds);
    while (decimals.size() > 4 && decimals.ends_with("000")) decimals.resize(decimals.size() - 3);
    text += decimals;
  }
  return text + "Z";
}

}  // namespace foxhunt::market
