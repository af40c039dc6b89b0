// Inference of what a CSV file's bars are: their length, whether they are stamped at open or close, which column is the
// volume.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/config.h"
#include "engine/market/csv_layout.h"

namespace foxhunt::market {

class BarSurvey {
 public:
  using Row = std::vector<std::string_view>;
  using Say = std::function<void(const char* what, const std::string& finding)>;

  // `rows`: the sampled ones, all as wide as the layout's names. Findings go into `layout` and to `say`.
  BarSurvey(const std::filesystem::path& path, const DataConfig& config, const std::vector<Row>& rows,
            CsvLayout& layout, Say say)
      : path_(path), config_(config), rows_(rows), layout_(layout), say_(std::move(say)) {}

  // Columns that no header names are bars only if nearly all rows have their high above and their low below the others;
  // Error otherwise.
  void check_shape() const;
  // Length and stamp, from the sampled rows' times.
  void choose_bar(const std::vector<Time>& times);
  // Nanoseconds of a bar, with the evidence in words; 0 when nothing tells.
  std::int64_t interval(const std::vector<Time>& times, std::string& evidence) const;
  // The first candidate with a value that is not zero (MetaTrader's real volume is often all zero).
  void choose_volume();

 private:
  std::string stamp_by_breaks(const std::vector<Time>& times);

  const std::filesystem::path& path_;
  const DataConfig& config_;
  const std::vector<Row>& rows_;
  CsvLayout& layout_;
  Say say_;
};

}  // namespace foxhunt::market
