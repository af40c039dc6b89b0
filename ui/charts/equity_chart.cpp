// Equity curves through Qt Charts' line series.
#include "ui/charts/equity_chart.h"

#include <QDateTime>
#include <QFontMetricsF>
#include <QLocale>
#include <QTimeZone>
#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "ui/charts/format.h"
#include "ui/theme.h"

namespace foxhunt::ui {
namespace {

// Unbroken stretches of a line, thinned to first, lowest, highest and last of each of `columns` equal spans of time.
std::vector<QList<QPointF>> stretches(const EquityLine& line, double low, double high, double columns) {
  std::vector<QList<QPointF>> parts;
  const bool thin = static_cast<double>(line.times.size()) > 4 * columns;
  std::vector<QPointF> column;
  double column_index = -1;
  const auto flush = [&] {
    if (column.empty()) return;
    const auto by_y = [](const QPointF& a, const QPointF& b) { return a.y() < b.y(); };
    auto [lowest, highest] = std::minmax_element(column.begin(), column.end(), by_y);
    if (lowest > highest) std::swap(lowest, highest);
    for (const QPointF& point : {column.front(), *lowest, *highest, column.back()}) {
      if (parts.back().isEmpty() || parts.back().back() != point) parts.back().append(point);
    }
    column.clear();
  };
  bool joined = false;
  for (std::size_t i = 0; i < line.times.size(); ++i) {
    if (!std::isfinite(line.values[i])) {
      flush();
      joined = false;
      continue;
    }
    const QPointF point(line.times[i], line.values[i]);
    if (!joined) {
      parts.emplace_back();
      joined = true;
    }
    if (!thin) {
      parts.back().append(point);
      continue;
    }
    const double index = std::floor((point.x() - low) / (high - low) * columns);
    if (index != column_index) flush();
    column_index = index;
    column.push_back(point);
  }
  flush();
  return parts;
}

}  // namespace

EquityChart::EquityChart(const QString& title, QWidget* parent) : ThemedChart(title, parent) {
  setEmptyText(tr("no points yet"));
}

void EquityChart::setLines(std::vector<EquityLine> lines, const QString& unit) {
  for (const EquityLine& line : lines) {
    if (line.times.size() == line.values.size() && std::is_sorted(line.times.begin(), line.times.end())) continue;
    throw Error(fmt::format("line \"{}\" has {} times and {} values", line.name.toStdString(), line.times.size(),
                            line.values.size()),
                {.field = title().toStdString(), .hint = "give as many values as times, times ascending"});
  }
  lines_ = std::move(lines);
  unit_ = unit;
  rebuild();
}

QColor EquityChart::colorOf(std::size_t line) const {
  const int index = lines_[line].color_index;
  return theme().seriesColor(index < 0 ? static_cast<int>(line) : index);
}

void EquityChart::drawLine(std::size_t line) {
  const auto parts = stretches(lines_[line], xAxis()->min(), xAxis()->max(), plotWidth());
  auto& series = drawn_[line].parts;
  while (series.size() > parts.size()) {
    chart()->removeSeries(series.back());
    delete series.back();
    series.pop_back();
  }
  while (series.size() < parts.size()) {
    series.push_back(new QLineSeries);
    adopt(series.back());
  }
  for (std::size_t p = 0; p < parts.size(); ++p) {
    series[p]->setPen(QPen(colorOf(line), 1.4));
    series[p]->replace(parts[p]);
  }
}

void EquityChart::rebuild() {
  while (drawn_.size() > lines_.size()) {
    for (QLineSeries* part : drawn_.back().parts) {
      chart()->removeSeries(part);
      delete part;
    }
    drawn_.pop_back();
  }
  drawn_.resize(lines_.size());
  double t0 = std::numeric_limits<double>::infinity(), t1 = -t0, low = t0, high = -t0;
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    entries.push_back({lines_[i].name, colorOf(i)});
    if (lines_[i].times.empty()) continue;
    t0 = std::min(t0, lines_[i].times.front());
    t1 = std::max(t1, lines_[i].times.back());
    for (double value : lines_[i].values) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  setLegend(std::move(entries));
  const bool any = low <= high;
  setEmptyText(any ? QString() : tr("no points yet"));
  if (!any) low = 0, high = 1;
  if (!(t1 > t0)) t1 = (t0 = any ? t0 : 0) + 1;
  const AxisTicks y = linearAxis(low, high, std::max(2, height() / 44));
  const QFontMetricsF metrics(theme().small_font);
  double label = 0;
  for (const Tick& tick : y.ticks) label = std::max(label, metrics.horizontalAdvance(tick.label));
  setGutters({std::max(52.0, std::ceil(label) + 16), 14, 20});
  const int most = std::max(2, static_cast<int>(plotWidth() / 76));
  setAxes(t0, t1, any ? dateTicks(t0, t1, most) : std::vector<Tick>{}, y.low, y.high,
          any ? y.ticks : std::vector<Tick>{});
  for (std::size_t i = 0; i < lines_.size(); ++i) drawLine(i);
  place();
}

std::pair<QString, std::vector<ValueBoxRow>> EquityChart::valuesAt(double x) const {
  std::vector<ValueBoxRow> rows;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto& times = lines_[i].times;
    const auto after = std::upper_bound(times.begin(), times.end(), x);
    if (after == times.begin()) continue;
    const double value = lines_[i].values[static_cast<std::size_t>(after - times.begin()) - 1];
    rows.push_back(
        {colorOf(i), lines_[i].name, formatValue(value, 6) + (unit_.isEmpty() ? QString() : QLatin1Char(' ') + unit_)});
  }
  const auto moment = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(x * 1000), QTimeZone::utc());
  return {QLocale().toString(moment, QStringLiteral("yyyy-MM-dd HH:mm")) + QStringLiteral(" UTC"), rows};
}

QString EquityChart::summary() const {
  QString text = title() + QStringLiteral(":");
  for (const EquityLine& line : lines_) {
    double low = std::numeric_limits<double>::infinity(), high = -low, last = std::nan("");
    std::size_t gaps = 0;
    for (double value : line.values) {
      if (!std::isfinite(value)) {
        ++gaps;
        continue;
      }
      low = std::min(low, value);
      high = std::max(high, value);
      last = value;
    }
    if (!(low <= high)) {
      text += QLatin1Char(' ') + tr("%1: no finite value;").arg(line.name);
      continue;
    }
    text +=
        QLatin1Char(' ') + tr("%1: last %2, lowest %3, highest %4 %5;")
                               .arg(line.name, formatValue(last, 6), formatValue(low, 6), formatValue(high, 6), unit_);
    if (gaps > 0) text += QLatin1Char(' ') + tr("%1 not finite;").arg(formatCount(static_cast<double>(gaps)));
  }
  if (lines_.empty()) text += QLatin1Char(' ') + tr("no points yet");
  return text;
}

std::string EquityChart::csv() const {
  std::string text = "line,seconds_utc,value\n";
  for (const EquityLine& line : lines_) {
    for (std::size_t i = 0; i < line.times.size(); ++i) {
      text += csvField(line.name) + ',' + plainNumber(line.times[i]) + ',' + plainNumber(line.values[i]) + '\n';
    }
  }
  return text;
}

}  // namespace foxhunt::ui
