// Where axis ticks lie and how they read.
#pragma once

#include <QString>
#include <vector>

namespace foxhunt::ui {

struct Tick {
  double value = 0;
  QString label;
};

// An axis range widened outward to where its ticks look natural.
struct AxisTicks {
  double low = 0, high = 1;
  std::vector<Tick> ticks;
};

// The smallest 1, 2, 2.5 or 5 times a power of ten that is at least `step` (> 0).
double niceStep(double step);
// Multiples of a nice step in [low, high], at most `most` of them; labels share decimals, thousands read "64k".
std::vector<Tick> linearTicks(double low, double high, int most);
// Range widened to half steps. Constant data (low == high) is padded by a tenth of its size, or by 1 at zero.
AxisTicks linearAxis(double low, double high, int most);
// low and high > 0. Powers of ten, with 2 and 5 between them where there is room; widened to the next 1, 2 or 5.
AxisTicks logAxis(double low, double high, int most);
// Powers of ten (and 2, 5 times them) inside [low, high] as it is.
std::vector<Tick> logTicks(double low, double high, int most);
// Seconds since 1970 UTC: second, minute, hour, day, month, year steps. Labels "14:05", "Mar 15", "2026".
std::vector<Tick> dateTicks(double low, double high, int most);
// Seconds: "0", "10 min", "1 h 30".
std::vector<Tick> durationTicks(double low, double high, int most);

}  // namespace foxhunt::ui
