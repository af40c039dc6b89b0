// Checkpoints: those of the run and files that were added by hand.
#pragma once

#include <map>
#include <vector>

#include "ui/models/cell_table_model.h"

namespace foxhunt::ui {

struct CheckpointItem {
  QString file;  // absolute path; the item's identity
  std::optional<qint64> step;
  std::optional<int> fold, epoch;
  QString reason;  // best, periodic, manual, stop, rejected; empty for files of other programs
  QString kind;    // model, full, or empty
  double wall = 0;  // seconds since 1970 UTC; 0: unknown
  qint64 bytes = 0;
  bool rejected = false;
  bool added = false;  // by hand
  std::map<std::string, double> metrics;  // validation
  QString problem;                        // why it cannot be used, or empty
  bool operator==(const CheckpointItem&) const = default;
};

// What the metadata of a file says of itself, without its tensors. Never throws: a file that cannot be used says why in
// `problem`. Reads the header alone.
CheckpointItem checkpointItemOf(const QString& file);
// Metrics in the JSON text of a checkpoint's metadata; what is no number is left away.
std::map<std::string, double> checkpointMetrics(const std::string& json);

class CheckpointListModel : public CellTableModel {
  Q_OBJECT
 public:
  enum Column { step, fold, epoch, reason, sharpe, net, drawdown, trades, size, file };

  explicit CheckpointListModel(QObject* parent = nullptr);
  // The run's, newest first; files added by hand stay below. Rows that stay keep their place as persistent indices.
  void setRun(std::vector<CheckpointItem> items);
  // Replaces an item of the same file. Returns its row.
  int add(CheckpointItem item);
  int rowCount(const QModelIndex& parent = {}) const override;
  const CheckpointItem& item(int row) const { return items_[static_cast<std::size_t>(row)]; }
  int find(const QString& file) const;  // -1: absent

 protected:
  TableCell cell(int row, int column) const override;

 private:
  std::vector<CheckpointItem> items_;  // of the run, then added ones
};

}  // namespace foxhunt::ui
