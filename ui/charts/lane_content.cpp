// The index over lanes: extremes of blocks, running counts of classes.
#include "ui/charts/lane_content.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace foxhunt::ui {

BlockExtremes::BlockExtremes(std::span<const double> values) : values_(values) {
  blocks_.resize((values.size() + block - 1) / block);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) blocks_[i / block].add(values[i]);
  }
}

BlockExtremes::Found BlockExtremes::of(std::size_t begin, std::size_t end) const {
  Found found;
  const auto one_by_one = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (std::isfinite(values_[i])) found.add(values_[i]);
    }
  };
  const std::size_t first = (begin + block - 1) / block, last = end / block;
  if (first >= last) {
    one_by_one(begin, end);
    return found;
  }
  one_by_one(begin, first * block);
  for (std::size_t b = first; b < last; ++b) {
    if (!blocks_[b].any()) continue;
    found.add(blocks_[b].min);
    found.add(blocks_[b].max);
  }
  one_by_one(last * block, end);
  return found;
}

LaneContent::LaneContent(LaneData data) : data_(std::move(data)), low_(data_.low), high_(data_.high) {
  const std::size_t n = data_.times.size();
  const auto need = [n](std::size_t size, const std::string& what) {
    if (size == n) return;
    throw Error(fmt::format("{} values of {} for {} bars", size, what, n), {.field = what});
  };
  need(data_.open.size(), "open");
  need(data_.high.size(), "high");
  need(data_.low.size(), "low");
  need(data_.close.size(), "close");
  for (const Lane& lane : data_.lanes) need(lane.values.size(), lane.name.toStdString());
  if (!data_.strip.empty()) need(data_.strip.size(), data_.strip_name.toStdString());
  if (!std::is_sorted(data_.times.begin(), data_.times.end()))
    throw Error("the times of the bars do not ascend", {.field = "times"});
  const auto before = [](const LaneMarker& a, const LaneMarker& b) { return a.bar < b.bar; };
  if (!std::is_sorted(data_.markers.begin(), data_.markers.end(), before) ||
      (!data_.markers.empty() && data_.markers.back().bar >= n))
    throw Error("the markers do not ascend within the bars", {.field = "markers"});
  for (const Lane& lane : data_.lanes) lanes_.emplace_back(lane.values);
  const auto classes = static_cast<std::size_t>(data_.strip_names.size());
  if (data_.strip.empty()) return;
  class_counts_.assign((n + 1) * classes, 0);
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(&class_counts_[i * classes], classes, &class_counts_[(i + 1) * classes]);
    const std::uint8_t found = data_.strip[i];
    if (found == LaneData::no_class) continue;
    if (found >= classes || data_.strip_colors.size() != classes)
      throw Error(fmt::format("class {} of bar {}; {} have names", found, i, classes),
                  {.field = data_.strip_name.toStdString()});
    ++class_counts_[(i + 1) * classes + found];
  }
}

BlockExtremes::Found LaneContent::prices(std::size_t begin, std::size_t end) const {
  return {low_.of(begin, end).min, high_.of(begin, end).max};
}

BlockExtremes::Found LaneContent::values(std::size_t lane, std::size_t begin, std::size_t end) const {
  return lanes_[lane].of(begin, end);
}

std::vector<std::uint32_t> LaneContent::classes(std::size_t begin, std::size_t end) const {
  std::vector<std::uint32_t> out(static_cast<std::size_t>(data_.strip_names.size()), 0);
  if (class_counts_.empty()) return out;
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = class_counts_[end * out.size() + k] - class_counts_[begin * out.size() + k];
  return out;
}

std::span<const LaneMarker> LaneContent::markers(std::size_t begin, std::size_t end) const {
  const auto at = [this](std::size_t bar) {
    return std::lower_bound(data_.markers.begin(), data_.markers.end(), bar,
                            [](const LaneMarker& marker, std::size_t wanted) { return marker.bar < wanted; });
  };
  const auto first = at(begin), last = at(std::max(begin, end));
  return {first, last};
}

std::size_t LaneContent::barAt(double time) const {
  if (data_.times.empty()) return 0;
  const auto at = std::lower_bound(data_.times.begin(), data_.times.end(), time);
  return std::min(static_cast<std::size_t>(at - data_.times.begin()), data_.times.size() - 1);
}

}  // namespace foxhunt::ui
