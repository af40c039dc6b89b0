// Actions: how often the collector took each action of a branch, as stacked areas over time, and the mix now beside
// that of the greedy policy.
#pragma once

#include <QElapsedTimer>

#include "ui/charts/bars_chart.h"
#include "ui/charts/stacked_area_chart.h"
#include "ui/panels/panel.h"

namespace foxhunt::ui {

class Switch;

class ActionsPanel : public Panel {
  Q_OBJECT
 public:
  ActionsPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void setData(RunData* run) override;
  void refresh() override;
  QString summary() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  static constexpr int both_bars = 290;  // of the panel's height, from which training and greedy bars have room

  static constexpr int most_columns = 400;  // of the areas
  static constexpr int rebuild_ms = 250;    // Qt Charts is not for every frame

  void showRoom();
  void showAreas();
  void showBars();
  std::vector<ShareRow> trainingRows() const;
  std::vector<ShareRow> greedyRows() const;
  // Shares of the newest validation's greedy policy, else of the newest HealthDiag; empty before either.
  std::vector<double> greedyNow(QString& from) const;
  std::vector<double> trainingNow() const;

  RunData* data_ = nullptr;
  Switch *branch_, *policy_;
  StackedAreaChart* areas_;
  BarsChart *training_, *greedy_;
  QElapsedTimer since_;
  std::uint64_t areas_seen_ = 0, bars_seen_ = 0;
  bool areas_stale_ = true, bars_stale_ = true;
};

}  // namespace foxhunt::ui
