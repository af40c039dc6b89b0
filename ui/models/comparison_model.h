// Two safetensors files side by side: a row a tensor, the most changed first, then what only one file has.
#pragma once

#include <vector>

#include "engine/checkpoint/compare.h"
#include "ui/models/cell_table_model.h"

namespace foxhunt::ui {

class ComparisonModel : public CellTableModel {
  Q_OBJECT
 public:
  enum Column { name, state, max_abs, relative_l2, cosine, sign_share, values };

  explicit ComparisonModel(QObject* parent = nullptr);
  void setComparison(FileComparison comparison);
  const FileComparison& comparison() const { return comparison_; }
  int rowCount(const QModelIndex& parent = {}) const override;
  // "identical", "71 of 75 tensors changed, 1 only in the second file".
  QString sentence() const;
  std::string csv() const;

 protected:
  TableCell cell(int row, int column) const override;

 private:
  struct Other {
    std::string name;
    QString state, tip;
    const char* word;  // in files
  };
  FileComparison comparison_;
  std::vector<Other> others_;  // reshaped, missing, extra
};

}  // namespace foxhunt::ui
