// Stacked shares through Qt Charts' area series.
#include "ui/charts/stacked_area_chart.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "ui/charts/format.h"
#include "ui/theme.h"

namespace foxhunt::ui {
namespace {

// Sum of the shares; 0 where the row is of no use.
double usableSum(const ShareRow& row) {
  double sum = 0;
  for (double share : row.shares) {
    if (!std::isfinite(share) || share < 0) return 0;
    sum += share;
  }
  return std::isfinite(sum) ? sum : 0;
}

}  // namespace

StackedAreaChart::StackedAreaChart(const QString& title, QWidget* parent)
    : ThemedChart(title, parent), scale_(std::make_shared<StepScale>(tr("step"))) {
  setEmptyText(tr("no samples yet"));
}

void StackedAreaChart::setXScale(std::shared_ptr<const XScale> scale) {
  scale_ = std::move(scale);
  rebuild();
}

void StackedAreaChart::setData(std::vector<QString> names, std::vector<ShareRow> rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].shares.size() == names.size() && (i == 0 || rows[i].x >= rows[i - 1].x)) continue;
    throw Error(fmt::format("row {} of the shares has {} values at x = {}; {} are needed, x ascending", i,
                            rows[i].shares.size(), rows[i].x, names.size()),
                {.field = title().toStdString()});
  }
  names_ = std::move(names);
  rows_ = std::move(rows);
  average();
  rebuild();
}

void StackedAreaChart::average() {
  drawn_.clear();
  const std::size_t bins = std::min(rows_.size(), most_columns);
  std::size_t gaps = 0;
  for (std::size_t b = 0; b < bins; ++b) {
    const std::size_t begin = b * rows_.size() / bins, end = (b + 1) * rows_.size() / bins;
    ShareRow mean{rows_[begin].x, std::vector<double>(names_.size(), 0.0)};
    std::size_t good = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double sum = usableSum(rows_[i]);
      if (sum <= 0) {
        ++gaps;
        continue;
      }
      ++good;
      for (std::size_t k = 0; k < names_.size(); ++k) mean.shares[k] += rows_[i].shares[k] / sum;
    }
    for (double& share : mean.shares) share /= static_cast<double>(std::max<std::size_t>(1, good));
    if (good == 0) mean.shares.clear();
    drawn_.push_back(std::move(mean));
  }
  if (!drawn_.empty()) drawn_.back().x = rows_.back().x;
  QString text;
  if (rows_.size() > bins) {
    text = tr("%1 rows · mean of %2 a column")
               .arg(formatShortCount(static_cast<double>(rows_.size())))
               .arg(formatCount(std::ceil(static_cast<double>(rows_.size()) / static_cast<double>(bins))));
  }
  if (gaps > 0)
    text += (text.isEmpty() ? QString() : QStringLiteral(" · ")) +
            tr("%1 empty").arg(formatCount(static_cast<double>(gaps)));
  setBadge(text);
  setEmptyText(rows_.empty() ? tr("no samples yet") : QString());
}

void StackedAreaChart::makeStripes() {
  if (stripes_.size() != names_.size()) {
    chart()->removeAllSeries();
    for (const Stripe& stripe : stripes_) {
      delete stripe.lower;
      delete stripe.upper;
    }
    stripes_.clear();
    for (std::size_t k = 0; k < names_.size(); ++k) {
      Stripe stripe{new QLineSeries(this), new QLineSeries(this), nullptr};
      stripe.area = new QAreaSeries(stripe.upper, stripe.lower);
      adopt(stripe.area);
      stripes_.push_back(stripe);
    }
  }
  for (std::size_t k = 0; k < stripes_.size(); ++k) {
    QColor color = theme().seriesColor(static_cast<int>(k));
    if (theme().dark) color = color.darker(115);
    stripes_[k].area->setPen(Qt::NoPen);
    stripes_[k].area->setBrush(color);
  }
}

void StackedAreaChart::rebuild() {
  makeStripes();
  std::vector<LegendEntry> entries;
  for (std::size_t k = 0; k < names_.size(); ++k) {
    entries.push_back({names_[k], theme().seriesColor(static_cast<int>(k))});
  }
  setLegend(std::move(entries));
  double low = 0, high = 1;
  if (!drawn_.empty()) {
    low = scale_->toDisplay(drawn_.front().x);
    high = scale_->toDisplay(drawn_.back().x);
  }
  if (!(high > low)) high = low + 1;
  const int most = std::max(2, static_cast<int>(plotWidth() / 58));
  std::vector<Tick> percent;
  for (int part = 0; part <= 4; ++part) percent.push_back({part * 0.25, QStringLiteral("%1 %").arg(part * 25)});
  setAxes(low, high, drawn_.empty() ? std::vector<Tick>{} : scale_->ticks(low, high, most), 0, 1, percent);
  std::vector<double> floor(drawn_.size(), 0.0);
  for (std::size_t k = 0; k < stripes_.size(); ++k) {
    QList<QPointF> lower, upper;
    bool gap = true;
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      const double x = scale_->toDisplay(drawn_[i].x);
      if (drawn_[i].shares.empty()) {  // down to the floor and along it
        if (!gap && i > 0) {
          const double last = scale_->toDisplay(drawn_[i - 1].x);
          lower.append({last, 0});
          upper.append({last, 0});
        }
        gap = true;
        lower.append({x, 0});
        upper.append({x, 0});
        continue;
      }
      if (gap) {
        lower.append({x, 0});
        upper.append({x, 0});
      }
      gap = false;
      lower.append({x, floor[i]});
      floor[i] = k + 1 == stripes_.size() ? 1.0 : floor[i] + drawn_[i].shares[k];
      upper.append({x, floor[i]});
    }
    stripes_[k].lower->replace(lower);
    stripes_[k].upper->replace(upper);
  }
  place();
}

std::pair<QString, std::vector<ValueBoxRow>> StackedAreaChart::valuesAt(double x) const {
  std::vector<ValueBoxRow> rows;
  if (drawn_.empty()) return {QString(), rows};
  const double step = scale_->fromDisplay(x);
  auto at = std::upper_bound(drawn_.begin(), drawn_.end(), step, [](double v, const ShareRow& r) { return v < r.x; });
  if (at != drawn_.begin()) --at;
  for (std::size_t k = at->shares.size(); k-- > 0;) {  // as they lie on screen, from the top
    rows.push_back({theme().seriesColor(static_cast<int>(k)), names_[k],
                    formatValue(100 * at->shares[k], 3) + QStringLiteral(" %")});
  }
  return {scale_->format(scale_->toDisplay(at->x)), rows};
}

QString StackedAreaChart::summary() const {
  QString text = title() + QStringLiteral(":");
  if (drawn_.empty()) return text + QLatin1Char(' ') + tr("no samples yet");
  const ShareRow& last = drawn_.back();
  text += QLatin1Char(' ') + tr("latest");
  for (std::size_t k = 0; k < last.shares.size(); ++k) {
    text += QStringLiteral(" %1 %2 %").arg(names_[k], formatValue(100 * last.shares[k], 3)) + QLatin1Char(';');
  }
  return text;
}

std::string StackedAreaChart::csv() const {
  std::string text = "x";
  for (const QString& name : names_) text += ',' + csvField(name);
  text += '\n';
  for (const ShareRow& row : rows_) {
    text += plainNumber(row.x);
    for (double share : row.shares) text += ',' + plainNumber(share);
    text += '\n';
  }
  return text;
}

}  // namespace foxhunt::ui
