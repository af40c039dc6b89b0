// Tests a rule over recorded runs, off the window's thread.
#pragma once

#include <QElapsedTimer>

#include "ui/models/background_task.h"
#include "ui/models/rule_test_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_parts.h"

class QLabel;
class QProgressBar;
class QToolButton;

namespace foxhunt::ui {

class RuleBackTestPage : public QWidget {
  Q_OBJECT
 public:
  RuleBackTestPage(const PanelContext& context, QWidget* parent);
  // The rule that Test runs; empty, or one with a problem: none.
  void setRule(const QString& text, const QString& problem);
  void test();
  void cancel();
  bool running() const { return task_.running(); }
  // Looks for new runs; cheap when it did so lately.
  void refresh();
  QString summary() const;
  const RuleTestModel& results() const { return *model_; }

 Q_SIGNALS:
  void openRunRequested(const QString& folder);

 private:
  static constexpr int reload_ms = 3000;

  void updateState();
  void showRunning(bool on);

  QString folder_, rule_, problem_;
  RuleTestModel* model_;
  SortedTable table_;
  QToolButton *test_, *cancel_, *all_;
  QProgressBar* progress_;
  QLabel *watched_, *state_;
  BackgroundTask listing_, task_;
  QElapsedTimer since_;
};

}  // namespace foxhunt::ui
