// Inference of how a CSV file writes times, and in which zone.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/config.h"
#include "engine/market/csv_layout.h"

namespace foxhunt::market {

class TimeSurvey {
 public:
  TimeSurvey(const std::filesystem::path& path, const DataConfig& config, const CsvLayout& layout,
             const Progress& progress)
      : path_(path), config_(config), layout_(layout), progress_(progress) {}

  // From a sample of the column's values (and of its time-of-day column, empty: none). `column` is its number, for the
  // whole file when the sample does not tell day from month.
  TimeFormat format(const std::vector<std::string_view>& values, const std::vector<std::string_view>& of_day,
                    int column) const;
  // Days since 1970 of data.date, else of the file's name; usage_error without either.
  std::int64_t date() const { return file_date(); }
  // In words, for the report.
  std::string describe(const TimeFormat& format, bool split) const;
  // The zone of local times (`local`), with the evidence in words. Throws usage_error when nothing names one.
  std::shared_ptr<const TimeZone> zone(bool local, const std::string& column_name, std::string& evidence) const;

 private:
  bool by_configuration(TimeFormat& format) const;
  bool by_number(const std::vector<std::string_view>& values, TimeFormat& format) const;
  void by_date(const std::vector<std::string_view>& values, int column, TimeFormat& format) const;
  DateOrder day_or_month_first(const std::vector<std::string_view>& values, int column) const;
  std::int64_t file_date() const;
  [[noreturn]] void refuse(const std::string& message, const std::string& hint) const;

  const std::filesystem::path& path_;
  const DataConfig& config_;
  const CsvLayout& layout_;
  const Progress& progress_;
};

}  // namespace foxhunt::market
