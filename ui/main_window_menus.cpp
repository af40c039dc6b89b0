// Menus, shortcuts and the dialogs behind them. Every command is an action, found by its id.
#include <QActionGroup>
#include <QApplication>
#include <QDesktopServices>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QFileDialog>
#include <QHeaderView>
#include <QInputDialog>
#include <QMenuBar>
#include <QMessageBox>
#include <QSaveFile>
#include <QTableWidget>
#include <QToolBar>
#include <QVBoxLayout>

#include "engine/config/load_config.h"
#include "ui/command_palette.h"
#include "ui/main_window.h"
#include "ui/panels/folds_panel.h"
#include "ui/panels/session_panel.h"

namespace foxhunt::ui {

QAction* MainWindow::addAction(QMenu* menu, const QString& id, const QString& text, const QString& keys,
                               const QString& tip, std::function<void()> run) {
  auto* action = new QAction(text, this);
  action->setObjectName(id);
  action->setShortcut(QKeySequence(keys));
  action->setToolTip(keys.isEmpty() ? tip
                                    : tr("%1 (%2)").arg(tip, action->shortcut().toString(QKeySequence::NativeText)));
  action->setStatusTip(QString());
  connect(action, &QAction::triggered, this, [call = std::move(run)] { call(); });
  menu->addAction(action);
  QMainWindow::addAction(action);
  actions_.insert(id, action);
  action_order_ << id;
  return action;
}

void MainWindow::makeMenus() {
  makeFileMenu();
  makeSessionMenu();
  makeRunMenus();
  makeViewMenu();
  makeHelpMenu();
}

void MainWindow::makeFileMenu() {
  QMenu* menu = menuBar()->addMenu(tr("&File"));
  addAction(menu, QStringLiteral("openData"), tr("Open market &data…"), QStringLiteral("Ctrl+O"),
            tr("Choose files of bars, book and trades"), [this] { chooseData(); });
  addAction(menu, QStringLiteral("openRun"), tr("Open &run…"), QStringLiteral("Ctrl+Shift+O"),
            tr("Shows a run from its folder, also one that another process is writing"), [this] { chooseRun(); });
  addAction(menu, QStringLiteral("openConfig"), tr("Open &configuration…"), {}, tr("Reads a configuration file"),
            [this] { chooseConfiguration(); });
  addAction(menu, QStringLiteral("saveConfig"), tr("Save configuration &as…"), {},
            tr("Writes the session panel's configuration to a file"), [this] { saveConfiguration(); });
  QMenu* recent = menu->addMenu(tr("Open r&ecent"));
  connect(recent, &QMenu::aboutToShow, this, [this, recent] { fillRecent(recent); });
  menu->addSeparator();
  addAction(menu, QStringLiteral("quit"), tr("&Quit"), QStringLiteral("Ctrl+Q"), tr("Closes the window"),
            [this] { close(); });
}

void MainWindow::makeSessionMenu() {
  QMenu* menu = menuBar()->addMenu(tr("&Session"));
  addAction(menu, QStringLiteral("start"), tr("&Start folds"), QStringLiteral("F5"),
            tr("Trains the folds selected in the table, or all"), [this] {
              const auto* folds = qobject_cast<FoldsPanel*>(panel(QStringLiteral("folds")));
              const auto [first, last] = folds->selectedFolds();
              startFolds(first, last);
            });
  addAction(menu, QStringLiteral("pause"), tr("&Pause"), QStringLiteral("F6"),
            tr("Stops between two steps and keeps everything on the device; the same key resumes bit-exactly"),
            [this] { togglePause(); });
  addAction(menu, QStringLiteral("step"), tr("&One step"), QStringLiteral("F7"), tr("One update, then paused again"),
            [this] { bridge_->oneStep(); });
  addAction(menu, QStringLiteral("save"), tr("Save &checkpoint"), QStringLiteral("Ctrl+S"),
            tr("Writes a full checkpoint now"), [this] { bridge_->saveCheckpoint(); });
  menu->addSeparator();
  addAction(menu, QStringLiteral("stop"), tr("Stop and sa&ve"), QStringLiteral("F8"),
            tr("Ends the session after a full checkpoint"), [this] { bridge_->stopAndSave(); });
  addAction(menu, QStringLiteral("stopNow"), tr("Stop &now…"), QStringLiteral("Shift+F8"),
            tr("Ends the session and discards what was learned since the last checkpoint"), [this] {
              const auto answer = QMessageBox::question(
                  this, tr("Stop now"), tr("What was learned since the last checkpoint is lost. Stop now?"));
              if (answer == QMessageBox::Yes) bridge_->stopNow();
            });
  menu->addSeparator();
  addAction(menu, QStringLiteral("readData"), tr("&Read data"), QStringLiteral("F4"),
            tr("Reads the chosen data and shows what was inferred"), [this] { session_->readData(); });
  addAction(menu, QStringLiteral("demo"), tr("Run simulated &demo"), {}, tr("Trains two folds of a simulated market"),
            [this] { startDemo(); });
}

void MainWindow::makeRunMenus() {
  QMenu* checkpoints = menuBar()->addMenu(tr("&Checkpoints"));
  addAction(checkpoints, QStringLiteral("openCheckpoint"), tr("&Inspect file…"), QStringLiteral("Ctrl+I"),
            tr("Shows the tensors of any safetensors file"), [this] { chooseCheckpoint(); });
  addAction(checkpoints, QStringLiteral("resumeNewest"), tr("&Go on from the newest"), {},
            tr("A new run from the newest full checkpoint of the run shown"), [this] { resumeNewest(); });
  QMenu* runs = menuBar()->addMenu(tr("&Runs"));
  addAction(runs, QStringLiteral("showRuns"), tr("&Show runs"), QStringLiteral("Ctrl+R"),
            tr("Brings the list of runs to the front"), [this] {
              dock(QStringLiteral("runs"))->show();
              dock(QStringLiteral("runs"))->raise();
            });
  runs->addAction(action(QStringLiteral("openRun")));
  addAction(runs, QStringLiteral("runFolder"), tr("Open run &folder"), {},
            tr("Opens the run's folder in the file manager"), [this] {
              if (!data_->folder().empty()) {
                QDesktopServices::openUrl(QUrl::fromLocalFile(QString::fromStdString(data_->folder().string())));
              }
            });
}

void MainWindow::makeViewMenu() {
  QMenu* menu = menuBar()->addMenu(tr("&View"));
  QMenu* panels = menu->addMenu(tr("&Panels"));
  for (auto it = docks_.begin(); it != docks_.end(); ++it) {
    QAction* toggle = it.value()->toggleViewAction();
    toggle->setObjectName(QStringLiteral("panel.") + it.key());
    panels->addAction(toggle);
  }
  QMenu* layouts = menu->addMenu(tr("&Layouts"));
  connect(layouts, &QMenu::aboutToShow, this, [this, layouts] { fillLayouts(layouts); });
  addAction(menu, QStringLiteral("resetLayout"), tr("&Reset layout"), QStringLiteral("Ctrl+Shift+0"),
            tr("Brings every panel back to its place"), [this] { applyDefaultLayout(); });
  addAction(menu, QStringLiteral("saveLayout"), tr("&Save layout…"), {}, tr("Keeps the present layout under a name"),
            [this] { askLayoutName(); });
  menu->addSeparator();
  QMenu* tones = menu->addMenu(tr("&Theme"));
  auto* group = new QActionGroup(this);
  const auto tone = [&](const char* id, const QString& text, const QString& tip, ThemeChoice choice) {
    QAction* action = addAction(tones, QLatin1String(id), text, {}, tip, [this, choice] { setThemeChoice(choice); });
    action->setCheckable(true);
    group->addAction(action);
  };
  tone("themeSystem", tr("As the &system"), tr("Follows the desktop"), ThemeChoice::system);
  tone("themeDark", tr("&Dark"), tr("Dark colours"), ThemeChoice::dark);
  tone("themeLight", tr("&Light"), tr("Light colours"), ThemeChoice::light);
  menu->addSeparator();
  addAction(menu, QStringLiteral("fit"), tr("&Fit all charts"), QStringLiteral("Ctrl+0"),
            tr("Shows the whole run in all live charts"), [this] { data_->link()->fit(); });
  addAction(menu, QStringLiteral("follow"), tr("Follow the &newest"), QStringLiteral("Ctrl+End"),
            tr("Keeps the newest step in view"), [this] { data_->link()->follow(); });
  addAction(menu, QStringLiteral("undoZoom"), tr("&Undo zoom"), QStringLiteral("Alt+Left"), tr("The range before"),
            [this] { data_->link()->undo(); });
  addAction(menu, QStringLiteral("redoZoom"), tr("R&edo zoom"), QStringLiteral("Alt+Right"), tr("The range after"),
            [this] { data_->link()->redo(); });
  menu->addSeparator();
  addAction(menu, QStringLiteral("fullScreen"), tr("Full s&creen"), QStringLiteral("F11"),
            tr("The whole screen, or a window again"),
            [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
}

void MainWindow::makeHelpMenu() {
  QMenu* menu = menuBar()->addMenu(tr("&Help"));
  addAction(menu, QStringLiteral("palette"), tr("Command &palette…"), QStringLiteral("Ctrl+K"),
            tr("All commands by name"), [this] { showPalette(); });
  addAction(menu, QStringLiteral("shortcuts"), tr("&Shortcuts…"), QStringLiteral("F1"),
            tr("All keys, those of the charts too"), [this] { showShortcuts(); });
  addAction(menu, QStringLiteral("about"), tr("&About Foxhunt"), {}, tr("Version and licence"),
            [this] { showAbout(); });
}

void MainWindow::fillRecent(QMenu* menu) {
  menu->clear();
  for (const QString& path : settings_.recent) {
    menu->addAction(path, this, [this, path] { openPath(path); });
  }
  if (settings_.recent.isEmpty()) menu->addAction(tr("nothing yet"))->setEnabled(false);
}

void MainWindow::fillLayouts(QMenu* menu) {
  menu->clear();
  menu->addAction(tr("default"), this, [this] { applyDefaultLayout(); });
  for (const QString& name : settings_.layouts.keys()) {
    menu->addAction(name, this, [this, name] { applyLayout(name); });
  }
}

void MainWindow::updateActions() {
  const SessionState state = state_of_actions_ = bridge_->status().state;
  const bool live = bridge_->live();
  const bool paused = live && state == SessionState::paused;
  // Commands given while an epoch is validated are taken up right after it.
  const bool training = live && (state == SessionState::training || state == SessionState::validating);
  const auto enable = [this](const char* id, bool on) { action(QLatin1String(id))->setEnabled(on); };
  QAction* pause = action(QStringLiteral("pause"));
  pause->setText(paused ? tr("&Resume") : tr("&Pause"));
  enable("pause", paused || training);
  enable("step", paused);
  enable("save", paused || training || (live && state == SessionState::idle));
  enable("start", !live || state == SessionState::idle);
  enable("stop", live && state != SessionState::stopping && state != SessionState::preparing);
  enable("stopNow", live);
  for (const char* id : {"openRun", "openConfig", "openData", "readData", "demo", "resumeNewest"}) enable(id, !live);
  session_->setRunning(live);
  const ThemeChoice tone = settings_.theme;
  action(QStringLiteral("themeSystem"))->setChecked(tone == ThemeChoice::system);
  action(QStringLiteral("themeDark"))->setChecked(tone == ThemeChoice::dark);
  action(QStringLiteral("themeLight"))->setChecked(tone == ThemeChoice::light);
}

void MainWindow::togglePause() {
  if (bridge_->status().state == SessionState::paused) {
    bridge_->resume();
  } else {
    bridge_->pause();
  }
}

void MainWindow::chooseData() {
  const QStringList files = QFileDialog::getOpenFileNames(
      this, tr("Open market data"), {}, tr("Market data (*.dbn *.dbn.zst *.csv *.csv.zst *.txt);;All files (*)"));
  if (files.isEmpty()) return;
  welcome_bar_->hide();
  session_->openFiles(files);
}

void MainWindow::chooseRun() {
  const QString folder =
      QFileDialog::getExistingDirectory(this, tr("Open run"), QString::fromStdString(options_.runs_folder.string()));
  if (!folder.isEmpty()) openRun(folder);
}

void MainWindow::chooseConfiguration() {
  const QString file =
      QFileDialog::getOpenFileName(this, tr("Open configuration"), {}, tr("Configurations (*.json);;All files (*)"));
  if (!file.isEmpty()) openConfiguration(file);
}

void MainWindow::saveConfiguration() {
  const QString file = QFileDialog::getSaveFileName(this, tr("Save configuration"), QStringLiteral("foxhunt.json"),
                                                    tr("Configurations (*.json)"));
  if (file.isEmpty()) return;
  QSaveFile target(file);
  const std::string text = to_json(session_->config()).dump(2) + "\n";
  const bool written =
      target.open(QIODevice::WriteOnly) &&
      target.write(text.data(), static_cast<qint64>(text.size())) == static_cast<qint64>(text.size()) &&
      target.commit();
  if (!written) showMessage(QStringLiteral("error"), tr("%1 could not be written: %2").arg(file, target.errorString()));
}

void MainWindow::chooseCheckpoint() {
  const QString file =
      QFileDialog::getOpenFileName(this, tr("Inspect file"), {}, tr("Checkpoints (*.safetensors);;All files (*)"));
  if (!file.isEmpty()) openPath(file);
}

void MainWindow::resumeNewest() {
  const auto& all = data_->checkpoints();
  const auto newest = std::find_if(all.rbegin(), all.rend(), [](const CheckpointView& view) {
    return view.kind == QLatin1String("full") && !view.rejected && view.problem.isEmpty();
  });
  if (newest == all.rend()) {
    showMessage(QStringLiteral("warning"), tr("The run shown has no full checkpoint to go on from."));
    return;
  }
  resumeFrom(QString::fromStdString(newest->file.string()));
}

void MainWindow::askLayoutName() {
  const QString name = QInputDialog::getText(this, tr("Save layout"), tr("Name of the layout")).trimmed();
  if (!name.isEmpty() && name != QLatin1String("default")) saveLayout(name);
}

void MainWindow::showPalette() {
  QList<QAction*> actions;
  for (const QString& id : action_order_) {
    if (id != QLatin1String("palette")) actions << actions_.value(id);
  }
  for (QDockWidget* dock : docks_) actions << dock->toggleViewAction();
  CommandPalette(actions, this).exec();
}

void MainWindow::showShortcuts() {
  QDialog dialog(this);
  dialog.setObjectName(QStringLiteral("shortcuts"));
  dialog.setWindowTitle(tr("Shortcuts"));
  dialog.resize(520, 560);
  auto* column = new QVBoxLayout(&dialog);
  auto* table = new QTableWidget(0, 2, &dialog);
  table->setHorizontalHeaderLabels({tr("Keys"), tr("What they do")});
  table->verticalHeader()->hide();
  table->setShowGrid(false);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->horizontalHeader()->setStretchLastSection(true);
  const auto add = [table](const QString& keys, const QString& what) {
    const int row = table->rowCount();
    table->insertRow(row);
    table->setItem(row, 0, new QTableWidgetItem(keys));
    table->setItem(row, 1, new QTableWidgetItem(what));
  };
  for (const QString& id : action_order_) {
    const QAction* action = actions_.value(id);
    if (!action->shortcut().isEmpty()) add(action->shortcut().toString(QKeySequence::NativeText), plainText(action));
  }
  add(tr("Wheel"), tr("Charts: zoom around the pointer; with Ctrl the y axis"));
  add(tr("Drag"), tr("Charts: pan; with Shift a rectangle to zoom into"));
  add(tr("Double click"), tr("Charts: everything in view"));
  add(tr("Arrows, + and -"), tr("Charts: pan and zoom"));
  add(tr("Click on a legend"), tr("Charts: hide a series; double click shows it alone"));
  table->resizeColumnToContents(0);
  column->addWidget(table);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, &dialog);
  connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  column->addWidget(buttons);
  dialog.exec();
}

void MainWindow::showAbout() {
  QMessageBox::about(
      this, tr("About Foxhunt"),
      tr("<b>Foxhunt %1</b><p>Trains a trading agent on this machine and shows how it thinks. It opens no "
         "network connection.</p><p>Free software under the GNU General Public License, version 3 or "
         "later. Qt %2.</p>")
          .arg(QStringLiteral(FOXHUNT_VERSION), QString::fromLatin1(qVersion())));
}

}  // namespace foxhunt::ui
