// Time zones, calendar and exact decimals.
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/market/calendar.h"
#include "engine/market/decimal.h"
#include "engine/market/time_zone.h"
#include "tests/market/reader_support.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

std::int64_t seconds(int year, int month, int day, int hour, int minute = 0) {
  return days_from_civil(year, month, day) * 86'400 + hour * 3600 + minute * 60;
}

TEST(Calendar, KnowsDates) {
  EXPECT_EQ(days_from_civil(1970, 1, 1), 0);
  EXPECT_EQ(days_from_civil(2000, 3, 1), 11'017);
  EXPECT_EQ(date_number(11'016), 20'000'229);
  EXPECT_EQ(date_number(-1), 19'691'231);
  for (std::int64_t day = -80'000; day < 80'000; day += 37) {
    const std::int64_t date = date_number(day);
    EXPECT_EQ(days_from_civil(date / 10'000, static_cast<int>(date / 100 % 100), static_cast<int>(date % 100)), day);
  }
  EXPECT_FALSE(valid_date(2023, 2, 29));
  EXPECT_TRUE(valid_date(2024, 2, 29));
  EXPECT_FALSE(valid_date(2100, 2, 29));
  EXPECT_EQ(format_time(1'703'545'200'105'900'877), "2023-12-25T23:00:00.105900877Z");
  EXPECT_EQ(format_time(-1'000'000), "1969-12-31T23:59:59.999Z");
}

TEST(TimeZone, NewYorkChangesClocks) {
  const TimeZone zone("America/New_York");
  EXPECT_EQ(zone.to_utc(seconds(2026, 1, 15, 12)).first, seconds(2026, 1, 15, 17));
  EXPECT_EQ(zone.to_utc(seconds(2026, 7, 15, 12)).first, seconds(2026, 7, 15, 16));
  // 2026-03-08: 02:00 to 03:00 does not exist.
  EXPECT_EQ(zone.to_utc(seconds(2026, 3, 8, 1, 59)).first, seconds(2026, 3, 8, 6, 59));
  EXPECT_EQ(zone.to_utc(seconds(2026, 3, 8, 2)).count, 0);
  EXPECT_EQ(zone.to_utc(seconds(2026, 3, 8, 2, 59)).count, 0);
  EXPECT_EQ(zone.to_utc(seconds(2026, 3, 8, 3)).first, seconds(2026, 3, 8, 7));
  EXPECT_EQ(zone.to_utc(seconds(2026, 3, 8, 3)).count, 1);
  // 2025-11-02: 01:00 to 02:00 comes twice.
  const auto twice = zone.to_utc(seconds(2025, 11, 2, 1, 30));
  EXPECT_EQ(twice.count, 2);
  EXPECT_EQ(twice.first, seconds(2025, 11, 2, 5, 30));
  EXPECT_EQ(twice.second, seconds(2025, 11, 2, 6, 30));
  EXPECT_EQ(zone.to_utc(seconds(2025, 11, 2, 2)).count, 1);
  EXPECT_EQ(zone.to_utc(seconds(2025, 11, 2, 2)).first, seconds(2025, 11, 2, 7));
}

TEST(TimeZone, RulesGoOnAfterTheLastTransition) {
  const TimeZone zone("America/New_York");
  EXPECT_EQ(zone.offset(seconds(2060, 1, 15, 12)), -5 * 3600);
  EXPECT_EQ(zone.offset(seconds(2060, 7, 15, 12)), -4 * 3600);
  EXPECT_EQ(zone.to_utc(seconds(2060, 3, 14, 2, 30)).count, 0);                         // the second Sunday of March
  EXPECT_EQ(TimeZone("Australia/Sydney").offset(seconds(2060, 1, 15, 12)), 11 * 3600);  // summer over the new year
  EXPECT_EQ(TimeZone("Asia/Tokyo").offset(seconds(2060, 7, 15, 12)), 9 * 3600);
}

TEST(TimeZone, UtcAndFixedOffsetsNeedNoDatabase) {
  const std::string before = std::getenv("TZDIR") != nullptr ? std::getenv("TZDIR") : "";
  setenv("TZDIR", "/nowhere", 1);
  EXPECT_EQ(TimeZone("UTC").offset(0), 0);
  EXPECT_EQ(TimeZone("+05:30").offset(0), 19'800);
  EXPECT_EQ(TimeZone("-0400").offset(0), -14'400);
  EXPECT_THROW(TimeZone("America/New_York"), Error);
  before.empty() ? unsetenv("TZDIR") : setenv("TZDIR", before.c_str(), 1);
}

TEST(TimeZone, RefusesNamesAndDamagedFiles) {
  for (const char* name :
       {"Nowhere/City", "../../etc/passwd", "/etc/localtime", "America", "+99:00", "America/New_York\n"}) {
    try {
      TimeZone zone(name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << name;
    }
  }
  const std::string whole = read_bytes("/usr/share/zoneinfo/America/New_York");
  ASSERT_GT(whole.size(), 1000U);
  const auto folder = foxhunt::test::scratch_folder();
  const std::string before = std::getenv("TZDIR") != nullptr ? std::getenv("TZDIR") : "";
  setenv("TZDIR", folder.c_str(), 1);
  for (std::size_t size = 4; size < whole.size(); size += 11) {
    write_bytes(folder / "Cut", whole.substr(0, size));
    EXPECT_THROW(TimeZone("Cut"), Error) << size;
  }
  for (std::size_t at = 20; at < 120; ++at) {
    std::string bytes = whole;
    bytes[at] = '\x7F';
    write_bytes(folder / "Odd", bytes);
    try {
      TimeZone("Odd").to_utc(1'700'000'000);
    } catch (const Error& error) {
      EXPECT_FALSE(error.place().hint.empty());
    }
  }
  before.empty() ? unsetenv("TZDIR") : setenv("TZDIR", before.c_str(), 1);
}

Price price(const char* text, Decimal scale = {1, 0}) {
  bool rounded = false;
  return to_price(parse_decimal(text).value(), scale, rounded).value();
}

TEST(Decimal, IsExact) {
  EXPECT_EQ(price("4800.25"), 4'800'250'000'000);
  EXPECT_EQ(price("-13.25"), -13'250'000'000);
  EXPECT_EQ(price("0.00002820"), 28'200);
  EXPECT_EQ(price("2.82e-05"), 28'200);
  EXPECT_EQ(price("1E3"), 1'000'000'000'000);
  EXPECT_EQ(price("1674100", {1, -4}), 167'410'000'000);
  EXPECT_EQ(price(".5"), 500'000'000);
  EXPECT_EQ(price("9223372036.854775806"), 9'223'372'036'854'775'806);
  bool rounded = false;
  EXPECT_EQ(to_price(*parse_decimal("0.0000000005"), {1, 0}, rounded), 0);  // half to even
  EXPECT_TRUE(rounded);
  EXPECT_EQ(to_price(*parse_decimal("0.0000000015"), {1, 0}, rounded), 2);
  EXPECT_EQ(to_price(*parse_decimal("-0.00000000251"), {1, 0}, rounded), -3);
  EXPECT_FALSE(to_price(*parse_decimal("9223372037"), {1, 0}, rounded).has_value());
  EXPECT_FALSE(to_price(*parse_decimal("1e300"), {1, 0}, rounded).has_value());
  EXPECT_EQ(to_price(*parse_decimal("1e-300"), {1, 0}, rounded), 0);
}

TEST(Decimal, RefusesWhatIsNoNumber) {
  for (const char* text :
       {"", "-", "abc", "1.2.3", "1,2", "1e", "1e99999", "0x10", "nan", "inf", "1 2", "12345678901234567890", "--1"}) {
    EXPECT_FALSE(parse_decimal(text).has_value()) << text;
  }
  const NumberStyle grouped{'.', ','};
  EXPECT_EQ(parse_decimal("1,234,567.5", grouped)->mantissa, 12'345'675);
  for (const char* text : {"12,34", "1,2345", ",123", "1234,567", "1,234,56.5"})
    EXPECT_FALSE(parse_decimal(text, grouped)) << text;
}

TEST(Decimal, BecomesTheNearestDouble) {
  for (const char* text :
       {"0.1", "2300413.7295", "1e22", "123456789012345678", "4.35", "9007199254740993", "0.3e-12"}) {
    EXPECT_EQ(to_double(*parse_decimal(text)), std::strtod(text, nullptr)) << text;
  }
  EXPECT_EQ(exact_scale(0.0001)->exponent, -4);
  EXPECT_EQ(exact_scale(0.0001)->mantissa, 1);
  EXPECT_EQ(exact_scale(0.03125)->mantissa, 3125);
  EXPECT_FALSE(exact_scale(0).has_value());
}

}  // namespace
}  // namespace foxhunt::market::test
