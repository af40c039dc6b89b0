// Histograms as area outlines, so that bins may have any widths.
#include "ui/charts/histogram_chart.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "ui/charts/format.h"
#include "ui/theme.h"

namespace foxhunt::ui {

HistogramChart::HistogramChart(const QString& title, QWidget* parent) : ThemedChart(title, parent) {
  setEmptyText(tr("no samples yet"));
}

void HistogramChart::setData(std::vector<Histogram> histograms, std::vector<HistogramMarker> markers) {
  for (const Histogram& h : histograms) {
    const bool sizes = h.edges.size() == h.counts.size() + 1;
    const bool ascending = std::adjacent_find(h.edges.begin(), h.edges.end(), [](double a, double b) {
                             return !(b > a) || !std::isfinite(a) || !std::isfinite(b);
                           }) == h.edges.end();
    const auto bad =
        std::find_if(h.counts.begin(), h.counts.end(), [](double c) { return !std::isfinite(c) || c < 0; });
    if (sizes && ascending && bad == h.counts.end()) continue;
    throw Error(fmt::format("histogram \"{}\" has {} edges and {} counts{}", h.name.toStdString(), h.edges.size(),
                            h.counts.size(), bad != h.counts.end() ? fmt::format(", one of them {}", *bad) : ""),
                {.field = title().toStdString(),
                 .hint = "give ascending finite edges, one more than counts, and finite counts of at least 0"});
  }
  histograms_ = std::move(histograms);
  markers_ = std::move(markers);
  setEmptyText(histograms_.empty() ? tr("no samples yet") : QString());
  rebuild();
}

void HistogramChart::makeLayers() {
  if (layers_.size() != histograms_.size()) {
    chart()->removeAllSeries();
    for (const Layer& layer : layers_) {
      delete layer.upper;
      delete layer.lower;
    }
    layers_.clear();
    for (std::size_t i = 0; i < histograms_.size(); ++i) {
      Layer layer{new QLineSeries(this), new QLineSeries(this), nullptr};
      layer.area = new QAreaSeries(layer.upper, layer.lower);
      adopt(layer.area);
      layers_.push_back(layer);
    }
  }
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    QColor color = theme().seriesColor(static_cast<int>(i));
    layers_[i].area->setPen(histograms_.size() > 1 ? QPen(color, 1) : QPen(Qt::NoPen));
    if (histograms_.size() > 1) color.setAlpha(110);
    layers_[i].area->setBrush(color);
  }
}

void HistogramChart::rebuild() {
  makeLayers();
  double low = std::numeric_limits<double>::infinity(), high = -low, top = 0;
  for (const Histogram& h : histograms_) {
    low = std::min(low, h.edges.front());
    high = std::max(high, h.edges.back());
    for (double count : h.counts) top = std::max(top, count);
  }
  if (!(high > low)) {
    low = 0;
    high = 1;
  }
  const AxisTicks y = linearAxis(0, (top > 0 ? top : 1) * (1 + 0.12 * static_cast<double>(markers_.size())),
                                 std::max(2, height() / 44));
  const bool empty = histograms_.empty();
  setAxes(low, high,
          empty ? std::vector<Tick>{} : linearTicks(low, high, std::max(2, static_cast<int>(plotWidth() / 64))), y.low,
          y.high, empty ? std::vector<Tick>{} : y.ticks);
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < histograms_.size() && histograms_.size() > 1; ++i) {
    entries.push_back({histograms_[i].name, theme().seriesColor(static_cast<int>(i))});
  }
  setLegend(std::move(entries));
  const double pixel = (high - low) / plotWidth();
  for (std::size_t i = 0; i < histograms_.size(); ++i) {
    const Histogram& h = histograms_[i];
    QList<QPointF> outline;
    for (std::size_t b = 0; b < h.counts.size(); ++b) {
      // A pixel between bars of one histogram, where they are wide enough to spare it.
      const double width = h.edges[b + 1] - h.edges[b];
      const double gap = histograms_.size() == 1 && width > 4 * pixel ? pixel / 2 : 0;
      outline.append({h.edges[b] + gap, 0});
      outline.append({h.edges[b] + gap, h.counts[b]});
      outline.append({h.edges[b + 1] - gap, h.counts[b]});
      outline.append({h.edges[b + 1] - gap, 0});
    }
    layers_[i].upper->replace(outline);
    layers_[i].lower->replace(QList<QPointF>{{h.edges.front(), 0}, {h.edges.back(), 0}});
  }
  place();
}

void HistogramChart::paintLabels(QPainter& painter) {
  const QRectF plot = plotRect();
  const QFontMetricsF metrics(theme().small_font);
  painter.setFont(theme().small_font);
  double level = plot.top();
  for (const HistogramMarker& marker : markers_) {
    if (!std::isfinite(marker.x) || marker.x < xAxis()->min() || marker.x > xAxis()->max()) continue;
    const double x = std::floor(xPixel(marker.x)) + 0.5;
    QPen pen(theme().muted, 1);
    pen.setDashPattern({3, 3});
    painter.setPen(pen);
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    const QString text = marker.label + QLatin1Char(' ') + formatValue(marker.x, 3);
    const double width = metrics.horizontalAdvance(text) + 2;
    const double left = x + 5 + width < this->width() - 4 ? x + 5 : x - 5 - width;
    painter.fillRect(QRectF(left - 2, level, width + 4, 15), theme().panel);
    painter.setPen(theme().muted);
    painter.drawText(QRectF(left, level, width, 15), Qt::AlignLeft | Qt::AlignVCenter, text);
    level += 15;  // one below the other, so that they never touch
  }
}

std::pair<QString, std::vector<ValueBoxRow>> HistogramChart::valuesAt(double x) const {
  std::vector<ValueBoxRow> rows;
  QString head;
  for (std::size_t i = 0; i < histograms_.size(); ++i) {
    const Histogram& h = histograms_[i];
    const auto after = std::upper_bound(h.edges.begin(), h.edges.end(), x);
    if (after == h.edges.begin() || after == h.edges.end()) continue;
    const auto bin = static_cast<std::size_t>(after - h.edges.begin()) - 1;
    if (head.isEmpty()) head = tr("%1 to %2").arg(formatValue(h.edges[bin]), formatValue(h.edges[bin + 1]));
    rows.push_back({theme().seriesColor(static_cast<int>(i)), h.name, formatValue(h.counts[bin])});
  }
  return {head, rows};
}

QString HistogramChart::summary() const {
  QString text = title() + QStringLiteral(":");
  for (const Histogram& h : histograms_) {
    const auto peak = std::max_element(h.counts.begin(), h.counts.end());
    if (peak == h.counts.end()) continue;
    const auto bin = static_cast<std::size_t>(peak - h.counts.begin());
    text += QLatin1Char(' ') + tr("%1: %2 bins from %3 to %4, highest between %5 and %6;")
                                   .arg(h.name)
                                   .arg(h.counts.size())
                                   .arg(formatValue(h.edges.front()), formatValue(h.edges.back()),
                                        formatValue(h.edges[bin]), formatValue(h.edges[bin + 1]));
  }
  if (histograms_.empty()) text += QLatin1Char(' ') + tr("no samples yet");
  return text;
}

std::string HistogramChart::csv() const {
  std::string text = "name,low,high,count\n";
  for (const Histogram& h : histograms_) {
    for (std::size_t b = 0; b < h.counts.size(); ++b) {
      text += csvField(h.name) + ',' + plainNumber(h.edges[b]) + ',' + plainNumber(h.edges[b + 1]) + ',' +
              plainNumber(h.counts[b]) + '\n';
    }
  }
  return text;
}

}  // namespace foxhunt::ui
