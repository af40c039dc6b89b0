// Data, Market and Trades: a live session's validation, a checkpoint evaluated by clicks, trades chosen and exported,
// files with oddities.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QFile>
#include <QHeaderView>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QToolButton>
#include <QTreeView>
#include <cmath>

#include "engine/session/checkpoint_load.h"
#include "kernels/environment_types.h"
#include "tests/ui/panels_fixture.h"
#include "ui/models/market_lanes.h"
#include "ui/panels/data_panel.h"
#include "ui/panels/market_panel.h"
#include "ui/panels/trades_panel.h"
#include "ui/panels/validation_panel.h"

namespace foxhunt::ui::test {
namespace {

std::vector<TradeView> someTrades() {
  return {{2000, 2600, -4, 101, 99, 180, 10, 20, kernels::fill_stop},
          {1000, 1300, 2, 100, 98.5, -85, 5, 10, kernels::fill_market},
          {3000, 3000, 2, 99, 100, 45, 0, kNone, 0}};
}

TEST(MarketModels, TradesUnderTheTester) {
  TradeModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Warning);
  QSortFilterProxyModel proxy;
  proxy.setSortRole(CellTableModel::sort_role);
  proxy.setSourceModel(&model);
  QAbstractItemModelTester sorted(&proxy, QAbstractItemModelTester::FailureReportingMode::Warning);
  proxy.sort(TradeModel::profit, Qt::DescendingOrder);
  model.setTrades(someTrades());
  ASSERT_EQ(model.rowCount(), 3);
  model.setCurrency(QStringLiteral("$"));
  EXPECT_EQ(model.headerData(TradeModel::profit, Qt::Horizontal, Qt::DisplayRole).toString(), "P&L ($)");
  EXPECT_EQ(model.at(0).entry_time, 1000) << "in the order of entries";
  const auto shown = [&](int row, int column) { return model.index(row, column).data().toString(); };
  EXPECT_EQ(shown(0, TradeModel::entry_time), "1970-01-01 00:16:40");
  EXPECT_EQ(shown(0, TradeModel::side), "▲ long");
  EXPECT_EQ(shown(1, TradeModel::side), "▼ short");
  EXPECT_EQ(shown(1, TradeModel::contracts), "2") << "both sides are in the trade, one in the list";
  EXPECT_EQ(shown(1, TradeModel::reason), "trailing stop");
  EXPECT_EQ(shown(0, TradeModel::reason), "signal, market order");
  EXPECT_EQ(shown(2, TradeModel::reason), "–");
  EXPECT_EQ(shown(2, TradeModel::costs), "–");
  EXPECT_EQ(proxy.index(0, TradeModel::profit).data().toString(), "180.00");
  EXPECT_EQ(model.find(someTrades()[0]), 1);
  EXPECT_EQ(model.find({}), -1);
  EXPECT_EQ(model.totals(), "trades 3 · net 140.00 · 67 % gained");
  EXPECT_EQ(model.csv(),
            "number,entry_time,exit_time,side,contracts,entry_price,exit_price,bars,costs,net,exit_by\n"
            "1,1970-01-01T00:16:40.000Z,1970-01-01T00:21:40.000Z,long,1,100,98.5,5,10,-85,\"signal, market order\"\n"
            "2,1970-01-01T00:33:20.000Z,1970-01-01T00:43:20.000Z,short,2,101,99,10,20,180,trailing stop\n"
            "3,1970-01-01T00:50:00.000Z,1970-01-01T00:50:00.000Z,long,1,99,100,0,nan,45,\n");
  model.setTrades({});
  EXPECT_EQ(model.totals(), "no trade");
}

TEST(MarketModels, ReportsUnderTheTester) {
  market::DataPreview preview;
  preview.symbol = "ESH4";
  preview.rows = 986;
  preview.report.files.push_back(
      {"/d/bars.csv", "bars", "ESH4", 986, 1'000'000'000, 2'000'000'000, 60'000'000'000, true});
  preview.report.inferred["bars.csv: delimiter"] = "';'";
  preview.report.inferred["aggressor check: buy-aggressor trades at the ask"] = "9 of 10 (90.0 %)";
  preview.report.warnings.push_back({"something", "/d/bars.csv", {}});
  for (int i = 0; i < 7; ++i) preview.report.add("duplicate", "bar " + std::to_string(i));
  preview.report.add("new_rule", "only once");
  DataFilesModel files;
  QAbstractItemModelTester tester(&files, QAbstractItemModelTester::FailureReportingMode::Warning);
  const market::Contract contract{"ES", 0.25, 12.5, 2.0, 0, 1, 0};
  files.setPreview(preview, contract);
  files.setPreview(preview, contract);
  EXPECT_EQ(files.valueOf("Symbol"), "ESH4");
  EXPECT_EQ(files.valueOf("Contract"), "ES: tick 0.25, worth 12.5; commission 2 a side");
  EXPECT_EQ(files.valueOf("bars.csv"), "bars, 986 records");
  EXPECT_EQ(files.valueOf("delimiter", "bars.csv"), "';'");
  EXPECT_EQ(files.valueOf("first", "bars.csv"), "1970-01-01 00:00:01.000 UTC");
  EXPECT_EQ(files.valueOf("interval", "bars.csv"), "1 min 00 s");
  EXPECT_FALSE(files.valueOf("end", "bars.csv").isEmpty());
  EXPECT_EQ(files.valueOf("aggressor check: buy-aggressor trades at the ask"), "9 of 10 (90.0 %)");
  EXPECT_EQ(files.valueOf("Warnings"), "1");
  files.clearRows();
  EXPECT_EQ(files.rowCount(), 0);

  AnomalyModel anomalies;
  QAbstractItemModelTester other(&anomalies, QAbstractItemModelTester::FailureReportingMode::Warning);
  anomalies.setReport(preview.report);
  ASSERT_EQ(anomalies.rowCount(), 2);
  EXPECT_EQ(anomalies.index(0, AnomalyModel::count).data().toString(), "7");
  EXPECT_EQ(anomalies.index(0, AnomalyModel::done).data().toString(), "dropped; the first stays");
  EXPECT_EQ(anomalies.at(0).examples.size(), 5);
  EXPECT_EQ(anomalies.index(1, AnomalyModel::rule).data().toString(), "new_rule") << "one without words shows its name";
  anomalies.setReport({});
}

class MarketPanels : public testing::Test {
 protected:
  void SetUp() override { applyTheme(*qApp, ThemeChoice::dark); }

  template <class P>
  bool shows(P& panel, const std::function<bool()>& condition) {
    return run_.spin([&] {
      panel.refresh();
      return condition();
    });
  }
  TrainedRun run_;
};

double netOf(const EvaluationView::Trace& trace) {
  double net = 0;
  for (const TradeRecord& trade : trace->trades) net += trade.result;
  return net;
}

TEST_F(MarketPanels, AHiddenPanelTakesNothingAndAShownOneTheNewestValidation) {
  auto panel = std::make_unique<MarketPanel>(run_.context(), "market", "Market", nullptr);
  panel->setData(&run_.data());
  panel->resize(900, 500);
  run_.train(2, 30);
  EXPECT_FALSE(run_.data().evaluation()->wanted());
  EXPECT_EQ(run_.data().evaluation()->shown(), nullptr) << "nobody wants it";
  panel->show();
  QApplication::processEvents();
  EXPECT_TRUE(run_.data().evaluation()->wanted());
  ASSERT_TRUE(shows(*panel, [&] { return panel->chart().content() != nullptr; }));
  const auto trace = run_.data().evaluation()->shown();
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->fold, 1);
  EXPECT_EQ(trace->epoch, 1);
  // The same as what the table of epochs says of that validation.
  const auto& epochs = run_.data().epochs();
  const auto newest =
      std::max_element(epochs.begin(), epochs.end(), [](const auto& a, const auto& b) { return a->step < b->step; });
  EXPECT_EQ(trace->step, (*newest)->step);
  EXPECT_EQ(static_cast<double>(trace->trades.size()), metricOf((*newest)->agent, "trades"));
  EXPECT_NEAR(netOf(trace), metricOf((*newest)->agent, "net"), 1e-6);
  // Lanes hold the trace, bar by bar.
  const LaneData& lanes = panel->chart().content()->data();
  ASSERT_EQ(lanes.times.size(), trace->bars->size());
  EXPECT_EQ(lanes.times.size(), 200u);
  for (const BarTrace& bar : trace->trace) {
    const auto at = static_cast<std::size_t>(bar.bar - trace->bars->rows.begin);
    ASSERT_EQ(lanes.lanes[lane_position].values[at], bar.position * trace->lot);
    ASSERT_EQ(lanes.lanes[lane_reward].values[at], static_cast<double>(bar.reward));
    ASSERT_EQ(lanes.strip[at], bar.action[0]);
  }
  EXPECT_TRUE(std::isnan(lanes.lanes[lane_position].values[0])) << "nothing is executed in the first bar";
  EXPECT_EQ(lanes.markers.size(), trace->fills.size());
  EXPECT_EQ(lanes.breaks.size(), 3u) << "four windows";
  EXPECT_TRUE(panel->summary().contains("200 bars")) << panel->summary().toStdString();
  const auto [head, rows] = panel->chart().valuesAt(50);
  EXPECT_TRUE(
      std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.name == "size, order, urgency"; }));
  panel->hide();
  EXPECT_FALSE(run_.data().evaluation()->wanted());
}

TEST_F(MarketPanels, TheListAndTheLanesShowOneTrade) {
  auto market = makeShown<MarketPanel>(run_, "market", {900, 500});
  auto trades = makeShown<TradesPanel>(run_, "trades", {760, 320});
  EXPECT_TRUE(trades->summary().contains("appear with the first")) << trades->summary().toStdString();
  EXPECT_TRUE(market->summary().contains("first validation") || market->summary().contains("Start a session"));
  run_.train(1, 30);
  ASSERT_TRUE(shows(*market, [&] {
    trades->refresh();
    return market->chart().content() != nullptr && trades->trades().rowCount() > 0;
  }));
  const auto trace = run_.data().evaluation()->shown();
  const TradeModel& model = trades->trades();
  ASSERT_EQ(model.rowCount(), static_cast<int>(trace->trades.size()));
  double costs = 0;
  for (int i = 0; i < model.rowCount(); ++i) {
    costs += model.at(i).costs;
    EXPECT_GT(model.at(i).why, 0);
  }
  EXPECT_NEAR(costs, metricOf(run_.data().epochs().back()->agent, "costs"), 1e-6);

  // Sorted by a click on a header, then the first row is chosen by a click.
  auto* table = child<QTableView>(*trades, "Trades");
  QHeaderView* header = table->horizontalHeader();
  QTest::mouseClick(header->viewport(), Qt::LeftButton, {},
                    QPoint(header->sectionViewportPosition(TradeModel::profit) + 12, header->height() / 2));
  const QRect first = table->visualRect(table->model()->index(0, TradeModel::profit));
  QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, first.center());
  const auto selected = run_.data().evaluation()->selected();
  ASSERT_TRUE(selected.has_value());
  for (int i = 0; i < model.rowCount(); ++i) EXPECT_LE(selected->net, model.at(i).net);
  ASSERT_TRUE(market->chart().highlight().has_value());
  const LaneHighlight highlight = *market->chart().highlight();
  EXPECT_EQ(market->chart().content()->data().times[highlight.begin], selected->entry_time);
  EXPECT_EQ(market->chart().content()->data().times[highlight.end], selected->exit_time);
  EXPECT_LT(market->chart().view().second - market->chart().view().first, 200);
  EXPECT_LE(market->chart().view().first, static_cast<double>(highlight.begin));
  EXPECT_GE(market->chart().view().second, static_cast<double>(highlight.end));
  QSignalSpy front(trades.get(), &Panel::panelRequested);
  QTest::keyClick(table, Qt::Key_Return);
  ASSERT_EQ(front.count(), 1);
  EXPECT_EQ(front[0][0].toString(), "market");

  // A click on a bar of another trade chooses that one's row.
  const TradeRecord& other = trace->trades.back();
  const auto bar = static_cast<double>(other.exit_bar - trace->bars->rows.begin);
  market->chart().setView(bar - 10, bar + 10);
  QApplication::processEvents();
  QTest::mouseClick(&market->chart(), Qt::LeftButton, {},
                    QPoint(static_cast<int>(market->chart().pixelOf(bar + 0.5)),
                           static_cast<int>(market->chart().laneRect(-1).center().y())));
  ASSERT_TRUE(run_.data().evaluation()->selected().has_value());
  EXPECT_EQ(model.at(model.find(*run_.data().evaluation()->selected())).exit_price, other.exit);
  EXPECT_TRUE(table->currentIndex().isValid());

  QTemporaryDir out;
  QSignalSpy told(trades.get(), &Panel::message);
  trades->exportTo(out.filePath("t.csv"));
  trades->exportTo(out.filePath("no/t.csv"));
  ASSERT_EQ(told.count(), 2);
  EXPECT_EQ(told[0][0].toString(), "info");
  EXPECT_EQ(told[1][0].toString(), "error");
  QFile csv(out.filePath("t.csv"));
  ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
  EXPECT_EQ(csv.readAll().count('\n'), model.rowCount() + 1);

  // Another recorded validation from the list.
  auto* choice = child<QComboBox>(*trades, "Evaluation listed");
  ASSERT_EQ(choice->count(), 3);
  choice->setCurrentIndex(1);
  trades->refresh();
  EXPECT_EQ(model.rowCount(), static_cast<int>(run_.data().epochs()[0]->trades.size()));
}

// A click in one of the three shows the epoch in the others.
TEST_F(MarketPanels, AnEpochChosenInOnePanelIsShownInTheOthers) {
  run_.train(2, 30);
  auto market = makeShown<MarketPanel>(run_, "market", {900, 500});
  auto trades = makeShown<TradesPanel>(run_, "trades", {900, 400});
  auto validation = makeShown<ValidationPanel>(run_, "validation", {900, 600});
  auto* epochs = child<QComboBox>(*validation, "Epoch shown");
  auto* listed = child<QComboBox>(*trades, "Evaluation listed");
  EvaluationView& view = *run_.data().evaluation();
  const auto& all = run_.data().epochs();
  const auto best = std::find_if(all.begin(), all.end(), [](const auto& e) { return e->fold == 0 && e->best; });
  ASSERT_NE(best, all.end());
  const auto place = std::pair((*best)->fold, (*best)->epoch);
  ASSERT_TRUE(shows(*market, [&] { return market->chart().title().startsWith("Fold 2"); }));

  auto* table = child<QTableView>(*validation, "Validations");
  clickRow(*table, static_cast<int>(best - all.begin()));
  EXPECT_EQ(view.chosenEpoch(), place);
  ASSERT_TRUE(shows(*market, [&] { return market->chart().title().startsWith("Fold 1"); }));
  EXPECT_EQ(view.shown()->step, (*best)->step);
  trades->refresh();
  EXPECT_TRUE(trades->summary().startsWith(QStringLiteral("Fold 1, epoch %1").arg(place.second + 1)) ||
              listed->currentData().toPoint() == QPoint(place.first, place.second))
      << trades->summary().toStdString();

  // Another in the list of Trades.
  listed->setFocus();
  listed->setCurrentIndex(listed->count() - 1);
  validation->refresh();
  EXPECT_EQ(epochs->currentData().toPoint(), QPoint(1, 1));

  // The newest again, by keyboard.
  epochs->setFocus();
  QTest::keyClick(epochs, Qt::Key_Home);
  EXPECT_EQ(view.chosenEpoch(), std::nullopt);
  EXPECT_EQ(listed->currentIndex(), 0);
  ASSERT_TRUE(shows(*market, [&] { return view.file().empty() && market->chart().title().startsWith("Fold 2"); }));
}

TEST_F(MarketPanels, HoldKeepsAValidationWhileNewerOnesCome) {
  auto market = makeShown<MarketPanel>(run_, "market", {900, 500});
  EvaluationView& view = *run_.data().evaluation();
  const auto one = std::make_shared<ValidationTrace>(), two = std::make_shared<ValidationTrace>();
  one->bars = two->bars = std::make_shared<market::WindowBars>();
  view.setLive(one);
  view.hold(true);
  view.setLive(two);
  EXPECT_EQ(view.shown(), one);
  view.hold(false);
  EXPECT_EQ(view.shown(), two);
  view.setLive(nullptr);
  EXPECT_EQ(view.shown(), two);
}

TEST_F(MarketPanels, ACheckpointIsEvaluatedByClicks) {
  run_.train(2, 30);
  auto panel = makeShown<MarketPanel>(run_, "market", {1000, 500});
  ASSERT_TRUE(shows(*panel, [&] { return panel->chart().content() != nullptr; }));
  auto* choice = child<QComboBox>(*panel, "Evaluation shown");
  auto* evaluate = child<QToolButton>(*panel, "Evaluate");
  EXPECT_FALSE(evaluate->isEnabled()) << "the live validation needs none";
  // The best checkpoint of the first fold.
  const CheckpointView* checkpoint = nullptr;
  for (const CheckpointView& each : run_.data().checkpoints()) {
    if (each.fold == 0 && each.reason == "best") checkpoint = &each;
  }
  ASSERT_NE(checkpoint, nullptr);
  const int at = choice->findData(QString::fromStdString(checkpoint->file.string()));
  ASSERT_GT(at, 0);
  choice->setFocus();
  while (choice->currentIndex() < at) QTest::keyClick(choice, Qt::Key_Down);
  ASSERT_TRUE(evaluate->isEnabled());
  QTest::mouseClick(evaluate, Qt::LeftButton);
  EvaluationView& view = *run_.data().evaluation();
  EXPECT_TRUE(view.running());
  EXPECT_TRUE(child<QToolButton>(*panel, "Cancel")->isVisible());
  ASSERT_TRUE(shows(*panel, [&] { return !view.running() && view.file() == checkpoint->file; }));
  const auto trace = view.shown();
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->fold, 0);
  EXPECT_EQ(trace->step, checkpoint->step);
  // As that step's validation was recorded when it was trained, and as the command line evaluates it.
  const EpochView* recorded = nullptr;
  for (const auto& epoch : run_.data().epochs())
    if (epoch->fold == 0 && epoch->step == checkpoint->step) recorded = epoch.get();
  ASSERT_NE(recorded, nullptr);
  EXPECT_NEAR(netOf(trace), metricOf(recorded->agent, "net"), 1e-6);
  const Config config = foxhunt::test::tiny_config();
  const CheckpointEvaluation same = evaluate_checkpoint(checkpoint->file, config);
  ASSERT_EQ(same.result.trace.size(), trace->trace.size());
  for (std::size_t i = 0; i < trace->trace.size(); ++i) {
    ASSERT_EQ(same.result.trace[i].action, trace->trace[i].action);
    ASSERT_EQ(same.result.trace[i].position, trace->trace[i].position);
  }
  EXPECT_EQ(same.bars.close, trace->bars->close);
  ASSERT_TRUE(shows(*panel, [&] { return panel->chart().title().contains("Fold 1"); }));
  // Back to the live one.
  QTest::keyClick(choice, Qt::Key_Home);
  ASSERT_TRUE(shows(*panel, [&] { return panel->chart().title().contains("Fold 2"); }));

  // Cancelled at once: what was shown stays.
  const auto shown = view.shown();
  view.evaluate(checkpoint->file, config);
  QTest::mouseClick(child<QToolButton>(*panel, "Cancel"), Qt::LeftButton);
  EXPECT_FALSE(view.running());
  run_.spin([] { return false; }, 0.3);
  EXPECT_EQ(view.shown(), shown);

  // Data that are not there: a sentence, and what was shown stays.
  auto broken = run_.data().configuration();
  broken["data"] = {{"ohlcv", {"/nowhere/bars.csv"}}, {"order_flow", "absent"}};
  run_.data().setConfiguration(broken);
  QSignalSpy told(panel.get(), &Panel::message);
  panel->evaluate(checkpoint->file);
  ASSERT_TRUE(run_.spin([&] { return told.count() > 0; }));
  EXPECT_EQ(told[0][0].toString(), "error");
  EXPECT_TRUE(told[0][1].toString().contains("/nowhere/bars.csv")) << told[0][1].toString().toStdString();
  EXPECT_EQ(view.shown(), shown);
}

TEST_F(MarketPanels, DataOfALiveSession) {
  auto panel = makeShown<DataPanel>(run_, "data", {900, 500});
  EXPECT_TRUE(panel->summary().contains("Choose data")) << panel->summary().toStdString();
  run_.train(1, 10);
  panel->refresh();
  ASSERT_NE(panel->chart().content(), nullptr);
  EXPECT_EQ(panel->chart().content()->bars(), 1500u);
  EXPECT_EQ(panel->files().valueOf("Symbol"), "simulated market");
  EXPECT_TRUE(panel->files().valueOf("Contract").startsWith("ES: tick 0.25"))
      << panel->files().valueOf("Contract").toStdString();
  EXPECT_EQ(panel->chart().content()->data().lanes.size(), 3u) << "order flow, volume, spread";
  double flow = 0;
  for (const double value : panel->chart().content()->data().lanes[0].values) flow += std::abs(value);
  EXPECT_GT(flow, 0);
}

TEST_F(MarketPanels, FilesOfAStoredRunAreReadByAClick) {
  QTemporaryDir folder;
  const QString path = folder.filePath("bars.csv");
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("time;open;high;low;close;volume\n");
  for (int i = 0; i < 300; ++i) {
    const int minute = i == 150 ? 149 : i;  // one bar twice
    const QString time = QStringLiteral("2024-01-02T%1:%2Z")
                             .arg(9 + minute / 60, 2, 10, QLatin1Char('0'))
                             .arg(minute % 60, 2, 10, QLatin1Char('0'));
    file.write(QStringLiteral("%1;4800,25;4801,50;4799,75;4800,%2;%3\n")
                   .arg(time, i % 2 ? "50" : "25")
                   .arg(i == 7 ? 0 : 10 + i)
                   .toUtf8());
  }
  file.close();
  Config config;
  config.data.ohlcv = {path.toStdString()};
  config.data.order_flow = "absent";
  run_.data().begin(RunData::Source::stored, "a run", folder.path().toStdString());
  run_.data().setConfiguration(to_json(config));
  auto panel = makeShown<DataPanel>(run_, "data", {900, 500});
  EXPECT_TRUE(panel->summary().contains("Press Read data")) << panel->summary().toStdString();
  EXPECT_EQ(panel->chart().content(), nullptr);
  QTest::mouseClick(child<QToolButton>(*panel, "Read data"), Qt::LeftButton);
  EXPECT_TRUE(panel->reading());
  ASSERT_TRUE(shows(*panel, [&] { return panel->chart().content() != nullptr; }));
  EXPECT_EQ(panel->files().valueOf("bars.csv"), "bars, 300 records");
  EXPECT_EQ(panel->files().valueOf("delimiter", "bars.csv"), "';'");
  EXPECT_TRUE(panel->files().valueOf("numbers", "bars.csv").startsWith("decimal ','"));
  EXPECT_EQ(panel->files().valueOf("first", "bars.csv"), "2024-01-02 09:00:00.000 UTC");
  EXPECT_EQ(panel->chart().content()->bars(), 299u);
  EXPECT_EQ(panel->chart().content()->data().lanes.size(), 1u) << "bars alone have a volume alone";
  const AnomalyModel& found = panel->anomalies();
  QStringList kinds;
  for (int i = 0; i < found.rowCount(); ++i) kinds << found.at(i).rule;
  EXPECT_TRUE(kinds.contains("Bar of the same time again")) << kinds.join(", ").toStdString();
  EXPECT_TRUE(kinds.contains("Bar without volume"));
  // The third button of the switch; a rule chosen by a click shows its examples.
  QTest::mouseClick(child<QToolButton>(*panel, "Page: Cleaning"), Qt::LeftButton);
  auto* rules = child<QTableView>(*panel, "What cleaning found");
  ASSERT_TRUE(rules->isVisible());
  for (int i = 0; i < found.rowCount(); ++i) {
    clickRow(*rules, i);
    EXPECT_TRUE(child<QPlainTextEdit>(*panel, "First examples of the chosen rule")->toPlainText().contains("bars.csv"));
  }
  // Another run: what was read is forgotten.
  run_.data().begin(RunData::Source::none, {}, {});
  panel->refresh();
  EXPECT_EQ(panel->chart().content(), nullptr);
  EXPECT_EQ(panel->files().rowCount(), 0);
}

}  // namespace
}  // namespace foxhunt::ui::test
