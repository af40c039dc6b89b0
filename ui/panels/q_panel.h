// Q-values: mean of each branch with the level at which the drift guard trips, gaps, spread of the distributions.
#pragma once

#include "ui/panels/curve_panel.h"

class QComboBox;
class QLabel;

namespace foxhunt::ui {

class Switch;

class QPanel : public CurvePanel {
  Q_OBJECT
 public:
  QPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void refresh() override;
  QString summary() const override;

 protected:
  void fill(RunData& run) override;

 private:
  void showGuard();
  // Settings of the guard with which it trips at `level` now: a higher level becomes its floor, a lower one lowers what
  // stands above it.
  void setTripLevel(double level);
  void setMode(int index);

  PanelContext context_;
  CurveChart* chart_;
  Switch* view_;
  QLabel* guard_text_;
  QComboBox* guard_mode_;
  QString shown_;  // guard as last drawn
};

}  // namespace foxhunt::ui
