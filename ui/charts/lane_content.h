// What a lane chart draws: candles, and lanes of one value a bar beneath them, with an index that answers what any run
// of bars holds, exactly and in a few hundred operations.
#pragma once

#include <QString>
#include <QStringList>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace foxhunt::ui {

// An order that was filled, or whatever else happened at a price in a bar.
struct LaneMarker {
  std::size_t bar = 0;
  double price = 0, size = 0;
  bool buy = true;
  std::uint8_t kind = 0;  // index into LaneData::marker_names
};

struct Lane {
  enum class Kind { area, columns, line };
  QString name, unit, meaning;
  Kind kind = Kind::line;
  std::vector<double> values;   // one a bar; not finite: a gap
  int color = 0, negative = 1;  // indices into Theme::series; below zero (area and columns)
};

struct LaneData {
  static constexpr std::uint8_t no_class = 255;

  std::vector<double> times;                   // seconds since 1970 UTC, ascending; one a bar, as all that follows
  std::vector<double> open, high, low, close;  // not finite: no candle
  std::vector<Lane> lanes;
  // A strip beneath the first lane: which of a few classes each bar is of; may be empty.
  QString strip_name;
  QStringList strip_names;
  std::vector<int> strip_colors;  // one a name
  std::vector<std::uint8_t> strip;
  std::vector<LaneMarker> markers;  // ascending in bar
  QStringList marker_names;
  std::vector<std::size_t> breaks;  // bars before which something ended: thin lines
};

// Least and greatest of any run of a fixed series.
class BlockExtremes {
 public:
  struct Found {
    double min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity();
    bool any() const { return min <= max; }
    void add(double value) {
      if (value < min) min = value;  // false for NaN
      if (value > max) max = value;
    }
  };

  // The values must outlive the index. Infinite ones count as gaps.
  explicit BlockExtremes(std::span<const double> values);
  // Of [begin, end), within the series.
  Found of(std::size_t begin, std::size_t end) const;

 private:
  static constexpr std::size_t block = 64;
  std::span<const double> values_;
  std::vector<Found> blocks_;
};

// Never changes; may be made on any thread.
class LaneContent {
 public:
  // Throws Error where lengths differ, times or markers do not ascend or a class has no name.
  explicit LaneContent(LaneData data);
  LaneContent(const LaneContent&) = delete;
  LaneContent& operator=(const LaneContent&) = delete;

  const LaneData& data() const { return data_; }
  std::size_t bars() const { return data_.times.size(); }
  // Lowest low and highest high of the bars [begin, end).
  BlockExtremes::Found prices(std::size_t begin, std::size_t end) const;
  BlockExtremes::Found values(std::size_t lane, std::size_t begin, std::size_t end) const;
  // Bars of each class in [begin, end).
  std::vector<std::uint32_t> classes(std::size_t begin, std::size_t end) const;
  // Markers of the bars [begin, end).
  std::span<const LaneMarker> markers(std::size_t begin, std::size_t end) const;
  // The bar in which the time lies: the first that is not before it; the last one after all of them.
  std::size_t barAt(double time) const;

 private:
  LaneData data_;
  BlockExtremes low_, high_;
  std::vector<BlockExtremes> lanes_;
  std::vector<std::uint32_t> class_counts_;  // [(bars + 1), classes] sums up to a bar
};

}  // namespace foxhunt::ui
