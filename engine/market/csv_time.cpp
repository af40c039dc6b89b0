// Parsing of times in text; see csv_time.h.
#include "engine/market/csv_time.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/market/calendar.h"
#include "engine/market/decimal.h"

namespace foxhunt::market {
namespace {

__extension__ typedef __int128 Wide;  // counts times units

bool digit(char c) {
  return c >= '0' && c <= '9';
}

// A cursor that takes digits and single characters.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool done() const { return at_ == text_.size(); }
  char look() const { return done() ? '\0' : text_[at_]; }
  bool accept(char c) {
    if (look() != c || done()) return false;
    ++at_;
    return true;
  }
  void spaces() {
    while (accept(' ')) {
    }
  }
  std::size_t digits_ahead() const {
    std::size_t count = 0;
    while (at_ + count < text_.size() && digit(text_[at_ + count])) ++count;
    return count;
  }
  // Exactly `count` digits, which the caller has seen.
  int number(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) value = value * 10 + (text_[at_++] - '0');
    return value;
  }
  // One or two digits; -1 for others.
  int small() {
    const std::size_t count = digits_ahead();
    return count == 1 || count == 2 ? number(count) : -1;
  }
  bool word(std::string_view upper) {
    if (text_.size() - at_ < upper.size()) return false;
    for (std::size_t i = 0; i < upper.size(); ++i) {
      const char c = text_[at_ + i];
      if ((c >= 'a' && c <= 'z' ? c - 32 : c) != upper[i]) return false;
    }
    at_ += upper.size();
    return true;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// Up to nine decimals after a point or comma, as nanoseconds; -1 when there is none or more than nine are not zero.
std::int64_t fraction(Cursor& cursor) {
  std::int64_t value = 0, scale = kSecond;
  if (cursor.digits_ahead() == 0) return -1;
  while (cursor.digits_ahead() > 0) {
    const int next = cursor.number(1);
    scale /= 10;
    if (scale == 0 && next != 0) return -1;
    value += next * scale;
  }
  return value;
}

// 14:05[:06[.789]] or 1405[06[789]], then AM or PM. Nanoseconds since midnight, or -1.
std::int64_t time_of_day(Cursor& cursor) {
  int hour = 0, minute = 0, second = 0;
  std::int64_t nanoseconds = 0;
  const std::size_t digits = cursor.digits_ahead();
  const std::size_t count = digits == 3 || digits == 5 ? digits + 1 : digits;  // a number's leading zero is lost
  if (count == 4 || count == 6 || count == 9) {
    hour = cursor.number(digits == count ? 2 : 1);
    minute = cursor.number(2);
    if (count >= 6) second = cursor.number(2);
    if (count == 9) nanoseconds = std::int64_t{cursor.number(3)} * 1'000'000;
  } else {
    hour = cursor.small();
    if (hour < 0 || !cursor.accept(':') || cursor.digits_ahead() != 2) return -1;
    minute = cursor.number(2);
    if (cursor.accept(':')) {
      if (cursor.digits_ahead() != 2) return -1;
      second = cursor.number(2);
    }
  }
  if (count != 9 && (cursor.accept('.') || cursor.accept(','))) {
    nanoseconds = fraction(cursor);
    if (nanoseconds < 0) return -1;
  }
  cursor.spaces();
  const bool am = cursor.word("AM") || cursor.word("A.M."), pm = !am && (cursor.word("PM") || cursor.word("P.M."));
  if (am || pm) {
    if (hour < 1 || hour > 12) return -1;
    hour = hour % 12 + (pm ? 12 : 0);
  }
  if (hour > 23 || minute > 59 || second > 59) return -1;
  return (std::int64_t{hour} * 3600 + minute * 60 + second) * kSecond + nanoseconds;
}

// Z, UTC, GMT, +02, +02:00, -0500. False for anything else.
bool zone_suffix(Cursor& cursor, std::int64_t& offset) {
  offset = 0;
  if (cursor.word("Z") || cursor.word("UTC") || cursor.word("GMT")) {
    if (cursor.done()) return true;
  }
  const bool negative = cursor.look() == '-';
  if (!cursor.accept('+') && !cursor.accept('-')) return false;
  const std::size_t count = cursor.digits_ahead();
  int hours = 0, minutes = 0;
  if (count == 4) {
    hours = cursor.number(2);
    minutes = cursor.number(2);
  } else if (count == 2) {
    hours = cursor.number(2);
    if (cursor.accept(':')) {
      if (cursor.digits_ahead() != 2) return false;
      minutes = cursor.number(2);
    }
  } else {
    return false;
  }
  if (hours > 15 || minutes > 59) return false;
  offset = (hours * 3600 + minutes * 60) * (negative ? -1 : 1);
  if (cursor.accept('[')) {  // java.time adds the zone's name, which the offset has settled
    while (!cursor.done() && cursor.look() != ']') cursor.accept(cursor.look());
    if (!cursor.accept(']')) return false;
  }
  return cursor.done();
}

// "Jan", "january", ...: 1 to 12; 0 for anything else.
int month_name(Cursor& cursor) {
  constexpr std::array<std::string_view, 12> kMonths = {"JANUARY",   "FEBRUARY", "MARCH",    "APRIL",
                                                        "MAY",       "JUNE",     "JULY",     "AUGUST",
                                                        "SEPTEMBER", "OCTOBER",  "NOVEMBER", "DECEMBER"};
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (cursor.word(kMonths[i]) || cursor.word(kMonths[i].substr(0, 3))) return static_cast<int>(i) + 1;
  }
  return 0;
}

// 8-Mar-2026, 8 March 2026, Mar 8, 2026.
bool named_date(Cursor& cursor, int& year, int& month, int& day) {
  const auto between = [&cursor] {
    cursor.accept(',');
    if (!cursor.accept('-') && !cursor.accept('/') && !cursor.accept('.')) cursor.spaces();
  };
  const bool day_first = cursor.digits_ahead() > 0;
  if (day_first) {
    day = cursor.small();
    between();
  }
  month = month_name(cursor);
  between();
  if (!day_first) {
    day = cursor.small();
    between();
  }
  if (month == 0 || day < 0 || cursor.digits_ahead() != 4) return false;
  year = cursor.number(4);
  return true;
}

// Year, month, day in the order of the text; false for no date.
bool date_numbers(Cursor& cursor, DateOrder order, int& year, int& month, int& day) {
  const std::size_t count = cursor.digits_ahead();
  if (count == 8 || count == 12 || count == 14 || count == 17) {
    year = cursor.number(4);
    month = cursor.number(2);
    day = cursor.number(2);
    return order == DateOrder::year_first;
  }
  const bool year_first = count == 4;
  if (year_first != (order == DateOrder::year_first)) return false;
  int a = year_first ? cursor.number(4) : cursor.small();
  const char separator = cursor.look();
  if (a < 0 || (separator != '-' && separator != '/' && separator != '.')) return false;
  cursor.accept(separator);
  const int b = cursor.small();
  if (b < 0 || !cursor.accept(separator)) return false;
  if (!year_first && cursor.digits_ahead() != 4) return false;
  const int c = year_first ? cursor.small() : cursor.number(4);
  if (c < 0) return false;
  year = year_first ? a : c;
  month = year_first ? b : order == DateOrder::month_first ? a : b;
  day = year_first ? c : order == DateOrder::month_first ? b : a;
  return true;
}

}  // namespace

std::optional<CivilTime> parse_civil(std::string_view text, DateOrder order) {
  Cursor cursor(text);
  int year = 0, month = 0, day = 0;
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  const std::string_view front = text.substr(0, 4);  // "8-Mar", "08 Mar", "Mar 8"
  const bool named = order == DateOrder::year_first && std::any_of(front.begin(), front.end(), letter);
  if (!(named ? named_date(cursor, year, month, day) : date_numbers(cursor, order, year, month, day)) ||
      !valid_date(year, month, day)) {
    return std::nullopt;
  }
  CivilTime civil;
  civil.seconds = days_from_civil(year, month, day) * 86'400;
  if (cursor.done()) return civil;
  if (!cursor.accept('T') && !cursor.accept('D')) {  // BitMEX writes D
    cursor.accept(',');
    cursor.spaces();
  }
  const std::int64_t within = time_of_day(cursor);
  if (within < 0) return std::nullopt;
  civil.timed = true;
  civil.seconds += within / kSecond;
  civil.nanoseconds = within % kSecond;
  cursor.spaces();
  if (cursor.done()) return civil;
  if (!zone_suffix(cursor, civil.offset)) return std::nullopt;
  civil.zoned = true;
  return civil;
}

std::optional<std::int64_t> parse_time_of_day(std::string_view text) {
  Cursor cursor(text);
  const std::int64_t within = time_of_day(cursor);
  cursor.spaces();
  if (within < 0 || !cursor.done()) return std::nullopt;
  return within;
}

std::optional<std::pair<int, int>> day_and_month(std::string_view text) {
  Cursor cursor(text);
  const int a = cursor.small();
  const char separator = cursor.look();
  if (a < 0 || (separator != '-' && separator != '/' && separator != '.')) return std::nullopt;
  cursor.accept(separator);
  const int b = cursor.small();
  if (b < 0 || !cursor.accept(separator) || cursor.digits_ahead() != 4) return std::nullopt;
  return std::pair(a, b);
}

TimeReader::Status TimeReader::from_local(std::int64_t seconds, std::int64_t nanoseconds, Time& out) {
  const TimeZone::Instants instants = zone_->to_utc(seconds);
  if (instants.count == 0) return Status::skipped;
  out = instants.first * kSecond + nanoseconds;
  repeated_ = instants.count == 2;
  if (repeated_) {
    // The first showing unless the file is already past it (or, newest first, not yet below the second).
    const Time second = instants.second * kSecond + nanoseconds;
    if (descending_ ? !any_ || second <= previous_ : any_ && out < previous_) out = second;
  }
  previous_ = out;
  any_ = true;
  return Status::ok;
}

TimeReader::Status TimeReader::read(std::string_view text, std::string_view time_of_day_text, Time& out) {
  repeated_ = false;
  if (format_.kind == TimeFormat::Kind::civil) {
    auto civil = parse_civil(text, format_.order);
    if (!civil) return Status::not_a_time;
    if (!time_of_day_text.empty()) {
      const auto within = parse_time_of_day(time_of_day_text);
      if (!within || civil->timed) return Status::not_a_time;
      civil->seconds += *within / kSecond;
      civil->nanoseconds = *within % kSecond;
    }
    if (civil->zoned != format_.zoned) return Status::zone_differs;
    if (!civil->zoned) return from_local(civil->seconds, civil->nanoseconds, out);
    out = (civil->seconds - civil->offset) * kSecond + civil->nanoseconds;
    return Status::ok;
  }
  const auto number = parse_decimal(text);
  if (!number || number->mantissa < 0 || number->exponent > 18) return Status::not_a_time;
  Wide value = static_cast<Wide>(number->mantissa) * format_.unit;
  for (int i = number->exponent; i > 0; --i) {
    value *= 10;
    if (value > std::numeric_limits<Time>::max()) return Status::not_a_time;
  }
  for (int i = number->exponent; i < 0; ++i) {
    if (value % 10 != 0) return Status::not_a_time;  // finer than a nanosecond
    value /= 10;
  }
  if (format_.kind == TimeFormat::Kind::midnight) {
    if (value >= kDay) return Status::not_a_time;
    const auto within = static_cast<std::int64_t>(value);
    return from_local(format_.day * 86'400 + within / kSecond, within % kSecond, out);
  }
  if (value > std::numeric_limits<Time>::max() - kDay) return Status::not_a_time;
  out = static_cast<Time>(value);
  return Status::ok;
}

}  // namespace foxhunt::market
