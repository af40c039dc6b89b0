// Bars through Qt Charts' stacked series, one set a colour.
#include "ui/charts/bars_chart.h"

#include <QFontMetricsF>
#include <QtCharts/QBarSet>
#include <QtCharts/QHorizontalStackedBarSeries>
#include <QtCharts/QStackedBarSeries>
#include <algorithm>
#include <cmath>
#include <map>

#include "ui/charts/format.h"
#include "ui/theme.h"

namespace foxhunt::ui {

BarsChart::BarsChart(const QString& title, Qt::Orientation orientation, QWidget* parent)
    : ThemedChart(title, parent), orientation_(orientation) {
  setEmptyText(tr("no values yet"));
}

void BarsChart::setBars(std::vector<Bar> bars, double full) {
  bars_ = std::move(bars);
  full_ = full;
  setEmptyText(bars_.empty() ? tr("no values yet") : QString());
  rebuild();
}

QString BarsChart::textOf(const Bar& bar) const {
  return bar.text.isEmpty() ? formatValue(bar.value, 3) : bar.text;
}

QColor BarsChart::colorOf(const Bar& bar) const {
  return bar.color_index < 0 ? theme().accent : theme().seriesColor(bar.color_index);
}

// Bars lie at -0.5 .. n - 0.5 of the category axis; the first at the top where they lie.
void BarsChart::fillSeries() {
  chart()->removeAllSeries();
  if (bars_.empty()) return;
  std::map<int, QBarSet*> sets;
  const std::size_t count = bars_.size();
  for (std::size_t i = 0; i < count; ++i) {
    QBarSet*& set = sets[bars_[i].color_index];
    if (set == nullptr) {
      set = new QBarSet(QString());
      for (std::size_t k = 0; k < count; ++k) set->append(0);
      set->setColor(colorOf(bars_[i]));
      set->setBorderColor(Qt::transparent);
      set->setPen(Qt::NoPen);
    }
    const std::size_t position = orientation_ == Qt::Horizontal ? count - 1 - i : i;
    set->replace(static_cast<int>(position), std::isfinite(bars_[i].value) ? bars_[i].value : 0);
  }
  QAbstractBarSeries* series = orientation_ == Qt::Horizontal
                                   ? static_cast<QAbstractBarSeries*>(new QHorizontalStackedBarSeries)
                                   : static_cast<QAbstractBarSeries*>(new QStackedBarSeries);
  series->setBarWidth(0.62);
  for (const auto& [index, set] : sets) series->append(set);
  adopt(series);
}

void BarsChart::rebuild() {
  double low = 0, high = full_;
  for (const Bar& bar : bars_) {
    if (!std::isfinite(bar.value)) continue;
    low = std::min(low, bar.value);
    high = std::max(high, bar.value);
  }
  if (!(high > low)) high = low + 1;
  const QFontMetricsF metrics(theme().small_font);
  double label = 0, text = 0;
  for (const Bar& bar : bars_) {
    label = std::max(label, metrics.horizontalAdvance(bar.label));
    text = std::max(text, metrics.horizontalAdvance(textOf(bar)));
  }
  const double last = static_cast<double>(std::max<std::size_t>(1, bars_.size())) - 0.5;
  if (orientation_ == Qt::Horizontal) {
    const double left = std::min(std::ceil(label) + 20, width() * 0.45) + (low < 0 ? text + 6 : 0);
    setGutters({left, std::ceil(text) + 18, 8});
    setAxes(low, high, {}, -0.5, last, {});
  } else {
    const int most = std::max(2, height() / 40);
    const AxisTicks axis = linearAxis(low, high * 1.05, most);
    setGutters({52, 14, 20});
    setAxes(-0.5, last, {}, axis.low, axis.high, axis.ticks);
  }
  fillSeries();
  place();
}

void BarsChart::paintLabels(QPainter& painter) {
  const QFontMetricsF metrics(theme().small_font);
  painter.setFont(theme().small_font);
  const QRectF plot = plotRect();
  const auto count = static_cast<double>(bars_.size());
  for (std::size_t i = 0; i < bars_.size(); ++i) {
    const Bar& bar = bars_[i];
    const double value = std::isfinite(bar.value) ? bar.value : 0;
    const QString text = textOf(bar);
    if (orientation_ == Qt::Horizontal) {
      if (plot.height() / count < 11) return;  // no room for text; the value box has it
      const double y = yPixel(count - 1 - static_cast<double>(i));
      const double room = std::min(width() * 0.45, std::ceil(metrics.horizontalAdvance(bar.label)) + 2);
      painter.setPen(theme().text);
      painter.drawText(QRectF(10, y - 8, room, 16), Qt::AlignLeft | Qt::AlignVCenter,
                       metrics.elidedText(bar.label, Qt::ElideMiddle, room));
      painter.setPen(theme().muted);
      const double end = xPixel(value);
      const double wide = metrics.horizontalAdvance(text) + 4;
      painter.drawText(QRectF(value < 0 ? end - 6 - wide : end + 6, y - 8, wide, 16), Qt::AlignLeft | Qt::AlignVCenter,
                       text);
    } else {
      const double x = xPixel(static_cast<double>(i)), room = plot.width() / count;
      painter.setPen(theme().muted);
      if (room >= 24) {
        const QString label = metrics.elidedText(bar.label, Qt::ElideMiddle, room - 4);
        painter.drawText(QRectF(x - room / 2, plot.bottom() + 3, room, 15), Qt::AlignCenter, label);
      }
      if (metrics.horizontalAdvance(text) + 4 > room) continue;
      painter.setPen(theme().text);
      const double y = yPixel(value);
      painter.drawText(QRectF(x - room / 2, value < 0 ? y + 2 : y - 17, room, 15), Qt::AlignCenter, text);
    }
  }
}

std::pair<QString, std::vector<ValueBoxRow>> BarsChart::valuesAt(double x) const {
  std::vector<ValueBoxRow> rows;
  if (orientation_ == Qt::Horizontal) return {QString(), rows};
  const auto i = static_cast<std::size_t>(std::clamp(std::round(x), 0.0, static_cast<double>(bars_.size()) - 1));
  if (i < bars_.size()) rows.push_back({colorOf(bars_[i]), bars_[i].label, textOf(bars_[i])});
  return {title(), rows};
}

QString BarsChart::summary() const {
  QString text = title() + QStringLiteral(":");
  for (const Bar& bar : bars_) text += QLatin1Char(' ') + bar.label + QLatin1Char(' ') + textOf(bar) + QLatin1Char(';');
  if (bars_.empty()) text += QLatin1Char(' ') + tr("no values yet");
  return text;
}

std::string BarsChart::csv() const {
  std::string text = "label,value\n";
  for (const Bar& bar : bars_) text += csvField(bar.label) + ',' + plainNumber(bar.value) + '\n';
  return text;
}

}  // namespace foxhunt::ui
