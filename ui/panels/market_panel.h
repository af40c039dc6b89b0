// Market: the validation window as candles, with position and decision, reward and Q gap in lanes on one crosshair; of
// the newest validation of a live session, or of a checkpoint that is evaluated here.
#pragma once

#include <QPointer>

#include "ui/charts/lane_chart.h"
#include "ui/models/evaluation_view.h"
#include "ui/panels/panel.h"

class QComboBox;
class QLabel;
class QProgressBar;
class QToolButton;

namespace foxhunt::ui {

class MarketPanel : public Panel {
  Q_OBJECT
 public:
  MarketPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void setData(RunData* run) override;
  void refresh() override;
  QString summary() const override;

  // Evaluates a checkpoint of the run shown and shows it.
  void evaluate(const std::filesystem::path& checkpoint);
  LaneChart& chart() { return *chart_; }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeControls();
  EvaluationView* view() const { return data_->evaluation(); }
  void listCheckpoints();
  void tellEpoch();    // of the checkpoint that is shown, to Validation and Trades
  void followEpoch();  // that they have chosen: its checkpoint is evaluated
  void showBadge();
  bool busy() const;  // the session has the device
  void updateControls();
  void showActivity();
  // Lanes are made on another thread.
  void load();
  void showSelected(bool zoom);
  void selectTradeAt(quint64 bar);
  QString emptyText() const;
  std::vector<ValueBoxRow> detailsOf(std::size_t bar) const;

  PanelContext context_;
  QPointer<RunData> data_;  // may go before the panel
  QComboBox* choice_;
  QToolButton *evaluate_, *hold_, *cancel_, *fit_;
  QProgressBar* progress_;
  QLabel* state_;
  LaneChart* chart_;
  BackgroundTask task_;
  EvaluationView::Trace wanted_, shown_;  // being made into lanes; on the chart
  std::vector<std::int32_t> trace_of_;    // place in the trace of each bar of the window; -1: none
  bool stale_ = true;
  QString missing_;           // why the chosen epoch is not what is shown; empty: it is
  bool epoch_asked_ = false;  // elsewhere, since the last refresh
  bool busy_ = false;         // as the controls show it
};

}  // namespace foxhunt::ui
