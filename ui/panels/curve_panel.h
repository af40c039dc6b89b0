// A panel of live curves over steps, linked with those of the other panels.
#pragma once

#include <vector>

#include "ui/charts/curve_chart.h"
#include "ui/panels/panel.h"

namespace foxhunt::ui {

class CurvePanel : public Panel {
  Q_OBJECT
 public:
  using Panel::Panel;
  void setData(RunData* run) override;
  void refresh() override;
  QString summary() const override;
  const std::vector<CurveChart*>& charts() const { return charts_; }

 protected:
  // Charts are made in the constructor, and filled anew whenever the run changes.
  CurveChart* addChart(const QString& title);
  virtual void fill(RunData& run) = 0;
  RunData* data() const { return data_; }
  // A curve of the step ring, explained by its table.
  static void addStep(CurveChart& chart, RunData& run, int word, const QString& name, int color_index = -1);
  static void addSignal(CurveChart& chart, RunData& run, int signal, const QString& name, int color_index = -1);

 private:
  void rebuild();

  RunData* data_ = nullptr;
  std::vector<CurveChart*> charts_;
};

}  // namespace foxhunt::ui
