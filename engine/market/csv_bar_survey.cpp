// Length, stamp and volume of CSV bars; see csv_bar_survey.h.
#include "engine/market/csv_bar_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>

#include "engine/base/error.h"
#include "engine/market/calendar.h"
#include "engine/market/dbn_format.h"

namespace foxhunt::market {

void BarSurvey::check_shape() const {
  const CsvColumns& c = layout_.columns;
  const std::array<int, 4> columns = {c.open, c.high, c.low, c.close};
  std::size_t odd = 0, first = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    std::array<Price, 4> prices{};
    bool rounded = false, all = true;
    for (std::size_t k = 0; k < 4; ++k) {
      const auto number = parse_decimal(rows_[i][columns[k]], layout_.numbers);
      const auto value = number ? to_price(*number, layout_.scale, rounded) : std::nullopt;
      all = all && value.has_value();
      prices[k] = value.value_or(0);
    }
    if (!all) continue;  // the reader proper names it
    const auto [least, most] = std::minmax({prices[0], prices[1], prices[2], prices[3]});
    if (prices[1] == most && prices[2] == least) continue;
    if (odd++ == 0) first = i;
  }
  if (odd * 20 <= rows_.size()) return;  // single bars may be inconsistent: cleaning widens them
  const BarSurvey::Row& row = rows_[first];
  throw Error(
      fmt::format(
          "columns {} to {} without a header are not open, high, low and close: in row {} they are {}, {}, {}, {}",
          c.open + 1, c.close + 1, first + 1, row[c.open], row[c.high], row[c.low], row[c.close]),
      ErrorPlace{path_.string(), std::nullopt, layout_.first_line, "columns",
                 "add a header line that names the columns"});
}

void BarSurvey::choose_bar(const std::vector<Time>& times) {
  std::string evidence;
  layout_.interval = interval(times, evidence);
  say_("bar length", layout_.interval == 0
                         ? "not known: a single row"
                         : fmt::format("{} s, {}", static_cast<double>(layout_.interval) / 1e9, evidence));
  if (!config_.bar_stamp.empty()) {
    layout_.stamped_at_close = config_.bar_stamp == "close";
    return;
  }
  const std::string name = layout_.header ? plain_name(layout_.names[layout_.columns.time]) : "";
  const bool close = name.find("close") != std::string::npos || name.find("end") != std::string::npos;
  const bool open = name.find("open") != std::string::npos || name.find("start") != std::string::npos;
  layout_.stamped_at_close = close && !open;
  if (layout_.stamped_at_close) {
    say_("bar stamp", fmt::format("close (column '{}')", name));
  } else if (open || layout_.columns.close_time >= 0) {
    say_("bar stamp", "open (by its columns)");
  } else if (layout_.family != CsvFamily::other) {
    say_("bar stamp", fmt::format("open (documented for {})", family_name(layout_.family)));
  } else if (const std::string breaks = stamp_by_breaks(times); !breaks.empty()) {
    say_("bar stamp", breaks);
  } else {
    say_("bar stamp", "open, assumed: nothing in the file tells; set data.bar_stamp to close if bars carry their end");
  }
}

// Trading stops and resumes on full hours. A break whose last bar is stamped a bar before the hour and whose next one
// is stamped on it tells of open stamps; one stamped on the hour and a bar after it tells of close stamps. Empty when
// fewer than two breaks tell, or when they disagree.
std::string BarSurvey::stamp_by_breaks(const std::vector<Time>& times) {
  constexpr std::int64_t kHour = 3600 * kSecond;
  if (layout_.interval <= 0 || layout_.interval > kHour / 4) return {};
  std::size_t open = 0, close = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const Time before = std::min(times[i - 1], times[i]), after = std::max(times[i - 1], times[i]);
    if (after - before < kHour / 2) continue;
    open += (before + layout_.interval) % kHour == 0 && after % kHour == 0 ? 1 : 0;
    close += before % kHour == 0 && (after - layout_.interval) % kHour == 0 ? 1 : 0;
  }
  if (std::max(open, close) < 2 || std::min(open, close) > 0) return {};
  layout_.stamped_at_close = close > 0;
  return fmt::format("{} (by the full hours at which trading stops and resumes: {} breaks)",
                     close > 0 ? "close" : "open", std::max(open, close));
}

std::int64_t BarSurvey::interval(const std::vector<Time>& times, std::string& evidence) const {
  const CsvColumns& c = layout_.columns;
  if (layout_.family == CsvFamily::databento && c.record_type >= 0) {
    const auto type = parse_decimal(rows_.front()[c.record_type]);
    const std::int64_t length = type && type->exponent == 0 && type->mantissa >= 0 && type->mantissa < 256
                                    ? dbn::bar_interval(static_cast<std::uint8_t>(type->mantissa))
                                    : 0;
    evidence = "by its record type";
    if (length != 0) return length;
  }
  if (layout_.family == CsvFamily::lean) {
    const std::string name = path_.filename().string();
    evidence = "by its file name";
    if (name.find("minute") != std::string::npos) return 60 * kSecond;
    if (name.find("second") != std::string::npos) return kSecond;
  }
  std::map<std::int64_t, std::size_t> steps;
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] != times[i - 1]) ++steps[std::abs(times[i] - times[i - 1])];
  }
  const auto most =
      std::max_element(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (c.close_time >= 0) {
    TimeReader reader(layout_.time, layout_.zone, false);
    Time open = 0, close = 0;
    if (reader.read(rows_.front()[c.time], {}, open) == TimeReader::Status::ok &&
        reader.read(rows_.front()[c.close_time], {}, close) == TimeReader::Status::ok && close > open) {
      evidence = "from open to close time";
      const std::int64_t length = close - open;
      // The last moment is often written inclusively: a second, millisecond or less before the next bar.
      if (most != steps.end() && most->first > length && most->first - length <= kSecond) return most->first;
      const std::int64_t unit = std::max<std::int64_t>(layout_.time.unit, 1);
      return length % kSecond == kSecond - unit ? length + unit : length;
    }
  }
  if (most == steps.end()) return 0;
  evidence = fmt::format("the step of {} of {} rows", most->second, times.size() - 1);
  return most->first;
}

void BarSurvey::choose_volume() {
  CsvColumns& c = layout_.columns;
  if (c.volumes.empty()) {
    say_("volume", "none in the file: 0 in every bar");
    return;
  }
  c.volume = c.volumes.front();
  for (const int candidate : c.volumes) {
    const bool any = std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) {
      const auto value = parse_decimal(row[candidate], layout_.numbers);
      return value && value->mantissa != 0;
    });
    if (!any) continue;
    c.volume = candidate;
    break;
  }
  if (layout_.header) say_("volume", fmt::format("column '{}'", layout_.names[c.volume]));
}

}  // namespace foxhunt::market
