// Turns of the series nobody reads.
#include "ui/charts/series_set.h"

#include <algorithm>

namespace foxhunt::ui {
namespace {

constexpr std::size_t kTurns = 40;        // calls of take_turns() until each series had its turn
constexpr std::uint64_t kMostRows = 512;  // waiting, beyond which all have their turn now

}  // namespace

SeriesSet::SeriesSet(std::size_t count, std::size_t budget_bytes) : rows_(std::make_shared<SampleRows>(count)) {
  for (std::size_t i = 0; i < count; ++i) {
    series_.push_back(std::make_shared<MinMaxPyramid>(budget_bytes));
    series_.back()->follow(rows_, i);
  }
}

void SeriesSet::take_turns() {
  if (rows_->end() == rows_->first()) return;
  if (next_ == 0) round_began_ = rows_->end();
  const bool all = rows_->end() - rows_->first() > kMostRows;
  const std::size_t turns = all ? series_.size() : (series_.size() + kTurns - 1) / kTurns;
  const std::size_t end = std::min(next_ + turns, series_.size());
  for (; next_ < end; ++next_) series_[next_]->take_waiting();
  if (next_ < series_.size()) return;
  next_ = 0;
  rows_->discard_before(round_began_);
}

}  // namespace foxhunt::ui
