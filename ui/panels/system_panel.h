// GPU and host: use, memory, clocks, power, temperature; without a driver the processor alone, and why.
#pragma once

#include "ui/models/system_feed.h"
#include "ui/panels/metric_tiles.h"
#include "ui/panels/panel.h"

class QLabel;

namespace foxhunt::ui {

class CurveChart;

class SystemPanel : public Panel {
  Q_OBJECT
 public:
  SystemPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void setData(RunData* run) override;
  void refresh() override;
  QString summary() const override;

 private:
  void showSample();
  void addCurves(bool gpu);

  SystemFeed* feed_;
  MetricTiles *gpu_, *host_;
  CurveChart* chart_;
  QLabel* sentence_;
};

}  // namespace foxhunt::ui
