// The contract of a panel: one widget in a dock, fed with one RunData, refreshed by the frame clock only while it is
// visible.
#pragma once

#include <QWidget>
#include <filesystem>

#include "ui/models/run_data.h"

namespace foxhunt::ui {

class SessionBridge;
class SystemFeed;

// What the window gives to its panels. Outlives them.
struct PanelContext {
  SessionBridge* bridge = nullptr;    // commands to the live session
  std::filesystem::path runs_folder;  // where runs lie
  SystemFeed* system = nullptr;       // use of GPU and host; null: nobody samples
};

class Panel : public QWidget {
  Q_OBJECT
 public:
  Panel(const QString& id, const QString& title, QWidget* parent) : QWidget(parent), id_(id), title_(title) {
    setObjectName(id);
    setAccessibleName(title);
  }

  // Stable, as layouts store it: "losses".
  const QString& id() const { return id_; }
  // Translated, as the dock shows it.
  const QString& title() const { return title_; }

  // Once, before the panel is shown. The same RunData serves live and stored runs in turn: rebuild on its cleared().
  virtual void setData(RunData* data) = 0;
  // Called by the frame clock while the panel is visible; must be cheap when nothing is new.
  virtual void refresh() {}
  // The panel in words, for screen readers and tests.
  virtual QString summary() const { return title_; }

 Q_SIGNALS:
  // Asks the window to show a stored run (its folder), or a safetensors file.
  void openRunRequested(const QString& folder);
  void openFileRequested(const QString& file);
  // Asks the window to bring another panel to the front.
  void panelRequested(const QString& id);
  // Asks for a checkpoint to be evaluated in the Market panel.
  void evaluateRequested(const QString& checkpoint);
  // Asks the window to go on from a full checkpoint.
  void resumeRequested(const QString& checkpoint);
  // A sentence for the window's message bar; severity: info, warning, error.
  void message(const QString& severity, const QString& sentence);

 private:
  QString id_, title_;
};

}  // namespace foxhunt::ui
