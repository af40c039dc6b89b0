// Rows that wait for their series.
#include "ui/charts/sample_rows.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "ui/charts/minmax_pyramid.h"

namespace foxhunt::ui {

void SampleRows::append(double x, std::span<const double> values) {
  FH_CHECK(values.size() == columns_, "{} values for {} columns", values.size(), columns_);
  check_sample_x(x, end() > 0 ? &last_x_ : nullptr, end());
  xs_.push_back(x);
  values_.insert(values_.end(), values.begin(), values.end());
  last_x_ = x;
}

void SampleRows::discard_before(std::uint64_t row) {
  if (row <= first_) return;
  const auto rows = static_cast<std::ptrdiff_t>(std::min(row, end()) - first_);
  xs_.erase(xs_.begin(), xs_.begin() + rows);
  values_.erase(values_.begin(), values_.begin() + rows * static_cast<std::ptrdiff_t>(columns_));
  first_ += static_cast<std::uint64_t>(rows);
}

}  // namespace foxhunt::ui
