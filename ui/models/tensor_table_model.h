// The tensors of a safetensors file with their statistics, which arrive while they are computed.
#pragma once

#include <vector>

#include "engine/checkpoint/safetensors.h"
#include "engine/checkpoint/tensor_statistics.h"
#include "ui/models/cell_table_model.h"

namespace foxhunt::ui {

class TensorTableModel : public CellTableModel {
  Q_OBJECT
 public:
  enum Column { name, type, shape, bytes, least, greatest, mean, deviation, norm, zeros, not_finite, dead_units };

  explicit TensorTableModel(QObject* parent = nullptr);
  void setTensors(std::vector<TensorInfo> tensors);
  void setStatistics(int row, const TensorStatistics& statistics);
  int rowCount(const QModelIndex& parent = {}) const override;

  const TensorInfo& tensor(int row) const { return rows_[static_cast<std::size_t>(row)].info; }
  // Empty until computed.
  const std::optional<TensorStatistics>& statistics(int row) const {
    return rows_[static_cast<std::size_t>(row)].values;
  }
  // Header and one row a tensor, plain numbers; statistics not yet computed are empty fields.
  std::string csv() const;

 protected:
  TableCell cell(int row, int column) const override;

 private:
  struct Row {
    TensorInfo info;
    std::optional<TensorStatistics> values;
  };
  std::vector<Row> rows_;
};

}  // namespace foxhunt::ui
