// The user's rules: a table with what each has done, an editor with live checks, Apply to the session that runs, and a
// back-test over recorded runs.
#pragma once

#include <QElapsedTimer>

#include "ui/models/rule_list_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_parts.h"

class QLabel;
class QScrollArea;
class QSplitter;
class QStackedWidget;
class QToolButton;

namespace foxhunt::ui {

class RuleBackTestPage;
class RuleEditor;

class RulesPanel : public Panel {
  Q_OBJECT
 public:
  RulesPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void setData(RunData* run) override;
  void refresh() override;
  QString summary() const override;

  // The rules of the configuration that the next session starts with.
  void setConfigured(const QStringList& texts);
  RuleListModel& list() { return *model_; }
  RuleBackTestPage& backTest() { return *test_page_; }
  // To the session that runs, and into the configuration; nothing while a rule is not valid.
  void apply();
  void revert();
  void addRule();
  void removeRule();

 Q_SIGNALS:
  // What the configuration is to hold from now on.
  void applied(const QStringList& texts);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  static constexpr int refresh_ms = 250;

  QWidget* makeListPage();
  void connectAll();
  bool live() const;
  // What stands in the session, else in the configuration; the list follows it unless it has been edited.
  void takeApplied();
  void showCurrent();
  void updateState();
  // In a low dock the editor takes the place of the table while Edit is down.
  void arrange();
  void watchCommand(quint64 number);

  PanelContext context_;
  RunData* data_ = nullptr;
  RuleListModel* model_;
  SortedTable table_;
  Switch* page_;
  QStackedWidget* pages_;
  QSplitter* splitter_;
  QLabel *empty_, *state_;
  QScrollArea* editor_area_;
  RuleEditor* editor_;
  RuleBackTestPage* test_page_;
  QWidget* list_;
  QToolButton *add_, *remove_, *apply_, *revert_, *edit_;
  QStringList configured_, of_run_;
  QString answer_;  // of the last Apply
  bool answer_bad_ = false;
  quint64 command_ = 0;
  QElapsedTimer since_;
};

}  // namespace foxhunt::ui
