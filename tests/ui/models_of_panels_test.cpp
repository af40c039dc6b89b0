// The item models of the panels under Qt's tester: any fault is a warning and fails the test.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSortFilterProxyModel>
#include <QTemporaryDir>
#include <cmath>

#include "tests/ui/panels_fixture.h"
#include "ui/models/checkpoint_list_model.h"
#include "ui/models/comparison_model.h"
#include "ui/models/epoch_table_model.h"
#include "ui/models/health_model.h"
#include "ui/models/run_list_model.h"
#include "ui/models/tensor_table_model.h"

namespace foxhunt::ui::test {
namespace {

// The model alone and behind a sorting proxy.
struct Watched {
  explicit Watched(QAbstractItemModel* model) : plain(model, QAbstractItemModelTester::FailureReportingMode::Warning) {
    proxy.setSortRole(CellTableModel::sort_role);
    proxy.setSourceModel(model);
    proxy.sort(1, Qt::DescendingOrder);
    sorted =
        std::make_unique<QAbstractItemModelTester>(&proxy, QAbstractItemModelTester::FailureReportingMode::Warning);
  }
  QAbstractItemModelTester plain;
  QSortFilterProxyModel proxy;
  std::unique_ptr<QAbstractItemModelTester> sorted;
};

TEST(PanelModels, Tensors) {
  TensorTableModel model;
  Watched watched(&model);
  TensorInfo matrix, list;
  matrix.name = "a,b";
  matrix.shape = {2, 3};
  matrix.elements = 6;
  matrix.end = 24;
  list.name = "c";
  list.shape = {4};
  model.setTensors({matrix, list});
  TensorStatistics s{};
  s.min = -1;
  s.mean = std::nan("");
  s.nan = 3;
  model.setStatistics(0, s);
  EXPECT_EQ(model.index(0, TensorTableModel::not_finite).data().toString(), "3");
  EXPECT_EQ(model.index(0, TensorTableModel::mean).data().toString(), "NaN");
  EXPECT_FALSE(model.index(0, TensorTableModel::mean).data(CellTableModel::sort_role).isValid());
  EXPECT_EQ(model.index(1, TensorTableModel::mean).data().toString(), "…");
  EXPECT_TRUE(model.csv().starts_with(
      "name,dtype,shape,bytes,min,max,mean,std,norm,zeros,nan,inf,dead_units\n\"a,b\",F32,\"[2, 3]\",24"))
      << model.csv();
  EXPECT_TRUE(model.headerData(TensorTableModel::norm, Qt::Horizontal, Qt::ToolTipRole).toString().contains("squares"));
  model.setTensors({});
}

CheckpointView checkpointAt(const char* file, std::uint64_t step, const char* reason) {
  CheckpointView view;
  view.file = file;
  view.step = step;
  view.reason = QString::fromLatin1(reason);
  view.rejected = view.reason == "rejected";
  view.metrics = {{"sharpe", 0.5}, {"net", 100}};
  return view;
}

TEST(PanelModels, CheckpointsKeepFilesThatWereAdded) {
  CheckpointListModel model;
  Watched watched(&model);
  model.setRun({checkpointAt("/r/a", 10, "best"), checkpointAt("/r/b", 20, "rejected")});
  EXPECT_EQ(model.index(0, CheckpointListModel::step).data().toString(), "20") << "newest first";
  EXPECT_TRUE(model.index(0, CheckpointListModel::reason).data(Qt::DecorationRole).isValid());
  QTemporaryDir folder;
  const int row = model.add(checkpointItemOf(folder.filePath("absent.safetensors")));
  EXPECT_EQ(row, 2);
  EXPECT_FALSE(model.item(2).view.problem.isEmpty());
  model.setRun(
      {checkpointAt("/r/a", 10, "best"), checkpointAt("/r/b", 20, "rejected"), checkpointAt("/r/c", 30, "manual")});
  ASSERT_EQ(model.rowCount(), 4);
  EXPECT_TRUE(model.item(3).added);
  model.setRun({checkpointAt("/r/c", 31, "manual")});
  ASSERT_EQ(model.rowCount(), 2);
  model.setRun({checkpointAt("/r/c", 32, "manual")});
  EXPECT_EQ(model.index(0, CheckpointListModel::step).data().toString(), "32") << "changed in place";
  EXPECT_EQ(model.index(1, CheckpointListModel::sharpe).data().toString(), "–");
  EXPECT_EQ(checkpointMetrics("{\"net\": 5, \"sharpe\": null, \"x\": \"inf\"}").size(), 1u);
  EXPECT_TRUE(checkpointMetrics("no json").empty());
}

EpochTableModel::Epoch epochAt(int fold, int epoch, double net, bool best) {
  auto view = std::make_shared<EpochView>();
  view->fold = fold;
  view->epoch = epoch;
  view->best = best;
  view->agent = {{"net", net}, {"sharpe", std::nan("")}, {"hit_rate", 0.5}};
  view->buy_and_hold = {{"net", 40}};
  return view;
}

TEST(PanelModels, EpochsGrowAndStartAnew) {
  EpochTableModel model;
  Watched watched(&model);
  model.setEpochs({epochAt(0, 0, 10, true)});
  model.setEpochs({epochAt(0, 0, 10, false), epochAt(0, 1, 1234, true), epochAt(1, 0, 5, true)});
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_FALSE(model.index(0, EpochTableModel::epoch).data(Qt::DecorationRole).isValid()) << "no longer the best";
  EXPECT_EQ(model.index(1, EpochTableModel::net).data().toString(), "1,234");
  EXPECT_EQ(model.index(1, EpochTableModel::against_hold).data().toString(), "1,194");
  EXPECT_EQ(model.index(1, EpochTableModel::sharpe).data().toString(), "n/a");
  EXPECT_EQ(model.index(1, EpochTableModel::hit_rate).data().toString(), "50.0 %");
  EXPECT_EQ(model.index(1, EpochTableModel::net).data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight, Qt::AlignRight);
  model.setEpochs({epochAt(2, 0, 1, true)});
  EXPECT_EQ(model.rowCount(), 1);
  model.setEpochs({});
}

TEST(PanelModels, Comparison) {
  ComparisonModel model;
  Watched watched(&model);
  FileComparison c;
  c.missing = {"m"};
  c.extra = {"e"};
  c.reshaped = {{"r", {1, 2}, {2, 1}}};
  TensorDifference changed;
  changed.name = "t";
  changed.max_abs = 0.25;
  changed.values = 8;
  changed.sign_changes = 2;
  TensorDifference same;
  same.name = "u";
  same.identical = true;
  c.tensors = {changed, same};
  model.setComparison(c);
  ASSERT_EQ(model.rowCount(), 5);
  EXPECT_EQ(model.sentence(), "1 of 2 tensors changed, 1 reshaped, 1 only in the first, 1 only in the second");
  EXPECT_EQ(model.index(0, ComparisonModel::sign_share).data().toString(), "25.00 %");
  EXPECT_EQ(model.index(2, ComparisonModel::state).data(Qt::ToolTipRole).toString(), "from [1, 2] to [2, 1]");
  EXPECT_NE(model.csv().find("t,changed,0.25,0,1,2,8\n"), std::string::npos) << model.csv();
  EXPECT_NE(model.csv().find("m,missing,,,,,\n"), std::string::npos);
  model.setComparison({});
}

TEST(PanelModels, Runs) {
  RunListModel model;
  Watched watched(&model);
  RunSummary a;
  a.folder = "/runs/a";
  a.id = "a";
  a.status = "finished";
  a.info = RunInfo{};
  a.info->created = "2026-03-01T09:05:07Z";
  a.info->steps = 12345;
  a.info->fold = 1;
  a.notes.tags = {"Good"};
  RunSummary b = a;
  b.folder = "/runs/b";
  b.id = "b";
  b.running = true;
  b.status = "training";
  model.setRuns({b, a});
  EXPECT_EQ(model.index(0, RunListModel::status).data().toString(), "Training · running");
  EXPECT_EQ(model.index(1, RunListModel::steps).data().toString(), "12,345");
  EXPECT_EQ(model.index(1, RunListModel::sharpe).data().toString(), "–");
  EXPECT_TRUE(model.searchText(1).contains("good"));
  model.setCurrent("/runs/a");
  EXPECT_TRUE(model.index(1, 0).data(Qt::FontRole).value<QFont>().weight() >= QFont::DemiBold);
  b.running = false;
  b.status = "stopped";
  model.setRuns({b, a});
  EXPECT_EQ(model.index(0, RunListModel::status).data().toString(), "Stopped");
  model.setRuns({a});
  applyTheme(*qApp, ThemeChoice::dark);
  EXPECT_EQ(model.rowCount(), 1);
}

TEST(PanelModels, Health) {
  HealthModel model;
  Watched watched(&model);
  EXPECT_EQ(model.unhealthyCount(), 0) << "nothing is known yet";
  telemetry::HealthDiag health{};
  health.nan_flags = 1u << 12;
  health.td_mean = std::nanf("");
  model.setHealth(health);
  EXPECT_EQ(HealthModel::unhealthyCount(health), model.unhealthyCount());
  for (int row = 0; row < model.rowCount(); ++row)
    EXPECT_EQ(model.index(row, HealthModel::word).data(CellTableModel::sort_role).toInt() < 0, model.unhealthy(row));
  EXPECT_TRUE(model.unhealthy(kernels::health_nan_flags));
  EXPECT_TRUE(model.unhealthy(kernels::health_td_mean));
  const QModelIndex flags = model.index(kernels::health_nan_flags, HealthModel::value);
  EXPECT_EQ(flags.data().toString(), "4,096");
  EXPECT_EQ(flags.data(Qt::ToolTipRole).toString(), "trunk_output");
  model.setHealth({});
  EXPECT_EQ(model.unhealthyCount(), 0);
}

}  // namespace
}  // namespace foxhunt::ui::test
