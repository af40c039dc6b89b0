// The runs under the runs folder.
#pragma once

#include <vector>

#include "engine/run/run_list.h"
#include "ui/models/cell_table_model.h"

namespace foxhunt::ui {

class RunListModel : public CellTableModel {
  Q_OBJECT
 public:
  enum Column { name, status, steps, fold, sharpe, net, market, device, created };

  explicit RunListModel(QObject* parent = nullptr);
  // Newest first. Updates in place when the folders are the same, else resets.
  void setRuns(std::vector<RunSummary> runs);
  // The run that the window shows: semi-bold. Empty: none.
  void setCurrent(const QString& folder);
  int rowCount(const QModelIndex& parent = {}) const override;
  const RunSummary& run(int row) const { return runs_[static_cast<std::size_t>(row)]; }
  QString folder(int row) const { return QString::fromStdString(run(row).folder.string()); }
  // All that a search looks at, in lower case: name, status, device, tags, notes, instrument.
  QString searchText(int row) const;

 protected:
  TableCell cell(int row, int column) const override;

 private:
  std::vector<RunSummary> runs_;
  QString current_;
};

}  // namespace foxhunt::ui
