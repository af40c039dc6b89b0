// Q, Losses, Optimiser, Actions and Validation over a real session.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QToolButton>
#include <QTreeWidget>
#include <cmath>

#include "engine/run/run_reader.h"
#include "tests/ui/panels_fixture.h"
#include "ui/charts/format.h"
#include "ui/panels/actions_panel.h"
#include "ui/panels/health_panel.h"
#include "ui/panels/losses_panel.h"
#include "ui/panels/optimiser_panel.h"
#include "ui/panels/q_panel.h"
#include "ui/panels/signals_panel.h"
#include "ui/panels/validation_panel.h"

namespace foxhunt::ui::test {
namespace {

class CurvePanels : public testing::Test {
 protected:
  void SetUp() override { applyTheme(*qApp, ThemeChoice::dark); }
  TrainedRun run_;
};

void dragThreshold(CurveChart& chart, double to) {
  const QRectF plot = chart.plotRect();
  const auto at = [&](double value) { return QPointF(plot.center().x(), chart.yToPixel(value)).toPoint(); };
  const QPoint from = at(chart.threshold()->value), end = at(to);
  QTest::mouseMove(&chart, from);
  QTest::mousePress(&chart, Qt::LeftButton, {}, from);
  QTest::mouseMove(&chart, (from + end) / 2);
  QTest::mouseMove(&chart, end);
  QTest::mouseRelease(&chart, Qt::LeftButton, {}, end);
}

TEST_F(CurvePanels, ShowEveryStepLinkedAndExplained) {
  auto q = makeShown<QPanel>(run_, "q", {700, 420});
  auto losses = makeShown<LossesPanel>(run_, "losses", {1100, 460});
  auto optimiser = makeShown<OptimiserPanel>(run_, "optimiser");
  run_.train();
  ASSERT_EQ(run_.data().stepCount(), 120u);
  for (CurvePanel* panel : {static_cast<CurvePanel*>(q.get()), static_cast<CurvePanel*>(losses.get()),
                            static_cast<CurvePanel*>(optimiser.get())}) {
    panel->refresh();
    QApplication::processEvents();
    for (CurveChart* chart : panel->charts()) {
      EXPECT_TRUE(chart->following());
      EXPECT_EQ(chart->dataRange(), (std::pair{1.0, 120.0}));
      EXPECT_TRUE(chart->badge().contains("points"));
    }
    EXPECT_TRUE(panel->summary().contains("mean")) << panel->summary().toStdString();
  }
  CurveChart& loss = *losses->charts().front();
  EXPECT_TRUE(loss.logY());
  EXPECT_EQ(loss.seriesCount(), 12);
  EXPECT_TRUE(loss.seriesVisible(0) && loss.seriesVisible(4));
  EXPECT_FALSE(loss.seriesVisible(11)) << "c51 alpha waits for a click";
  QTest::mouseClick(&loss, Qt::LeftButton, {}, loss.legendRect(11).center().toPoint());
  EXPECT_TRUE(loss.seriesVisible(11));
  EXPECT_EQ(optimiser->charts().size(), 2u);
  EXPECT_EQ(q->charts().front()->seriesCount(), 5);

  // The values are those of the ring: the total is the last one drained.
  const auto total = run_.data().steps(kernels::step_word_loss_total);
  const auto rows = loss.valuesAt(120);
  EXPECT_DOUBLE_EQ(rows.front().value, total->y_at(total->size() - 1));

  // A key on one chart moves all of them; the crosshair too.
  CurveChart& means = *q->charts().front();
  means.setFocus();
  QTest::keyClick(&means, Qt::Key_Plus);
  EXPECT_FALSE(loss.following() && loss.xView().span == 0);
  EXPECT_EQ(loss.xView(), means.xView());
  EXPECT_LT(loss.xView().x1 - loss.xView().x0, 119);
  QTest::mouseMove(&means, means.plotRect().center().toPoint());
  ASSERT_TRUE(loss.link().crosshair().has_value());
  EXPECT_NEAR(*loss.link().crosshair(), means.pixelToX(means.plotRect().center().x()), 1);

  // Gaps and spread by click, the guard's line only with the means.
  ASSERT_TRUE(means.threshold().has_value());
  auto* spread = child<QToolButton>(*q, "Shown of Q: Spread");
  ASSERT_NE(spread, nullptr);
  QTest::mouseClick(spread, Qt::LeftButton);
  EXPECT_EQ(means.seriesCount(), 4);
  EXPECT_TRUE(means.title().contains("Spread"));
  EXPECT_FALSE(means.threshold().has_value());
}

TEST_F(CurvePanels, DraggingTheTripLevelSetsTheGuardsFloor) {
  auto q = makeShown<QPanel>(run_, "q");
  run_.train();
  q->refresh();
  QApplication::processEvents();
  CurveChart& chart = *q->charts().front();
  ASSERT_TRUE(chart.threshold().has_value());
  const double before = chart.threshold()->value;
  EXPECT_TRUE(chart.threshold()->draggable);
  ASSERT_TRUE(run_.data().guard().trip.has_value());
  EXPECT_NEAR(before, *run_.data().guard().trip, 1e-9);
  chart.setYView({false, -before, 4 * before});
  const double wanted = 3 * before;
  dragThreshold(chart, wanted);
  ASSERT_FALSE(run_.bridge().commands().empty());
  const CommandRecord& record = run_.bridge().commands().back();
  EXPECT_EQ(record.command.kind, CommandKind::set_value);
  EXPECT_EQ(record.command.field, "guards.drift_floor");
  const double set = std::stod(record.command.value);
  EXPECT_NEAR(set, wanted, 5 * before / chart.plotRect().height() + 1e-3 * wanted) << "within a pixel";
  ASSERT_TRUE(run_.spin([&] { return run_.bridge().commands().back().stage == CommandRecord::Stage::done; }));
  ASSERT_TRUE(run_.spin([&] {
    q->refresh();
    return std::abs(chart.threshold()->value - set) < 1e-6;
  })) << "the line stands where the guard now is: "
      << chart.threshold()->value << ", set " << set << ", trip " << run_.data().guard().trip.value_or(-1) << ", floor "
      << run_.data().guard().floor << ", before " << before;

  run_.bridge().stopNow();
  ASSERT_TRUE(run_.spin([&] { return !run_.bridge().live(); }));
  q->refresh();
  ASSERT_TRUE(run_.spin([&] { return !chart.threshold()->draggable; })) << "nothing to set any more";
  run_.data().begin(RunData::Source::none, {}, {});
  q->refresh();
  EXPECT_FALSE(chart.threshold().has_value());
  EXPECT_FALSE(chart.dataRange().has_value());
}

// A step whose flags are set: named, the first stage first.
TEST_F(CurvePanels, HealthNamesNanFlags) {
  auto panel = makeShown<HealthPanel>(run_, "health", {560, 460});
  run_.data().begin(RunData::Source::live, "run", {});
  telemetry::StepRecord record{};
  record.step = record.step_last = 1;
  record.nan_flags = 1u << 12 | 1u << 2;
  run_.data().appendSteps({&record, 1}, 1);
  ASSERT_TRUE(spinUntil([&] {
    panel->refresh();
    return panel->summary().contains("NaN: branch_logits, trunk_output");
  })) << panel->summary().toStdString();
}

// Below what stands above it the line lowers that, each setting as a command of its own.
TEST_F(CurvePanels, TheTripLevelCanBeDraggedDown) {
  auto q = makeShown<QPanel>(run_, "q");
  run_.train();
  q->refresh();
  QApplication::processEvents();
  CurveChart& chart = *q->charts().front();
  const auto settled = [&] {
    q->refresh();
    return run_.bridge().commands().back().stage == CommandRecord::Stage::done;
  };
  const auto dragTo = [&](double level) {
    q->refresh();
    const double before = chart.threshold()->value;
    chart.setYView({false, 0, 1.2 * std::max(before, level)});
    dragThreshold(chart, level);
    ASSERT_FALSE(run_.bridge().commands().empty());
    ASSERT_TRUE(run_.spin(settled)) << run_.bridge().commands().back().message;
  };
  const double high = 4 * std::max(1.0, run_.data().guard().q_previous);
  dragTo(high);
  EXPECT_NEAR(*run_.data().guard().trip, high, 0.02 * high);
  const std::size_t commands = run_.bridge().commands().size();
  const double low = 1.5 * run_.data().guard().q_previous;
  dragTo(low);
  EXPECT_NEAR(*run_.data().guard().trip, low, 0.03 * high) << "whatever stood above it";
  EXPECT_GT(run_.bridge().commands().size(), commands);
  int settings = 0;
  for (const EventView& event : run_.data().events()) settings += event.kind == "setting" && event.source == "user";
  EXPECT_EQ(settings, static_cast<int>(run_.bridge().commands().size())) << "each is an event of the run";

  // The mode, by its list.
  auto* mode = child<QComboBox>(*q, "Q-drift guard");
  mode->setFocus();
  QTest::keyClick(mode, Qt::Key_End);
  ASSERT_TRUE(run_.spin([&] {
    q->refresh();
    return run_.data().guard().mode == "off";
  }));
  EXPECT_FALSE(chart.threshold().has_value()) << "a guard that is off has no level";
}

TEST_F(CurvePanels, ActionsOfEachBranch) {
  auto panel = makeShown<ActionsPanel>(run_, "actions");
  EXPECT_TRUE(panel->summary().contains("no", Qt::CaseInsensitive)) << panel->summary().toStdString();
  run_.train();
  ASSERT_TRUE(run_.spin([&] {
    panel->refresh();
    return panel->summary().contains("Short");
  }));
  // What the bars say is what the newest snapshot says.
  const auto& values = run_.data().snapshot()->signals;
  double sum = 0;
  for (int k = 0; k < 4; ++k) sum += static_cast<double>(values[kernels::signal_action_direction_short + k]);
  ASSERT_GT(sum, 0);
  const double share = static_cast<double>(values[kernels::signal_action_direction_short]) / sum;
  EXPECT_TRUE(panel->summary().contains(QLocale().toString(100 * share, 'f', 0) + " %"))
      << panel->summary().toStdString();
  for (const auto& [branch, action] : {std::pair("Size", "Quarter"), {"Order", "Pegged"}, {"Urgency", "Urgent"}}) {
    QTest::mouseClick(child<QToolButton>(*panel, QStringLiteral("Branch: ") + branch), Qt::LeftButton);
    panel->refresh();
    EXPECT_TRUE(panel->summary().contains(action)) << panel->summary().toStdString();
    EXPECT_FALSE(panel->summary().contains("Short"));
  }
  // Greedy over time has a row a validation that knows its actions.
  QTest::mouseClick(child<QToolButton>(*panel, "Policy over time: Greedy"), Qt::LeftButton);
  panel->refresh();
  EXPECT_TRUE(panel->summary().contains("Urgent"));
  run_.data().begin(RunData::Source::none, {}, {});
  panel->refresh();
  EXPECT_FALSE(panel->summary().contains("Urgent 1"));
}

TEST_F(CurvePanels, ValidationsAgainstTheRunFolder) {
  auto panel = makeShown<ValidationPanel>(run_, "validation", {900, 640});
  auto* tiles = panel->findChild<MetricTiles*>();
  auto* chart = panel->findChild<EquityChart*>();
  auto* table = panel->findChild<QTableView*>();
  ASSERT_TRUE(tiles && chart && table);
  EXPECT_EQ(chart->title(), "No validation yet");
  run_.train();
  panel->refresh();
  EXPECT_EQ(table->model()->rowCount(), 4);
  EXPECT_TRUE(table->isVisible());
  EXPECT_TRUE(chart->title().startsWith("Fold 2, epoch 2")) << chart->title().toStdString();

  // Net profits as the run folder has them.
  run_.bridge().stopNow();
  ASSERT_TRUE(run_.spin([&] { return !run_.bridge().live(); }));
  const RunReader reader = RunReader::open(run_.data().folder());
  std::vector<double> nets;
  for (const RunRecord& row : reader.records(RunTable::evaluations)) {
    if (std::get<std::string>(value_of(row, "policy")) != "agent") continue;
    nets.push_back(std::get<double>(value_of(row, "net")));
  }
  ASSERT_EQ(nets.size(), 4u);
  const QString newest = QLocale().toString(nets[3], 'f', 0);
  EXPECT_TRUE(tiles->accessibleDescription().contains("Net " + newest)) << tiles->accessibleDescription().toStdString();
  for (int row = 0; row < 4; ++row) {
    const QModelIndex net = table->model()->index(row, EpochTableModel::net);
    EXPECT_DOUBLE_EQ(net.data(CellTableModel::sort_role).toDouble(), nets[static_cast<std::size_t>(row)]);
  }

  // A click in the table, then the list by keyboard.
  clickRow(*table, 0);
  panel->refresh();
  EXPECT_TRUE(chart->title().startsWith("Fold 1, epoch 1")) << chart->title().toStdString();
  auto* choice = child<QComboBox>(*panel, "Epoch shown");
  choice->setFocus();
  QTest::keyClick(choice, Qt::Key_Home);
  panel->refresh();
  EXPECT_TRUE(chart->title().startsWith("Fold 2, epoch 2"));
  EXPECT_TRUE(chart->summary().contains("buy and hold 16 contracts")) << chart->summary().toStdString();
  EXPECT_TRUE(tiles->accessibleDescription().contains("In market ")) << tiles->accessibleDescription().toStdString();
  EXPECT_TRUE(tiles->accessibleDescription().contains(" bars")) << "behind the Sharpe ratio";
  EXPECT_TRUE(chart->summary().contains("random"));

  panel->resize(420, 230);
  QApplication::processEvents();
  EXPECT_FALSE(table->isVisible()) << "no room unless asked for";
  QTest::mouseClick(child<QToolButton>(*panel, "All epochs"), Qt::LeftButton);
  EXPECT_TRUE(table->isVisible());
  run_.data().begin(RunData::Source::none, {}, {});
  panel->refresh();
  EXPECT_EQ(table->model()->rowCount(), 0);
  EXPECT_EQ(chart->title(), "No validation yet");
}

TEST_F(CurvePanels, SignalsAreChosenFromTheList) {
  auto panel = makeShown<SignalsPanel>(run_, "signals", {900, 460});
  run_.train();
  panel->refresh();
  CurveChart& chart = *panel->charts().front();
  EXPECT_EQ(chart.seriesCount(), 4);
  auto* list = child<QTreeWidget>(*panel, "Signals");
  auto* search = child<QLineEdit>(*panel, "Search signals");
  search->setFocus();
  QTest::keyClicks(search, "reward.pnl");
  QTreeWidgetItem* found = nullptr;
  int seen = 0;
  for (QTreeWidgetItemIterator it(list); *it != nullptr; ++it) {
    if ((*it)->parent() == nullptr || (*it)->isHidden()) continue;
    found = *it;
    ++seen;
  }
  ASSERT_EQ(seen, 1);
  EXPECT_EQ(found->text(0), "reward.pnl");
  EXPECT_FALSE(found->toolTip(0).isEmpty());
  list->setCurrentItem(found);
  list->setFocus();
  QTest::keyClick(list, Qt::Key_Space);
  EXPECT_TRUE(panel->chosen().contains(kernels::signal_reward_pnl));
  EXPECT_EQ(chart.seriesCount(), 5);
  // In a narrow dock the list takes the place of the curves, as wide as the panel.
  search->clear();
  panel->resize(300, 260);
  QApplication::processEvents();
  EXPECT_TRUE(chart.isVisible());
  EXPECT_FALSE(list->isVisible());
  QTest::mouseClick(child<QToolButton>(*panel, "Choose…"), Qt::LeftButton);
  QApplication::processEvents();
  EXPECT_FALSE(chart.isVisible());
  EXPECT_GT(list->width(), 280);
  QTest::mouseClick(child<QToolButton>(*panel, "None"), Qt::LeftButton);
  EXPECT_EQ(chart.seriesCount(), 0);
  EXPECT_TRUE(panel->chosen().empty());
}

TEST_F(CurvePanels, HealthShowsTheNewestSnapshot) {
  auto panel = makeShown<HealthPanel>(run_, "health", {560, 460});
  auto* table = child<QTableView>(*panel, "Health words");
  EXPECT_EQ(table->model()->rowCount(), 147);
  EXPECT_EQ(panel->summary(), "No snapshot yet\nNaN: not known\nQ-drift: no run");
  run_.train();
  ASSERT_TRUE(run_.spin([&] {
    panel->refresh();
    return panel->summary().contains("120");
  })) << panel->summary().toStdString();
  // The trend ends with the newest value and is drawn as many times as there were snapshots.
  const auto* sorted = qobject_cast<const QSortFilterProxyModel*>(table->model());
  ASSERT_NE(sorted, nullptr);
  const auto at = [&](int word, int column) {
    return sorted->mapFromSource(sorted->sourceModel()->index(word, column));
  };
  const auto trend = at(kernels::health_loss_total, HealthModel::trend);
  const auto values = trend.data(HealthModel::trend_role).value<QList<double>>();
  ASSERT_EQ(static_cast<std::size_t>(values.size()), run_.data().healthTrend().size());
  ASSERT_GE(values.size(), 1);
  EXPECT_DOUBLE_EQ(values.back(), telemetry::word_value(run_.data().snapshot()->health, kernels::health_loss_total));
  const auto& health = run_.data().snapshot()->health;
  int unhealthy = 0;
  const auto entries = telemetry::health_table();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double value = telemetry::word_value(health, static_cast<int>(i));
    unhealthy += !std::isfinite(value) || value < static_cast<double>(entries[i].low) ||
                 value > static_cast<double>(entries[i].high);
  }
  EXPECT_TRUE(panel->summary().contains("NaN: none")) << panel->summary().toStdString();
  const GuardView guard = run_.data().guard();
  ASSERT_TRUE(guard.trip && guard.ratio);
  EXPECT_TRUE(panel->summary().contains(
      QStringLiteral("Q-drift warns · %1 of %2 · ratio %3")
          .arg(formatValue(guard.q, 3), formatValue(*guard.trip, 3), formatValue(*guard.ratio, 2))))
      << panel->summary().toStdString();
  EXPECT_EQ(at(0, HealthModel::value).data().toString(), "120");
  for (int row = 0; row < table->model()->rowCount(); ++row)
    EXPECT_EQ(table->model()->index(row, 0).data(CellTableModel::sort_role).toInt() < 0, row < unhealthy) << row;
  QTest::mouseClick(child<QToolButton>(*panel, "Only unhealthy"), Qt::LeftButton);
  EXPECT_EQ(table->model()->rowCount(), unhealthy);
  run_.data().begin(RunData::Source::none, {}, {});
  ASSERT_TRUE(spinUntil([&] {
    panel->refresh();
    return panel->summary().startsWith("No snapshot yet");
  }));
  EXPECT_EQ(table->model()->rowCount(), 0);
}

}  // namespace
}  // namespace foxhunt::ui::test
