// Checkpoints: the run's and files added by drop or choice; inspect one, compare two, go on from a full one.
#pragma once

#include "ui/models/checkpoint_list_model.h"
#include "ui/panels/checkpoint_comparison.h"
#include "ui/panels/checkpoint_inspector.h"
#include "ui/panels/panel.h"

class QSplitter;
class QStackedWidget;
class QToolButton;

namespace foxhunt::ui {

class CheckpointsPanel : public Panel {
  Q_OBJECT
 public:
  CheckpointsPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void setData(RunData* run) override;
  QString summary() const override;

  // Adds a file to the list, chooses it and looks into it.
  void addFile(const QString& file);
  void inspect(const QString& file);
  const CheckpointListModel& list() const { return *model_; }
  CheckpointInspector* inspector() const { return inspector_; }
  CheckpointComparison* comparison() const { return comparison_; }

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeButtons(QVBoxLayout* column);
  void fitButtons();
  void takeCheckpoints();
  std::vector<int> selectedRows() const;  // of the model, in the order shown
  void updateButtons();
  void inspectSelected();
  void compareSelected();
  void resumeSelected();
  void chooseFiles();
  void showDetail(QWidget* widget);
  void showMenu(const QPoint& at);

  RunData* data_ = nullptr;
  CheckpointListModel* model_;
  SortedTable table_;
  QSplitter* splitter_;
  QStackedWidget* detail_;
  CheckpointInspector* inspector_;
  CheckpointComparison* comparison_;
  QToolButton *add_, *inspect_, *compare_, *evaluate_, *resume_, *close_;
};

}  // namespace foxhunt::ui
