// Columns of the health table.
#include "ui/models/health_model.h"

#include <cmath>

#include "ui/charts/format.h"
#include "ui/models/table_text.h"

namespace foxhunt::ui {
namespace {

std::vector<TableColumn> healthColumns() {
  return {
      {HealthModel::tr("Word"), HealthModel::tr("Name in the tables; the tooltip says what it means"), false},
      {HealthModel::tr("Value"), HealthModel::tr("Of the newest snapshot"), true},
      {HealthModel::tr("Unit"), {}, false},
      {HealthModel::tr("Healthy"), HealthModel::tr("Range outside which the lamp changes"), false},
      {HealthModel::tr("Group"), {}, false},
  };
}

const telemetry::TableEntry& entryAt(int row) {
  return telemetry::health_table()[static_cast<std::size_t>(row)];
}

}  // namespace

HealthModel::HealthModel(QObject* parent) : CellTableModel(healthColumns(), parent) {}

void HealthModel::setHealth(const std::optional<telemetry::HealthDiag>& health) {
  health_ = health;
  Q_EMIT dataChanged(index(0, value), index(rowCount() - 1, value));
}

int HealthModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(telemetry::health_table().size());
}

bool HealthModel::unhealthy(int row) const {
  return health_ && !entryAt(row).healthy(telemetry::word_value(*health_, row));
}

int HealthModel::unhealthyCount() const {
  int count = 0;
  for (int row = 0; row < rowCount(); ++row) count += unhealthy(row);
  return count;
}

TableCell HealthModel::valueCell(int row) const {
  if (!health_) return {QStringLiteral("–"), {}, tr("no snapshot yet"), Lamp::idle, false, true};
  const telemetry::TableEntry& entry = entryAt(row);
  const double number = telemetry::word_value(*health_, row);
  TableCell cell = entry.type == telemetry::WordType::u32 ? countCell(number) : numberCell(number);
  const bool bad = unhealthy(row);
  cell.lamp = bad ? Lamp::warning : entry.has_range() ? Lamp::ok : Lamp::idle;
  if (row == kernels::health_nan_flags && number != 0) {
    cell.lamp = Lamp::bad;
    cell.tip = QString::fromStdString(telemetry::nan_flag_names(static_cast<std::uint32_t>(number)));
  }
  cell.strong = bad;
  return cell;
}

TableCell HealthModel::cell(int row, int column) const {
  const telemetry::TableEntry& entry = entryAt(row);
  const auto text = [](const QString& shown, bool muted) -> TableCell { return {shown, shown, {}, {}, false, muted}; };
  switch (column) {
    case word: {
      TableCell cell = text(tableText(entry.name), false);
      cell.sort = row;
      cell.tip = tableText(entry.meaning);
      return cell;
    }
    case value:
      return valueCell(row);
    case unit:
      return text(tableText(entry.unit), true);
    case range:
      return text(healthyRange(entry), true);
    default:
      return text(tableText(entry.group), true);
  }
}

}  // namespace foxhunt::ui
