// Number formatting.
#include "ui/charts/format.h"

#include <QCoreApplication>
#include <QLocale>
#include <charconv>
#include <cmath>

namespace foxhunt::ui {

QString formatValue(double value, int significant) {
  if (std::isnan(value)) return QStringLiteral("NaN");
  if (std::isinf(value)) return value > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
  const QLocale locale;
  const double size = std::abs(value);
  if (value == 0) return locale.toString(0);
  if (size < 1e-3 || size >= 1e6) return locale.toString(value, 'e', std::max(0, significant - 2));
  const int whole = static_cast<int>(std::floor(std::log10(size))) + 1;
  return locale.toString(value, 'f', std::clamp(significant - whole, 0, 8));
}

QString formatCount(double count) {
  return QLocale().toString(count, 'f', 0);
}

QString formatShortCount(double count) {
  const QLocale locale;
  if (std::abs(count) < 1e5) return locale.toString(count, 'f', 0);
  if (std::abs(count) < 1e6) return locale.toString(count / 1e3, 'f', 0) + QStringLiteral(" k");
  if (std::abs(count) < 1e9) return locale.toString(count / 1e6, 'f', 1) + QStringLiteral(" M");
  return locale.toString(count / 1e9, 'f', 1) + QStringLiteral(" G");
}

QString formatDuration(double seconds) {
  const char* context = "foxhunt::ui::Duration";
  const auto total = static_cast<long long>(std::llround(std::abs(seconds)));
  const QString sign = seconds < 0 ? QStringLiteral("−") : QString();
  const auto two = [](long long value) { return QStringLiteral("%1").arg(value, 2, 10, QLatin1Char('0')); };
  if (total < 60) return sign + QCoreApplication::translate(context, "%1 s").arg(total);
  if (total < 3600) {
    return sign + QCoreApplication::translate(context, "%1 min %2 s").arg(QString::number(total / 60), two(total % 60));
  }
  if (total < 86400) {
    return sign +
           QCoreApplication::translate(context, "%1 h %2 min").arg(QString::number(total / 3600), two(total / 60 % 60));
  }
  return sign + QCoreApplication::translate(context, "%1 d %2 h").arg(total / 86400).arg(total / 3600 % 24);
}

std::string plainNumber(double value) {
  if (std::isnan(value)) return "nan";
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

std::string csvField(const QString& text) {
  const std::string plain = text.toStdString();
  if (plain.find_first_of(",\"\n\r") == std::string::npos) return plain;
  std::string quoted = "\"";
  for (char c : plain) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace foxhunt::ui
