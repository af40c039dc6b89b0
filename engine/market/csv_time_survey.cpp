// How a file writes times; see csv_time_survey.h.
#include "engine/market/csv_time_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "engine/market/calendar.h"
#include "engine/market/csv_lines.h"

namespace foxhunt::market {
namespace {

struct EpochUnit {
  const char* name;
  std::int64_t unit;  // ns
};
constexpr std::array<EpochUnit, 4> kEpochs = {
    {{"epoch_s", kSecond}, {"epoch_ms", 1'000'000}, {"epoch_us", 1000}, {"epoch_ns", 1}}};
// Instants that a market file can have: between them the four units cannot be confused.
constexpr std::int64_t kEarliest = 631'152'000;  // 1990-01-01, s
constexpr std::int64_t kLatest = 4'102'444'800;  // 2100-01-01, s
constexpr std::int64_t kLargestDivisor = 1'000'000'000'000'000'000;
constexpr const char* kFormatHint =
    "set data.timestamp_format (iso8601, mt4, day_first, month_first, epoch_s, epoch_ms, epoch_us, epoch_ns, "
    "midnight_ms or midnight_s)";

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// A YYYYMMDD or YYYY-MM-DD anywhere in a name, as days since 1970.
std::optional<std::int64_t> date_in(std::string_view name) {
  for (std::size_t i = 0; i + 8 <= name.size(); ++i) {
    if (i > 0 && name[i - 1] >= '0' && name[i - 1] <= '9') continue;
    for (const std::size_t length : {std::size_t{8}, std::size_t{10}}) {
      const std::string_view part = name.substr(i, length);
      if (part.size() < length || (i + length < name.size() && name[i + length] >= '0' && name[i + length] <= '9'))
        continue;
      if ((length == 8) != all_digits(part)) continue;
      const auto civil = parse_civil(part, DateOrder::year_first);
      if (civil && civil->seconds >= 0) return civil->seconds / 86'400;
    }
  }
  return std::nullopt;
}

}  // namespace

void TimeSurvey::refuse(const std::string& message, const std::string& hint) const {
  throw usage_error(message,
                    ErrorPlace{path_.string(), std::nullopt, layout_.header ? 2 : 1, "data.timestamp_format", hint});
}

std::int64_t TimeSurvey::file_date() const {
  const auto date = date_in(config_.date.empty() ? path_.filename().string() : config_.date);
  if (!date) {
    throw usage_error("times count from midnight, and the file name holds no date",
                      ErrorPlace{.file = path_.string(), .field = "data.date", .hint = "set data.date to YYYY-MM-DD"});
  }
  return *date;
}

bool TimeSurvey::by_configuration(TimeFormat& format) const {
  const std::string& wanted = config_.timestamp_format;
  if (wanted.empty()) return false;
  for (const EpochUnit& epoch : kEpochs) {
    if (wanted != epoch.name) continue;
    format.kind = TimeFormat::Kind::epoch;
    format.unit = epoch.unit;
    return true;
  }
  if (wanted == "midnight_ms" || wanted == "midnight_s") {
    format.kind = TimeFormat::Kind::midnight;
    format.unit = wanted == "midnight_ms" ? 1'000'000 : kSecond;
    format.day = file_date();
    return true;
  }
  if (wanted == "day_first" || wanted == "month_first") {
    format.order = wanted == "day_first" ? DateOrder::day_first : DateOrder::month_first;
  } else if (wanted != "iso8601" && wanted != "mt4") {
    refuse(fmt::format("'{}' is not a timestamp format", wanted), kFormatHint);
  }
  return true;
}

// Epochs by magnitude, and counts from midnight; false when the column is not all numbers, or is one of compact dates.
bool TimeSurvey::by_number(const std::vector<std::string_view>& values, TimeFormat& format) const {
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;  // whole part
  bool whole = true, dates = true;
  for (const std::string_view value : values) {
    if (value.find_first_not_of("0123456789.eE+") != std::string_view::npos) return false;
    const auto count = parse_decimal(value);
    if (!count || count->mantissa < 0) return false;
    std::int64_t part = count->mantissa;  // whole part
    for (int i = count->exponent; i > 0; --i) {
      if (__builtin_mul_overflow(part, 10, &part)) return false;
    }
    std::int64_t divisor = 1;
    for (int i = count->exponent; i < 0 && divisor < kLargestDivisor; ++i) divisor *= 10;
    whole = whole && value.find('.') == std::string_view::npos;
    part /= divisor;
    const auto civil = parse_civil(value, DateOrder::year_first);
    dates = dates && civil && civil->seconds >= kEarliest - 90LL * 365 * 86'400 && civil->seconds < kLatest;
    least = std::min(least, part);
    most = std::max(most, part);
  }
  if (dates && whole) return false;
  for (const EpochUnit& epoch : kEpochs) {
    const std::int64_t counts = kSecond / epoch.unit;
    if (least / counts < kEarliest || most / counts >= kLatest) continue;
    format.kind = TimeFormat::Kind::epoch;
    format.unit = epoch.unit;
    return true;
  }
  if (most >= 86'400'000) {
    refuse(fmt::format("the time '{}' fits no known way to write times", values.front()), kFormatHint);
  }
  // Whole numbers of a day's milliseconds, or seconds with decimals; small whole ones could be both.
  if (whole && most < 86'400 && layout_.family != CsvFamily::lean) {
    refuse(fmt::format("times up to {} can be seconds or milliseconds since midnight", most), kFormatHint);
  }
  format.kind = TimeFormat::Kind::midnight;
  format.unit = whole ? 1'000'000 : kSecond;
  format.day = file_date();
  return true;
}

// Day and month of "03/04/2026": any row of the file with a number above 12 tells.
DateOrder TimeSurvey::day_or_month_first(const std::vector<std::string_view>& values, int column) const {
  bool day_first = false, month_first = false;
  const auto look = [&](std::string_view value) {
    if (const auto numbers = day_and_month(value)) {
      day_first = day_first || numbers->first > 12;
      month_first = month_first || numbers->second > 12;
    }
  };
  for (const std::string_view value : values) look(value);
  if (!day_first && !month_first) {
    ByteStream stream(path_, Progress{nullptr, progress_.cancel});
    LineReader lines(stream);
    std::vector<std::string_view> fields;
    while (!day_first && !month_first && lines.next()) {
      if (split_fields(lines.text(), layout_.delimiter, fields) && static_cast<int>(fields.size()) > column)
        look(fields[column]);
    }
  }
  if (day_first == month_first) {
    refuse(fmt::format("dates like '{}' {}", values.front(),
                       day_first ? "have the day first in some rows and the month first in others"
                                 : "can have the day or the month first, and no row of the file tells"),
           "set data.timestamp_format to day_first or month_first");
  }
  return day_first ? DateOrder::day_first : DateOrder::month_first;
}

void TimeSurvey::by_date(const std::vector<std::string_view>& values, int column, TimeFormat& format) const {
  if (day_and_month(values.front())) format.order = day_or_month_first(values, column);
}

TimeFormat TimeSurvey::format(const std::vector<std::string_view>& values, const std::vector<std::string_view>& of_day,
                              int column) const {
  TimeFormat format;
  std::vector<std::string_view> given;
  for (const std::string_view value : values) {
    if (!is_undefined_time(value)) given.push_back(value);
  }
  if (given.empty()) refuse("the time column is empty", "give a file with times");
  if (!by_configuration(format) && !by_number(given, format)) by_date(given, column, format);
  if (format.kind == TimeFormat::Kind::civil) {
    const auto civil = parse_civil(given.front(), format.order);
    if (!civil) refuse(fmt::format("'{}' is not a time of any known form", given.front()), kFormatHint);
    format.zoned = civil->zoned;
    if (!of_day.empty() && civil->timed)
      refuse(fmt::format("'{}' already has a time of day, and so has the next column", given.front()),
             "name only one time column");
  }
  return format;
}

std::string TimeSurvey::describe(const TimeFormat& format, bool split) const {
  switch (format.kind) {
    case TimeFormat::Kind::epoch:
      for (const EpochUnit& epoch : kEpochs) {
        if (epoch.unit == format.unit) return epoch.name;
      }
      break;
    case TimeFormat::Kind::midnight: {
      const std::int64_t date = date_number(format.day);
      return fmt::format("{} since midnight of {:04}-{:02}-{:02}", format.unit == kSecond ? "seconds" : "milliseconds",
                         date / 10'000, date / 100 % 100, date % 100);
    }
    case TimeFormat::Kind::civil:
      break;
  }
  const char* order = format.order == DateOrder::year_first  ? "date, year first"
                      : format.order == DateOrder::day_first ? "date, day first"
                                                             : "date, month first";
  return std::string(order) + (split ? ", time in the next column" : "");
}

std::shared_ptr<const TimeZone> TimeSurvey::zone(bool local, const std::string& column_name,
                                                 std::string& evidence) const {
  const bool configured = !config_.timezone.empty();
  if (!local) {
    evidence = layout_.time.kind == TimeFormat::Kind::epoch ? "UTC (counts since 1970)" : "written with each time";
    if (configured && config_.timezone != "UTC") evidence += "; data.timezone is not used";
    return std::make_shared<const TimeZone>("UTC");
  }
  if (configured) {
    evidence = config_.timezone + " (data.timezone)";
    return std::make_shared<const TimeZone>(config_.timezone);
  }
  const std::string name = layout_.header ? plain_name(column_name) : "";
  for (const char* utc : {"utc", "gmt"}) {
    if (name == utc || name.starts_with(std::string(utc) + "_") || name.ends_with(std::string("_") + utc)) {
      evidence = fmt::format("UTC (column '{}')", column_name);
      return std::make_shared<const TimeZone>("UTC");
    }
  }
  throw usage_error(
      "times carry no zone, and none is set: local times need one",
      ErrorPlace{path_.string(), std::nullopt, layout_.header ? 2 : 1, "data.timezone",
                 "set \"timezone\" in data (or --timezone) to UTC or an IANA name like America/New_York"});
}

}  // namespace foxhunt::market
