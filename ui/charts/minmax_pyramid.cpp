// Buckets, column queries and coarsening of the min/max pyramid.
#include "ui/charts/minmax_pyramid.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/base/error.h"

namespace foxhunt::ui {

void Summary::add(double y) {
  if (std::isfinite(y)) {
    if (finite() == 0) first = y;
    last = y;
    min = std::min(min, y);
    max = std::max(max, y);
    sum += y;
    if (y > 0) {
      min_positive = std::min(min_positive, y);
    } else {
      ++non_positive;
    }
    trailing_gap = false;
  } else {
    if (count == 0) leading_gap = true;
    trailing_gap = true;
    if (std::isnan(y)) {
      ++nan;
    } else if (y > 0) {
      ++plus_inf;
    } else {
      ++minus_inf;
    }
  }
  ++count;
}

namespace {

// As add() of each of them, for the run of finite samples that nearly all are; empty when one is not finite.
std::optional<Summary> finiteRun(const SampleChunk& samples, std::size_t begin, std::size_t end) {
  const double infinity = std::numeric_limits<double>::infinity();
  double min = infinity, max = -infinity, min_positive = infinity, sum = 0, last = 0;
  std::uint32_t non_positive = 0;
  samples.each_y(begin, end, [&](double y) {
    min = y < min ? y : min;
    max = y > max ? y : max;
    sum += y;
    last = y;
    non_positive += y <= 0 ? 1 : 0;
    min_positive = y > 0 && y < min_positive ? y : min_positive;
  });
  if (end == begin || !std::isfinite(min) || !std::isfinite(max) || std::isnan(sum)) return std::nullopt;
  Summary run;
  run.min = min;
  run.max = max;
  run.min_positive = min_positive;
  run.sum = sum;
  run.first = samples.y(begin);
  run.last = last;
  run.count = static_cast<std::uint32_t>(end - begin);
  run.non_positive = non_positive;
  return run;
}

}  // namespace

void Summary::merge(const Summary& next) {
  if (next.count == 0) return;
  if (count == 0) {
    *this = next;
    return;
  }
  if (finite() == 0) first = next.first;
  if (next.finite() > 0) last = next.last;
  min = std::min(min, next.min);
  max = std::max(max, next.max);
  min_positive = std::min(min_positive, next.min_positive);
  sum += next.sum;
  count += next.count;
  nan += next.nan;
  non_positive += next.non_positive;
  plus_inf += next.plus_inf;
  minus_inf += next.minus_inf;
  trailing_gap = next.trailing_gap;
}

void check_sample_x(double x, const double* last, std::uint64_t index) {
  if (std::isfinite(x) && (last == nullptr || x >= *last)) return;
  throw Error(fmt::format("sample {} of a charted series has x = {}, which must be finite and at least {}", index, x,
                          last != nullptr ? *last : x),
              {.field = "x", .hint = "append samples in the order of their step"});
}

void MinMaxPyramid::append(double x, double y) {
  take_waiting();
  check_sample_x(x, count_ > 0 ? &last_x_ : nullptr, count_);
  add(x, y);
}

void MinMaxPyramid::follow(std::shared_ptr<const SampleRows> rows, std::size_t column) {
  take_waiting();
  FH_CHECK(rows && column < rows->columns(), "column {} of the rows that a series follows", column);
  rows_ = std::move(rows);
  column_ = column;
  rows_taken_ = rows_->end();
}

void MinMaxPyramid::take_rows() {
  FH_CHECK(rows_->first() <= rows_taken_, "rows up to {} were discarded, a series had {}", rows_->first(), rows_taken_);
  const std::uint64_t end = rows_->end();
  if (count_ > 0) check_sample_x(rows_->x(rows_taken_), &last_x_, count_);
  for (std::uint64_t row = rows_taken_; row < end; ++row) add(rows_->x(row), rows_->value(row, column_));
  rows_taken_ = end;
}

void MinMaxPyramid::add(double x, double y) {
  if (count_ % SampleChunk::capacity == 0) {
    blocks_.emplace_back();
    first_x_.push_back(x);
    bytes_ += block_bytes(blocks_.back());
  }
  Block& block = blocks_.back();
  block.samples.append(x, y);
  block.last_x = last_x_ = x;
  ++count_;
  ++version_;
  if (open_.empty()) open_.emplace_back();
  open_[0].add(y);
  if (count_ % leaf == 0) {
    close_bucket(1, open_[0]);
    if (count_ % SampleChunk::capacity == 0) seal_block();
  }
}

// Stores the finished bucket and, where it finishes its parent, goes on one level up.
void MinMaxPyramid::close_bucket(std::size_t level, const Summary& summary) {
  const Summary done = summary;
  if (level <= block_levels) {
    blocks_.back().levels[level - 1].push_back(done);
  } else {
    if (upper_.size() < level - block_levels) upper_.emplace_back();
    upper_[level - block_levels - 1].push_back(done);
    bytes_ += sizeof(Summary);
  }
  open_[level - 1] = Summary{};
  if (open_.size() <= level) open_.emplace_back();
  open_[level].merge(done);
  if (count_ % size_of(level + 1) == 0) close_bucket(level + 1, open_[level]);
}

std::size_t MinMaxPyramid::block_bytes(const Block& block) {
  std::size_t bytes =
      sizeof(Block) + sizeof(double) + block.samples.bytes() + block.coarse_x.capacity() * sizeof(double);
  for (const auto& level : block.levels) bytes += level.capacity() * sizeof(Summary);
  return bytes;
}

void MinMaxPyramid::seal_block() {
  Block& block = blocks_.back();
  bytes_ -= sizeof(Block) + sizeof(double);  // what the empty block counted
  block.samples.seal();
  for (auto& level : block.levels) level.shrink_to_fit();
  bytes_ += block_bytes(block);
  keep_budget();
}

// Coarsens the oldest three quarters, finest level first, as long as a bucket stays below half a pixel of the
// widest screen with the whole series in view.
void MinMaxPyramid::keep_budget() {
  for (std::size_t level = 1; level <= block_levels && above_budget(); ++level) {
    if (size_of(level) * 2 * screen_columns > count_) return;
    std::size_t& end = coarse_end_[level - 1];
    while (above_budget() && end < blocks_.size() * 3 / 4) {
      Block& block = blocks_[end++];
      bytes_ -= block_bytes(block);
      coarsen(block, level);
      bytes_ += block_bytes(block);
    }
  }
}

void MinMaxPyramid::coarsen(Block& block, std::size_t level) {
  std::vector<double> kept;
  const std::size_t buckets = block.levels[level - 1].size();
  kept.reserve(buckets);
  for (std::size_t b = 0; b < buckets; ++b) {
    kept.push_back(block.coarse == 0 ? block.samples.x(b * size_of(level))
                                     : block.coarse_x[b * size_of(level) / size_of(block.coarse)]);
  }
  block.coarse_x = std::move(kept);
  block.samples = SampleChunk{};
  for (std::size_t l = 1; l < level; ++l) std::vector<Summary>().swap(block.levels[l - 1]);
  block.coarse = static_cast<std::uint8_t>(level);
}

void MinMaxPyramid::clear() {
  take_waiting();
  MinMaxPyramid empty(budget_);
  empty.version_ = version_ + 1;
  empty.rows_ = std::move(rows_);
  empty.column_ = column_;
  empty.rows_taken_ = rows_taken_;
  *this = std::move(empty);
}

std::size_t MinMaxPyramid::lower_bound(double value) const {
  take_waiting();
  // The last block that starts before value holds the answer, or its end is the answer.
  const auto after = std::lower_bound(first_x_.begin(), first_x_.end(), value);
  if (after == first_x_.begin()) return 0;
  const auto b = static_cast<std::size_t>(after - first_x_.begin()) - 1;
  const Block& block = blocks_[b];
  const std::size_t start = b * SampleChunk::capacity;
  if (block.coarse == 0) return start + block.samples.lower_bound(value);
  const auto k = std::lower_bound(block.coarse_x.begin(), block.coarse_x.end(), value) - block.coarse_x.begin();
  return start + static_cast<std::size_t>(k) * size_of(block.coarse);
}

std::size_t MinMaxPyramid::upper_bound(double value) const {
  return lower_bound(std::nextafter(value, std::numeric_limits<double>::infinity()));
}

std::size_t MinMaxPyramid::snap(std::size_t index) const {
  if (index >= count_) return count_;
  const Block& block = blocks_[index / SampleChunk::capacity];
  return block.coarse == 0 ? index : index - index % size_of(block.coarse);
}

double MinMaxPyramid::x_at(std::size_t index) const {
  take_waiting();
  FH_CHECK(index < count_, "sample {} of {}", index, count_);
  const Block& block = blocks_[index / SampleChunk::capacity];
  const std::size_t inside = index % SampleChunk::capacity;
  return block.coarse == 0 ? block.samples.x(inside) : block.coarse_x[inside / size_of(block.coarse)];
}

double MinMaxPyramid::y_at(std::size_t index) const {
  take_waiting();
  FH_CHECK(index < count_, "sample {} of {}", index, count_);
  const Block& block = blocks_[index / SampleChunk::capacity];
  const std::size_t inside = index % SampleChunk::capacity;
  if (block.coarse == 0) return block.samples.y(inside);
  return block.levels[block.coarse - 1][inside / size_of(block.coarse)].mean();
}

const Summary& MinMaxPyramid::bucket(std::size_t level, std::size_t index) const {
  if (level > block_levels) return upper_[level - block_levels - 1][index];
  const std::size_t per_block = SampleChunk::capacity / size_of(level);
  return blocks_[index / per_block].levels[level - 1][index % per_block];
}

Summary MinMaxPyramid::summarize(std::size_t begin, std::size_t end) const {
  take_waiting();
  Summary total;
  end = snap(std::min(end, count_));
  std::size_t i = snap(std::min(begin, count_));
  while (i < end) {
    std::size_t level = 0, size = leaf;
    while (i % size == 0 && i + size <= end) {
      ++level;
      size *= fanout;
    }
    if (level > 0) {
      size /= fanout;
      total.merge(bucket(level, i / size));
      i += size;
    } else {
      const std::size_t stop = std::min(end, i - i % leaf + leaf);
      const SampleChunk& samples = blocks_[i / SampleChunk::capacity].samples;
      const std::size_t inside = i % SampleChunk::capacity;
      if (const auto run = finiteRun(samples, inside, inside + (stop - i))) {
        total.merge(*run);
      } else {
        samples.each_y(inside, inside + (stop - i), [&total](double y) { total.add(y); });
      }
      i = stop;
    }
  }
  return total;
}

Summary MinMaxPyramid::range(double x0, double x1) const {
  return summarize(lower_bound(x0), upper_bound(x1));
}

void MinMaxPyramid::columns(std::span<const double> edges, std::span<PixelColumn> out, std::size_t from) const {
  FH_CHECK(edges.size() == out.size() + 1, "{} edges for {} columns", edges.size(), out.size());
  if (from >= out.size()) return;
  std::size_t begin = lower_bound(edges[from]);
  for (std::size_t k = from; k < out.size(); ++k) {
    const bool last = k + 1 == out.size();
    const std::size_t end = std::max(begin, last ? upper_bound(edges[k + 1]) : lower_bound(edges[k + 1]));
    static_cast<Summary&>(out[k]) = summarize(begin, end);
    if (end > begin) {
      out[k].x_first = x_at(begin);
      out[k].x_last = x_at(end - 1);
    }
    begin = end;
  }
}

void MinMaxPyramid::visit(std::size_t begin, std::size_t end,
                          const std::function<void(double, const Summary&)>& visit) const {
  take_waiting();
  end = std::min(end, count_);
  for (std::size_t i = snap(begin); i < end;) {
    const Block& block = blocks_[i / SampleChunk::capacity];
    const std::size_t inside = i % SampleChunk::capacity;
    if (block.coarse == 0) {
      Summary one;
      one.add(block.samples.y(inside));
      visit(block.samples.x(inside), one);
      ++i;
    } else {
      const std::size_t size = size_of(block.coarse);
      visit(block.coarse_x[inside / size], block.levels[block.coarse - 1][inside / size]);
      i += size;
    }
  }
}

}  // namespace foxhunt::ui
