// Making of the window, and what it does with sessions, runs and files.
#include "ui/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QDockWidget>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QStatusBar>
#include <QToolBar>
#include <QToolButton>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/config/load_config.h"
#include "engine/run/run_folder.h"
#include "ui/models/system_feed.h"
#include "ui/panels/checkpoints_panel.h"
#include "ui/panels/folds_panel.h"
#include "ui/panels/market_panel.h"
#include "ui/panels/panel_registry.h"
#include "ui/panels/rules_panel.h"
#include "ui/panels/session_panel.h"
#include "ui/status_line.h"
#include "ui/steady_size.h"
#include "ui/top_bar.h"

namespace foxhunt::ui {
namespace {

constexpr int kStateFrames = 6;          // frames between updates of texts: ten a second
constexpr double kPatienceSeconds = 15;  // for a session that is asked to stop while the window closes
constexpr int kRecent = 12;

QString sentenceOf(const std::exception& error) {
  if (const auto* known = dynamic_cast<const Error*>(&error)) return QString::fromStdString(known->sentence());
  return QString::fromLocal8Bit(error.what());
}

}  // namespace

MainWindow::MainWindow(WindowOptions options, QWidget* parent)
    : QMainWindow(parent),
      options_(std::move(options)),
      store_(options_.settings_folder),
      clock_(new FrameClock(this)),
      data_(new RunData(512u << 20, this)),
      bridge_(new SessionBridge(clock_, data_, options_.sessions, this)),
      stored_(new StoredRun(clock_, data_, this)),
      system_(new SystemFeed(this)),
      context_{bridge_, options_.runs_folder, system_},
      save_timer_(new QTimer(this)) {
  setObjectName(QStringLiteral("mainWindow"));
  setWindowTitle(tr("Foxhunt"));
  setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  setAcceptDrops(true);
  useResources();
  makePanels();
  makeMenus();
  makeBars();
  // The narrow layout first: the wide one's least width would hold a window that is then asked to be small.
  resize(1280, 800);
  applyDefaultLayout();
  resize(1600, 950);
  loadSettings();
  save_timer_->setSingleShot(true);
  save_timer_->setInterval(2000);
  connect(save_timer_, &QTimer::timeout, this, &MainWindow::saveSettings);
  connect(bridge_, &SessionBridge::statusChanged, this, [this] {
    if (bridge_->status().state != state_of_actions_) updateActions();
  });
  connect(bridge_, &SessionBridge::started, this, &MainWindow::updateActions);
  connect(bridge_, &SessionBridge::ended, this, &MainWindow::updateActions);
  connect(bridge_, &SessionBridge::failed, this, [this](const QString& sentence) {
    showMessage(QStringLiteral("error"), tr("The session failed: %1").arg(sentence));
  });
  connect(bridge_, &SessionBridge::commandChanged, this, [this](quint64 number) {
    const CommandRecord& record = bridge_->commands().at(number - 1);
    if (record.stage == CommandRecord::Stage::refused && !closing_) {
      showMessage(QStringLiteral("warning"), commandText(record, wall_seconds()));
    }
    showState();
  });
  connect(stored_, &StoredRun::failed, this,
          [this](const QString& sentence) { showMessage(QStringLiteral("error"), sentence); });
  connect(data_, &RunData::statusChanged, this, [this] {
    const SessionStatus& status = data_->status();
    const QString problem = QString::fromStdString(status.history_problem);
    if (problem != std::exchange(history_problem_, problem) && !problem.isEmpty())
      showMessage(QStringLiteral("error"),
                  tr("The run's history cannot be written, training goes on. %1").arg(problem));
    if (status.state == SessionState::halted && data_->source() == RunData::Source::live) {
      showMessage(QStringLiteral("error"), tr("Training halted: %1").arg(QString::fromStdString(status.reason)));
    }
  });
  connectRules();
  connect(data_, &RunData::nameChanged, this,
          [this] { setWindowTitle(data_->name().isEmpty() ? tr("Foxhunt") : tr("%1 – Foxhunt").arg(data_->name())); });
  clock_->addReader(this, [this] {
    if (closing_) watchClosing();
    if (++frames_ % kStateFrames == 0) showState();
  });
  updateActions();
  showState();
  clock_->start();
}

MainWindow::~MainWindow() {
  clock_->stop();
  settings_writer_.waitForDone();
}

void MainWindow::makePanels() {
  for (const PanelEntry& entry : panelTable()) {
    const QString id = QString::fromLatin1(entry.id);
    const QString title = QCoreApplication::translate("Panels", entry.title);
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(QStringLiteral("dock.") + id);
    Panel* panel = entry.make(context_, id, title, dock);
    panel->setProperty("panel", true);
    panel->setAttribute(Qt::WA_StyledBackground);
    panel->setData(data_);
    dock->setWidget(new SteadySize(panel, dock));
    panels_.insert(id, panel);
    docks_.insert(id, dock);
    clock_->addPainter(panel, [panel] { panel->refresh(); });
    connect(panel, &Panel::openRunRequested, this, &MainWindow::openRun);
    connect(panel, &Panel::openFileRequested, this, &MainWindow::openPath);
    connect(panel, &Panel::resumeRequested, this, &MainWindow::resumeFrom);
    connect(panel, &Panel::panelRequested, this, &MainWindow::bringToFront);
    connect(panel, &Panel::evaluateRequested, this, &MainWindow::evaluate);
    connect(panel, &Panel::message, this, &MainWindow::showMessage);
    const auto later = [this] { save_timer_->start(); };
    connect(dock, &QDockWidget::dockLocationChanged, this, later);
    connect(dock, &QDockWidget::topLevelChanged, this, later);
    connect(dock, &QDockWidget::visibilityChanged, this, later);
  }
  session_ = qobject_cast<SessionPanel*>(panel(QStringLiteral("session")));
  FH_CHECK(session_ != nullptr, "no session panel in the table");
  connect(session_, &SessionPanel::configChanged, this, [this] { save_timer_->start(); });
  connect(session_, &SessionPanel::preview, this, [this](const std::shared_ptr<const SessionPlan>& plan) {
    if (bridge_->live() || data_->source() == RunData::Source::stored) return;
    bridge_->showPreview(plan);
  });
  if (auto* folds = qobject_cast<FoldsPanel*>(panel(QStringLiteral("folds")))) {
    connect(folds, &FoldsPanel::startRequested, this, &MainWindow::startFolds);
  }
}

void MainWindow::makeBars() {
  auto* bar = addToolBar(tr("Controls"));
  bar->setObjectName(QStringLiteral("controls"));
  bar->setMovable(false);
  bar->setFloatable(false);
  bar->toggleViewAction()->setVisible(false);
  top_bar_ = new TopBar({action(QStringLiteral("start")), action(QStringLiteral("pause")),
                         action(QStringLiteral("step")), action(QStringLiteral("save"))},
                        action(QStringLiteral("stop")), action(QStringLiteral("stopNow")), bar);
  top_bar_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  auto* steady = new SteadySize(top_bar_, bar);
  steady->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  bar->addWidget(steady);
  const auto extra = [this](const char* name, const QString& title) {
    addToolBarBreak();
    auto* made = addToolBar(title);
    made->setObjectName(QLatin1String(name));
    made->setMovable(false);
    made->toggleViewAction()->setVisible(false);
    made->hide();
    return made;
  };
  message_bar_ = extra("messages", tr("Messages"));
  message_ = new QLabel(message_bar_);
  message_->setObjectName(QStringLiteral("message"));
  message_->setWordWrap(true);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  message_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  message_bar_->addWidget(message_);
  auto* dismiss = new QToolButton(message_bar_);
  dismiss->setText(tr("Dismiss"));
  dismiss->setObjectName(QStringLiteral("dismiss"));
  connect(dismiss, &QToolButton::clicked, message_bar_, &QToolBar::hide);
  message_bar_->addWidget(dismiss);
  welcome_bar_ = extra("welcome", tr("Welcome"));
  auto* words = new QLabel(tr("Start with market data of your own, a simulated market, or a run:"), welcome_bar_);
  words->setContentsMargins(6, 0, 12, 0);
  welcome_bar_->addWidget(words);
  for (const char* id : {"openData", "demo", "openRun"}) welcome_bar_->addAction(action(QLatin1String(id)));
  welcome_bar_->show();
  status_line_ = std::make_unique<StatusLine>(statusBar());
  statusBar()->setSizeGripEnabled(false);
}

Panel* MainWindow::panel(const QString& id) const {
  return panels_.value(id);
}

QDockWidget* MainWindow::dock(const QString& id) const {
  return docks_.value(id);
}

QString MainWindow::messageText() const {
  return message_bar_->isHidden() ? QString() : message_->property("sentence").toString();
}

void MainWindow::showMessage(const QString& severity, const QString& sentence) {
  const QColor color = severity == QLatin1String("error")     ? theme().bad
                       : severity == QLatin1String("warning") ? theme().warning
                                                              : theme().text;
  message_->setProperty("sentence", sentence);
  message_->setText(QStringLiteral("<b style='color:%1'>%2</b>&nbsp; %3")
                        .arg(color.name(),
                             severity == QLatin1String("error")     ? tr("Error")
                             : severity == QLatin1String("warning") ? tr("Warning")
                                                                    : tr("Note"),
                             sentence.toHtmlEscaped()));
  message_->setAccessibleName(sentence);
  message_bar_->show();
}

void MainWindow::showState() {
  top_bar_->show(*data_, *bridge_);
  status_line_->show(*data_, *bridge_, *clock_, *system_,
                     top_bar_->showsCommand() ? QString() : top_bar_->lastCommand());
}

bool MainWindow::refuseWhileLive(const QString& what) {
  if (!bridge_->live()) return false;
  showMessage(QStringLiteral("warning"), tr("%1 needs the session to have ended: stop it first.").arg(what));
  return true;
}

void MainWindow::beginSession(const Config& config, SessionOptions options) {
  stored_->close();
  options.runs_folder = options_.runs_folder;
  welcome_bar_->hide();
  message_bar_->hide();
  try {
    bridge_->start(config, std::move(options));
  } catch (const std::exception& error) {
    showMessage(QStringLiteral("error"), sentenceOf(error));
  }
}

void MainWindow::startFolds(int first, int last) {
  if (bridge_->live()) {
    bridge_->startFolds(first, last);
    return;
  }
  Config config;
  try {
    config = session_->checkedConfig();
  } catch (const std::exception& error) {
    showMessage(QStringLiteral("error"), sentenceOf(error));
    return;
  }
  SessionOptions options;
  options.first_fold = first;
  options.last_fold = last;
  beginSession(config, std::move(options));
}

void MainWindow::startDemo() {
  if (refuseWhileLive(tr("The demo"))) return;
  QFile file(QStringLiteral(":/foxhunt/demo.json"));
  const bool opened = file.open(QIODevice::ReadOnly);
  FH_CHECK(opened, "the demo's configuration is not in the program");
  try {
    session_->setConfig(parse_config(file.readAll().toStdString(), "demo.json", std::filesystem::current_path()));
  } catch (const std::exception& error) {
    showMessage(QStringLiteral("error"), sentenceOf(error));
    return;
  }
  startFolds(0, -1);
}

void MainWindow::resumeFrom(const QString& checkpoint) {
  if (refuseWhileLive(tr("Resuming"))) return;
  SessionOptions options;
  options.resume = checkpoint.toStdString();
  try {
    Config config = data_->configuration().is_object()
                        ? parse_config(data_->configuration().dump(), "run.json", data_->folder())
                        : session_->checkedConfig();
    session_->setConfig(config);
    beginSession(config, std::move(options));
  } catch (const std::exception& error) {
    showMessage(QStringLiteral("error"), sentenceOf(error));
  }
}

void MainWindow::openRun(const QString& folder) {
  if (refuseWhileLive(tr("Opening another run"))) return;
  if (!QFileInfo::exists(folder + QStringLiteral("/run.json"))) {
    showMessage(QStringLiteral("error"), tr("%1 is no run folder: it holds no run.json.").arg(folder));
    return;
  }
  welcome_bar_->hide();
  message_bar_->hide();
  remember(folder);
  stored_->open(QFileInfo(folder).absoluteFilePath().toStdString());
}

void MainWindow::openConfiguration(const QString& file) {
  if (refuseWhileLive(tr("Opening a configuration"))) return;
  try {
    session_->setConfig(load_config(file.toStdString()));
    remember(file);
    message_bar_->hide();
    docks_.value(QStringLiteral("session"))->raise();
  } catch (const std::exception& error) {
    showMessage(QStringLiteral("error"), sentenceOf(error));
  }
}

void MainWindow::openPath(const QString& path) {
  const QFileInfo info(path);
  if (!info.exists()) {
    showMessage(QStringLiteral("error"), tr("%1 does not exist.").arg(path));
  } else if (info.isDir() || info.fileName() == QLatin1String("run.json")) {
    openRun(info.isDir() ? info.absoluteFilePath() : info.absolutePath());
  } else if (info.suffix() == QLatin1String("safetensors")) {
    docks_.value(QStringLiteral("checkpoints"))->show();
    docks_.value(QStringLiteral("checkpoints"))->raise();
    auto* checkpoints = qobject_cast<CheckpointsPanel*>(panel(QStringLiteral("checkpoints")));
    if (checkpoints != nullptr) checkpoints->addFile(info.absoluteFilePath());
  } else if (info.suffix() == QLatin1String("json")) {
    openConfiguration(info.absoluteFilePath());
  } else if (!refuseWhileLive(tr("Opening data"))) {
    docks_.value(QStringLiteral("session"))->raise();
    welcome_bar_->hide();
    message_bar_->hide();
    session_->openFiles({info.absoluteFilePath()});
  }
}

void MainWindow::bringToFront(const QString& id) {
  if (QDockWidget* found = dock(id)) {
    found->show();
    found->raise();
  }
}

void MainWindow::evaluate(const QString& checkpoint) {
  if (bridge_->busy()) {
    showMessage(QStringLiteral("warning"), tr("Evaluating needs the device of the session: stop it first."));
    return;
  }
  bringToFront(QStringLiteral("market"));
  if (auto* market = qobject_cast<MarketPanel*>(panel(QStringLiteral("market"))))
    market->evaluate(std::filesystem::path(checkpoint.toStdString()));
}

void MainWindow::remember(const QString& path) {
  settings_.recent.removeAll(path);
  settings_.recent.prepend(path);
  while (settings_.recent.size() > kRecent) settings_.recent.removeLast();
  save_timer_->start();
}

void MainWindow::loadSettings() {
  if (options_.settings_folder.isEmpty()) return;
  QString problem;
  settings_ = store_.load(&problem);
  if (!problem.isEmpty()) showMessage(QStringLiteral("warning"), problem);
  setThemeChoice(settings_.theme);
  if (!settings_.geometry.isEmpty()) restoreGeometry(settings_.geometry);
  if (!settings_.state.isEmpty()) {
    default_layout_ = false;
    if (!restoreState(settings_.state)) {
      applyDefaultLayout();
      showMessage(QStringLiteral("warning"),
                  tr("The remembered layout does not fit this program; the default one is shown."));
    }
  }
  if (settings_.configuration.isEmpty()) return;
  try {
    session_->setConfig(
        parse_config(settings_.configuration.toStdString(), "settings.json", std::filesystem::current_path()));
  } catch (const std::exception& error) {
    showMessage(QStringLiteral("warning"), tr("The remembered configuration is not used: %1").arg(sentenceOf(error)));
  }
}

WindowSettings MainWindow::presentSettings() {
  settings_.geometry = saveGeometry();
  settings_.state = saveState();
  settings_.configuration = QString::fromStdString(to_json(session_->config()).dump());
  return settings_;
}

// One thread writes, so that the newest settings are the last ones written.
void MainWindow::saveSettings() {
  if (options_.settings_folder.isEmpty()) return;
  settings_writer_.setMaxThreadCount(1);
  settings_writer_.start([this, store = store_, settings = presentSettings()] {
    QString problem;
    if (store.save(settings, &problem)) return;
    QMetaObject::invokeMethod(this, [this, problem] { showMessage(QStringLiteral("warning"), problem); });
  });
}

void MainWindow::saveSettingsNow() {
  settings_writer_.waitForDone();
  if (options_.settings_folder.isEmpty()) return;
  QString problem;
  if (!store_.save(presentSettings(), &problem)) showMessage(QStringLiteral("warning"), problem);
}

void MainWindow::setThemeChoice(ThemeChoice choice) {
  settings_.theme = choice;
  applyTheme(*qApp, choice);
  save_timer_->start();
  updateActions();
}

// True: the session was told to end, or there is none that the user has to decide about.
bool MainWindow::askBeforeClosing() {
  if (!bridge_->busy()) {
    bridge_->stopAndSave();
    return true;
  }
  QMessageBox box(QMessageBox::Question, tr("A session is running"),
                  tr("What should become of the session that is running?"), QMessageBox::NoButton, this);
  box.setObjectName(QStringLiteral("closeQuestion"));
  QPushButton* save = box.addButton(tr("Stop and save"), QMessageBox::AcceptRole);
  QPushButton* now = box.addButton(tr("Stop now"), QMessageBox::DestructiveRole);
  box.addButton(tr("Cancel"), QMessageBox::RejectRole);
  now->setToolTip(tr("Discards what was learned since the last checkpoint"));
  box.setDefaultButton(save);
  box.exec();
  if (box.clickedButton() == save) {
    bridge_->stopAndSave();
    return true;
  }
  if (box.clickedButton() == now) {
    bridge_->stopNow();
    return true;
  }
  return false;
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (bridge_->live()) {
    event->ignore();
    if (closing_ || !askBeforeClosing()) return;
    closing_ = true;
    closing_since_ = wall_seconds();
    setEnabled(false);
    return;
  }
  saveSettingsNow();
  stored_->close();
  event->accept();
  Q_EMIT closed();
}

void MainWindow::closeAtOnce() {
  if (bridge_->live()) {
    bridge_->stopNow();
    closing_ = true;
    closing_since_ = wall_seconds();
  } else {
    close();
  }
}

// The window stays until the session has ended; one that does not answer can be left.
void MainWindow::watchClosing() {
  if (!bridge_->live()) {
    closing_ = false;
    close();
    return;
  }
  if (wall_seconds() - closing_since_ < kPatienceSeconds) return;
  closing_ = false;
  setEnabled(true);
  showMessage(QStringLiteral("error"),
              tr("The session has not ended after %1 s. What is recorded is on disk; the window stays open.")
                  .arg(static_cast<int>(kPatienceSeconds)));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList markets;
  for (const QUrl& url : event->mimeData()->urls()) {
    if (!url.isLocalFile()) continue;
    const QFileInfo info(url.toLocalFile());
    const bool known =
        info.isDir() || info.suffix() == QLatin1String("safetensors") || info.suffix() == QLatin1String("json");
    if (known) {
      openPath(info.absoluteFilePath());
    } else {
      markets << info.absoluteFilePath();
    }
  }
  event->acceptProposedAction();
  if (markets.isEmpty() || refuseWhileLive(tr("Opening data"))) return;
  welcome_bar_->hide();
  session_->openFiles(markets);
}

}  // namespace foxhunt::ui
