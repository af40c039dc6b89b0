// Painting of a lane chart: candles, markers, lanes, strip, axes, crosshair.
#include <QFontMetricsF>
#include <QPaintEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/charts/chart_parts.h"
#include "ui/charts/lane_chart.h"
#include "ui/theme.h"

namespace foxhunt::ui {
namespace {

constexpr double marker_room = 7;  // pixels of the plot that a marker needs to be drawn as a shape
constexpr int rising = 6, falling = 7, buys = 2, sells = 0;  // of Theme::series

double half(double value) {
  return std::floor(value) + 0.5;
}

void drawTriangle(QPainter& painter, const QPointF& at, bool up, const QColor& color) {
  const double s = up ? 1 : -1;
  QPainterPath path;
  path.addPolygon(QPolygonF({at, at + QPointF(4.2, s * 7), at + QPointF(-4.2, s * 7), at}));
  painter.setPen(QPen(theme().panel, 1));
  painter.setBrush(color);
  painter.drawPath(path);
}

}  // namespace

std::pair<std::size_t, std::size_t> LaneChart::columnBars(int column) const {
  const double each = (x1_ - x0_) / layout_.plot.width();
  const double from = x0_ + column * each, to = x0_ + (column + 1) * each;
  const auto bars = static_cast<double>(content_->bars());
  const double begin = std::clamp(std::floor(from + 1e-9), 0.0, bars);
  const double end = std::clamp(std::ceil(to - 1e-9), begin, bars);
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
}

void LaneChart::paintAll(QPainter& painter, const QSizeF& size) const {
  painter.fillRect(QRectF(QPointF(0, 0), size), theme().panel);
  paintHeader(painter, size);
  if (!content_ || content_->bars() == 0) {
    painter.setPen(theme().muted);
    painter.setFont(theme().font);
    painter.drawText(QRectF(QPointF(16, layout_.plot.top()), QPointF(size.width() - 16, size.height() - 12)),
                     Qt::AlignCenter | Qt::TextWordWrap, empty_);
    return;
  }
  paintScale(painter, layout_.price, layout_.price_scale);
  for (std::size_t i = 0; i < layout_.lanes.size(); ++i) {
    if (!layout_.lanes[i].isNull()) paintScale(painter, layout_.lanes[i], layout_.scales[i]);
  }
  paintTimes(painter, size.width());
  painter.save();
  painter.setClipRect(layout_.plot.adjusted(0, -1, 0, 1));
  paintHighlight(painter);
  paintCandles(painter);
  for (std::size_t i = 0; i < layout_.lanes.size(); ++i) {
    if (layout_.lanes[i].isNull()) continue;
    if (content_->data().lanes[i].kind == Lane::Kind::line) {
      paintLine(painter, i);
    } else {
      paintBars(painter, i);
    }
  }
  paintStrip(painter);
  paintMarkers(painter);
  painter.restore();
  paintNames(painter);
}

void LaneChart::paintHeader(QPainter& painter, const QSizeF& size) const {
  const QFontMetricsF title_metrics(theme().title_font), metrics(theme().small_font);
  const double room = size.width() - 2 * chart_side;
  const double title_width = std::min(title_metrics.horizontalAdvance(title_) + 2, room);
  painter.setFont(theme().title_font);
  painter.setPen(theme().text);
  painter.drawText(QRectF(chart_side, chart_top, title_width, chart_row), Qt::AlignLeft | Qt::AlignVCenter,
                   title_metrics.elidedText(title_, Qt::ElideRight, title_width));
  const double left = room - title_width - 12;
  const QString text = badge();
  // A badge that does not fit is left out: it is in the summary too.
  if (text.isEmpty() || metrics.horizontalAdvance(text) > left) return;
  painter.setPen(theme().muted);
  drawSmallText(painter, QRectF(size.width() - chart_side - left, chart_top, left, chart_row),
                Qt::AlignRight | Qt::AlignVCenter, text);
}

void LaneChart::paintScale(QPainter& painter, const QRectF& lane, const Scale& scale) const {
  painter.fillRect(QRectF(lane.left(), std::floor(lane.bottom()), lane.width(), 1), theme().axis);
  for (const Tick& tick : scale.ticks) {
    const double y = half(yPixel(lane, scale, tick.value));
    painter.fillRect(QRectF(lane.left(), y - 0.5, lane.width(), 1), tick.value == 0 ? theme().axis : theme().grid);
    if (y < lane.top() + 5 && lane.top() > layout_.plot.top()) continue;  // it would touch the lane above
    painter.setPen(theme().muted);
    drawSmallText(painter, QRectF(0, y - 8, lane.left() - 6, 16), Qt::AlignRight | Qt::AlignVCenter, tick.label);
  }
}

// Ticks stand at the first bar that is not before their time.
void LaneChart::paintTimes(QPainter& painter, double width) const {
  const LaneData& bars = content_->data();
  const QRectF& plot = layout_.plot;
  const std::size_t first = std::min(firstBar(), content_->bars() - 1);
  const std::size_t last = std::max(first, endBar() > 0 ? endBar() - 1 : 0);
  double before = -1e9;
  for (const Tick& tick :
       dateTicks(bars.times[first], bars.times[last], std::max(2, static_cast<int>(plot.width() / 84)))) {
    const double x = half(pixelOf(static_cast<double>(content_->barAt(tick.value)) + 0.5));
    const double label = smallWidth(tick.label) + 2;
    const double left = std::min(x - label / 2, width - label - 2);
    if (left < before + 8 || x < plot.left()) continue;
    painter.fillRect(QRectF(x - 0.5, plot.top(), 1, plot.height()), theme().grid);
    painter.setPen(theme().muted);
    drawSmallText(painter, QRectF(left, plot.bottom() + 3, label, 15), Qt::AlignCenter, tick.label);
    before = left + label;
  }
  painter.setPen(QPen(theme().axis, 1, Qt::DotLine));
  for (const std::size_t bar : bars.breaks) {
    const double x = half(pixelOf(static_cast<double>(bar)));
    if (x > plot.left() + 1 && x < plot.right()) painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
  }
}

void LaneChart::paintName(QPainter& painter, const QRectF& lane, const QString& name,
                          const std::vector<ValueBoxRow>& keys) const {
  double width = smallWidth(name) + 8;
  for (const ValueBoxRow& key : keys) width += smallWidth(key.name) + 22;
  const bool all = width < 0.6 * lane.width();  // else they would hide too much of the lane
  const QRectF box(lane.left() + 3, lane.top() + 1, all ? width : smallWidth(name) + 8, 15);
  QColor behind = theme().panel;
  behind.setAlpha(215);  // what is behind is still seen, the name is read
  painter.fillRect(box, behind);
  painter.setPen(theme().muted);
  drawSmallText(painter, box.adjusted(3, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, name);
  if (!all) return;
  double x = box.left() + smallWidth(name) + 13;
  for (const ValueBoxRow& key : keys) {
    if (key.text.isEmpty()) {
      painter.fillRect(QRectF(x, box.top() + 4, 8, 8), key.color);
    } else {
      painter.setRenderHint(QPainter::Antialiasing);
      drawTriangle(painter, {x + 4, key.text == QLatin1String("up") ? box.top() + 4 : box.top() + 11},
                   key.text == QLatin1String("up"), key.color);
      painter.setRenderHint(QPainter::Antialiasing, false);
    }
    painter.setPen(theme().muted);
    drawSmallText(painter, QRectF(x + 12, box.top(), smallWidth(key.name) + 2, 15), Qt::AlignLeft | Qt::AlignVCenter,
                  key.name);
    x += smallWidth(key.name) + 22;
  }
}

void LaneChart::paintNames(QPainter& painter) const {
  const LaneData& bars = content_->data();
  std::vector<ValueBoxRow> keys;
  if (!bars.markers.empty()) {
    keys.push_back({theme().seriesColor(buys), tr("buys"), QStringLiteral("up")});
    keys.push_back({theme().seriesColor(sells), tr("sells"), QStringLiteral("down")});
  }
  paintName(painter, layout_.price, tr("Price"), keys);
  keys.clear();
  for (qsizetype k = 0; k < bars.strip_names.size() && !layout_.strip.isNull(); ++k)
    keys.push_back({theme().seriesColor(bars.strip_colors[static_cast<std::size_t>(k)]), bars.strip_names[k], {}});
  for (std::size_t i = 0; i < layout_.lanes.size(); ++i) {
    if (layout_.lanes[i].isNull()) continue;
    const Lane& lane = bars.lanes[i];
    const QString name = lane.unit.isEmpty() ? lane.name : QStringLiteral("%1 · %2").arg(lane.name, lane.unit);
    paintName(painter, layout_.lanes[i], name, std::exchange(keys, {}));
  }
}

void LaneChart::paintHighlight(QPainter& painter) const {
  if (!highlight_) return;
  const double x0 = pixelOf(static_cast<double>(highlight_->begin));
  const double x1 = std::max(x0 + 1, pixelOf(static_cast<double>(highlight_->end + 1)));
  QColor band = theme().accent;
  band.setAlpha(theme().dark ? 46 : 34);
  painter.fillRect(QRectF(QPointF(x0, layout_.plot.top()), QPointF(x1, layout_.plot.bottom())), band);
  const QColor line = highlight_->gain ? theme().ok : theme().bad;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(line, 1.6, Qt::DashLine));
  painter.drawLine(QPointF(pixelOf(static_cast<double>(highlight_->begin) + 0.5), pricePixel(highlight_->from)),
                   QPointF(pixelOf(static_cast<double>(highlight_->end) + 0.5), pricePixel(highlight_->to)));
  painter.setRenderHint(QPainter::Antialiasing, false);
}

// Rising candles are hollow, falling ones filled, so that they differ without colour.
void LaneChart::paintCandles(QPainter& painter) const {
  const LaneData& bars = content_->data();
  const std::size_t each = candleBars(), end = endBar();
  const double width = barWidth() * static_cast<double>(each);
  const double body = std::max(1.0, std::floor(std::min(width * 0.7, width - 1)));
  for (std::size_t begin = firstBar() / each * each; begin < end; begin += each) {
    const std::size_t after = std::min(begin + each, content_->bars());
    const auto found = content_->prices(begin, after);
    if (!found.any()) continue;
    const bool up = bars.close[after - 1] >= bars.open[begin];
    const QColor& color = theme().seriesColor(up ? rising : falling);
    const double centre = half(pixelOf(static_cast<double>(begin) + static_cast<double>(each) / 2));
    const double top = std::floor(pricePixel(found.max)), bottom = std::floor(pricePixel(found.min));
    painter.fillRect(QRectF(centre - 0.5, top, 1, std::max(1.0, bottom - top + 1)), color);
    if (body < 3 || !std::isfinite(bars.open[begin]) || !std::isfinite(bars.close[after - 1])) continue;
    const double from = std::floor(pricePixel(bars.open[begin])), to = std::floor(pricePixel(bars.close[after - 1]));
    const QRectF box(std::floor(centre - body / 2), std::min(from, to), body, std::max(1.0, std::abs(to - from) + 1));
    painter.fillRect(box, color);
    if (up && box.height() > 2) painter.fillRect(box.adjusted(1, 1, -1, -1), theme().panel);
  }
}

// Shapes where there is room for them; else a tick a pixel column, buys at the foot and sells at the head of the lane.
void LaneChart::paintMarkers(QPainter& painter) const {
  const auto shown = content_->markers(firstBar(), endBar());
  if (shown.empty()) return;
  const QColor &buy = theme().seriesColor(buys), &sell = theme().seriesColor(sells);
  const QRectF& lane = layout_.price;
  if (static_cast<double>(shown.size()) * marker_room <= lane.width()) {
    painter.setRenderHint(QPainter::Antialiasing);
    for (const LaneMarker& marker : shown) {
      const QPointF at(pixelOf(static_cast<double>(marker.bar) + 0.5), pricePixel(marker.price));
      drawTriangle(painter, at, marker.buy, marker.buy ? buy : sell);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    return;
  }
  double last_buy = -1, last_sell = -1;
  for (const LaneMarker& marker : shown) {
    const double x = std::floor(pixelOf(static_cast<double>(marker.bar) + 0.5));
    double& last = marker.buy ? last_buy : last_sell;
    if (x == last) continue;
    last = x;
    painter.fillRect(QRectF(x, marker.buy ? lane.bottom() - 6 : lane.top(), 1, 6), marker.buy ? buy : sell);
  }
}

void LaneChart::paintStrip(QPainter& painter) const {
  const QRectF& strip = layout_.strip;
  if (strip.isNull()) return;
  const LaneData& bars = content_->data();
  const auto fill = [&](double x, double width, const std::vector<std::uint32_t>& counts) {
    double all = 0;
    for (const std::uint32_t count : counts) all += count;
    double y = strip.top();
    for (std::size_t k = 0; k < counts.size() && all > 0; ++k) {
      const double height = strip.height() * counts[k] / all;
      if (height > 0) painter.fillRect(QRectF(x, y, width, height), theme().seriesColor(bars.strip_colors[k]));
      y += height;
    }
  };
  if (barWidth() >= 1) {
    for (std::size_t bar = firstBar(); bar < endBar(); ++bar) {
      const double x = std::floor(pixelOf(static_cast<double>(bar)));
      fill(x, std::floor(pixelOf(static_cast<double>(bar + 1))) - x, content_->classes(bar, bar + 1));
    }
    return;
  }
  for (int column = 0; column < static_cast<int>(strip.width()); ++column) {
    const auto [begin, end] = columnBars(column);
    fill(strip.left() + column, 1, content_->classes(begin, end));
  }
}

void LaneChart::paintBars(QPainter& painter, std::size_t lane) const {
  const QRectF& box = layout_.lanes[lane];
  const Scale& scale = layout_.scales[lane];
  const Lane& what = content_->data().lanes[lane];
  const double zero = std::round(yPixel(box, scale, 0));
  QColor above = theme().seriesColor(what.color), below = theme().seriesColor(what.negative);
  const bool filled = what.kind == Lane::Kind::area;
  if (filled) {
    above.setAlpha(190);
    below.setAlpha(190);
  }
  const auto fill = [&](double x, double width, const BlockExtremes::Found& found) {
    if (!found.any()) return;
    if (found.max > 0) {
      const double y = std::floor(yPixel(box, scale, found.max));
      painter.fillRect(QRectF(x, y, width, std::max(1.0, zero - y)), above);
    }
    if (found.min < 0) {
      const double y = std::ceil(yPixel(box, scale, found.min));
      painter.fillRect(QRectF(x, zero, width, std::max(1.0, y - zero)), below);
    }
  };
  if (barWidth() >= 1) {
    const double gap = filled || barWidth() < 3 ? 0 : 1;
    for (std::size_t bar = firstBar(); bar < endBar(); ++bar) {
      const double x = std::floor(pixelOf(static_cast<double>(bar)));
      const double next = std::floor(pixelOf(static_cast<double>(bar + 1)));
      fill(x, std::max(1.0, next - x - gap), content_->values(lane, bar, bar + 1));
    }
    return;
  }
  for (int column = 0; column < static_cast<int>(box.width()); ++column) {
    const auto [begin, end] = columnBars(column);
    fill(box.left() + column, 1, content_->values(lane, begin, end));
  }
}

void LaneChart::paintLine(QPainter& painter, std::size_t lane) const {
  const QRectF& box = layout_.lanes[lane];
  const Scale& scale = layout_.scales[lane];
  const Lane& what = content_->data().lanes[lane];
  const QColor& color = theme().seriesColor(what.color);
  if (barWidth() >= 1) {
    QPainterPath path;
    bool joined = false;
    const std::size_t first = firstBar() > 0 ? firstBar() - 1 : 0;
    const std::size_t end = std::min(endBar() + 1, content_->bars());
    for (std::size_t bar = first; bar < end; ++bar) {
      const double value = what.values[bar];
      if (!std::isfinite(value)) {
        joined = false;
        continue;
      }
      const QPointF at(pixelOf(static_cast<double>(bar) + 0.5), yPixel(box, scale, value));
      if (!joined) path.moveTo(at - QPointF(0.01, 0));  // so that a lone value leaves a dot
      path.lineTo(at);
      joined = true;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.strokePath(path, QPen(color, 1.3, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setRenderHint(QPainter::Antialiasing, false);
    return;
  }
  for (int column = 0; column < static_cast<int>(box.width()); ++column) {
    const auto [begin, end] = columnBars(column);
    const auto found = content_->values(lane, begin > 0 ? begin - 1 : 0, end);  // joined with the column before
    if (!found.any()) continue;
    const double top = std::floor(yPixel(box, scale, found.max)), bottom = std::floor(yPixel(box, scale, found.min));
    painter.fillRect(QRectF(box.left() + column, top, 1, bottom - top + 1), color);
  }
}

void LaneChart::paintCrosshair(QPainter& painter) const {
  if (!content_) return;
  if (pointer_ && layout_.price.contains(*pointer_) && drag_ != Drag::range) {
    painter.setPen(QPen(theme().faint, 1, Qt::DotLine));
    painter.drawLine(QPointF(layout_.plot.left(), half(pointer_->y())),
                     QPointF(layout_.plot.right(), half(pointer_->y())));
    const double price = priceAt(pointer_->y());
    const double grain = layout_.price_scale.ticks.size() > 1
                             ? (layout_.price_scale.ticks[1].value - layout_.price_scale.ticks[0].value) / 10
                             : 1;
    const int decimals = grain >= 1 ? 0 : std::min(6, static_cast<int>(std::ceil(-std::log10(grain))));
    const QString text = QLocale().toString(price, 'f', decimals);
    const QRectF box(1, pointer_->y() - 8, layout_.plot.left() - 3, 16);
    painter.fillRect(box, theme().header);
    painter.setPen(theme().text);
    drawSmallText(painter, box.adjusted(0, 0, -3, 0), Qt::AlignRight | Qt::AlignVCenter, text);
  }
  if (drag_ == Drag::range) {
    QColor band = theme().accent;
    band.setAlpha(60);
    const double from = std::min(drag_from_.x(), drag_at_.x()), to = std::max(drag_from_.x(), drag_at_.x());
    painter.fillRect(QRectF(QPointF(from, layout_.plot.top()), QPointF(to, layout_.plot.bottom())), band);
    return;
  }
  if (!crosshair_) return;
  const double x = half(pixelOf(static_cast<double>(*crosshair_) + 0.5));
  if (x < layout_.plot.left() || x > layout_.plot.right()) return;
  painter.setPen(QPen(theme().muted, 1));
  painter.drawLine(QPointF(x, layout_.plot.top()), QPointF(x, layout_.plot.bottom()));
  const auto [head, rows] = valuesAt(*crosshair_);
  drawValueBox(painter, layout_.plot, x, width() - 4, head, rows);
}

void LaneChart::paintEvent(QPaintEvent*) {
  const double ratio = devicePixelRatioF();
  const QSize pixels = (QSizeF(size()) * ratio).toSize();
  if (stale_ || image_.size() != pixels || image_.devicePixelRatio() != ratio) {
    layout_ = layoutFor(QSizeF(size()));
    image_ = QImage(pixels, QImage::Format_RGB32);
    image_.setDevicePixelRatio(ratio);
    QPainter painter(&image_);
    painter.setFont(theme().font);
    paintAll(painter, QSizeF(size()));
    stale_ = false;
  }
  QPainter painter(this);
  painter.drawImage(QPointF(0, 0), image_);
  paintCrosshair(painter);
  if (hasFocus()) {
    painter.setPen(QPen(theme().accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(0.5, 0.5, width() - 1, height() - 1));
  }
}

}  // namespace foxhunt::ui
