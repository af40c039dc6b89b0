// An append-only series that answers "what is in each of W pixel columns" exactly and fast.
//
// Buckets sit at absolute indices: level L covers size_of(L) = 32 * 8^(L-1) samples, bucket b the samples
// [b * size, (b + 1) * size). Levels 1 to 3 live in blocks of 2,048 samples beside the samples themselves, the
// others in one array each. A bucket is written once, when its last sample arrives: appending is O(1) amortised,
// a column costs O(log n).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "ui/charts/sample_chunk.h"
#include "ui/charts/sample_rows.h"

namespace foxhunt::ui {

// What is known of a run of consecutive samples. Extremes and sums are over finite values only.
struct Summary {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double min_positive = std::numeric_limits<double>::infinity();
  double sum = 0;
  double first = std::numeric_limits<double>::quiet_NaN();  // first and last finite value
  double last = std::numeric_limits<double>::quiet_NaN();
  std::uint32_t count = 0;         // samples, of any kind
  std::uint32_t nan = 0;           // NaN
  std::uint32_t non_positive = 0;  // finite and <= 0
  std::uint32_t plus_inf = 0;
  std::uint32_t minus_inf = 0;
  bool leading_gap = false;   // the first sample is not finite
  bool trailing_gap = false;  // the last sample is not finite

  std::uint32_t finite() const { return count - nan - plus_inf - minus_inf; }
  std::uint32_t positive() const { return finite() - non_positive; }
  double mean() const { return finite() > 0 ? sum / finite() : std::numeric_limits<double>::quiet_NaN(); }

  void add(double y);
  // Appends the run that follows this one.
  void merge(const Summary& next);
};

// The samples of one pixel column; x_first and x_last are those of its outermost samples.
struct PixelColumn : Summary {
  double x_first = 0, x_last = 0;
};

// Throws Error when x is not finite or lies before `last`, the x of sample index - 1, where there is one.
void check_sample_x(double x, const double* last, std::uint64_t index);

class MinMaxPyramid {
 public:
  static constexpr std::size_t leaf = 32;              // samples a level-1 bucket
  static constexpr std::size_t screen_columns = 4096;  // the widest screen that coarsening respects

  // Bytes this series may hold before old samples are coarsened; 0 is no limit.
  explicit MinMaxPyramid(std::size_t budget_bytes = 0) : budget_(budget_bytes) {}

  // Throws Error when x is not finite or lies before the last one.
  void append(double x, double y);
  // Forgets the samples, not whom it follows.
  void clear();

  // From now on the rows' column belongs to this series: rows appended there are samples here.
  void follow(std::shared_ptr<const SampleRows> rows, std::size_t column);
  // Takes the rows that wait, as every question to the series does: its owner may then discard them.
  void take_waiting() const {
    if (rows_ && rows_taken_ < rows_->end()) const_cast<MinMaxPyramid*>(this)->take_rows();
  }

  std::size_t size() const { return take_waiting(), count_; }
  bool empty() const { return size() == 0; }
  // Of the outermost samples; the series must not be empty.
  double first_x() const { return take_waiting(), first_x_.front(); }
  double last_x() const { return take_waiting(), last_x_; }
  // Changes whenever the content does.
  std::uint64_t version() const { return take_waiting(), version_; }

  // Index of the first sample with x >= value, size() if none. Where samples were coarsened, of the first bucket
  // that starts at or after value.
  std::size_t lower_bound(double value) const;
  std::size_t upper_bound(double value) const;
  // One sample; where coarsened, its bucket's first x and mean.
  double x_at(std::size_t index) const;
  double y_at(std::size_t index) const;
  // Samples [begin, end); bounds inside a coarsened bucket move back to its start.
  Summary summarize(std::size_t begin, std::size_t end) const;
  // Samples with x0 <= x <= x1.
  Summary range(double x0, double x1) const;

  // Column k holds the samples with edges[k] <= x < edges[k + 1], the last one also those at its right edge.
  // edges ascend, one more than there are columns. Only columns from `from` on are computed.
  void columns(std::span<const double> edges, std::span<PixelColumn> out, std::size_t from = 0) const;

  // Calls visit(x, summary) for every sample (a summary of one), or bucket where coarsened, of [begin, end).
  void visit(std::size_t begin, std::size_t end, const std::function<void(double, const Summary&)>& visit) const;

  void set_budget(std::size_t bytes) { budget_ = bytes; }
  std::size_t budget() const { return budget_; }
  std::size_t bytes() const { return take_waiting(), bytes_; }
  // Samples at the start of the series that are kept as buckets only.
  std::size_t coarsened() const { return take_waiting(), coarse_end_[0] * SampleChunk::capacity; }
  // True when more is held than the budget because coarsening further would be visible on screen.
  bool over_budget() const { return take_waiting(), above_budget(); }

 private:
  static constexpr std::size_t fanout = 8;
  static constexpr std::size_t block_levels = 3;  // levels 1, 2, 3 hold 64, 8, 1 buckets a block

  struct Block {
    SampleChunk samples;
    std::array<std::vector<Summary>, block_levels> levels;
    std::vector<double> coarse_x;  // first x of each bucket of level `coarse`
    double last_x = 0;
    std::uint8_t coarse = 0;  // 0: samples kept; else the finest level kept
  };

  static constexpr std::size_t size_of(std::size_t level) {
    std::size_t size = leaf;
    for (std::size_t l = 1; l < level; ++l) size *= fanout;
    return size;
  }
  void take_rows();
  bool above_budget() const { return budget_ > 0 && bytes_ > budget_; }
  void add(double x, double y);
  static std::size_t block_bytes(const Block& block);
  const Summary& bucket(std::size_t level, std::size_t index) const;
  void close_bucket(std::size_t level, const Summary& summary);
  void seal_block();
  void keep_budget();
  void coarsen(Block& block, std::size_t level);
  std::size_t snap(std::size_t index) const;

  std::vector<Block> blocks_;
  std::vector<double> first_x_;                         // first x of each block
  std::vector<std::vector<Summary>> upper_;             // levels 4, 5, ...
  std::vector<Summary> open_;                           // the unfinished bucket of each level, finished children only
  std::array<std::size_t, block_levels> coarse_end_{};  // blocks [0, end) are at this level or coarser
  std::size_t count_ = 0, bytes_ = 0, budget_ = 0;
  double last_x_ = 0;
  std::uint64_t version_ = 0;
  std::shared_ptr<const SampleRows> rows_;
  std::size_t column_ = 0;
  std::uint64_t rows_taken_ = 0;
};

}  // namespace foxhunt::ui
