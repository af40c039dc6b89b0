// The x scales.
#include "ui/charts/x_scale.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <QTimeZone>
#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

// Steps are whole numbers, so ticks closer than one are of no use.
std::vector<Tick> wholeTicks(double low, double high, int most) {
  auto ticks = linearTicks(low, high, most);
  if (ticks.size() >= 2 && ticks[1].value - ticks[0].value < 1) {
    ticks.clear();
    for (double v = std::ceil(low); v <= high; ++v) ticks.push_back({v, formatCount(v)});
  }
  return ticks;
}

double interpolate(const std::vector<double>& from, const std::vector<double>& to, double value) {
  if (from.empty()) return value;
  if (from.size() == 1) return to[0] + (value - from[0]);
  auto after = static_cast<std::size_t>(std::lower_bound(from.begin(), from.end(), value) - from.begin());
  after = std::clamp<std::size_t>(after, 1, from.size() - 1);
  const double width = from[after] - from[after - 1];
  if (width == 0) return value > from[after] ? to[after] + (value - from[after]) : to[after - 1];
  return to[after - 1] + (to[after] - to[after - 1]) * ((value - from[after - 1]) / width);
}

}  // namespace

QString StepScale::format(double display) const {
  return name_ + QLatin1Char(' ') + formatCount(display);
}

std::vector<Tick> StepScale::ticks(double low, double high, int most) const {
  return wholeTicks(low, high, most);
}

void AnchoredScale::addAnchor(double x, double display) {
  if (!xs_.empty() && (!(x > xs_.back()) || !(display >= displays_.back()))) {
    throw Error(
        fmt::format("pair ({}, {}) of an x scale does not follow ({}, {})", x, display, xs_.back(), displays_.back()),
        {.field = name_.toStdString(), .hint = "add pairs in ascending order"});
  }
  xs_.push_back(x);
  displays_.push_back(display);
}

double AnchoredScale::toDisplay(double x) const {
  return interpolate(xs_, displays_, x);
}
double AnchoredScale::fromDisplay(double display) const {
  return interpolate(displays_, xs_, display);
}

QString AnchoredScale::format(double display) const {
  if (unit_ == Unit::number) return name_ + QLatin1Char(' ') + formatValue(display);
  if (unit_ == Unit::duration) return formatDuration(display);
  const auto moment = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(display * 1000), QTimeZone::utc());
  return QLocale().toString(moment, QStringLiteral("yyyy-MM-dd HH:mm:ss")) + QStringLiteral(" UTC");
}

std::vector<Tick> AnchoredScale::ticks(double low, double high, int most) const {
  switch (unit_) {
    case Unit::date:
      return dateTicks(low, high, most);
    case Unit::duration:
      return durationTicks(low, high, most);
    case Unit::number:
      break;
  }
  return linearTicks(low, high, most);
}

QString FoldScale::format(double display) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), display);
  if (after == starts_.begin()) return formatCount(display);
  const auto fold = static_cast<int>(after - starts_.begin()) - 1;
  return QCoreApplication::translate("foxhunt::ui::FoldScale", "fold %1, step %2")
      .arg(QString::number(fold + first_), formatCount(display - *(after - 1)));
}

std::vector<Tick> FoldScale::ticks(double low, double high, int most) const {
  std::vector<Tick> ticks;
  if (!(high > low)) return ticks;
  const double step = std::max(1.0, niceStep((high - low) / std::max(1, most - 1)));
  for (std::size_t f = 0; f < starts_.size(); ++f) {
    const double end = f + 1 < starts_.size() ? starts_[f + 1] : high;
    const double skipped = std::max(0.0, std::floor((low - starts_[f]) / step) - 1) * step;
    for (double offset = skipped; starts_[f] + offset <= std::min(end - step * 0.6, high) || offset == 0;
         offset += step) {
      const double at = starts_[f] + offset;
      if (at > high) break;
      if (at < low) continue;
      ticks.push_back({at, offset == 0 ? QStringLiteral("F%1").arg(static_cast<int>(f) + first_)
                                       : QLatin1Char('+') + formatShortCount(offset)});
    }
  }
  return ticks;
}

}  // namespace foxhunt::ui
