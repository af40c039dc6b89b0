// The 147 words of HealthDiag with unit, healthy range and lamp.
#pragma once

#include "engine/telemetry/tables.h"
#include "ui/models/cell_table_model.h"

namespace foxhunt::ui {

class HealthModel : public CellTableModel {
  Q_OBJECT
 public:
  enum Column { word, value, unit, range, group };

  explicit HealthModel(QObject* parent = nullptr);
  // Empty: no snapshot yet.
  void setHealth(const std::optional<telemetry::HealthDiag>& health);
  int rowCount(const QModelIndex& parent = {}) const override;
  // Has a range (or is a flag) and is outside; false without a snapshot.
  bool unhealthy(int row) const;
  int unhealthyCount() const;

 protected:
  TableCell cell(int row, int column) const override;

 private:
  TableCell valueCell(int row) const;
  std::optional<telemetry::HealthDiag> health_;
};

}  // namespace foxhunt::ui
