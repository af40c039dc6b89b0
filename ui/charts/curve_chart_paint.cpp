// Paints a curve chart: a cached background, a cached image of the curves, and what moves above them.
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/charts/chart_parts.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

constexpr double line_width = 1.4;  // logical pixels
constexpr int faint_alpha = 60;     // of the raw curve under a smoothed one
constexpr double mark_merge = 56;   // marks closer than this share one label
constexpr double dot_spacing = 9;   // logical pixels between samples from which each gets a dot

// Where a label of this width goes beside x without leaving `bounds`; empty where it would cover another.
std::optional<QRectF> place(double x, double width, const QRectF& bounds, const std::vector<QRectF>& taken) {
  for (double left : {x + 3, x - 3 - width}) {
    const QRectF box(left, bounds.top(), width, bounds.height());
    if (box.left() < bounds.left() || box.right() > bounds.right() + 6) continue;
    const bool free = std::none_of(taken.begin(), taken.end(),
                                   [&box](const QRectF& other) { return other.adjusted(-4, 0, 4, 0).intersects(box); });
    if (free) return box;
  }
  return std::nullopt;
}

QString markText(MarkKind kind, double count) {
  const QString number = formatCount(count);
  switch (kind) {
    case MarkKind::nan:
      return number + QStringLiteral(" NaN");
    case MarkKind::non_positive:
      return number + QStringLiteral(" ≤ 0");
    case MarkKind::plus_inf:
      return number + QStringLiteral(" +∞");
    case MarkKind::minus_inf:
      return number + QStringLiteral(" −∞");
    case MarkKind::clipped_high:
    case MarkKind::clipped_low:
      break;
  }
  return {};
}

bool atTop(MarkKind kind) {
  return kind == MarkKind::nan || kind == MarkKind::plus_inf || kind == MarkKind::clipped_high;
}

}  // namespace

void CurveChart::paintEvent(QPaintEvent*) {
  ensureFrame();
  ++paints_;
  const double dpr = devicePixelRatioF();
  const QSize pixels = (QSizeF(size()) * dpr).toSize();
  if (chrome_stale_ || chrome_.size() != pixels) {
    if (chrome_.size() != pixels) chrome_ = QPixmap(pixels);  // a fresh one costs as much as what is drawn into it
    chrome_.setDevicePixelRatio(dpr);
    QPainter painter(&chrome_);
    paintChrome(painter, frame_, false);
    chrome_stale_ = false;
  }
  if (curves_from_ < static_cast<std::size_t>(frame_.x.width)) drawCurves();
  marks_stale_ = false;
  QPainter painter(this);
  painter.drawPixmap(0, 0, chrome_);
  paintCurves(painter, frame_, false);
  std::vector<QRectF> taken;
  paintMarks(painter, frame_, taken);
  paintEvents(painter, frame_, taken);
  paintThreshold(painter, frame_);
  paintCrosshair(painter, frame_);
  if (drag_ == Drag::rectangle) {
    painter.setPen(QPen(theme().accent, 1));
    QColor fill = theme().accent;
    fill.setAlpha(40);
    painter.setBrush(fill);
    painter.drawRect(QRectF(drag_from_, drag_at_).normalized().intersected(frame_.plot));
  }
  const QRectF button = followButtonRect();
  if (!button.isNull()) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme().border, 1));
    painter.setBrush(theme().button);
    painter.drawRoundedRect(button, 4, 4);
    painter.setPen(theme().text);
    painter.setFont(theme().small_font);
    drawSmallText(painter, button, Qt::AlignCenter, tr("▸ Follow"));
  }
}

// Columns from curves_from_ on.
void CurveChart::drawCurves() {
  const QSize plot(frame_.x.width, frame_.y.height);
  if (curves_.size() != plot) {
    curves_ = QImage(plot, QImage::Format_ARGB32_Premultiplied);
    curves_from_ = 0;
  }
  curves_.setDevicePixelRatio(frame_.dpr);
  const auto clear = static_cast<std::size_t>(plot.width()) - curves_from_;
  for (int row = 0; row < plot.height(); ++row) {
    std::fill_n(reinterpret_cast<QRgb*>(curves_.scanLine(row)) + curves_from_, clear, QRgb{0});
  }
  const auto thickness = static_cast<float>(line_width * frame_.dpr);
  for (const bool smoothed : {false, true}) {  // averages above all raw curves
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const bool has_average = !frame_.smooth[i].spans.empty();
      if (smoothed && !has_average) continue;
      QColor color = colorOf(series_[i]);
      if (!smoothed && has_average) color.setAlpha(faint_alpha);
      drawSpans(curves_, (smoothed ? frame_.smooth[i] : frame_.raw[i]).spans, color, thickness, curves_from_);
    }
  }
  curves_from_ = static_cast<std::size_t>(frame_.x.width);
  ++redraws_;
}

void CurveChart::paintChrome(QPainter& painter, const CurveFrame& frame, bool exporting) const {
  const Theme& colors = theme();
  painter.fillRect(QRectF(QPointF(0, 0), frame.size), colors.panel);
  if (title_visible_ || exporting) {
    painter.setFont(colors.title_font);
    painter.setPen(colors.text);
    QString text = title_;
    if (exporting && !run_name_.isEmpty()) text += QStringLiteral(" · ") + run_name_;
    const double room = frame.title.width();
    painter.drawText(frame.title, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(colors.title_font).elidedText(text, Qt::ElideRight, room));
  }
  painter.setFont(colors.small_font);
  painter.setPen(colors.muted);
  if (!frame.badge.isNull()) drawSmallText(painter, frame.badge, Qt::AlignRight | Qt::AlignVCenter, frame.badge_text);
  paintLegend(painter, frame);
  paintAxes(painter, frame);
}

void CurveChart::paintLegend(QPainter& painter, const CurveFrame& frame) const {
  const QFontMetricsF metrics(theme().small_font);
  painter.setFont(theme().small_font);
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const QRectF& box = frame.legend[i];
    if (box.isNull()) continue;
    const bool shown = series_[i].shown;
    const QColor color = shown ? colorOf(series_[i]) : theme().faint;
    const double middle = std::round(box.center().y());
    painter.fillRect(QRectF(box.left(), middle - 1, 14, 2), color);
    painter.setRenderHint(QPainter::Antialiasing);
    drawSeriesShape(painter, {box.left() + 7, middle}, 3, static_cast<int>(i), color);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(shown ? theme().text : theme().faint);
    const QRectF label = box.adjusted(20, 0, 4, 0);
    const QString& whole = series_[i].info.name;
    const QString name =
        smallWidth(whole) <= label.width() + 1 ? whole : metrics.elidedText(whole, Qt::ElideMiddle, label.width());
    drawSmallText(painter, label, Qt::AlignLeft | Qt::AlignVCenter, name);
    if (!shown) {
      painter.drawLine(QPointF(label.left(), middle), QPointF(label.left() + smallWidth(name), middle));
    }
  }
  if (frame.hidden_entries > 0) {
    painter.setPen(theme().muted);
    drawSmallText(painter, frame.more, Qt::AlignLeft | Qt::AlignVCenter,
                  QStringLiteral("+%1").arg(frame.hidden_entries));
  }
}

void CurveChart::paintAxes(QPainter& painter, const CurveFrame& frame) const {
  const QRectF& plot = frame.plot;
  painter.setFont(theme().small_font);
  for (const Tick& tick : frame.y_ticks) {
    const double y = std::floor(frame.yPixel(tick.value)) + 0.5;
    if (y < plot.top() - 1 || y > plot.bottom() + 1) continue;
    painter.fillRect(QRectF(plot.left(), y - 0.5, plot.width(), 1), theme().grid);
    painter.setPen(theme().muted);
    drawSmallText(painter, QRectF(0, y - 8, plot.left() - 6, 16), Qt::AlignRight | Qt::AlignVCenter, tick.label);
  }
  double last_right = -1e9;
  for (const Tick& tick : frame.x_ticks) {
    const double position = (tick.value - frame.x.low) / (frame.x.high - frame.x.low) * plot.width();
    const double x = std::floor(plot.left() + position) + 0.5;
    painter.fillRect(QRectF(x - 0.5, plot.top(), 1, plot.height()), theme().grid);
    const double width = smallWidth(tick.label) + 2;
    const double left = std::min(x - width / 2, frame.size.width() - width - 2);
    if (left < last_right + 6) continue;
    painter.setPen(theme().muted);
    drawSmallText(painter, QRectF(left, plot.bottom() + 3, width, 15), Qt::AlignCenter, tick.label);
    last_right = left + width;
  }
  painter.fillRect(QRectF(plot.left() - 1, plot.top(), 1, plot.height() + 1), theme().axis);
  painter.fillRect(QRectF(plot.left() - 1, plot.bottom(), plot.width() + 1, 1), theme().axis);
  const QString unit = log_y_ ? (unit_.isEmpty() ? tr("log") : tr("log %1").arg(unit_)) : unit_;
  if (!unit.isEmpty()) {
    painter.setPen(theme().muted);
    drawSmallText(painter, QRectF(10, frame.lane.top() - 1, plot.left() - 16, frame.lane.height()),
                  Qt::AlignRight | Qt::AlignVCenter, unit);
  }
  painter.setPen(theme().muted);
  if (!frame.has_samples) drawSmallText(painter, plot, Qt::AlignCenter, tr("no samples yet"));
  if (!frame.has_positive)
    drawSmallText(painter, plot, Qt::AlignCenter, tr("no value above zero to draw on a log axis"));
}

void CurveChart::paintCurves(QPainter& painter, const CurveFrame& frame, bool vector) const {
  if (!vector) {
    painter.drawImage(frame.plot.topLeft(), curves_);
  } else {
    painter.save();
    painter.setClipRect(frame.plot);
    painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = 0; i < series_.size(); ++i) {
      QColor color = colorOf(series_[i]);
      const bool smoothed = !frame.smooth[i].spans.empty();
      if (smoothed) color.setAlpha(faint_alpha);
      paintVectorCurve(painter, frame, *series_[i].data, frame.raw[i].spans, color, line_width);
      if (smoothed) {
        const auto& result = series_[i].smooth->result();
        paintVectorCurve(painter, frame, result, frame.smooth[i].spans, colorOf(series_[i]), line_width);
      }
    }
    painter.restore();
  }
  painter.save();
  painter.setClipRect(frame.plot.adjusted(-4, -4, 6, 4));
  painter.setRenderHint(QPainter::Antialiasing);
  paintDots(painter, frame);
  paintEndMarkers(painter, frame);
  painter.restore();
}

// Few samples as the polyline they are, many as one stroke a column from lowest to highest.
void CurveChart::paintVectorCurve(QPainter& painter, const CurveFrame& frame, const MinMaxPyramid& samples,
                                  const std::vector<ColumnSpan>& spans, const QColor& color, double width) const {
  if (spans.empty() || samples.empty()) return;
  QPainterPath path;
  std::size_t begin = samples.lower_bound(frame.x0), end = samples.upper_bound(frame.x1);
  if (end - begin <= 2 * spans.size()) {
    begin -= begin > 0 ? 1 : 0;
    end += end < samples.size() ? 1 : 0;
    bool joined = false;
    for (std::size_t i = begin; i < end; ++i) {
      const double value = samples.y_at(i);
      const bool drawn = std::isfinite(value) && (!log_y_ || value > 0);
      if (!drawn) {
        joined = false;
        continue;
      }
      const QPointF at(frame.xPixel(samples.x_at(i)), frame.yPixel(value));
      if (!joined) path.moveTo(at - QPointF(0.01, 0));  // so that a lone sample leaves a dot
      path.lineTo(at);
      joined = true;
    }
    painter.strokePath(path, QPen(color, width, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    return;
  }
  const double column = 1 / frame.dpr;
  for (std::size_t k = 0; k < spans.size(); ++k) {
    if (!spans[k].drawn()) continue;
    const double x = frame.plot.left() + (static_cast<double>(k) + 0.5) * column;
    path.moveTo(x, frame.plot.top() + static_cast<double>(spans[k].top) / frame.dpr - width / 2);
    path.lineTo(x, frame.plot.top() + static_cast<double>(spans[k].bottom) / frame.dpr + width / 2);
  }
  painter.strokePath(path, QPen(color, column * 1.05, Qt::SolidLine, Qt::FlatCap));
}

// Where samples are far apart each is shown, so that it is seen where the data is and where only the line.
void CurveChart::paintDots(QPainter& painter, const CurveFrame& frame) const {
  painter.setPen(Qt::NoPen);
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const CurveColumns& curve = frame.raw[i];
    if (curve.in_view == 0 || static_cast<double>(curve.in_view) * dot_spacing > frame.plot.width()) continue;
    painter.setBrush(colorOf(series_[i]));
    const MinMaxPyramid& samples = *series_[i].data;
    const std::size_t begin = samples.lower_bound(frame.x0);
    for (std::size_t k = begin; k < begin + curve.in_view; ++k) {
      const double value = samples.y_at(k);
      if (!std::isfinite(value) || (log_y_ && value <= 0)) continue;
      painter.drawEllipse(QPointF(frame.xPixel(samples.x_at(k)), frame.yPixel(value)), 2.2, 2.2);
    }
  }
}

// The shape of the legend at the newest drawn value, which names the curve without its colour.
void CurveChart::paintEndMarkers(QPainter& painter, const CurveFrame& frame) const {
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const auto& columns = (frame.smooth[i].columns.empty() ? frame.raw[i] : frame.smooth[i]).columns;
    for (std::size_t k = columns.size(); k-- > 0;) {
      if (columns[k].finite() == 0) continue;
      const double value = columns[k].last;
      if (log_y_ && value <= 0) break;
      const double y = frame.yPixel(value);
      if (y < frame.plot.top() || y > frame.plot.bottom()) break;
      drawSeriesShape(painter, {frame.plot.left() + (static_cast<double>(k) + 0.5) / frame.dpr, y}, 3,
                      static_cast<int>(i), colorOf(series_[i]));
      break;
    }
  }
}

void CurveChart::paintMarks(QPainter& painter, const CurveFrame& frame, std::vector<QRectF>& taken) const {
  if (frame.marks.empty()) return;
  const QRectF& plot = frame.plot;
  for (const ChartMark& mark : frame.marks) {
    const double x = plot.left() + mark.column / frame.dpr;
    const QColor color = colorOf(series_[static_cast<std::size_t>(mark.series)]);
    const double y = atTop(mark.kind) ? plot.top() : plot.bottom() - 4;
    painter.fillRect(QRectF(x, y, std::max(1.0, 1 / frame.dpr), 4), color);
  }
  // One label for each cluster of marks of a kind, whatever the series; above the plot, where it hides no curve.
  struct Cluster {
    double from, to, count;
  };
  painter.setFont(theme().small_font);
  for (MarkKind kind : {MarkKind::nan, MarkKind::plus_inf, MarkKind::minus_inf, MarkKind::non_positive}) {
    std::vector<std::pair<double, double>> places;  // x, count
    for (const ChartMark& mark : frame.marks) {
      if (mark.kind == kind) places.emplace_back(plot.left() + mark.column / frame.dpr, mark.count);
    }
    std::sort(places.begin(), places.end());
    std::vector<Cluster> clusters;
    for (const auto& [x, count] : places) {
      if (!clusters.empty() && x - clusters.back().to < mark_merge) {
        clusters.back().to = x;
        clusters.back().count += count;
      } else {
        clusters.push_back({x, x, count});
      }
    }
    for (const Cluster& cluster : clusters) {
      const QString text = markText(kind, cluster.count);
      const double x = (cluster.from + cluster.to) / 2, y = frame.lane.center().y();
      const auto box = place(x + 3, smallWidth(text) + 2, frame.lane, taken);
      if (!box) continue;
      taken.push_back(*box);
      painter.setRenderHint(QPainter::Antialiasing);
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme().warning);
      painter.drawPolygon(QPolygonF({{x - 4, y - 3}, {x + 4, y - 3}, {x, y + 4}}));
      painter.setRenderHint(QPainter::Antialiasing, false);
      painter.setPen(theme().text);
      drawSmallText(painter, *box, Qt::AlignCenter, text);
    }
  }
}

}  // namespace foxhunt::ui
