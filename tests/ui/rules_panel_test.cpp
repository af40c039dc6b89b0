// The rules panel: editing with live checks, Apply to a session that runs, what fires, and back-tests over its runs.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QToolButton>
#include <QTreeWidget>

#include "tests/support/log_watch.h"
#include "tests/ui/panels_fixture.h"
#include "tests/ui/window_fixture.h"
#include "ui/models/system_feed.h"
#include "ui/panels/quantity_picker.h"
#include "ui/panels/rule_back_test_page.h"
#include "ui/panels/rules_panel.h"
#include "ui/panels/system_panel.h"

namespace foxhunt::ui::test {
namespace {

QString sentenceOf(QWidget& panel) {
  return panel.findChild<QLabel*>("ruleSentence")->text();
}

void typeRule(QWidget& panel, const QString& text) {
  auto* field = panel.findChild<QLineEdit*>("ruleText");
  ASSERT_NE(field, nullptr);
  field->setFocus();
  field->selectAll();
  QTest::keyClicks(field, text);
}

QString cellOf(RulesPanel& panel, int row, RuleListModel::Column column) {
  return panel.list().index(row, column).data().toString();
}

TEST(RuleModels, KeepToTheContractOfModels) {
  RuleListModel rules;
  QAbstractItemModelTester tester(&rules, QAbstractItemModelTester::FailureReportingMode::Warning);
  RunData run;
  rules.setData(&run);
  rules.add("step loss.total above 5, stop");
  rules.add("step loss.totel above 5");
  rules.add("step loss.total above 5, stop");
  EXPECT_FALSE(rules.valid());
  EXPECT_EQ(rules.problem(0), "");
  EXPECT_TRUE(rules.problem(1).contains("did you mean \"loss.total\"?")) << rules.problem(1).toStdString();
  EXPECT_TRUE(rules.problem(2).contains("before"));
  rules.remove(2);
  rules.setText(1, "signal risk.exposure below 0.5");
  EXPECT_TRUE(rules.valid());
  const QModelIndex first = rules.index(0, RuleListModel::rule);
  EXPECT_EQ(first.data(Qt::CheckStateRole).toInt(), Qt::Checked);
  EXPECT_TRUE(rules.setData(first, Qt::Unchecked, Qt::CheckStateRole));
  EXPECT_TRUE(rules.texts()[0].endsWith(", off"));
  EXPECT_EQ(rules.index(0, RuleListModel::state).data().toString(), "not applied");
  rules.setApplied(rules.texts());
  EXPECT_EQ(rules.index(0, RuleListModel::state).data().toString(), "off");
  EXPECT_EQ(rules.index(1, RuleListModel::state).data().toString(), "ready");
  RuleTestModel tests;
  QAbstractItemModelTester other(&tests, QAbstractItemModelTester::FailureReportingMode::Warning);
  RunSummary summary;
  summary.folder = "/runs/a";
  summary.info = RunInfo{};
  tests.setRuns({summary});
  EXPECT_EQ(tests.chosen().size(), 1u);
  tests.setResult("/runs/a", {}, "damaged");
  EXPECT_EQ(tests.index(0, RuleTestModel::outcome).data().toString(), "damaged");
  tests.choose(false);
  EXPECT_TRUE(tests.chosen().empty());
}

class RulesPanelTest : public testing::Test {
 protected:
  void SetUp() override { applyTheme(*qApp, ThemeChoice::dark); }
  TrainedRun run_;
};

TEST_F(RulesPanelTest, EditsWithLiveChecks) {
  auto panel = makeShown<RulesPanel>(run_, "rules", {760, 460});
  EXPECT_TRUE(panel->summary().startsWith("No rules"));
  QTest::mouseClick(child<QToolButton>(*panel, "Add"), Qt::LeftButton);
  ASSERT_EQ(panel->list().rowCount(), 1);
  EXPECT_TRUE(panel->list().valid());

  // From the list, by typing and Enter.
  auto* picker = panel->findChild<QuantityPicker*>();
  ASSERT_NE(picker, nullptr);
  picker->openList();
  ASSERT_TRUE(picker->listOpen());
  auto* search = child<QLineEdit>(*picker, "Search what to watch");
  auto* tree = child<QTreeWidget>(*picker, "What to watch");
  int words = 0;
  for (QTreeWidgetItemIterator it(tree); *it != nullptr; ++it) words += (*it)->childCount() == 0;
  EXPECT_EQ(words, (40 - 6) + (160 - 31) + 147);
  QTest::keyClicks(search, "risk.exposure");
  QTest::keyClick(search, Qt::Key_Return);
  EXPECT_FALSE(picker->listOpen());
  EXPECT_EQ(picker->column(), "risk.exposure");
  EXPECT_TRUE(panel->list().texts()[0].startsWith("signal risk.exposure rises 6 sigma over 500"))
      << panel->list().texts()[0].toStdString();

  // The form by keyboard, then the text; each says the same.
  auto* kind = child<QComboBox>(*panel, "Fires when");
  kind->setFocus();
  QTest::keyClick(kind, Qt::Key_Home);
  auto* bound = child<QLineEdit>(*panel, "Bound");
  bound->setFocus();
  bound->selectAll();
  QTest::keyClicks(bound, "0.75");
  EXPECT_EQ(panel->list().texts()[0], "signal risk.exposure above 0.75, 1 of 1, cool_down 60, notify");
  EXPECT_TRUE(sentenceOf(*panel).contains("five a second"));
  QTest::keyClicks(bound, "x");
  EXPECT_TRUE(sentenceOf(*panel).contains("\"0.75x\" is not a number")) << sentenceOf(*panel).toStdString();
  EXPECT_FALSE(child<QToolButton>(*panel, "Apply")->isEnabled());
  EXPECT_TRUE(panel->summary().startsWith("A rule is not valid"));
  typeRule(*panel, "health q.mean no_progress 500 by 0.01 higher, stop");
  EXPECT_TRUE(panel->list().valid());
  EXPECT_EQ(kind->currentIndex(), 3);
  EXPECT_EQ(child<QLineEdit>(*panel, "Least improvement")->text(), "0.01");
  EXPECT_EQ(child<QComboBox>(*panel, "Action")->currentText(), "stop");
  typeRule(*panel, "health q.mean no_progres 500");
  EXPECT_TRUE(sentenceOf(*panel).contains("did you mean \"no_progress\"?"));

  QTest::mouseClick(child<QToolButton>(*panel, "Revert"), Qt::LeftButton);
  EXPECT_EQ(panel->list().rowCount(), 0);
}

TEST_F(RulesPanelTest, AppliesToTheLiveSessionAndBackTestsItsRun) {
  const foxhunt::test::ExpectLog expected("is above 130");
  auto panel = makeShown<RulesPanel>(run_, "rules", {900, 460});
  run_.train();  // 120 steps; the session stays
  QSignalSpy kept(panel.get(), &RulesPanel::applied);
  panel->addRule();
  const QString rule = "step step above 130, cool_down 3600, notify";
  typeRule(*panel, rule);
  EXPECT_EQ(cellOf(*panel, 0, RuleListModel::state), "not applied");
  QTest::mouseClick(child<QToolButton>(*panel, "Apply"), Qt::LeftButton);
  ASSERT_TRUE(run_.spin([&] { return panel->summary().startsWith("At work since step 120"); }))
      << panel->summary().toStdString();
  EXPECT_EQ(run_.data().configuration().at("rules").at(0), rule.toStdString());
  ASSERT_EQ(kept.count(), 1);
  EXPECT_EQ(kept[0][0].toStringList(), QStringList{rule});
  EXPECT_EQ(cellOf(*panel, 0, RuleListModel::state), "watching");
  EXPECT_EQ(cellOf(*panel, 0, RuleListModel::now), "120");
  EXPECT_EQ(cellOf(*panel, 0, RuleListModel::fired), "0");

  run_.bridge().startFolds(0, 0);
  ASSERT_TRUE(run_.spin([&] { return cellOf(*panel, 0, RuleListModel::fired) == "1"; }))
      << panel->summary().toStdString();
  EXPECT_EQ(cellOf(*panel, 0, RuleListModel::last), "131");
  EXPECT_TRUE(cellOf(*panel, 0, RuleListModel::state).startsWith("silent"));
  ASSERT_TRUE(run_.spin([&] { return run_.bridge().status().state == SessionState::idle; }));

  // The run so far, read back.
  QTest::mouseClick(child<QToolButton>(*panel, "Page of the rules: Back-test"), Qt::LeftButton);
  RuleBackTestPage& page = panel->backTest();
  ASSERT_TRUE(run_.spin([&] {
    panel->refresh();
    return page.results().rowCount() == 1;
  }));
  const auto tested = [&] { return !page.running() && page.results().tested().first == 1; };
  ASSERT_TRUE(run_.spin(
      [&] {  // what was written half a second ago is there
        if (!page.running()) page.test();
        return run_.spin(tested) && page.results().index(0, RuleTestModel::fired).data().toString() == "1";
      },
      20));
  EXPECT_EQ(page.results().index(0, RuleTestModel::first).data().toString(), "131");
  EXPECT_TRUE(page.results().index(0, RuleTestModel::outcome).data().toString().contains("step = 131 is above 130"));
  EXPECT_TRUE(panel->summary().contains("1 of 1")) << panel->summary().toStdString();
}

// A rule that the session does not take: what the window would say of it.
TEST_F(RulesPanelTest, KeepsForTheNextSessionWhereNoneIsLive) {
  auto panel = makeShown<RulesPanel>(run_, "rules", {480, 300});
  panel->setConfigured({"step td.mean above 5"});
  ASSERT_EQ(panel->list().rowCount(), 1);
  EXPECT_EQ(cellOf(*panel, 0, RuleListModel::state), "ready");
  panel->list().setText(0, "step td.mean above 6");
  panel->setConfigured({"step td.mean above 7"});
  EXPECT_EQ(panel->list().texts(), QStringList{"step td.mean above 6"}) << "what is being edited stays";
  QSignalSpy kept(panel.get(), &RulesPanel::applied);
  panel->apply();
  EXPECT_EQ(kept.count(), 1);
  EXPECT_TRUE(panel->summary().startsWith("Kept for the next session"));
  panel->removeRule();
  panel->apply();
  EXPECT_TRUE(panel->list().applied().isEmpty());
}

TEST(RulesInTheWindow, AreRememberedWithTheConfiguration) {
  WindowRig rig;
  auto* panel = qobject_cast<RulesPanel*>(rig.window->panel("rules"));
  ASSERT_NE(panel, nullptr);
  panel->list().add("step td.mean above 6, pause");
  panel->apply();
  EXPECT_EQ(rig.window->session().config().rules, std::vector<std::string>{"step td.mean above 6, pause"});
  rig.window->close();
  rig.window.reset();
  rig.open();
  panel = qobject_cast<RulesPanel*>(rig.window->panel("rules"));
  EXPECT_EQ(panel->list().texts(), QStringList{"step td.mean above 6, pause"});
  EXPECT_FALSE(panel->list().changed());
}

TEST(RulesInTheWindow, AreToldOfInTheMessageBar) {
  const auto script = std::make_shared<Script>();
  script->set(SessionState::training);
  WindowRig rig(scriptedSessions(script));
  rig.window->startDemo();
  {
    const std::scoped_lock lock(script->mutex);
    SessionEvent event;
    event.step = 77;
    event.kind = "rule";
    event.severity = "warning";
    event.source = "step td.mean above 6, pause";
    event.message = "td.mean = 7 is above 6; a pause is asked for";
    script->events.push_back(event);
  }
  ASSERT_TRUE(rig.spin([&] { return rig.window->messageText().contains("td.mean = 7"); }));
  EXPECT_TRUE(rig.window->messageText().contains("Step 77"));
  {
    const std::scoped_lock lock(script->mutex);
    script->status.history_problem = "disk full";
  }
  ASSERT_TRUE(rig.spin([&] { return rig.window->messageText().contains("training goes on"); }));
}

TEST(SystemPanelTest, ShowsTheMachineAndWhyThereIsNoGpu) {
  applyTheme(*qApp, ThemeChoice::dark);
  SystemFeed feed(nullptr, 0.02);
  RunData data;
  SystemPanel panel({nullptr, {}, &feed}, "system", "System", nullptr);
  panel.setData(&data);
  panel.resize(700, 360);
  panel.show();
  ASSERT_TRUE(spinUntil([&] { return feed.latest().number >= 4; }));
  panel.refresh();
  EXPECT_TRUE(panel.summary().contains("CPU")) << panel.summary().toStdString();
  EXPECT_TRUE(panel.summary().contains("cores"));
  if (!feed.latest().gpu_problem.empty()) {
    EXPECT_TRUE(panel.summary().contains("No metrics of the GPU"));
  }
  EXPECT_GE(feed.series(SystemFeed::process_memory)->size(), 3u);
  EXPECT_FALSE(feed.brief().isEmpty());
  EXPECT_EQ(formatBytes(512e6), "512 MB");
  EXPECT_EQ(formatBytes(12.34e9), QLocale().toString(12.3, 'f', 1) + " GB");
}

}  // namespace
}  // namespace foxhunt::ui::test
