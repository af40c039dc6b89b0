// Series that get their samples together, one row at a time.
//
// An append is one row in one place. A series takes what waits for it when it is read; those that nobody reads take
// theirs in turn, a few each time, so that no frame pays for all of them at once. Readers see no difference. On one
// thread only, the readers of the series included.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ui/charts/minmax_pyramid.h"
#include "ui/charts/sample_rows.h"

namespace foxhunt::ui {

class SeriesSet {
 public:
  // Each series may hold budget_bytes before old samples are coarsened; 0 is no limit.
  SeriesSet(std::size_t count, std::size_t budget_bytes);

  std::size_t size() const { return series_.size(); }
  const std::shared_ptr<MinMaxPyramid>& at(std::size_t i) const { return series_.at(i); }
  // One sample for each, [size()]. Throws Error when x is not finite or lies before the last one.
  void append(double x, std::span<const double> values) { rows_->append(x, values); }
  // Once after each batch of appends.
  void take_turns();

 private:
  std::shared_ptr<SampleRows> rows_;
  std::vector<std::shared_ptr<MinMaxPyramid>> series_;
  std::size_t next_ = 0;           // the series whose turn it is
  std::uint64_t round_began_ = 0;  // rows that there were when the first had its turn
};

}  // namespace foxhunt::ui
