// Measures a curve chart: layout, pixel columns, axes, marks.
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "ui/charts/chart_parts.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

constexpr double lane_height = 14;
constexpr std::size_t percentile_samples = 4096;

// As many ticks as fit without their labels touching.
std::vector<Tick> fittingTicks(const CurveFrame& frame, const XScale& scale) {
  const double high = std::max(frame.x.high, frame.x.low);
  for (int most = std::max(2, static_cast<int>(frame.plot.width() / 64)); most >= 2; --most) {
    auto ticks = scale.ticks(frame.x.low, high, most);
    bool fits = true;
    double last_right = -1e9;
    for (const Tick& tick : ticks) {
      const double at = (tick.value - frame.x.low) / (frame.x.high - frame.x.low) * frame.plot.width();
      const double half = smallWidth(tick.label) / 2;
      fits = fits && at - half > last_right + 12;
      last_right = at + half;
    }
    if (fits) return ticks;
  }
  return {};
}

}  // namespace

void CurveChart::ensureFrame() const {
  const QSizeF now(size());
  if (frame_.size != now || frame_.dpr != devicePixelRatioF()) frame_stale_ = true;
  if (!frame_stale_ && !data_stale_) return;
  if (!frame_stale_) takeNewSamples();
  if (frame_stale_) {
    buildFrame(frame_, now, devicePixelRatioF(), link_->view().x0, link_->view().x1);
    chrome_stale_ = marks_stale_ = true;
    curves_from_ = 0;
  }
  frame_stale_ = data_stale_ = false;
}

// At an unchanged range only the columns at the end of each curve change, unless the y axis has to.
void CurveChart::takeNewSamples() const {
  const bool had_samples = frame_.has_samples;
  const QString badge = frame_.badge_text;
  std::size_t from = fillColumns(frame_, true);
  if (frame_.has_samples != had_samples || frame_.badge_text.size() != badge.size()) {
    frame_stale_ = true;
    return;
  }
  const bool axis_changed = chooseY(frame_, from);
  if (axis_changed || frame_.badge_text != badge) chrome_stale_ = true;
  if (axis_changed) from = 0;
  fillSpans(frame_, from);
  if (collectMarks(frame_, from)) marks_stale_ = true;
  curves_from_ = std::min(curves_from_, from);
}

void CurveChart::buildFrame(CurveFrame& frame, const QSizeF& size, double dpr, double x0, double x1) const {
  frame.size = size;
  frame.dpr = dpr;
  // The plot's place depends on the badge and on the widest label, both known only once the samples are looked at.
  layOut(frame);
  for (int pass = 0; pass < 4; ++pass) {
    const QRectF plot = frame.plot;
    placeX(frame, x0, x1);
    fillColumns(frame, false);
    chooseY(frame, 0);
    double widest = 0;
    for (const Tick& tick : frame.y_ticks) widest = std::max(widest, smallWidth(tick.label));
    frame.gutter = std::max(frame.gutter, std::ceil(widest) + chart_side + 8);
    layOut(frame);
    if (frame.plot == plot) break;
  }
  fillSpans(frame, 0);
  collectMarks(frame, 0);
}

void CurveChart::layOut(CurveFrame& frame) const {
  const double right = frame.size.width() - chart_side;
  double top = 6;
  const double badge_width = std::ceil(smallWidth(frame.badge_text)) + (frame.badge_text.isEmpty() ? 0 : 2);
  // A narrow chart shows its title rather than its badge; the tooltip has the badge.
  const double title_width = QFontMetricsF(theme().title_font).horizontalAdvance(title_);
  const bool badge_fits = badge_width + (title_visible_ ? title_width : 120) + 3 * chart_side < frame.size.width();
  frame.badge = badge_fits ? QRectF(right - badge_width, top, badge_width, chart_row) : QRectF();
  const double free_right = badge_fits ? right - badge_width - chart_side : right;
  frame.title = title_visible_ ? QRectF(chart_side, top, free_right - chart_side, chart_row) : QRectF();
  if (title_visible_) top += chart_row + 3;
  frame.lane.setTop(top);
  // Every series has its place in the legend before the badge has one: the tooltip has the badge.
  const double beside_badge = title_visible_ ? right : free_right;
  int missing = 0;
  for (const double widest : {220.0, 100.0}) {
    missing = layOutLegend(frame, chart_side, beside_badge, widest);
    if (missing == 0) break;
  }
  for (const double widest : {220.0, 100.0, 64.0}) {
    if (missing == 0) break;
    if (!title_visible_) frame.badge = QRectF();
    missing = layOutLegend(frame, chart_side, right, widest);
  }
  double legend_bottom = top;
  for (const QRectF& entry : frame.legend) legend_bottom = std::max(legend_bottom, entry.bottom());
  if (series_.empty() && !title_visible_) legend_bottom += chart_row;
  frame.lane = QRectF(frame.gutter, legend_bottom + 2, right - frame.gutter, lane_height);
  const double plot_top = std::round(frame.lane.bottom() + 1);
  frame.plot =
      QRectF(std::round(frame.gutter), plot_top, std::max(1.0, std::floor(right - 4) - std::round(frame.gutter)),
             std::max(1.0, std::floor(frame.size.height() - chart_axis_height - 2) - plot_top));
}

// Names are cut at `widest`. Returns how many entries found no place.
int CurveChart::layOutLegend(CurveFrame& frame, double left, double right, double widest) const {
  const int rows = frame.size.height() >= 210 ? 3 : frame.size.height() >= 160 ? 2 : 1;
  frame.legend.assign(series_.size(), QRectF());
  frame.more = QRectF();
  frame.hidden_entries = 0;
  double x = left, y = frame.lane.top();
  int used = 1;
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const double width = std::min(widest, std::ceil(smallWidth(series_[i].info.name))) + 24;
    const bool last = i + 1 == series_.size();
    if (x > left && x + width > right && used < rows) {
      ++used;
      x = left;
      y += chart_row;
    }
    const double room = right - x - (used == rows && !last ? 34 : 0);  // for "+n"
    if (width > room && (x > left || room < 40)) {
      frame.hidden_entries = static_cast<int>(series_.size() - i);
      frame.more = QRectF(std::min(x, right - 34), y, 34, chart_row);
      return frame.hidden_entries;
    }
    frame.legend[i] = QRectF(x, y, std::min(width, room), chart_row);
    x += width + 10;
  }
  return 0;
}

void CurveChart::placeX(CurveFrame& frame, double x0, double x1) const {
  const XScale& scale = xScale();
  frame.x0 = x0;
  frame.x1 = x1 > x0 ? x1 : x0 + 1;
  frame.x.scale = dynamic_cast<const StepScale*>(&scale) != nullptr ? nullptr : &scale;
  frame.x.low = scale.toDisplay(frame.x0);
  frame.x.high = scale.toDisplay(frame.x1);
  if (!(frame.x.high > frame.x.low)) frame.x.high = frame.x.low + 1;
  frame.x.width = std::max(1, static_cast<int>(std::lround(frame.plot.width() * frame.dpr)));
  frame.y.height = std::max(1, static_cast<int>(std::lround(frame.plot.height() * frame.dpr)));
  frame.edges.resize(static_cast<std::size_t>(frame.x.width) + 1);
  for (int k = 0; k <= frame.x.width; ++k) frame.edges[static_cast<std::size_t>(k)] = frame.x.step(k);
  frame.edges.front() = frame.x0;
  frame.edges.back() = std::max(frame.x1, frame.edges.back());
  frame.x_ticks = fittingTicks(frame, scale);
}

std::size_t CurveChart::fillColumns(CurveFrame& frame, bool only_new) const {
  frame.raw.resize(series_.size());
  frame.smooth.resize(series_.size());
  frame.has_samples = false;
  double points = 0;
  std::size_t coarse = 0;
  auto changed = static_cast<std::size_t>(frame.x.width);
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const Series& series = series_[i];
    frame.has_samples = frame.has_samples || !series.data->empty();
    if (!series.shown) {
      frame.raw[i] = frame.smooth[i] = CurveColumns{};
      continue;
    }
    fillSeries(*series.data, frame, only_new, frame.raw[i]);
    changed = std::min(changed, frame.raw[i].changed);
    points += static_cast<double>(frame.raw[i].in_view);
    const std::size_t limit = series.data->coarsened();
    if (limit > 0 && series.data->x_at(0) < frame.x1 && series.data->lower_bound(frame.x0) < limit) coarse = limit;
    if (series.smooth != nullptr) {
      fillSeries(series.smooth->result(), frame, only_new, frame.smooth[i]);
      changed = std::min(changed, frame.smooth[i].changed);
    } else {
      frame.smooth[i] = CurveColumns{};
    }
  }
  frame.badge_text.clear();
  if (!frame.has_samples) return changed;
  frame.badge_text = tr("%1 points · min/max exact").arg(formatShortCount(points));
  if (coarse > 0) frame.badge_text += tr(" · oldest in buckets");
  if (smoothing_.kind == SmoothingKind::ema) frame.badge_text += tr(" · EMA %1").arg(smoothing_.amount);
  if (smoothing_.kind == SmoothingKind::mean) frame.badge_text += tr(" · mean of %1").arg(smoothing_.amount);
  if (smoothing_.kind == SmoothingKind::median) frame.badge_text += tr(" · median of %1").arg(smoothing_.amount);
  if (clip_) frame.badge_text += tr(" · y clipped to 1–99 %");
  return changed;
}

void CurveChart::fillSeries(const MinMaxPyramid& samples, const CurveFrame& frame, bool only_new,
                            CurveColumns& columns) const {
  const auto width = static_cast<std::size_t>(frame.x.width);
  const bool grown =
      only_new && columns.columns.size() == width && samples.size() >= columns.samples && columns.samples > 0;
  columns.changed = width;
  if (grown && samples.size() == columns.samples) return;
  std::size_t from = 0;
  if (grown) {
    const double pixel = frame.x.pixel(columns.last_x) - 1;
    from = static_cast<std::size_t>(std::clamp(pixel, 0.0, static_cast<double>(width)));
  } else {
    columns.columns.assign(width, PixelColumn{});
  }
  columns.changed = from;
  samples.columns(frame.edges, columns.columns, from);
  columns.samples = samples.size();
  columns.before = columns.after = Neighbour{};
  columns.in_view = 0;
  if (samples.empty()) return;
  columns.last_x = samples.last_x();
  const std::size_t begin = samples.lower_bound(frame.edges.front()), end = samples.upper_bound(frame.edges.back());
  columns.in_view = end - begin;
  if (begin > 0 && std::isfinite(samples.y_at(begin - 1)))
    columns.before = {samples.x_at(begin - 1), samples.y_at(begin - 1)};
  if (end < samples.size() && std::isfinite(samples.y_at(end))) columns.after = {samples.x_at(end), samples.y_at(end)};
}

// Before `from` the extent is that of the frame as it stands: samples are only ever added.
std::optional<std::pair<double, double>> CurveChart::columnExtent(const CurveFrame& frame, std::size_t from) const {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  if (from > 0 && frame.extent) std::tie(low, high) = *frame.extent;
  for (const auto* list : {&frame.raw, &frame.smooth}) {
    for (const CurveColumns& curve : *list) {
      for (std::size_t k = from; k < curve.columns.size(); ++k) {
        low = std::min(low, log_y_ ? curve.columns[k].min_positive : curve.columns[k].min);
        high = std::max(high, curve.columns[k].max);
      }
    }
  }
  if (!(low <= high)) return std::nullopt;
  return std::make_pair(low, high);
}

std::optional<std::pair<double, double>> CurveChart::percentiles(const CurveFrame& frame) const {
  std::vector<double> values;
  for (const Series& series : series_) {
    if (!series.shown || series.data->empty()) continue;
    const std::size_t begin = series.data->lower_bound(frame.x0), end = series.data->upper_bound(frame.x1);
    const std::size_t count = std::min(percentile_samples, end - begin);
    for (std::size_t k = 0; k < count; ++k) {
      const double value = series.data->y_at(begin + k * (end - begin) / count);
      if (std::isfinite(value) && (!log_y_ || value > 0)) values.push_back(value);
    }
  }
  if (values.empty()) return std::nullopt;
  const auto rank = [&values](double part) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), place, values.end());
    return *place;
  };
  const double low = rank(0.01);
  return std::make_pair(low, rank(0.99));
}

// Returns whether the axis changed. Columns before `from` are as they were.
bool CurveChart::chooseY(CurveFrame& frame, std::size_t from) const {
  const YMap before = frame.y;
  const int most = std::max(2, static_cast<int>(frame.plot.height() / 38));
  const YView fixed = frozen_y_ ? *frozen_y_ : y_view_;
  if (!fixed.automatic) {
    frame.has_positive = true;
    frame.y.set(fixed.low, fixed.high, log_y_);
    frame.y_ticks = log_y_ ? logTicks(fixed.low, fixed.high, most) : linearTicks(fixed.low, fixed.high, most);
  } else {
    const auto extent = clip_ ? percentiles(frame) : columnExtent(frame, from);
    if (from > 0 && extent == frame.extent) return false;
    frame.extent = extent;
    frame.has_positive = !log_y_ || extent.has_value() || !frame.has_samples;
    double low = extent ? extent->first : log_y_ ? 0.1 : 0, high = extent ? extent->second : 1;
    if (!log_y_ && low > 0 && low < 0.3 * high) low = 0;
    if (!log_y_ && high < 0 && high > 0.3 * low) high = 0;
    if (threshold_) {  // in view as long as it does not flatten the curves
      const double room = log_y_ ? 0 : 3 * std::max(high - low, std::abs(high) * 0.1);
      const double least = low, most_seen = high;
      const auto show = [&](double value) {
        const bool near =
            log_y_ ? value > least / 100 && value < most_seen * 100 : value > least - room && value < most_seen + room;
        if (!near) return;
        low = std::min(low, value);
        high = std::max(high, value);
      };
      show(threshold_->value);
      if (threshold_->mirrored && !log_y_) show(-threshold_->value);
    }
    const AxisTicks axis = log_y_ ? logAxis(low, high, most) : linearAxis(low, high, most);
    frame.y.set(axis.low, axis.high, log_y_);
    frame.y_ticks = axis.ticks;
  }
  return before.low() != frame.y.low() || before.high() != frame.y.high() || before.log() != frame.y.log();
}

void CurveChart::fillSpans(CurveFrame& frame, std::size_t from) const {
  for (auto* list : {&frame.raw, &frame.smooth}) {
    for (CurveColumns& curve : *list) {
      columnSpans(curve.columns, frame.x, frame.y, curve.before, curve.after, curve.spans, from);
    }
  }
}

bool CurveChart::collectMarks(CurveFrame& frame, std::size_t from) const {
  const auto kept = std::stable_partition(frame.marks.begin(), frame.marks.end(), [from](const ChartMark& mark) {
    return static_cast<std::size_t>(mark.column) < from;
  });
  const std::vector<ChartMark> before(kept, frame.marks.end());
  frame.marks.erase(kept, frame.marks.end());
  const std::size_t start = frame.marks.size();
  const bool clipping = clip_ && y_view_.automatic;
  for (std::size_t i = 0; i < frame.raw.size(); ++i) {
    const auto& columns = frame.raw[i].columns;
    for (std::size_t k = from; k < columns.size(); ++k) {
      const PixelColumn& column = columns[k];
      const auto mark = [&](MarkKind kind, std::uint32_t count) {
        if (count > 0) frame.marks.push_back({kind, static_cast<int>(i), static_cast<int>(k), count});
      };
      mark(MarkKind::nan, column.nan);
      mark(MarkKind::plus_inf, column.plus_inf);
      mark(MarkKind::minus_inf, column.minus_inf);
      if (log_y_) mark(MarkKind::non_positive, column.non_positive);
      if (!clipping || column.finite() == 0) continue;
      if (column.max > frame.y.high()) mark(MarkKind::clipped_high, column.finite());
      const double lowest = log_y_ ? column.min_positive : column.min;
      if (lowest < frame.y.low()) mark(MarkKind::clipped_low, column.finite());
    }
  }
  return !std::equal(before.begin(), before.end(), frame.marks.begin() + static_cast<std::ptrdiff_t>(start),
                     frame.marks.end());
}

}  // namespace foxhunt::ui
