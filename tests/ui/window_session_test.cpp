// A whole session by clicks and keys: real files, a fold, curves, pause, one step, save, resume, stop, and the same
// curves from the run folder. Then engines that fail and hang.
#include <gtest/gtest.h>

#include <QDropEvent>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QTableView>
#include <QTreeWidget>

#include "tests/session/session_fixture.h"
#include "tests/support/log_watch.h"
#include "tests/ui/window_fixture.h"
#include "ui/charts/curve_chart.h"

namespace foxhunt::ui {
namespace {

using test::GuiWatchdog;
using test::Script;
using test::WindowRig;

constexpr double kMostBlocked = 50;  // ms of the GUI thread

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
  rig.click(QStringLiteral("button.pause"));  // says Resume now
  ASSERT_TRUE(rig.spin([&] { return window.data().lastStep() > paused_at + 30; }));
  rig.click(QStringLiteral("button.stop"));
  ASSERT_TRUE(rig.spin([&] { return !window.bridge().live(); }));
  EXPECT_EQ(window.data().status().state, SessionState::stopped);
  EXPECT_LT(watchdog.worstMilliseconds(), kMostBlocked) << "live session";

  const auto live_loss = samples(*window.data().steps(kernels::step_word_loss_total));
  const auto live_q = samples(*window.data().steps(kernels::step_word_q_mean));
  const std::size_t live_epochs = window.data().epochs().size();
  ASSERT_GT(live_epochs, 0u);
  const auto live_equity = window.data().epochs().front()->equity.values;
  const std::size_t live_checkpoints = window.data().checkpoints().size();
  const QString run = QString::fromStdString(window.data().folder().string());
  ASSERT_EQ(window.bridge().missed(), 0u);
  ASSERT_TRUE(SessionBridge::waitForEnded(30));

  watchdog.restart();
  window.openRun(run);
  ASSERT_TRUE(rig.spin([&] { return window.stored().loaded(); })) << window.messageText().toStdString();
  EXPECT_EQ(samples(*window.data().steps(kernels::step_word_loss_total)), live_loss);
  EXPECT_EQ(samples(*window.data().steps(kernels::step_word_q_mean)), live_q);
  ASSERT_EQ(window.data().epochs().size(), live_epochs);
  EXPECT_EQ(window.data().epochs().front()->equity.values, live_equity);
  EXPECT_GE(window.data().checkpoints().size(), live_checkpoints);
  EXPECT_EQ(window.data().stateWord(), QStringLiteral("Stopped"));
  EXPECT_LT(watchdog.worstMilliseconds(), kMostBlocked) << "stored run";
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
  EXPECT_LT(watchdog.worstMilliseconds(), kMostBlocked);
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
