// The optimiser: gradient norm before and after clipping, and the scheduled scalars.
#pragma once

#include "ui/panels/curve_panel.h"

namespace foxhunt::ui {

class OptimiserPanel : public CurvePanel {
  Q_OBJECT
 public:
  OptimiserPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);

 protected:
  void fill(RunData& run) override;

 private:
  CurveChart *norms_, *schedules_;
};

}  // namespace foxhunt::ui
