// Rows of the value table.
#include "ui/charts/crosshair_model.h"

#include "ui/charts/format.h"

namespace foxhunt::ui {

CrosshairModel::CrosshairModel(ChartLink* link, QObject* parent) : QAbstractTableModel(parent), link_(link) {
  connect(link, &ChartLink::crosshairChanged, this, &CrosshairModel::reload);
  reload();
}

void CrosshairModel::reload() {
  std::vector<ValueRow> rows;
  if (link_ && link_->crosshair()) rows = link_->values(*link_->crosshair());
  if (rows.size() == rows_.size()) {
    rows_ = std::move(rows);
    if (!rows_.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    return;
  }
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

int CrosshairModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int CrosshairModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : 6;
}

QVariant CrosshairModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const ValueRow& row = rows_[static_cast<std::size_t>(index.row())];
  if (role == Qt::DecorationRole && index.column() == 1) return row.color;
  if (role == Qt::TextAlignmentRole && index.column() >= 2) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  const QString unit = row.unit.isEmpty() ? QString() : QLatin1Char(' ') + row.unit;
  switch (index.column()) {
    case 0:
      return row.chart;
    case 1:
      return row.series;
    case 2:
      return formatValue(row.value) + unit;
    case 3:
      return formatValue(row.min) + unit;
    case 4:
      return formatValue(row.max) + unit;
    default:
      return formatCount(static_cast<double>(row.count));
  }
}

QVariant CrosshairModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole || orientation != Qt::Horizontal || section < 0 || section > 5) return {};
  const QString names[] = {tr("Chart"), tr("Series"), tr("Value"), tr("Lowest"), tr("Highest"), tr("Samples")};
  return names[section];
}

}  // namespace foxhunt::ui
