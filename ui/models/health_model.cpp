// Columns of the health table.
#include "ui/models/health_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/charts/format.h"
#include "ui/models/table_text.h"

namespace foxhunt::ui {
namespace {

std::vector<TableColumn> healthColumns() {
  return {
      {HealthModel::tr("Word"), HealthModel::tr("Name in the tables; the tooltip says what it means"), false},
      {HealthModel::tr("Value"), HealthModel::tr("Of the newest snapshot"), true},
      {HealthModel::tr("Trend"), HealthModel::tr("The newest snapshots, from the least to the greatest value"), false},
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

void HealthModel::setHealth(const std::optional<telemetry::HealthDiag>& health, const Trend* history) {
  health_ = health;
  trend_ = history;
  Q_EMIT dataChanged(index(0, word), index(rowCount() - 1, HealthModel::trend));
}

QVariant HealthModel::data(const QModelIndex& index, int role) const {
  if (role != trend_role || index.column() != trend || trend_ == nullptr) return CellTableModel::data(index, role);
  QList<double> values;
  for (const auto& row : *trend_) values << static_cast<double>(row[static_cast<std::size_t>(index.row())]);
  return QVariant::fromValue(values);
}

Lamp HealthModel::lampOf(int row) const {
  if (!health_) return Lamp::idle;
  const telemetry::TableEntry& entry = entryAt(row);
  if (row == kernels::health_nan_flags && telemetry::word_value(*health_, row) != 0) return Lamp::bad;
  return unhealthy(row) ? Lamp::warning : entry.has_range() ? Lamp::ok : Lamp::idle;
}

int HealthModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(telemetry::health_table().size());
}

bool HealthModel::unhealthy(int row) const {
  return health_ && !entryAt(row).healthy(telemetry::word_value(*health_, row));
}

int HealthModel::unhealthyCount(const telemetry::HealthDiag& health) {
  int count = 0;
  for (int row = 0; row < static_cast<int>(telemetry::health_table().size()); ++row)
    count += !entryAt(row).healthy(telemetry::word_value(health, row));
  return count;
}

int HealthModel::unhealthyCount() const {
  int count = 0;
  for (int row = 0; row < rowCount(); ++row) count += unhealthy(row);
  return count;
}

TableCell HealthModel::valueCell(int row) const {
  if (!health_) return {QStringLiteral("–"), {}, tr("no snapshot yet"), {}, false, true};
  const telemetry::TableEntry& entry = entryAt(row);
  const double number = telemetry::word_value(*health_, row);
  TableCell cell = entry.type == telemetry::WordType::u32 ? countCell(number) : numberCell(number);
  const bool bad = unhealthy(row);
  if (row == kernels::health_nan_flags && number != 0) {
    cell.tip = QString::fromStdString(telemetry::nan_flag_names(static_cast<std::uint32_t>(number)));
  }
  cell.strong = bad;
  return cell;
}

// In words: the line is drawn by the panel.
TableCell HealthModel::trendCell(int row) const {
  TableCell cell;
  if (trend_ == nullptr || trend_->empty()) return cell;
  const auto at = static_cast<std::size_t>(row);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const auto& values : *trend_) {
    const auto number = static_cast<double>(values[at]);
    if (!std::isfinite(number)) continue;
    low = std::min(low, number);
    high = std::max(high, number);
  }
  cell.tip = low <= high ? tr("%1 to %2 in %3 snapshots").arg(formatValue(low), formatValue(high)).arg(trend_->size())
                         : tr("no finite value in %1 snapshots").arg(trend_->size());
  return cell;
}

TableCell HealthModel::cell(int row, int column) const {
  const telemetry::TableEntry& entry = entryAt(row);
  const auto text = [](const QString& shown, bool muted) -> TableCell { return {shown, shown, {}, {}, false, muted}; };
  switch (column) {
    case word: {
      TableCell cell = text(tableText(entry.name), false);
      cell.sort = unhealthy(row) ? row - rowCount() : row;  // unhealthy ones first
      cell.tip = tableText(entry.meaning);
      cell.lamp = lampOf(row);
      cell.strong = unhealthy(row);
      return cell;
    }
    case trend:
      return trendCell(row);
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
