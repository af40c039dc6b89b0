// The 147 words of HealthDiag with lamp, unit, healthy range and how they went lately.
#pragma once

#include <deque>

#include "engine/telemetry/tables.h"
#include "ui/models/cell_table_model.h"

namespace foxhunt::ui {

class HealthModel : public CellTableModel {
  Q_OBJECT
 public:
  enum Column { word, value, trend, unit, range, group };
  // QList<double> of the trend's column: the word in the newest snapshots, oldest first.
  static constexpr int trend_role = Qt::UserRole + 1;
  using Trend = std::deque<std::array<float, kernels::kHealthWords>>;

  explicit HealthModel(QObject* parent = nullptr);
  // Empty: no snapshot yet. The trend, oldest first, is not copied and lives as long as the model; null: none.
  void setHealth(const std::optional<telemetry::HealthDiag>& health, const Trend* history = nullptr);
  QVariant data(const QModelIndex& index, int role) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  // Has a range (or is a flag) and is outside; false without a snapshot.
  bool unhealthy(int row) const;
  int unhealthyCount() const;
  static int unhealthyCount(const telemetry::HealthDiag& health);

 protected:
  TableCell cell(int row, int column) const override;

 private:
  TableCell valueCell(int row) const;
  TableCell trendCell(int row) const;
  Lamp lampOf(int row) const;
  std::optional<telemetry::HealthDiag> health_;
  const Trend* trend_ = nullptr;
};

}  // namespace foxhunt::ui
