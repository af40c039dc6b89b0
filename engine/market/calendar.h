// Civil dates and UTC nanoseconds: exact integer arithmetic, no time zone and no locale.
#pragma once

#include <cstdint>
#include <string>

#include "engine/market/records.h"

namespace foxhunt::market {

inline constexpr std::int64_t kSecond = 1'000'000'000;  // ns
inline constexpr std::int64_t kDay = 86'400 * kSecond;  // ns

// Days since 1970-01-01 of a proleptic Gregorian date (H. Hinnant, "chrono-compatible low-level date algorithms").
constexpr std::int64_t days_from_civil(std::int64_t year, int month, int day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

constexpr bool leap_year(std::int64_t year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

constexpr int days_in_month(std::int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && leap_year(year) ? 29 : kDays[month - 1];
}

// 1 to 12, a day that the month has, a year that 64-bit nanoseconds can hold.
constexpr bool valid_date(std::int64_t year, std::int64_t month, std::int64_t day) {
  return year >= 1700 && year <= 2261 && month >= 1 && month <= 12 && day >= 1 &&
         day <= days_in_month(year, static_cast<int>(month));
}

constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

// yyyymmdd of a day number.
std::int64_t date_number(std::int64_t days);
// "2026-03-08T07:00:00Z", with as many decimals as are not zero (in threes).
std::string format_time(Time time);

}  // namespace foxhunt::market
