// The main window: docks made from the panel table, bar at the top, status bar, menus, layouts, and what the user asks
// of sessions and stored runs.
#pragma once

#include <QMainWindow>
#include <QMap>
#include <QThreadPool>
#include <memory>

#include "ui/frame_clock.h"
#include "ui/models/run_data.h"
#include "ui/models/stored_run.h"
#include "ui/panels/panel.h"
#include "ui/session_bridge.h"
#include "ui/settings_store.h"

class QDockWidget;
class QLabel;
class QMenu;
class QToolBar;

namespace foxhunt::ui {

class SessionPanel;
class StatusLine;
class SystemFeed;
class TopBar;

struct WindowOptions {
  std::filesystem::path runs_folder = "runs";
  QString settings_folder;  // empty: nothing is remembered
  SessionFactory sessions = engineSessions();
};

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(WindowOptions options, QWidget* parent = nullptr);
  ~MainWindow() override;

  SessionBridge& bridge() { return *bridge_; }
  RunData& data() { return *data_; }
  StoredRun& stored() { return *stored_; }
  FrameClock& clock() { return *clock_; }
  SessionPanel& session() { return *session_; }
  Panel* panel(const QString& id) const;  // null when unknown
  QDockWidget* dock(const QString& id) const;
  QAction* action(const QString& id) const { return actions_.value(id); }
  // Sentence of the message bar; empty while it is hidden.
  QString messageText() const;

  // A run folder, a configuration, market data or a checkpoint: told apart by what it is.
  void openPath(const QString& path);
  void openRun(const QString& folder);
  void openConfiguration(const QString& file);
  // `last` -1: to the last one. In the live session, or in a new one of the session panel's configuration.
  void startFolds(int first, int last);
  // The simulated market of the shipped demo.
  void startDemo();
  void resumeFrom(const QString& checkpoint);
  // In the Market panel, which comes to the front.
  void evaluate(const QString& checkpoint);
  void bringToFront(const QString& panel);
  // False, with a message, when there is no layout of that name. "default" is the shipped one for the window's width.
  bool applyLayout(const QString& name);
  void saveLayout(const QString& name);
  void setVisible(bool visible) override;
  void setThemeChoice(ThemeChoice choice);
  void showMessage(const QString& severity, const QString& sentence);
  // Ends the session without a question and closes when it has ended.
  void closeAtOnce();

 Q_SIGNALS:
  void closed();

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  // main_window.cpp
  void makePanels();
  void makeBars();
  void showState();
  void connectRules();
  void tellOfRules();  // what a live session's rules have said since the last time
  void watchClosing();
  bool askBeforeClosing();
  void beginSession(const Config& config, SessionOptions options);
  bool refuseWhileLive(const QString& what);
  void remember(const QString& path);
  void loadSettings();
  void saveSettings();  // on a thread of its own: writing waits for the disk
  void saveSettingsNow();
  WindowSettings presentSettings();
  // main_window_menus.cpp
  QAction* addAction(QMenu* menu, const QString& id, const QString& text, const QString& keys, const QString& tip,
                     std::function<void()> run);
  void makeMenus();
  void makeFileMenu();
  void makeSessionMenu();
  void makeRunMenus();
  void makeViewMenu();
  void makeHelpMenu();
  void fillRecent(QMenu* menu);
  void fillLayouts(QMenu* menu);
  void updateActions();
  void chooseData();
  void chooseRun();
  void chooseConfiguration();
  void saveConfiguration();
  void chooseCheckpoint();
  void resumeNewest();
  void askLayoutName();
  void showShortcuts();
  void showPalette();
  void showAbout();
  void togglePause();
  // window_layout.cpp
  void useResources();
  void applyDefaultLayout();
  bool narrow() const;

  WindowOptions options_;
  SettingsStore store_;
  WindowSettings settings_;
  FrameClock* clock_;
  RunData* data_;
  SessionBridge* bridge_;
  StoredRun* stored_;
  SystemFeed* system_;
  PanelContext context_;
  SessionPanel* session_ = nullptr;
  QMap<QString, Panel*> panels_;
  QMap<QString, QDockWidget*> docks_;
  QMap<QString, QAction*> actions_;
  QStringList action_order_;
  TopBar* top_bar_ = nullptr;
  std::unique_ptr<StatusLine> status_line_;
  QToolBar* message_bar_ = nullptr;
  QLabel* message_ = nullptr;
  QToolBar* welcome_bar_ = nullptr;
  QTimer* save_timer_;
  QThreadPool settings_writer_;
  int frames_ = 0;
  bool default_layout_ = true, narrow_layout_ = false;  // neither loaded nor named; the one for narrow windows
  std::size_t events_told_ = 0;
  QString history_problem_;
  SessionState state_of_actions_ = SessionState::idle;  // that updateActions() saw
  bool closing_ = false;
  double closing_since_ = 0;
};

}  // namespace foxhunt::ui
