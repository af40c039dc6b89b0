// Validation: equity of a chosen epoch against its baselines, its metrics, and all epochs as a table.
#pragma once

#include <optional>

#include "ui/charts/equity_chart.h"
#include "ui/models/epoch_table_model.h"
#include "ui/panels/metric_tiles.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_parts.h"

class QComboBox;
class QSplitter;
class QToolButton;

namespace foxhunt::ui {

class ValidationPanel : public Panel {
  Q_OBJECT
 public:
  ValidationPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void setData(RunData* run) override;
  void refresh() override;
  QString summary() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void takeEpochs();
  void listEpochs();
  // Of the list: the newest, the best, or one by fold and epoch.
  EpochTableModel::Epoch chosen() const;
  void showChosen();
  void showTiles(const EpochView& epoch);
  void choose(const EpochView& epoch);
  void followOthers();  // Market and Trades show the same epoch

  RunData* data_ = nullptr;
  EpochTableModel* model_;
  QComboBox* choice_;
  QToolButton* table_button_;
  MetricTiles* tiles_;
  EquityChart* chart_;
  QSplitter* splitter_;
  SortedTable table_;
  EpochTableModel::Epoch shown_;
  bool stale_ = true, listing_ = false, table_asked_ = false;
};

}  // namespace foxhunt::ui
