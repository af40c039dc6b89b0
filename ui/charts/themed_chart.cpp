// Header, axes, value box and export of the Qt Charts plots.
#include "ui/charts/themed_chart.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QtCharts/QLegend>
#include <algorithm>
#include <cmath>

#include "ui/charts/chart_export.h"
#include "ui/charts/chart_parts.h"
#include "ui/theme.h"

namespace foxhunt::ui {

ThemedChart::ThemedChart(const QString& title, QWidget* parent)
    : QChartView(parent), title_(title), x_axis_(new QValueAxis(this)), y_axis_(new QValueAxis(this)) {
  setFrameShape(QFrame::NoFrame);
  setRenderHint(QPainter::Antialiasing);
  setMouseTracking(true);
  setAccessibleName(title);
  chart()->legend()->hide();
  chart()->setBackgroundVisible(false);
  chart()->setMargins({});
  chart()->layout()->setContentsMargins(0, 0, 0, 0);
  chart()->setAnimationOptions(QChart::NoAnimation);
  for (auto* axis : {x_axis_, y_axis_}) axis->setVisible(false);
  chart()->addAxis(x_axis_, Qt::AlignBottom);
  chart()->addAxis(y_axis_, Qt::AlignLeft);
  connect(&themeNotifier(), &ThemeNotifier::changed, this, [this] {
    applyColors();
    rebuild();
  });
  applyColors();
}

void ThemedChart::applyColors() {
  setBackgroundBrush(theme().panel);
}

void ThemedChart::setTitle(const QString& title) {
  title_ = title;
  setAccessibleName(title);
  viewport()->update();
}

void ThemedChart::setTitleVisible(bool visible) {
  title_visible_ = visible;
  rebuild();
}

void ThemedChart::setBadge(const QString& badge) {
  badge_ = badge;
  viewport()->update();
}

void ThemedChart::adopt(QAbstractSeries* series) {
  chart()->addSeries(series);
  series->attachAxis(x_axis_);
  series->attachAxis(y_axis_);
}

void ThemedChart::setAxes(double x_low, double x_high, std::vector<Tick> x_ticks, double y_low, double y_high,
                          std::vector<Tick> y_ticks) {
  x_axis_->setRange(x_low, x_high);
  y_axis_->setRange(y_low, y_high);
  x_ticks_ = std::move(x_ticks);
  y_ticks_ = std::move(y_ticks);
}

void ThemedChart::place() {
  double top = chart_top + (title_visible_ || !badge_.isEmpty() ? chart_row + 3 : 0);
  if (!legend_.empty()) top += chart_row + 6;
  plot_ = QRectF(gutters_.left, top + 4, std::max(1.0, width() - gutters_.left - gutters_.right),
                 std::max(1.0, height() - gutters_.bottom - 4 - top));
  chart()->setPlotArea(plot_);
  setAccessibleDescription(summary());
  viewport()->update();
}

double ThemedChart::xPixel(double x) const {
  return plot_.left() + (x - x_axis_->min()) / (x_axis_->max() - x_axis_->min()) * plot_.width();
}

double ThemedChart::yPixel(double y) const {
  return plot_.bottom() - (y - y_axis_->min()) / (y_axis_->max() - y_axis_->min()) * plot_.height();
}

void ThemedChart::drawBackground(QPainter* painter, const QRectF& rect) {
  painter->fillRect(rect, theme().panel);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing, false);
  painter->setPen(QPen(theme().grid, 1));
  for (const Tick& tick : y_ticks_) {
    const double y = std::floor(yPixel(tick.value)) + 0.5;
    painter->drawLine(QPointF(plot_.left(), y), QPointF(plot_.right(), y));
  }
  for (const Tick& tick : x_ticks_) {
    const double x = std::floor(xPixel(tick.value)) + 0.5;
    painter->drawLine(QPointF(x, plot_.top()), QPointF(x, plot_.bottom()));
  }
  painter->restore();
}

void ThemedChart::paintLegend(QPainter& painter, double top) {
  const QFontMetricsF metrics(theme().small_font);
  double x = chart_side;
  for (std::size_t i = 0; i < legend_.size(); ++i) {
    const double width = metrics.horizontalAdvance(legend_[i].name) + 2;
    if (x + 20 + width > this->width() - chart_side) {
      painter.setPen(theme().muted);
      painter.drawText(QRectF(x, top, 40, chart_row), Qt::AlignLeft | Qt::AlignVCenter,
                       QStringLiteral("+%1").arg(legend_.size() - i));
      return;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    drawSeriesShape(painter, {x + 7, std::round(top + chart_row / 2)}, 4, static_cast<int>(i), legend_[i].color);
    painter.setPen(theme().text);
    painter.drawText(QRectF(x + 18, top, width, chart_row), Qt::AlignLeft | Qt::AlignVCenter, legend_[i].name);
    x += 18 + width + 14;
  }
}

void ThemedChart::drawForeground(QPainter* painter, const QRectF&) {
  painter->save();
  const QFontMetricsF metrics(theme().small_font), title_metrics(theme().title_font);
  double top = chart_top;
  const double badge_width = badge_.isEmpty() ? 0 : metrics.horizontalAdvance(badge_) + 2;
  const bool badge_fits =
      badge_width + (title_visible_ ? title_metrics.horizontalAdvance(title_) : 0) + 3 * chart_side < width();
  const double title_room = width() - 2 * chart_side - (badge_fits && badge_width > 0 ? badge_width + chart_side : 0);
  if (title_visible_) {
    painter->setFont(theme().title_font);
    painter->setPen(theme().text);
    painter->drawText(QRectF(chart_side, top, title_room, chart_row), Qt::AlignLeft | Qt::AlignVCenter,
                      title_metrics.elidedText(title_, Qt::ElideRight, title_room));
  }
  painter->setFont(theme().small_font);
  if (badge_fits) {
    painter->setPen(theme().muted);
    painter->drawText(QRectF(width() - chart_side - badge_width, top, badge_width, chart_row),
                      Qt::AlignRight | Qt::AlignVCenter, badge_);
  }
  if (title_visible_ || !badge_.isEmpty()) top += chart_row + 3;
  paintLegend(*painter, top);
  painter->setRenderHint(QPainter::Antialiasing, false);
  painter->setPen(theme().muted);
  for (const Tick& tick : y_ticks_) {
    painter->drawText(QRectF(0, yPixel(tick.value) - 8, plot_.left() - 6, 16), Qt::AlignRight | Qt::AlignVCenter,
                      tick.label);
  }
  double last_right = -1e9;
  for (const Tick& tick : x_ticks_) {
    const double width = metrics.horizontalAdvance(tick.label) + 2;
    const double left = std::min(xPixel(tick.value) - width / 2, this->width() - width - 2);
    if (left < last_right + 6) continue;
    painter->drawText(QRectF(left, plot_.bottom() + 3, width, 15), Qt::AlignCenter, tick.label);
    last_right = left + width;
  }
  if (!x_ticks_.empty() || !y_ticks_.empty()) {
    painter->setPen(QPen(theme().axis, 1));
    painter->drawLine(QPointF(plot_.left(), plot_.bottom() + 0.5), QPointF(plot_.right(), plot_.bottom() + 0.5));
  }
  paintLabels(*painter);
  if (!empty_.isEmpty()) {
    painter->setPen(theme().muted);
    painter->drawText(plot_, Qt::AlignCenter, empty_);
  } else if (hover_) {
    const auto [head, rows] = valuesAt(*hover_);
    const double x = std::floor(xPixel(*hover_)) + 0.5;
    if (!rows.empty()) {
      painter->setPen(QPen(theme().muted, 1));
      if (verticalCrosshair()) painter->drawLine(QPointF(x, plot_.top()), QPointF(x, plot_.bottom()));
      drawValueBox(*painter, plot_, x, width() - 4, head, rows);
    }
  }
  painter->restore();
}

void ThemedChart::resizeEvent(QResizeEvent* event) {
  QChartView::resizeEvent(event);
  rebuild();
}

void ThemedChart::mouseMoveEvent(QMouseEvent* event) {
  QChartView::mouseMoveEvent(event);
  const QPointF at = event->position();
  const auto before = hover_;
  hover_.reset();
  if (plot_.contains(at)) {
    hover_ = x_axis_->min() + (at.x() - plot_.left()) / plot_.width() * (x_axis_->max() - x_axis_->min());
  }
  if (hover_ != before) viewport()->update();
}

void ThemedChart::leaveEvent(QEvent* event) {
  hover_.reset();
  viewport()->update();
  QChartView::leaveEvent(event);
}

void ThemedChart::exportTo(const QString& path) {
  if (wantsCsv(path)) return exportText(path, [this](const TextPart& add) { add(csv()); });
  const QRectF target(QPointF(0, 0), QSizeF(size()));
  exportPicture(path, {target.size(), title_, summary(), [&](QPainter& painter) {
                         painter.fillRect(target, theme().panel);
                         painter.setRenderHint(QPainter::Antialiasing);
                         render(&painter, target);
                       }});
}

void ThemedChart::contextMenuEvent(QContextMenuEvent* event) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  addExportFormats(menu, tr("Export %1"), [this](const QString& suffix) {
    chooseExport(this, title_, suffix, [this](const QString& path) { exportTo(path); });
  });
  menu->popup(event->globalPos());
}

}  // namespace foxhunt::ui
