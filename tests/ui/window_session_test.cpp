// A whole session by clicks and keys: real files, a fold, curves, pause, one step, save, a look into the checkpoint,
// resume, stop, and the same curves from the run folder. Then engines that fail and hang.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <QAbstractItemModelTester>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QMimeData>
#include <QSignalSpy>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QToolButton>
#include <QTreeWidget>

#include "tests/session/session_fixture.h"
#include "tests/support/log_watch.h"
#include "tests/ui/window_fixture.h"
#include "ui/charts/curve_chart.h"
#include "ui/models/cell_table_model.h"
#include "ui/panels/checkpoints_panel.h"

namespace foxhunt::ui {
namespace {

using test::GuiWatchdog;
using test::Script;
using test::WindowRig;

// Milliseconds of the GUI thread: 50, times as many threads as are ready for each processor, where a busy machine slows
// down all that runs on it.
double mostBlocked() {
  double load = 0;
  if (getloadavg(&load, 1) != 1) load = 0;
  return 50 * std::max(1.0, load / std::max(1u, std::thread::hardware_concurrency()));
}

QStringList realFiles() {
  QStringList files;
  for (const char* kind : {"ohlcv-1s", "mbp-10", "trades"}) {
    files << QString::fromStdString(
        foxhunt::test::shared(std::string("data/es_derived/esh4_20231225.") + kind + ".v3.dbn.zst").string());
  }
  return files;
}

void drop(QWidget& target, const QStringList& files) {
  QMimeData mime;
  QList<QUrl> urls;
  for (const QString& file : files) urls << QUrl::fromLocalFile(file);
  mime.setUrls(urls);
  QDragEnterEvent enter(QPoint(20, 20), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&target, &enter);
  QDropEvent event(QPointF(20, 20), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&target, &event);
}

std::vector<std::pair<double, double>> samples(const MinMaxPyramid& series) {
  std::vector<std::pair<double, double>> out;
  for (std::size_t i = 0; i < series.size(); ++i) out.emplace_back(series.x_at(i), series.y_at(i));
  return out;
}

// Every item model of the window, and every proxy over one, under Qt's tester; a finding is a warning, which fails.
std::vector<std::unique_ptr<QAbstractItemModelTester>> watchModels(MainWindow& window) {
  std::vector<std::unique_ptr<QAbstractItemModelTester>> testers;
  for (auto* model : window.findChildren<QAbstractItemModel*>()) {
    const bool ours = QByteArray(model->metaObject()->className()).startsWith("foxhunt::") ||
                      qobject_cast<QSortFilterProxyModel*>(model) != nullptr;
    if (!ours) continue;
    testers.push_back(
        std::make_unique<QAbstractItemModelTester>(model, QAbstractItemModelTester::FailureReportingMode::Warning));
  }
  return testers;
}

template <class W>
W* named(QWidget& parent, const char* accessible_name) {
  for (W* each : parent.findChildren<W*>()) {
    if (each->accessibleName() == QLatin1String(accessible_name)) return each;
  }
  ADD_FAILURE() << "no child called " << accessible_name;
  return nullptr;
}

void clickCell(QTableView& table, int row) {
  const QModelIndex index = table.model()->index(row, 0);
  table.scrollTo(index);
  QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, table.visualRect(index).center());
}

// The checkpoint saved by hand, opened by clicks in the list.
void inspectManualCheckpoint(WindowRig& rig) {
  MainWindow& window = *rig.window;
  auto* panel = qobject_cast<CheckpointsPanel*>(window.panel(QStringLiteral("checkpoints")));
  ASSERT_NE(panel, nullptr);
  auto* table = named<QTableView>(*panel, "Checkpoints");
  int row = -1;
  for (int i = 0; i < table->model()->rowCount(); ++i) {
    const QString reason = table->model()->index(i, CheckpointListModel::reason).data().toString();
    if (reason.contains(QLatin1String("manual"))) row = i;
  }
  ASSERT_GE(row, 0) << "the list does not have it";
  clickCell(*table, row);
  QSignalSpy finished(panel->inspector(), &CheckpointInspector::finished);
  QTest::mouseClick(named<QToolButton>(*panel, "Inspect"), Qt::LeftButton);
  ASSERT_TRUE(rig.spin([&] { return finished.count() > 0; }));
  EXPECT_TRUE(panel->inspector()->isVisible());
  EXPECT_GT(panel->inspector()->tensors().rowCount(), 50);
  EXPECT_TRUE(panel->inspector()->tensors().statistics(0).has_value());
}

// The newest run of the list, opened by a click and Enter.
void reopenFromRuns(WindowRig& rig) {
  MainWindow& window = *rig.window;
  QTest::keyClick(&window, Qt::Key_R, Qt::ControlModifier);
  auto* table = named<QTableView>(*window.panel(QStringLiteral("runs")), "Runs");
  ASSERT_TRUE(rig.spin([&] {
    return table->model()->rowCount() == 1 &&
           table->model()->index(0, 1).data().toString().contains(QLatin1String("Stopped"));
  })) << "the list of runs does not say that it stopped";
  clickCell(*table, 0);
  QTest::keyClick(table, Qt::Key_Return);
  ASSERT_TRUE(rig.spin([&] { return window.stored().loaded(); })) << window.messageText().toStdString();
}

// As the list shows them; with times and sizes left away.
std::vector<std::string> checkpointPlaces(const RunData& data) {
  std::vector<std::string> out;
  for (const CheckpointView& c : data.checkpoints()) {
    out.push_back(fmt::format("{} step {} fold {} epoch {} sharpe {:.6g}", c.reason.toStdString(), c.step, c.fold,
                              c.epoch, metricOf(c.metrics, "sharpe")));
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(WindowSession, RealFilesToTheSameCurvesFromDisk) {
  FH_NEEDS_SHARED("data/es_derived/esh4_20231225.ohlcv-1s.v3.dbn.zst");
  WindowRig rig;
  MainWindow& window = *rig.window;
  Config config = foxhunt::test::tiny_config();
  config.folds.count = 1;
  config.folds.train_bars = 500;
  config.folds.validation_bars = 200;
  config.training.epochs = 60;
  config.training.steps_per_epoch = 150;
  config.guards.drift = "off";
  // An X server that draws on a processor needs one: what it is kept from answering, the window waits for.
  if (QGuiApplication::platformName() == QStringLiteral("xcb")) config.threads = 1;
  config.telemetry.record_rows_per_second = 100000;  // every step is a row
  window.session().setConfig(config);
  GuiWatchdog watchdog;

  drop(window, realFiles());
  ASSERT_TRUE(rig.spin([&] { return !window.session().reading(); }));
  ASSERT_EQ(window.messageText(), QString());
  auto* report = window.findChild<QTreeWidget*>(QStringLiteral("dataReport"));
  ASSERT_GT(report->topLevelItemCount(), 4);
  EXPECT_EQ(report->topLevelItem(0)->text(1), QStringLiteral("ESH4"));
  ASSERT_EQ(window.data().folds().size(), 1u);

  auto* folds = window.findChild<QTableView*>(QStringLiteral("foldTable"));
  QTest::mouseClick(folds->viewport(), Qt::LeftButton, {}, folds->visualRect(folds->model()->index(0, 1)).center());
  rig.click(QStringLiteral("startSelectedFolds"));
  ASSERT_TRUE(rig.spin([&] { return window.data().stepCount() > 40; })) << window.messageText().toStdString();
  auto* chart = window.panel(QStringLiteral("losses"))->findChild<CurveChart*>();
  ASSERT_NE(chart, nullptr);
  const int redraws = chart->redraws();
  const auto steps = window.data().stepCount();
  ASSERT_TRUE(rig.spin([&] { return window.data().stepCount() > steps + 20 && chart->redraws() > redraws + 1; }))
      << "curves do not move";

  rig.click(QStringLiteral("button.pause"));
  ASSERT_TRUE(rig.spin([&] { return window.bridge().status().state == SessionState::paused; }));
  const auto paused_at = window.bridge().status().step;
  ASSERT_TRUE(rig.spin([&] { return window.data().lastStep() == paused_at; }, 5));
  ASSERT_TRUE(rig.spin(
      [&] {
        const QString said = window.findChild<QLabel*>(QStringLiteral("lastCommand"))->text();
        return said.startsWith(QStringLiteral("Pause")) && said.contains(QStringLiteral("done at step"));
      },
      5));
  QTest::keyClick(&window, Qt::Key_F7);
  ASSERT_TRUE(rig.spin([&] { return window.data().lastStep() == paused_at + 1; }));
  EXPECT_EQ(window.bridge().status().state, SessionState::paused);

  rig.click(QStringLiteral("button.save"));
  const auto saved = [&] {
    const auto& all = window.data().checkpoints();
    return std::any_of(all.begin(), all.end(),
                       [](const auto& c) { return c.reason == QLatin1String("manual") && c.bytes > 0; });
  };
  ASSERT_TRUE(rig.spin(saved));
  ASSERT_NO_FATAL_FAILURE(inspectManualCheckpoint(rig));
  rig.click(QStringLiteral("button.pause"));  // says Resume now
  ASSERT_TRUE(rig.spin([&] { return window.data().lastStep() > paused_at + 30 && !window.data().epochs().empty(); }));
  rig.click(QStringLiteral("button.stop"));
  ASSERT_TRUE(rig.spin([&] { return !window.bridge().live(); }));
  EXPECT_EQ(window.data().status().state, SessionState::stopped);
  EXPECT_LT(watchdog.worstMilliseconds(), mostBlocked()) << "live session";

  const auto live_loss = samples(*window.data().steps(kernels::step_word_loss_total));
  const auto live_q = samples(*window.data().steps(kernels::step_word_q_mean));
  const std::size_t live_epochs = window.data().epochs().size();
  ASSERT_GT(live_epochs, 0u);
  const auto live_equity = window.data().epochs().front()->equity.values;
  std::vector<std::vector<double>> live_random;  // of every epoch: random trades as often as the agent did in it
  for (const auto& epoch : window.data().epochs()) live_random.push_back(epoch->random_equity.values);
  const auto live_checkpoints = checkpointPlaces(window.data());
  const QString live_place = window.findChild<QLabel*>(QStringLiteral("foldProgress"))->toolTip();
  ASSERT_EQ(window.bridge().missed(), 0u);
  ASSERT_TRUE(SessionBridge::waitForEnded(30));

  watchdog.restart();
  ASSERT_NO_FATAL_FAILURE(reopenFromRuns(rig));
  EXPECT_EQ(samples(*window.data().steps(kernels::step_word_loss_total)), live_loss);
  EXPECT_EQ(samples(*window.data().steps(kernels::step_word_q_mean)), live_q);
  ASSERT_EQ(window.data().epochs().size(), live_epochs);
  EXPECT_EQ(window.data().epochs().front()->equity.values, live_equity);
  for (std::size_t i = 0; i < live_epochs; ++i) {
    ASSERT_FALSE(live_random[i].empty());
    EXPECT_EQ(window.data().epochs()[i]->random_equity.values, live_random[i]) << "epoch " << i;
  }
  EXPECT_EQ(checkpointPlaces(window.data()), live_checkpoints);
  ASSERT_TRUE(
      rig.spin([&] { return window.findChild<QLabel*>(QStringLiteral("foldProgress"))->toolTip() == live_place; }, 5))
      << window.findChild<QLabel*>(QStringLiteral("foldProgress"))->toolTip().toStdString() << " now, live "
      << live_place.toStdString();
  EXPECT_EQ(window.data().stateWord(), QStringLiteral("Stopped"));
  EXPECT_LT(watchdog.worstMilliseconds(), mostBlocked()) << "stored run";
}

TEST(WindowSession, ModelsStayValidThroughASession) {
  WindowRig rig;
  MainWindow& window = *rig.window;
  const auto testers = watchModels(window);
  ASSERT_GE(testers.size(), 10u);
  Config config = foxhunt::test::tiny_config();
  window.session().setConfig(config);
  QTest::keyClick(&window, Qt::Key_F5);
  ASSERT_TRUE(rig.spin([&] { return window.data().epochs().size() == 4 && !window.bridge().busy(); }))
      << window.messageText().toStdString();
  rig.click(QStringLiteral("button.save"));
  ASSERT_TRUE(rig.spin([&] {
    const auto& all = window.data().checkpoints();
    return std::any_of(all.begin(), all.end(), [](const auto& c) { return c.reason == QLatin1String("manual"); });
  }));
  ASSERT_NO_FATAL_FAILURE(inspectManualCheckpoint(rig));
  rig.click(QStringLiteral("button.stop"));
  ASSERT_TRUE(rig.spin([&] { return !window.bridge().live(); }));
  ASSERT_NO_FATAL_FAILURE(reopenFromRuns(rig));
  EXPECT_EQ(window.data().epochs().size(), 4u);
}

TEST(WindowSession, AWrongFileIsNamedAndTheWindowGoesOn) {
  WindowRig rig;
  MainWindow& window = *rig.window;
  const QString wrong = rig.folder.path() + QStringLiteral("/bars.dbn");
  QFile file(wrong);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("this is no market data\n");
  file.close();
  drop(window, {wrong});
  ASSERT_TRUE(rig.spin([&] { return !window.session().reading(); }));
  EXPECT_TRUE(window.messageText().contains(QStringLiteral("bars.dbn"))) << window.messageText().toStdString();
  window.openPath(rig.folder.path());
  EXPECT_TRUE(window.messageText().contains(QStringLiteral("no run folder"))) << window.messageText().toStdString();
  rig.click(QStringLiteral("dismiss"));
  EXPECT_EQ(window.messageText(), QString());
  EXPECT_TRUE(window.action(QStringLiteral("start"))->isEnabled());
}

TEST(WindowSession, AFieldOutOfRuleIsNamedBeforeARunStarts) {
  WindowRig rig;
  Config config = foxhunt::test::tiny_config();
  config.learner.experts = 9;
  rig.window->session().setConfig(config);
  QTest::keyClick(rig.window.get(), Qt::Key_F5);
  EXPECT_TRUE(rig.window->messageText().contains(QStringLiteral("experts"))) << rig.window->messageText().toStdString();
  EXPECT_FALSE(rig.window->bridge().live());
}

TEST(WindowSession, TheEngineFailsOverABrokenFileAndTheWindowTrainsOn) {
  WindowRig rig;
  MainWindow& window = *rig.window;
  const QString broken = rig.folder.path() + QStringLiteral("/bars.dbn");
  QFile file(broken);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("DBN\3 and then nothing that belongs there");
  file.close();
  Config config = foxhunt::test::tiny_config();
  config.data.simulated.reset();
  config.data.ohlcv = {broken.toStdString()};
  config.data.order_flow = "absent";
  window.session().setConfig(config);
  GuiWatchdog watchdog;
  QTest::keyClick(&window, Qt::Key_F5);
  ASSERT_TRUE(rig.spin([&] { return !window.messageText().isEmpty() && !window.bridge().live(); }));
  EXPECT_TRUE(window.messageText().contains(QStringLiteral("bars.dbn"))) << window.messageText().toStdString();
  EXPECT_LT(watchdog.worstMilliseconds(), mostBlocked());
  window.session().setConfig(foxhunt::test::tiny_config());
  QTest::keyClick(&window, Qt::Key_F5);
  ASSERT_TRUE(rig.spin([&] { return window.data().stepCount() > 5; })) << window.messageText().toStdString();
  EXPECT_EQ(window.messageText(), QString());
}

TEST(WindowSession, AnEngineThatFailsIsSaid) {
  const auto script = std::make_shared<Script>();
  WindowRig rig(test::scriptedSessions(script));
  rig.click(QStringLiteral("button.start"));
  script->set(SessionState::training);
  ASSERT_TRUE(rig.spin([&] { return rig.window->data().stateWord() == QLatin1String("Training"); }, 5));
  script->set(SessionState::failed, "the device has gone away");
  script->over = true;
  ASSERT_TRUE(rig.spin([&] { return !rig.window->messageText().isEmpty(); }, 5));
  EXPECT_TRUE(rig.window->messageText().contains(QStringLiteral("the device has gone away")));
  EXPECT_TRUE(rig.window->action(QStringLiteral("start"))->isEnabled());
  EXPECT_TRUE(rig.window->isEnabled());
}

TEST(WindowSession, AnEngineThatHangsNeverBlocksTheWindow) {
  const auto script = std::make_shared<Script>();
  script->answers = false;
  script->destruction_ms = 700;
  WindowRig rig(test::scriptedSessions(script));
  rig.click(QStringLiteral("button.start"));
  script->set(SessionState::training);
  ASSERT_TRUE(rig.spin([&] { return rig.window->action(QStringLiteral("pause"))->isEnabled(); }, 5));
  GuiWatchdog watchdog;
  rig.click(QStringLiteral("button.pause"));
  ASSERT_TRUE(rig.spin(
      [&] {
        return rig.window->findChild<QLabel*>(QStringLiteral("lastCommand"))
            ->text()
            .contains(QStringLiteral("no answer for"));
      },
      5));
  script->over = true;  // the session object takes 700 ms to go
  ASSERT_TRUE(rig.spin([&] { return script->destroyed == 1; }, 5));
  EXPECT_LT(watchdog.worstMilliseconds(), mostBlocked());
}

// Clicks a button of the closing question by its text.
void answer(const QString& text) {
  QTimer::singleShot(100, qApp, [text] {
    auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    ASSERT_NE(box, nullptr);
    for (QAbstractButton* button : box->buttons()) {
      if (button->text() == text) return QTest::mouseClick(button, Qt::LeftButton);
    }
    ADD_FAILURE() << "no button " << text.toStdString();
    box->reject();
  });
}

TEST(WindowSession, ClosingWithALiveRunAsks) {
  const auto script = std::make_shared<Script>();
  WindowRig rig(test::scriptedSessions(script));
  rig.click(QStringLiteral("button.start"));
  script->set(SessionState::training);
  ASSERT_TRUE(rig.spin([&] { return rig.window->action(QStringLiteral("stop"))->isEnabled(); }, 5));
  answer(QStringLiteral("Cancel"));
  rig.window->close();
  EXPECT_TRUE(rig.window->isVisible());
  EXPECT_TRUE(rig.window->bridge().live());
  answer(QStringLiteral("Stop and save"));
  rig.window->close();
  ASSERT_TRUE(rig.spin([&] { return !rig.window->isVisible(); }, 5));
  EXPECT_EQ(script->commands.back().command.kind, CommandKind::stop_and_save);
}

}  // namespace
}  // namespace foxhunt::ui
