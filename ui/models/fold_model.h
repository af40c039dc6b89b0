// The run's folds as a table: windows, state, best validation.
#pragma once

#include "ui/models/cell_table_model.h"
#include "ui/models/run_data.h"

namespace foxhunt::ui {

class FoldModel : public CellTableModel {
  Q_OBJECT
 public:
  enum Column { number, train, validation, rows, sharpe, state };

  explicit FoldModel(QObject* parent = nullptr);
  void setData(const RunData* data);
  int rowCount(const QModelIndex& parent = {}) const override;
  // A fold's windows and how far it is, in words.
  QString describe(int row) const;

 protected:
  TableCell cell(int row, int column) const override;

 private:
  void reload();

  const RunData* data_ = nullptr;
  std::vector<FoldView> folds_;
};

}  // namespace foxhunt::ui
