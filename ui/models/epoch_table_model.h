// Validations of a run, one row an epoch.
#pragma once

#include <memory>
#include <vector>

#include "ui/models/cell_table_model.h"
#include "ui/models/run_types.h"

namespace foxhunt::ui {

class EpochTableModel : public CellTableModel {
  Q_OBJECT
 public:
  enum Column {
    fold,
    epoch,
    step,
    net,
    sharpe,
    sortino,
    drawdown,
    trades,
    hit_rate,
    profit_factor,
    exposure,
    costs,
    dsr,
    against_hold
  };
  using Epoch = std::shared_ptr<const EpochView>;

  explicit EpochTableModel(QObject* parent = nullptr);
  // By fold, then epoch. Appends when the list grew, else resets.
  void setEpochs(const std::vector<Epoch>& epochs);
  int rowCount(const QModelIndex& parent = {}) const override;
  const Epoch& at(int row) const { return epochs_[static_cast<std::size_t>(row)]; }

 protected:
  TableCell cell(int row, int column) const override;

 private:
  std::vector<Epoch> epochs_;
};

// Name, unit and meaning of a metric by the reference's name; the name itself for unknown ones.
struct MetricText {
  QString label, unit, meaning;
};
MetricText metricText(const std::string& name);
// As tiles and tables show it: "1,940", "54.2 %", "n/a".
QString formatMetric(const std::string& name, double value);

}  // namespace foxhunt::ui
