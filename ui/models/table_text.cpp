// Healthy ranges in words.
#include "ui/models/table_text.h"

#include <QCoreApplication>
#include <cmath>

#include "ui/charts/format.h"

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
  const auto value = [](float bound) { return formatValue(static_cast<double>(bound)); };
  if (low && high) return TableText::tr("healthy from %1 to %2").arg(value(entry.low), value(entry.high));
  if (low) return TableText::tr("healthy from %1").arg(value(entry.low));
  if (high) return TableText::tr("healthy up to %1").arg(value(entry.high));
  return {};
}

}  // namespace foxhunt::ui
