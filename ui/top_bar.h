// The bar at the top: run and state, controls, what came of the last command, progress, guard.
#pragma once

#include <QWidget>

#include "engine/session/session_types.h"
#include "ui/theme.h"

class QAction;
class QLabel;
class QProgressBar;

namespace foxhunt::ui {

class RunData;
class SessionBridge;

// A lamp of a size that reads beside text.
class LampWidget : public QWidget {
  Q_OBJECT
 public:
  explicit LampWidget(QWidget* parent = nullptr);
  void setLamp(Lamp lamp);
  Lamp lamp() const { return lamp_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Lamp lamp_ = Lamp::idle;
};

Lamp stateLamp(SessionState state);
// "done at step 412 in 3.1 ms"; says so when no answer has come for a second.
QString commandText(const CommandRecord& record, double now);
// The run folder's name with the time in words: "20261130T170035Z-simulated" is "Nov 30 17:00 · simulated".
QString shortRunName(const QString& name);

class TopBar : public QWidget {
  Q_OBJECT
 public:
  // The actions become buttons, the last one's menu holds `more`.
  TopBar(const QList<QAction*>& actions, QAction* stop, QAction* more, QWidget* parent = nullptr);
  // From what stands now; cheap.
  void show(const RunData& run_data, const SessionBridge& bridge);
  // What came of the last command, in one line; the status bar shows it where there is no room here.
  const QString& lastCommand() const { return last_command_; }
  bool showsCommand() const;
  // With all that may be shown at some time, but for the last command, which has another place.
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void addState(QWidget* parent);
  void addProgress();
  void addGuard();
  void addHealth();
  void showProgress(const SessionStatus& status, bool live);
  void showGuard(const RunData& run_data);
  void showHealth(const RunData& run_data);

  LampWidget *lamp_, *guard_lamp_, *health_lamp_;
  QLabel *state_, *run_, *command_, *fold_, *step_, *guard_, *trip_, *health_;
  QProgressBar *fold_bar_, *epoch_bar_;
  QWidget *command_box_, *guard_box_, *health_box_;
  QString last_command_;
};

// Cuts at the right with "…"; its width does not follow its text. The tooltip has all of it, or `tip`.
void setElided(QLabel* label, const QString& text, const QString& tip = {});

}  // namespace foxhunt::ui
