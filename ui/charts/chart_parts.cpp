// Series shapes and the box of values at a crosshair.
#include "ui/charts/chart_parts.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QHash>
#include <QPaintEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QStaticText>
#include <algorithm>
#include <cmath>

#include "ui/theme.h"

namespace foxhunt::ui {
namespace {

constexpr qsizetype most_texts = 4000;  // labels of live axes come and go

struct Text {
  QStaticText laid_out;
  double width = 0;
};

const Text& smallText(const QString& text) {
  static QHash<QString, Text> kept;
  static QFont font;
  if (font != theme().small_font || kept.size() > most_texts) {
    kept.clear();
    font = theme().small_font;
  }
  const auto found = kept.find(text);
  if (found != kept.end()) return *found;
  Text fresh;
  fresh.laid_out.setTextFormat(Qt::PlainText);
  fresh.laid_out.setText(text);
  fresh.laid_out.prepare(QTransform(), font);
  fresh.width = QFontMetricsF(font).horizontalAdvance(text);
  return *kept.insert(text, fresh);
}

}  // namespace

double smallWidth(const QString& text) {
  return smallText(text).width;
}

void drawSmallText(QPainter& painter, const QRectF& box, Qt::Alignment alignment, const QString& text) {
  if (text.isEmpty()) return;
  const Text& kept = smallText(text);
  double x = box.left();
  if (alignment & Qt::AlignRight) x = box.right() - kept.width;
  if (alignment & Qt::AlignHCenter) x = box.center().x() - kept.width / 2;
  const double height = kept.laid_out.size().height();
  painter.setFont(theme().small_font);
  painter.drawStaticText(QPointF(std::round(x), std::round(box.center().y() - height / 2)), kept.laid_out);
}

namespace {

void drawShape(QPainter& painter, const QPointF& at, double radius, int index, const QColor& color) {
  painter.setPen(QPen(color, 1.4));
  painter.setBrush(index / 4 % 2 == 0 ? QBrush(color) : QBrush(theme().panel));
  const double r = radius;
  switch (index % 4) {
    case 0:
      painter.drawEllipse(at, r, r);
      break;
    case 1:
      painter.drawRect(QRectF(at.x() - r * 0.9, at.y() - r * 0.9, 1.8 * r, 1.8 * r));
      break;
    case 2:
      painter.drawPolygon(
          QPolygonF({at + QPointF(0, -r * 1.15), at + QPointF(r * 1.1, r * 0.85), at + QPointF(-r * 1.1, r * 0.85)}));
      break;
    default:
      painter.drawPolygon(QPolygonF({at + QPointF(0, -r * 1.25), at + QPointF(r * 1.25, 0), at + QPointF(0, r * 1.25),
                                     at + QPointF(-r * 1.25, 0)}));
  }
}

}  // namespace

// Antialiased polygons cost more than the curve they name: each is drawn once and kept, on whole device pixels.
void drawSeriesShape(QPainter& painter, const QPointF& at, double radius, int index, const QColor& color) {
  const auto* type = painter.paintEngine();
  if (type == nullptr || type->type() != QPaintEngine::Raster) return drawShape(painter, at, radius, index, color);
  const double ratio = painter.device()->devicePixelRatioF();
  const QString key = QStringLiteral("foxhunt-shape-%1-%2-%3-%4-%5")
                          .arg(index % 8)
                          .arg(color.rgba(), 0, 16)
                          .arg(theme().panel.rgb(), 0, 16)
                          .arg(radius)
                          .arg(ratio);
  const double side = std::ceil(2 * (1.25 * radius + 2));
  QPixmap kept;
  if (!QPixmapCache::find(key, &kept)) {
    kept = QPixmap((QSizeF(side, side) * ratio).toSize());
    kept.setDevicePixelRatio(ratio);
    kept.fill(Qt::transparent);
    QPainter fresh(&kept);
    fresh.setRenderHint(QPainter::Antialiasing);
    drawShape(fresh, {side / 2, side / 2}, radius, index, color);
    fresh.end();
    QPixmapCache::insert(key, kept);
  }
  const auto whole = [ratio](double value) { return std::round(value * ratio) / ratio; };
  painter.drawPixmap(QPointF(whole(at.x() - side / 2), whole(at.y() - side / 2)), kept);
}

void drawValueBox(QPainter& painter, const QRectF& plot, double x, double right_limit, const QString& head,
                  const std::vector<ValueBoxRow>& rows) {
  const QFontMetricsF metrics(theme().small_font);
  double names = 0, values = 0;
  for (const ValueBoxRow& row : rows) {
    names = std::max(names, smallWidth(row.name));
    values = std::max(values, smallWidth(row.text));
  }
  names = std::min(std::ceil(names), 160.0) + 2;
  values = std::ceil(values) + 2;
  constexpr double line = 16, pad = 8;
  const auto room = static_cast<std::size_t>(std::max(0.0, std::floor((plot.height() - 30) / line)));
  const std::size_t shown = rows.size() <= room ? rows.size() : room > 0 ? room - 1 : 0;
  const bool more = shown < rows.size();
  const double width = std::max(names + values + 14 + 12 + 2 * pad, smallWidth(head) + 2 * pad);
  const double height = 23 + line * static_cast<double>(shown + (more ? 1 : 0));
  const double left = x + 10 + width < right_limit ? x + 10 : std::max(2.0, x - 10 - width);
  const QRectF box(std::floor(left) + 0.5, std::floor(plot.top() + 4) + 0.5, std::ceil(width), height);
  QColor fill = theme().header;
  fill.setAlpha(240);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme().border, 1));
  painter.setBrush(fill);
  painter.drawRoundedRect(box, 4, 4);
  painter.setFont(theme().small_font);
  painter.setPen(theme().muted);
  drawSmallText(painter, QRectF(box.left() + pad, box.top() + 3, width - 2 * pad + 1, line),
                Qt::AlignLeft | Qt::AlignVCenter, head);
  for (std::size_t i = 0; i < shown; ++i) {
    const double y = box.top() + 19 + line * static_cast<double>(i);
    painter.fillRect(QRectF(box.left() + pad, y + 6, 8, 4), rows[i].color);
    painter.setPen(theme().muted);
    drawSmallText(painter, QRectF(box.left() + pad + 14, y, names, line), Qt::AlignLeft | Qt::AlignVCenter,
                  metrics.elidedText(rows[i].name, Qt::ElideMiddle, names));
    painter.setPen(theme().text);
    drawSmallText(painter, QRectF(box.right() - pad - values, y, values, line), Qt::AlignRight | Qt::AlignVCenter,
                  rows[i].text);
  }
  if (more) {
    painter.setPen(theme().muted);
    drawSmallText(painter, QRectF(box.left() + pad, box.top() + 19 + line * static_cast<double>(shown), width, line),
                  Qt::AlignLeft | Qt::AlignVCenter,
                  QCoreApplication::translate("foxhunt::ui", "and %1 more").arg(rows.size() - shown));
  }
  painter.restore();
}

}  // namespace foxhunt::ui
