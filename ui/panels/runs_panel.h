// Runs under the runs folder: search, open a finished, interrupted or running one. The list is read on another thread
// and anew every few seconds while the panel is seen.
#pragma once

#include <QElapsedTimer>

#include "ui/models/background_task.h"
#include "ui/models/run_list_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_parts.h"

class QLabel;
class QLineEdit;
class QToolButton;

namespace foxhunt::ui {

class RunsPanel : public Panel {
  Q_OBJECT
 public:
  RunsPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void setData(RunData* run) override;
  void refresh() override;
  QString summary() const override;

  // Reads the list now.
  void reload();
  void setRunsFolder(const QString& folder);
  const RunListModel& list() const { return *model_; }

 private:
  static constexpr int reload_ms = 2000;

  void takeRuns(std::vector<RunSummary> runs);
  void updateState();
  void openSelected();
  void showMenu(const QPoint& at);

  RunData* data_ = nullptr;
  QString folder_;
  RunListModel* model_;
  SortedTable table_;
  QLineEdit* search_;
  QLabel* state_;
  QToolButton* open_;
  QElapsedTimer since_;
  BackgroundTask task_;
};

}  // namespace foxhunt::ui
