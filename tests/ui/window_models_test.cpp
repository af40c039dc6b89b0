// Item models of session, folds, events and log under Qt's tester; settings, layouts, palette.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QDir>
#include <QDockWidget>
#include <QLineEdit>
#include <QSignalSpy>

#include "engine/base/log.h"
#include "tests/session/session_fixture.h"
#include "tests/support/log_watch.h"
#include "tests/ui/window_fixture.h"
#include "ui/command_palette.h"
#include "ui/models/config_model.h"
#include "ui/models/event_model.h"
#include "ui/models/fold_model.h"
#include "ui/models/log_model.h"
#include "ui/panels/panel_registry.h"

namespace foxhunt::ui {
namespace {

using Tester = QAbstractItemModelTester;
constexpr auto kFail = Tester::FailureReportingMode::Warning;  // a warning fails the test
using test::WindowRig;

TEST(WindowModels, Events) {
  RunData data;
  EventModel model;
  const Tester tester(&model, kFail);
  model.setData(&data);
  EventView event;
  event.wall = 1e9;
  event.step = 7;
  event.kind = QStringLiteral("fold");
  event.severity = QStringLiteral("info");
  event.message = QStringLiteral("first");
  data.addEvents({event});
  event.message = QStringLiteral("second");
  event.step = 9;
  data.addEvents({event, event});
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_EQ(model.index(0, 4).data().toString(), QStringLiteral("second")) << "newest first";
  EXPECT_EQ(model.index(2, 4).data().toString(), QStringLiteral("first"));
  EXPECT_EQ(data.link()->events().size(), 3u);
  data.begin(RunData::Source::none, {}, {});
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(WindowModels, Folds) {
  RunData data;
  FoldModel model;
  const Tester tester(&model, kFail);
  model.setData(&data);
  std::vector<FoldView> folds(3);
  folds[1].rows.train = {100, 600};
  data.setFolds(folds);
  ASSERT_EQ(model.rowCount(), 3);
  auto epoch = std::make_shared<EpochView>();
  epoch->fold = 1;
  epoch->agent = {{"sharpe", 1.5}, {"net", 20.0}};
  data.setEpochs({epoch});
  EXPECT_EQ(model.index(1, FoldModel::sharpe).data().toString(), QStringLiteral("1.50"));
  EXPECT_EQ(model.index(0, FoldModel::sharpe).data().toString(), QStringLiteral("–"));
  SessionStatus status;
  status.state = SessionState::training;
  status.fold = 2;
  data.setStatus(std::make_shared<const SessionStatus>(status));
  EXPECT_EQ(model.index(2, FoldModel::state).data().toString(), QStringLiteral("running"));
}

TEST(WindowModels, LogIsBoundedAndOrdered) {
  LogModel model;
  const Tester tester(&model, kFail);
  for (int i = 0; i < 10; ++i) log_info("line {}", i);
  EXPECT_EQ(model.drain(), 10);
  EXPECT_EQ(model.line(9).text, QStringLiteral("line 9"));
  const int more = static_cast<int>(LogModel::most_lines) - 4;
  for (int i = 0; i < more; ++i) log_info("more {}", i);
  model.drain();
  EXPECT_EQ(model.rowCount(), static_cast<int>(LogModel::most_lines));
  EXPECT_EQ(model.dropped(), 6u);
  EXPECT_EQ(model.line(0).text, QStringLiteral("line 6"));
}

TEST(WindowModels, ConfigurationIsCheckedFieldByField) {
  ConfigModel model;
  ConfigFilter filter;
  filter.setSourceModel(&model);
  const Tester tester(&model, kFail);
  const Tester filter_tester(&filter, kFail);
  QSignalSpy refused(&model, &ConfigModel::refused);
  const QModelIndex lr = model.indexOf(QStringLiteral("learner.lr"));
  ASSERT_TRUE(lr.isValid());
  EXPECT_EQ(model.changedCount(), 0);
  EXPECT_FALSE(model.setData(lr, QStringLiteral("-1"), Qt::EditRole));
  ASSERT_EQ(refused.count(), 1);
  EXPECT_EQ(refused[0][0].toString(), QStringLiteral("learner.lr"));
  EXPECT_TRUE(refused[0][1].toString().contains(QStringLiteral("-1"))) << refused[0][1].toString().toStdString();
  EXPECT_TRUE(model.setData(lr, QStringLiteral("3e-4"), Qt::EditRole));
  EXPECT_EQ(model.config().learner.lr, 3e-4);
  EXPECT_EQ(model.changedCount(), 1);
  filter.setChangedOnly(true);
  ASSERT_EQ(filter.rowCount(), 1);
  EXPECT_EQ(filter.rowCount(filter.index(0, 0)), 1);
  filter.setChangedOnly(false);
  filter.setText(QStringLiteral("epsilon"));
  EXPECT_GT(filter.rowCount(), 0);
  model.setReadOnly(true);
  EXPECT_FALSE(model.flags(lr) & Qt::ItemIsEditable);
  EXPECT_FALSE(model.setData(lr, QStringLiteral("1e-4"), Qt::EditRole));
}

TEST(WindowModels, BrokenSettingsAreSetAside) {
  QTemporaryDir folder;
  QFile file(folder.path() + QStringLiteral("/settings.json"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("{ \"version\": 1, \"theme\": ");
  file.close();
  const SettingsStore store(folder.path());
  QString problem;
  const WindowSettings settings = store.load(&problem);
  EXPECT_EQ(settings.theme, ThemeChoice::system);
  EXPECT_TRUE(problem.contains(QStringLiteral("broken"))) << problem.toStdString();
  EXPECT_FALSE(QFile::exists(store.file()));
  EXPECT_EQ(QDir(folder.path()).entryList({QStringLiteral("settings.json.broken-*")}).size(), 1);
  WindowSettings kept;
  kept.theme = ThemeChoice::dark;
  kept.layouts.insert(QStringLiteral("wide"), QByteArray("abc"));
  kept.recent = {QStringLiteral("/a"), QStringLiteral("/b")};
  ASSERT_TRUE(store.save(kept, &problem));
  QString none;
  const WindowSettings again = store.load(&none);
  EXPECT_EQ(none, QString());
  EXPECT_EQ(again.theme, ThemeChoice::dark);
  EXPECT_EQ(again.layouts, kept.layouts);
  EXPECT_EQ(again.recent, kept.recent);
}

TEST(WindowModels, LayoutsAreKeptAndReset) {
  WindowRig rig;
  QDockWidget* losses = rig.window->dock(QStringLiteral("losses"));
  ASSERT_TRUE(losses->isVisible());
  losses->hide();
  rig.window->saveLayout(QStringLiteral("without losses"));
  QTest::keyClick(rig.window.get(), Qt::Key_0, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_TRUE(losses->isVisible());
  EXPECT_TRUE(rig.window->applyLayout(QStringLiteral("without losses")));
  EXPECT_FALSE(losses->isVisible());
  EXPECT_FALSE(rig.window->applyLayout(QStringLiteral("absent")));
  EXPECT_TRUE(rig.window->messageText().contains(QStringLiteral("without losses")));
  rig.window->close();
  rig.open();
  EXPECT_FALSE(rig.window->dock(QStringLiteral("losses"))->isVisible()) << "the layout is remembered";
}

TEST(WindowModels, ThePaletteRunsACommand) {
  WindowRig rig;
  rig.window->setThemeChoice(ThemeChoice::light);
  QTimer::singleShot(100, qApp, [] {
    auto* palette = qobject_cast<CommandPalette*>(QApplication::activeModalWidget());
    ASSERT_NE(palette, nullptr);
    QTest::keyClicks(palette->findChild<QLineEdit*>(), QStringLiteral("dark"));
    QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Return);
  });
  QTest::keyClick(rig.window.get(), Qt::Key_K, Qt::ControlModifier);
  ASSERT_TRUE(rig.spin([] { return theme().dark; }, 5));
  rig.window->setThemeChoice(ThemeChoice::system);
}

TEST(WindowModels, EveryPanelAndCommandIsNamed) {
  WindowRig rig;
  for (const PanelEntry& entry : panelTable()) {
    const Panel* panel = rig.window->panel(QString::fromLatin1(entry.id));
    ASSERT_NE(panel, nullptr) << entry.id;
    EXPECT_FALSE(panel->accessibleName().isEmpty()) << entry.id;
    EXPECT_FALSE(panel->summary().isEmpty()) << entry.id;
  }
  for (const char* id : {"start", "pause", "step", "save", "stop", "stopNow", "palette", "shortcuts"}) {
    const QAction* action = rig.window->action(QLatin1String(id));
    ASSERT_NE(action, nullptr) << id;
    EXPECT_FALSE(action->toolTip().isEmpty()) << id;
  }
}

}  // namespace
}  // namespace foxhunt::ui
