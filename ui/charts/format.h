// Numbers as the window shows them (by locale) and as files hold them (plain, shortest exact).
#pragma once

#include <QString>
#include <string>

namespace foxhunt::ui {

// Four significant digits; 1.2e-5 below a thousandth and from a million on; NaN and ∞ by name.
QString formatValue(double value, int significant = 4);
// Whole numbers with grouping: 79,412.
QString formatCount(double count);
// 12,345 in full, then 123.4 k, 1.2 M, 3.4 G.
QString formatShortCount(double count);
// Seconds as "4 min 10 s", "2 h 05 min", "3 d 4 h".
QString formatDuration(double seconds);
// Shortest text that reads back as the same double; nan, inf, -inf.
std::string plainNumber(double value);
// A field of a CSV row, quoted where it has to be.
std::string csvField(const QString& text);

}  // namespace foxhunt::ui
