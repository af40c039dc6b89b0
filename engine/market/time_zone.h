// Time zones by IANA name, read from the system's compiled database (TZif, RFC 8536), and local times to UTC.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foxhunt::market {

// Immutable once made. "UTC" (and "", "Z", "GMT", "Etc/UTC") and fixed offsets like "+05:30" need no database.
class TimeZone {
 public:
  // Throws usage_error for a name that is not known, Error for a damaged database file.
  explicit TimeZone(const std::string& name);

  // UTC seconds at which clocks there show `local` (seconds since 1970-01-01 as if UTC). count 0: skipped when clocks
  // go forward; 2: shown twice when they go back, `first` before `second`.
  struct Instants {
    int count = 0;
    std::int64_t first = 0, second = 0;
  };
  Instants to_utc(std::int64_t local) const;
  // Seconds to add to UTC for local time at a UTC instant.
  std::int64_t offset(std::int64_t utc) const;
  const std::string& name() const { return name_; }

 private:
  // A day rule of the POSIX footer: "M3.2.0/2" (month, week, weekday), "J60" (no leap day) or "59".
  struct Rule {
    enum class Kind { month_week_day, julian, zero_based } kind = Kind::month_week_day;
    int month = 0, week = 0, day = 0;
    std::int64_t time = 7200;  // seconds after midnight, local; may be negative or above a day
  };
  struct Transition {
    std::int64_t at;      // UTC seconds
    std::int64_t offset;  // from then on
  };

  void load(const std::string& path);
  void parse(const std::string& bytes, const std::string& path);
  void parse_footer(const std::string& footer, const std::string& path);
  static std::int64_t rule_second(const Rule& rule, std::int64_t year);

  std::string name_;
  std::int64_t first_offset_ = 0;  // before the first transition
  std::vector<Transition> transitions_;
  // After the last transition: standard_ for good, or with daylight time by two rules.
  bool has_footer_ = false, has_daylight_ = false;
  std::int64_t standard_ = 0, daylight_ = 0;
  Rule start_, end_;
};

}  // namespace foxhunt::market
