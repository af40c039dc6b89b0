// TZif parsing and local time resolution; see time_zone.h.
#include "engine/market/time_zone.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "engine/base/error.h"
#include "engine/market/calendar.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t kHeader = 44;         // bytes of a TZif header
constexpr std::size_t kLargest = 1U << 20;  // bytes; real files are below 4 KiB
constexpr std::int64_t kLargestOffset = 26 * 3600;

std::int64_t big_endian(const std::string& bytes, std::size_t at, int size) {
  std::uint64_t value = 0;
  for (int i = 0; i < size; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return size == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(value)) : static_cast<std::int64_t>(value);
}

[[noreturn]] void damaged(const std::string& path, std::size_t offset, const std::string& what) {
  throw Error(fmt::format("the time zone file is damaged: {}", what),
              ErrorPlace{path, offset, std::nullopt, "", "reinstall the system's tzdata"});
}

// The six counts of a header, in the order of RFC 8536, and where its data begins.
struct Block {
  std::int64_t utc_indicators, standard_indicators, leaps, times, types, characters;
  std::size_t data;

  Block(const std::string& bytes, std::size_t at, const std::string& path) : data(at + kHeader) {
    if (bytes.size() < at + kHeader || bytes.compare(at, 4, "TZif") != 0) damaged(path, at, "no TZif header");
    utc_indicators = big_endian(bytes, at + 20, 4);
    standard_indicators = big_endian(bytes, at + 24, 4);
    leaps = big_endian(bytes, at + 28, 4);
    times = big_endian(bytes, at + 32, 4);
    types = big_endian(bytes, at + 36, 4);
    characters = big_endian(bytes, at + 40, 4);
    for (const std::int64_t count : {utc_indicators, standard_indicators, leaps, times, types, characters}) {
      if (count < 0 || count > static_cast<std::int64_t>(kLargest))
        damaged(path, at, fmt::format("a count of {}", count));
    }
    if (types == 0) damaged(path, at, "no local time type");
  }

  std::size_t size(int time_size) const {
    return static_cast<std::size_t>(times * time_size + times + types * 6 + characters + leaps * (time_size + 4) +
                                    standard_indicators + utc_indicators);
  }
};

// A cursor over a POSIX TZ string.
class Footer {
 public:
  Footer(const std::string& text, const std::string& path) : text_(text), path_(path) {}

  bool done() const { return at_ == text_.size(); }
  bool accept(char c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void name() {
    if (accept('<')) {
      while (!done() && !accept('>')) ++at_;
      return;
    }
    const std::size_t start = at_;
    while (!done() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    if (at_ - start < 3) fail();
  }
  int number() {
    if (done() || std::isdigit(static_cast<unsigned char>(text_[at_])) == 0) fail();
    int value = 0;
    while (!done() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 && value < 100'000) {
      value = value * 10 + (text_[at_++] - '0');
    }
    return value;
  }
  // [+-]h[h][:mm[:ss]] in seconds.
  std::int64_t seconds() {
    const bool negative = accept('-');
    if (!negative) accept('+');
    std::int64_t value = std::int64_t{number()} * 3600;
    if (accept(':')) {
      value += number() * 60;
      if (accept(':')) value += number();
    }
    if (value > 7 * 86'400) fail();
    return negative ? -value : value;
  }
  bool at_sign_or_digit() const {
    return !done() &&
           (text_[at_] == '+' || text_[at_] == '-' || std::isdigit(static_cast<unsigned char>(text_[at_])) != 0);
  }
  [[noreturn]] void fail() const { damaged(path_, 0, fmt::format("its rule '{}' cannot be read", text_)); }

 private:
  const std::string& text_;
  const std::string& path_;
  std::size_t at_ = 0;
};

// "+05:30", "-0400", "+2": seconds. False for anything else.
bool fixed_offset(const std::string& name, std::int64_t& offset) {
  if (name.size() < 2 || (name[0] != '+' && name[0] != '-')) return false;
  std::string digits;
  for (std::size_t i = 1; i < name.size(); ++i) {
    if (name[i] == ':' && i == name.size() - 3 && i >= 2) continue;
    if (name[i] < '0' || name[i] > '9') return false;
    digits += name[i];
  }
  if (digits.size() > 4) return false;
  const int value = std::atoi(digits.c_str());
  const int hours = digits.size() <= 2 ? value : value / 100;
  const int minutes = digits.size() <= 2 ? 0 : value % 100;
  if (hours > 15 || minutes > 59) return false;
  offset = (hours * 3600 + minutes * 60) * (name[0] == '-' ? -1 : 1);
  return true;
}

}  // namespace

TimeZone::TimeZone(const std::string& name) : name_(name) {
  for (const char* utc : {"", "UTC", "utc", "Z", "GMT", "Etc/UTC", "Etc/GMT"}) {
    if (name == utc) {
      name_ = "UTC";
      return;
    }
  }
  if (fixed_offset(name, first_offset_)) return;
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '/' || c == '_' || c == '-' || c == '+';
  });
  const char* chosen = std::getenv("TZDIR");
  const std::string folder = chosen != nullptr && *chosen != '\0' ? chosen : "/usr/share/zoneinfo";
  if (!plain || name.front() == '/' || name.size() > 100) {
    throw usage_error(fmt::format("'{}' is not the name of a time zone", name),
                      ErrorPlace{.field = "data.timezone", .hint = "give an IANA name like America/New_York, or UTC"});
  }
  load(folder + "/" + name);
}

void TimeZone::load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(4, '\0');
  if (!file || !file.read(bytes.data(), 4) || bytes != "TZif") {
    throw usage_error(fmt::format("the time zone {} is not in the system's database ({})", name_, path),
                      ErrorPlace{.field = "data.timezone",
                                 .hint = "give an IANA name like America/New_York, or install tzdata; UTC needs none"});
  }
  std::string rest(kLargest, '\0');
  file.read(rest.data(), static_cast<std::streamsize>(rest.size()));
  rest.resize(static_cast<std::size_t>(file.gcount()));
  if (rest.size() == kLargest) damaged(path, kLargest, "larger than any real one");
  parse(bytes + rest, path);
}

void TimeZone::parse(const std::string& bytes, const std::string& path) {
  std::size_t at = 0;
  int time_size = 4;
  Block block(bytes, 0, path);
  if (bytes[4] >= '2') {  // version 2 and later repeat everything with 64-bit times
    at = kHeader + block.size(4);
    time_size = 8;
    block = Block(bytes, at, path);
  }
  if (bytes.size() < block.data + block.size(time_size)) damaged(path, bytes.size(), "it ends early");
  const std::size_t indices = block.data + static_cast<std::size_t>(block.times * time_size);
  const std::size_t types = indices + static_cast<std::size_t>(block.times);
  const auto type_offset = [&](std::int64_t type) {
    const std::size_t where = types + static_cast<std::size_t>(type) * 6;
    const std::int64_t value = big_endian(bytes, where, 4);
    if (std::abs(value) > kLargestOffset) damaged(path, where, fmt::format("an offset of {} s", value));
    return value;
  };
  first_offset_ = type_offset(0);
  for (std::int64_t i = 0; i < block.times; ++i) {
    const std::size_t where = block.data + static_cast<std::size_t>(i * time_size);
    const std::int64_t time = big_endian(bytes, where, time_size);
    const auto type = static_cast<std::uint8_t>(bytes[indices + static_cast<std::size_t>(i)]);
    if (type >= block.types) damaged(path, indices + static_cast<std::size_t>(i), fmt::format("type {}", type));
    if (!transitions_.empty() && time <= transitions_.back().at) damaged(path, where, "transitions out of order");
    transitions_.push_back({time, type_offset(type)});
  }
  if (time_size == 4) return;
  const std::size_t footer = block.data + block.size(8);
  const std::size_t end = footer < bytes.size() ? bytes.find('\n', footer + 1) : std::string::npos;
  if (end == std::string::npos || bytes[footer] != '\n') damaged(path, footer, "no footer");
  if (end > footer + 1) parse_footer(bytes.substr(footer + 1, end - footer - 1), path);
}

// "EST5EDT,M3.2.0,M11.1.0": offsets are west of Greenwich.
void TimeZone::parse_footer(const std::string& footer, const std::string& path) {
  Footer cursor(footer, path);
  cursor.name();
  standard_ = -cursor.seconds();
  has_footer_ = true;
  if (cursor.done()) return;
  cursor.name();
  daylight_ = cursor.at_sign_or_digit() ? -cursor.seconds() : standard_ + 3600;
  has_daylight_ = true;
  for (Rule* rule : {&start_, &end_}) {
    if (!cursor.accept(',')) cursor.fail();
    if (cursor.accept('M')) {
      rule->month = cursor.number();
      if (!cursor.accept('.')) cursor.fail();
      rule->week = cursor.number();
      if (!cursor.accept('.')) cursor.fail();
      rule->day = cursor.number();
      if (rule->month < 1 || rule->month > 12 || rule->week < 1 || rule->week > 5 || rule->day > 6) cursor.fail();
    } else {
      rule->kind = cursor.accept('J') ? Rule::Kind::julian : Rule::Kind::zero_based;
      rule->day = cursor.number();
      if (rule->day > 365) cursor.fail();
    }
    if (cursor.accept('/')) rule->time = cursor.seconds();
  }
  if (!cursor.done()) cursor.fail();
}

// Local seconds (of the clock before the change) at which the rule applies in a year.
std::int64_t TimeZone::rule_second(const Rule& rule, std::int64_t year) {
  std::int64_t day = days_from_civil(year, 1, 1);
  if (rule.kind == Rule::Kind::julian) {
    day += rule.day - 1 + (leap_year(year) && rule.day >= 60 ? 1 : 0);
  } else if (rule.kind == Rule::Kind::zero_based) {
    day += rule.day;
  } else {
    const std::int64_t first = days_from_civil(year, rule.month, 1);
    const std::int64_t weekday = ((first + 4) % 7 + 7) % 7;  // 1970-01-01 was a Thursday; Sunday is 0
    std::int64_t of_month = 1 + (rule.day - weekday + 7) % 7 + (rule.week - 1) * 7;
    while (of_month > days_in_month(year, rule.month)) of_month -= 7;
    day = first + of_month - 1;
  }
  return day * 86'400 + rule.time;
}

std::int64_t TimeZone::offset(std::int64_t utc) const {
  if (transitions_.empty() || utc < transitions_.front().at) {
    return transitions_.empty() && has_footer_ && !has_daylight_ ? standard_ : first_offset_;
  }
  if (utc < transitions_.back().at || !has_footer_) {
    const auto after = std::upper_bound(transitions_.begin(), transitions_.end(), utc,
                                        [](std::int64_t value, const Transition& t) { return value < t.at; });
    return std::prev(after)->offset;
  }
  if (!has_daylight_) return standard_;
  const std::int64_t year = date_number(floor_divide(utc + standard_, 86'400)) / 10'000;
  const std::int64_t start = rule_second(start_, year) - standard_;
  const std::int64_t end = rule_second(end_, year) - daylight_;
  const bool daylight = start < end ? utc >= start && utc < end : !(utc >= end && utc < start);
  return daylight ? daylight_ : standard_;
}

TimeZone::Instants TimeZone::to_utc(std::int64_t local) const {
  // Clocks change by less than a day: the offset in force is one of those a day before and after.
  Instants found;
  std::int64_t candidates[2] = {local - offset(local - 86'400), local - offset(local + 86'400)};
  if (candidates[0] > candidates[1]) std::swap(candidates[0], candidates[1]);
  for (int i = 0; i < 2; ++i) {
    const std::int64_t utc = candidates[i];
    if ((i == 1 && utc == candidates[0]) || utc + offset(utc) != local) continue;
    (found.count == 0 ? found.first : found.second) = utc;
    ++found.count;
  }
  return found;
}

}  // namespace foxhunt::market
