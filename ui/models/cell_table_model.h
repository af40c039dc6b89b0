// Tables of plain rows: a model says what its columns are and what a cell shows; alignment, fonts, lamps and sorting
// are the same in all of them.
#pragma once

#include <QAbstractTableModel>
#include <QIcon>
#include <QString>
#include <optional>
#include <vector>

#include "ui/theme.h"

namespace foxhunt::ui {

struct TableColumn {
  QString title;
  QString help;  // tooltip of the header
  bool number = true;
};

struct TableCell {
  QString text;
  QVariant sort;  // invalid: after all others when ascending
  QString tip;    // empty: the text's own
  std::optional<Lamp> lamp;
  bool strong = false;  // semi-bold
  bool muted = false;
};

// "n/a" with nothing to sort by when there is no value, else formatted; `digits` significant.
TableCell numberCell(std::optional<double> value, int digits = 4);
TableCell countCell(double value);
QIcon lampIcon(Lamp lamp);

class CellTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  static constexpr int sort_role = Qt::UserRole;

  explicit CellTableModel(std::vector<TableColumn> columns, QObject* parent = nullptr);
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  const TableColumn& column(int index) const { return columns_[static_cast<std::size_t>(index)]; }

 protected:
  virtual TableCell cell(int row, int column) const = 0;

 private:
  std::vector<TableColumn> columns_;
};

}  // namespace foxhunt::ui
