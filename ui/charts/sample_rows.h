// Rows of samples at the same x that wait for the series they belong to: one short write in one place for all of them,
// where an append to each would touch the memory of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace foxhunt::ui {

class SampleRows {
 public:
  explicit SampleRows(std::size_t columns) : columns_(columns) {}

  // Throws Error when x is not finite or lies before the last one.
  void append(double x, std::span<const double> values);  // [columns]
  // Forgets the rows before `row`, which every series has taken.
  void discard_before(std::uint64_t row);

  std::size_t columns() const { return columns_; }
  // Rows are numbered from 0 on; [first, end) are here.
  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return first_ + xs_.size(); }
  double x(std::uint64_t row) const { return xs_[row - first_]; }
  double value(std::uint64_t row, std::size_t column) const { return values_[(row - first_) * columns_ + column]; }

 private:
  std::size_t columns_;
  std::uint64_t first_ = 0;
  std::vector<double> xs_, values_;  // [rows], [rows][columns]
  double last_x_ = 0;
};

}  // namespace foxhunt::ui
