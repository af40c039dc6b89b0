// Healthy ranges in words.
#include "ui/models/table_text.h"

#include <QCoreApplication>
#include <QLocale>
#include <cmath>

namespace foxhunt::ui {
namespace {

class TableText {
  Q_DECLARE_TR_FUNCTIONS(foxhunt::ui::TableText)
};

}  // namespace

QString tableText(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString healthyRange(const telemetry::TableEntry& entry) {
  const bool low = !std::isnan(entry.low), high = !std::isnan(entry.high);
  const auto value = [](float bound) { return QLocale().toString(static_cast<double>(bound), 'g', 4); };
  if (low && high) return TableText::tr("%1 to %2").arg(value(entry.low), value(entry.high));
  if (low) return TableText::tr("from %1").arg(value(entry.low));
  if (high) return TableText::tr("up to %1").arg(value(entry.high));
  return {};
}

QString currencyOf(const nlohmann::ordered_json& configuration) {
  if (!configuration.is_object()) return {};
  const std::string instrument = configuration.value("instrument", std::string());
  for (const char* dollars : {"ES", "MES", "NQ", "MNQ", "6E", "CL"})
    if (instrument == dollars) return QStringLiteral("$");
  return {};
}

}  // namespace foxhunt::ui
