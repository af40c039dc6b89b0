// What lies above the curves: event lines, the threshold, the crosshair with its values.
#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/charts/chart_parts.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

constexpr std::size_t most_labels = 40;  // event labels tried, newest first

}  // namespace

std::vector<EventLine> CurveChart::eventsInView(const CurveFrame& frame) const {
  std::vector<EventLine> seen;
  for (const auto* list : {&link_->events(), &events_}) {
    auto at =
        std::lower_bound(list->begin(), list->end(), frame.x0, [](const EventLine& e, double x) { return e.x < x; });
    for (; at != list->end() && at->x <= frame.x1; ++at) seen.push_back(*at);
  }
  std::stable_sort(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  return seen;
}

// A line for each event, at most one a pixel; labels newest first where there is room, the others on hover.
void CurveChart::paintEvents(QPainter& painter, const CurveFrame& frame, std::vector<QRectF>& taken) const {
  const auto events = eventsInView(frame);
  if (events.empty()) return;
  painter.setFont(theme().small_font);
  painter.setRenderHint(QPainter::Antialiasing, false);
  double last = -1;
  std::size_t labels = 0;
  for (std::size_t i = events.size(); i-- > 0;) {
    const EventLine& event = events[i];
    const double x = std::floor(frame.xPixel(event.x)) + 0.5;
    const QColor color = theme().eventColor(event.kind);
    if (x != last) {
      painter.setPen(QPen(color, 1, Qt::CustomDashLine));
      QPen pen = painter.pen();
      pen.setDashPattern({3, 3});
      painter.setPen(pen);
      painter.drawLine(QPointF(x, frame.lane.top() + 2), QPointF(x, frame.plot.bottom()));
      last = x;
    }
    if (event.label.isEmpty() || ++labels > most_labels) continue;
    const double width = smallWidth(event.label) + 2;
    const QRectF box(x + 4, frame.lane.top(), width, frame.lane.height());
    const bool blocked =
        box.right() > frame.size.width() - 4 || std::any_of(taken.begin(), taken.end(), [&box](const QRectF& other) {
          return other.adjusted(-12, 0, 6, 0).intersects(box);
        });
    if (blocked) continue;
    taken.push_back(box);
    painter.setPen(theme().muted);
    drawSmallText(painter, box, Qt::AlignLeft | Qt::AlignVCenter, event.label);
  }
}

void CurveChart::paintThreshold(QPainter& painter, const CurveFrame& frame) const {
  if (!threshold_) return;
  const QRectF& plot = frame.plot;
  const bool positive = !log_y_ || threshold_->value > 0;
  const double exact = positive ? frame.yPixel(threshold_->value) : plot.bottom() + 1;
  const bool above = exact<plot.top() - 0.5, below = exact> plot.bottom() + 0.5;
  const double y = std::clamp(std::floor(exact) + 0.5, plot.top() + 0.5, plot.bottom() - 0.5);
  const QColor color = theme().series[5];
  if (!above && !below) {
    QPen pen(color, 1.4);
    pen.setDashPattern({5, 3});
    painter.setPen(pen);
    painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
  }
  if (threshold_->mirrored && !log_y_) {
    const double mirror = std::floor(frame.yPixel(-threshold_->value)) + 0.5;
    QPen pen(color, 1.4);
    pen.setDashPattern({5, 3});
    painter.setPen(pen);
    if (mirror > plot.top() && mirror < plot.bottom())
      painter.drawLine(QPointF(plot.left(), mirror), QPointF(plot.right(), mirror));
  }
  QString text = threshold_->label.isEmpty() ? formatValue(threshold_->value)
                                             : threshold_->label + QLatin1Char(' ') + formatValue(threshold_->value);
  if (above) text += QStringLiteral(" ↑");
  if (below) text += QStringLiteral(" ↓");
  if (threshold_->draggable && !above && !below && plot.width() > 320) text += tr(" · drag to set");
  painter.setFont(theme().small_font);
  const double width = QFontMetricsF(theme().small_font).horizontalAdvance(text) + 12;
  // Below the line when it lies at the top, so that the chip stays inside the plot.
  const double top = y - 17 < plot.top() ? y + 1 : y - 17;
  const QRectF chip(plot.right() - width, std::clamp(top, plot.top(), plot.bottom() - 16), width, 16);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawRoundedRect(chip, 3, 3);
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(Theme::textOn(color));
  drawSmallText(painter, chip, Qt::AlignCenter, text);
}

void CurveChart::paintCrosshair(QPainter& painter, const CurveFrame& frame) const {
  const auto at = link_->crosshair();
  if (!at || !frame.has_samples) return;
  const QRectF& plot = frame.plot;
  const double x = std::floor(frame.xPixel(*at)) + 0.5;
  if (x < plot.left() || x > plot.right()) return;
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(QPen(theme().muted, 1));
  painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));

  std::vector<ValueBoxRow> rows;
  for (const ValueRow& row : valuesAt(*at)) {
    QString text = formatValue(row.value);
    if (row.count > 1 && row.min < row.max) {
      text += tr("  (%1 to %2)").arg(formatValue(row.min, 3), formatValue(row.max, 3));
    }
    if (!row.unit.isEmpty()) text += QLatin1Char(' ') + row.unit;
    rows.push_back({row.color, row.series, text});
  }
  drawValueBox(painter, plot, x, frame.size.width() - 4, xScale().format(xScale().toDisplay(*at)), rows);
}

void CurveChart::paintAll(QPainter& painter, const CurveFrame& frame) const {
  paintChrome(painter, frame, true);
  paintCurves(painter, frame, true);
  std::vector<QRectF> taken;
  paintMarks(painter, frame, taken);
  paintEvents(painter, frame, taken);
  paintThreshold(painter, frame);
}

}  // namespace foxhunt::ui
