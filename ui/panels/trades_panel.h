// Trades: every round trip of the evaluation in the Market panel, or of any recorded validation; the one that is chosen
// is looked at in the Market panel's lanes.
#pragma once

#include <QPointer>

#include "ui/models/evaluation_view.h"
#include "ui/models/trade_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_parts.h"

class QComboBox;
class QLabel;
class QToolButton;

namespace foxhunt::ui {

class TradesPanel : public Panel {
  Q_OBJECT
 public:
  TradesPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void setData(RunData* run) override;
  void refresh() override;
  QString summary() const override;

  const TradeModel& trades() const { return *model_; }
  // Plain CSV of all rows; tells by message() how it went.
  void exportTo(const QString& path);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void listEpochs();
  void load();
  void chooseShown();
  void followOthers();
  void selectCurrent();

  QPointer<RunData> data_;  // may go before the panel
  TradeModel* model_;
  QComboBox* choice_;
  QLabel *totals_, *empty_;
  QToolButton* export_;
  SortedTable table_;
  std::shared_ptr<const void> listed_;  // the evaluation or validation that is
  bool stale_ = true, filling_ = false;
};

}  // namespace foxhunt::ui
