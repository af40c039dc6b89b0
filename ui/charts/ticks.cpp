// Tick positions for linear, logarithmic, date and duration axes.
#include "ui/charts/ticks.h"

#include <QDateTime>
#include <QLocale>
#include <QTimeZone>
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

constexpr double day = 86400;

int decimalsOf(double step) {
  for (int decimals = 0; decimals < 12; ++decimals) {
    const double scaled = step * std::pow(10.0, decimals);
    if (std::abs(scaled - std::round(scaled)) < 1e-6 * scaled) return decimals;
  }
  return 12;
}

QString linearLabel(double value, double step, double largest) {
  const QLocale locale;
  if (std::abs(value) < step * 1e-9) value = 0;
  if (largest >= 1e9 || largest < 1e-4) {
    if (value == 0) return locale.toString(0);
    const int digits = static_cast<int>(std::ceil(std::log10(std::max(largest / step, 1.0))));
    return locale.toString(value, 'e', std::clamp(digits, 0, 8));
  }
  if (value == 0 && largest >= 1e4) return locale.toString(0);
  if (largest >= 1e6 && step >= 1e3) {
    return locale.toString(value / 1e6, 'f', decimalsOf(step / 1e6)) + QLatin1Char('M');
  }
  if (largest >= 1e4 && step >= 10) {
    return locale.toString(value / 1e3, 'f', decimalsOf(step / 1e3)) + QLatin1Char('k');
  }
  return locale.toString(value, 'f', decimalsOf(step));
}

std::vector<Tick> multiples(double low, double high, double step) {
  std::vector<Tick> ticks;
  const double largest = std::max(std::abs(low), std::abs(high));
  const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
  for (double k = first; k <= last; ++k) ticks.push_back({k * step, linearLabel(k * step, step, largest)});
  return ticks;
}

QString decadeLabel(double value) {
  const double exponent = std::round(std::log10(value));
  if (exponent >= -3 && exponent < 5) {
    return QLocale().toString(value, 'f', std::max(0, static_cast<int>(std::ceil(-std::log10(value) - 1e-9))));
  }
  const double mantissa = value / std::pow(10.0, std::floor(std::log10(value) + 1e-9));
  return QStringLiteral("%1e%2").arg(std::round(mantissa)).arg(static_cast<int>(std::floor(std::log10(value) + 1e-9)));
}

// The largest of 1, 2, 5 times a power of ten that is <= value (down) or the smallest >= value (up).
double oneTwoFive(double value, bool up) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const std::array<double, 4> steps = {1, 2, 5, 10};
  if (up) {
    for (double step : steps) {
      if (step * power >= value * (1 - 1e-12)) return step * power;
    }
    return 10 * power;
  }
  double best = power;
  for (double step : steps) {
    if (step * power <= value * (1 + 1e-12)) best = step * power;
  }
  return best;
}

}  // namespace

double niceStep(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= step * (1 - 1e-12)) return factor * power;
  }
  return 10 * power;
}

std::vector<Tick> linearTicks(double low, double high, int most) {
  if (!(high > low)) return {};
  return multiples(low, high, niceStep((high - low) / std::max(1, most - 1)));
}

AxisTicks linearAxis(double low, double high, int most) {
  if (!(high > low)) {
    const double pad = low == 0 ? 1 : std::abs(low) * 0.1;
    low -= pad;
    high += pad;
  }
  const double step = niceStep((high - low) / std::max(1, most - 1));
  AxisTicks axis;
  axis.low = std::floor(low / step * 2 + 1e-9) * step / 2;
  axis.high = std::ceil(high / step * 2 - 1e-9) * step / 2;
  axis.ticks = multiples(axis.low, axis.high, step);
  return axis;
}

std::vector<Tick> logTicks(double low, double high, int most) {
  std::vector<Tick> ticks;
  const double decades = std::log10(high / low);
  const int every = std::max(1, static_cast<int>(std::ceil(decades / std::max(1, most - 1))));
  const bool between = decades > 0 && decades * 3 <= most;
  const int first = static_cast<int>(std::floor(std::log10(low) - 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high) + 1e-9));
  for (int exponent = first; exponent <= last; ++exponent) {
    if (((exponent % every) + every) % every != 0) continue;
    for (double factor : {1.0, 2.0, 5.0}) {
      if (factor != 1.0 && !between) continue;
      const double value = factor * std::pow(10.0, exponent);
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) ticks.push_back({value, decadeLabel(value)});
    }
  }
  if (ticks.size() >= 2) return ticks;
  // Little room and less than two decades apart: the outermost steps of 1-2-5.
  std::vector<Tick> steps;
  for (int exponent = first; exponent <= last; ++exponent) {
    for (double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, exponent);
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) steps.push_back({value, decadeLabel(value)});
    }
  }
  if (steps.size() >= 2) return {steps.front(), steps.back()};
  // Less than a step of 1-2-5 is nearly linear.
  for (int more = most; more < most + 8; ++more) {
    ticks = linearTicks(low, high, more);
    if (ticks.size() >= 2) break;
  }
  return ticks;
}

AxisTicks logAxis(double low, double high, int most) {
  if (!(high > low)) {
    low /= 2;
    high *= 2;
  }
  AxisTicks axis;
  axis.low = oneTwoFive(low, false);
  axis.high = oneTwoFive(high, true);
  axis.ticks = logTicks(axis.low, axis.high, most);
  return axis;
}

std::vector<Tick> dateTicks(double low, double high, int most) {
  if (!(high > low)) return {};
  const double wanted = (high - low) / std::max(1, most - 1);
  const QLocale locale = QLocale();
  std::vector<Tick> ticks;
  const auto at = [](double seconds) {
    return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(std::llround(seconds * 1000)), QTimeZone::utc());
  };
  for (double step : {1.0,    2.0,    5.0,    10.0,    15.0,    30.0,    60.0, 120.0,   300.0,   600.0,   900.0,
                      1800.0, 3600.0, 7200.0, 10800.0, 21600.0, 43200.0, day,  2 * day, 7 * day, 14 * day}) {
    if (step < wanted) continue;
    // 1970-01-05 was a Monday: weeks start there.
    const double origin = step >= 7 * day ? 4 * day : 0;
    for (double t = origin + std::ceil((low - origin) / step - 1e-9) * step; t <= high; t += step) {
      const QDateTime moment = at(t);
      const bool midnight = std::fmod(t, day) == 0;
      const QString format = step >= day || midnight ? QStringLiteral("MMM d")
                             : step < 60             ? QStringLiteral("HH:mm:ss")
                                                     : QStringLiteral("HH:mm");
      ticks.push_back({t, locale.toString(moment, format)});
    }
    return ticks;
  }
  for (int months : {1, 2, 3, 6, 12, 24, 60, 120}) {
    if (months * 30.4 * day < wanted && months != 120) continue;
    const QDate start = at(low).date();
    QDate date(start.year() - start.year() % std::max(1, months / 12), 1, 1);
    for (; static_cast<double>(date.startOfDay(Qt::UTC).toSecsSinceEpoch()) <= high; date = date.addMonths(months)) {
      const auto t = static_cast<double>(date.startOfDay(Qt::UTC).toSecsSinceEpoch());
      if (t < low) continue;
      ticks.push_back({t, locale.toString(date, date.month() == 1 ? QStringLiteral("yyyy") : QStringLiteral("MMM"))});
    }
    return ticks;
  }
  return ticks;
}

std::vector<Tick> durationTicks(double low, double high, int most) {
  if (!(high > low)) return {};
  const double wanted = (high - low) / std::max(1, most - 1);
  double step = 1;
  for (double candidate : {1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0,
                           10800.0, 21600.0, 43200.0, day}) {
    step = candidate;
    if (candidate >= wanted) break;
  }
  if (step < wanted) step = niceStep(wanted / day) * day;
  std::vector<Tick> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high; ++k) {
    ticks.push_back({k * step, k == 0 ? QStringLiteral("0") : formatDuration(k * step)});
  }
  return ticks;
}

}  // namespace foxhunt::ui
