// What a cell looks like, whatever the table.
#include "ui/models/cell_table_model.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPixmap>
#include <cmath>

#include "ui/charts/format.h"

namespace foxhunt::ui {

TableCell numberCell(std::optional<double> value, int digits) {
  if (!value) return {QCoreApplication::translate("foxhunt::ui::CellTableModel", "n/a"), {}, {}, {}, false, true};
  return {formatValue(*value, digits), std::isnan(*value) ? QVariant() : QVariant(*value), {}, {}, false, false};
}

TableCell countCell(double value) {
  return {formatCount(value), value, {}, {}, false, false};
}

QIcon lampIcon(Lamp lamp) {
  constexpr int side = 12;
  QPixmap pixmap(2 * side, 2 * side);
  pixmap.setDevicePixelRatio(2);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  drawLamp(painter, QRectF(1.5, 1.5, side - 3, side - 3), lamp);
  return QIcon(pixmap);
}

CellTableModel::CellTableModel(std::vector<TableColumn> columns, QObject* parent)
    : QAbstractTableModel(parent), columns_(std::move(columns)) {
  connect(&themeNotifier(), &ThemeNotifier::changed, this, [this] {
    if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
  });
}

int CellTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant CellTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const TableColumn& c = column(section);
  if (role == Qt::DisplayRole) return c.title;
  if (role == Qt::ToolTipRole && !c.help.isEmpty()) return c.help;
  if (role == Qt::TextAlignmentRole)
    return QVariant(Qt::Alignment(Qt::AlignVCenter | (c.number ? Qt::AlignRight : Qt::AlignLeft)));
  return {};
}

QVariant CellTableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) return {};
  const TableColumn& c = column(index.column());
  if (role == Qt::TextAlignmentRole)
    return QVariant(Qt::Alignment(Qt::AlignVCenter | (c.number ? Qt::AlignRight : Qt::AlignLeft)));
  const TableCell shown = cell(index.row(), index.column());
  switch (role) {
    case Qt::DisplayRole:
      return shown.text;
    case Qt::ToolTipRole:
      return shown.tip.isEmpty() ? shown.text : shown.tip;
    case Qt::AccessibleTextRole:
      return QStringLiteral("%1: %2").arg(c.title, shown.text);
    case Qt::DecorationRole:
      return shown.lamp ? QVariant(lampIcon(*shown.lamp)) : QVariant();
    case Qt::ForegroundRole:
      return shown.muted ? QVariant(theme().muted) : QVariant();
    case Qt::FontRole: {
      QFont font = c.number ? theme().number_font : theme().font;
      if (shown.strong) font.setWeight(QFont::DemiBold);
      return font;
    }
    case sort_role:
      return shown.sort;
    default:
      return {};
  }
}

}  // namespace foxhunt::ui
