// Losses on a log axis: total, the ten terms, and the share of the distributional one.
#pragma once

#include "ui/panels/curve_panel.h"

namespace foxhunt::ui {

class LossesPanel : public CurvePanel {
  Q_OBJECT
 public:
  LossesPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);

 protected:
  void fill(RunData& run) override;

 private:
  CurveChart* chart_;
  std::vector<bool> shown_;  // as the user left it; one a curve
  bool filling_ = false;
};

}  // namespace foxhunt::ui
