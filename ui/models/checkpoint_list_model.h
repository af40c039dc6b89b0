// Checkpoints: those of the run and files that were added by hand.
#pragma once

#include <vector>

#include "ui/models/cell_table_model.h"
#include "ui/models/run_types.h"

namespace foxhunt::ui {

struct CheckpointItem {
  CheckpointView view;
  bool placed = true;  // step, fold and epoch are known
  bool added = false;  // by hand
};

// What a file says of itself, without its tensors. Never throws: a file that cannot be used says why in `problem`.
// Reads the header alone.
CheckpointItem checkpointItemOf(const QString& file);
// "Fold 2 (file fold1-step000001600-best.safetensors)": names of files count folds from 0, the window from 1.
QString checkpointName(const QString& file);
// Metrics in the JSON text of a checkpoint's metadata; what is no number is left away.
MetricList checkpointMetrics(const std::string& json);

class CheckpointListModel : public CellTableModel {
  Q_OBJECT
 public:
  enum Column { step, fold, epoch, reason, sharpe, net, drawdown, trades, size, file };

  explicit CheckpointListModel(QObject* parent = nullptr);
  // The run's, newest first; files added by hand stay below. Resets the model when the list of files changed.
  void setRun(const std::vector<CheckpointView>& checkpoints);
  // Replaces an item of the same file. Returns its row.
  int add(CheckpointItem item);
  int rowCount(const QModelIndex& parent = {}) const override;
  const CheckpointItem& item(int row) const { return items_[static_cast<std::size_t>(row)]; }
  QString path(int row) const { return QString::fromStdString(item(row).view.file.string()); }
  int find(const QString& wanted) const;  // -1: absent

 protected:
  TableCell cell(int row, int column) const override;

 private:
  static TableCell reasonCell(const CheckpointView& view);

  std::vector<CheckpointItem> items_;  // of the run, then added ones
};

}  // namespace foxhunt::ui
