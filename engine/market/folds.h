// Walk-forward folds: which rows train, which validate, and the gap between them.
//
// Rolling: fold i trains on [w + i v, w + i v + train), w the table's warm-up rows, v = validation_bars; anchored: on
// [w, w + i v + train). Then the gap, the validation window and, if any, the test window. The least gap covers the
// longest feature look-back, the label horizon (1 bar), n-step and the execution delay (1 bar), so that no validation
// state, label or reward touches a training bar.
//
// A folds table is a JSON file:
//   { "folds": [ { "train": [113, 6113], "validation": [6230, 7730], "test": [7730, 8500] }, ... ] }
// Windows are [first row, row after the last]; "test" may be left out. The gap is what lies between train and
// validation.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/config/config.h"
#include "engine/market/market_table.h"

namespace foxhunt::market {

// Rows begin .. end-1.
struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  bool contains(std::int64_t row) const { return row >= begin && row < end; }
  bool overlaps(Range other) const { return begin < other.end && other.begin < end && !empty() && !other.empty(); }
  bool operator==(const Range&) const = default;
};

struct Fold {
  int index = 0;
  Range train, gap, validation, test;  // test: empty when there is none
};

inline constexpr std::int64_t kLabelHorizon = 1;    // bars that labels look ahead
inline constexpr std::int64_t kExecutionDelay = 1;  // a decision at the close of bar t is filled in bar t+1

// Bars between training and validation, at least.
std::int64_t least_gap(int n_step);

// Throws usage_error naming the field, its value and what is allowed: how many folds fit and how many bars are needed;
// for a folds table also a window that is out of the table, out of order, within the gap, or a validation or test
// window that overlaps the training window of its own or an earlier fold.
std::vector<Fold> make_folds(const MarketTable& table, const FoldsConfig& config, int n_step = 1);

}  // namespace foxhunt::market
