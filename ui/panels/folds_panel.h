// The walk-forward folds; any of them, or a range, is started from here.
#pragma once

#include "ui/models/fold_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_parts.h"

class QPushButton;

namespace foxhunt::ui {

class FoldsPanel : public Panel {
  Q_OBJECT
 public:
  FoldsPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void setData(RunData* run) override;
  QString summary() const override;
  // First and last selected fold; (0, -1), which is all, without a selection.
  std::pair<int, int> selectedFolds() const;

 Q_SIGNALS:
  void startRequested(int first, int last);

 private:
  void updateButton();

  FoldModel* model_;
  SortedTable table_;
  QPushButton* start_;
};

}  // namespace foxhunt::ui
