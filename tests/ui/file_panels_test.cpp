// Checkpoints and Runs over real files: lists, looking inside, comparing, exporting, files that cannot be used.
#include <gtest/gtest.h>

#include <QClipboard>
#include <QDropEvent>
#include <QFile>
#include <QLineEdit>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QSignalSpy>
#include <QTableView>
#include <QToolButton>
#include <QUrl>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/run/run_folder.h"
#include "tests/ui/panels_fixture.h"
#include "ui/panels/checkpoints_panel.h"
#include "ui/panels/runs_panel.h"

namespace foxhunt::ui::test {
namespace {

class FilePanels : public testing::Test {
 protected:
  void SetUp() override { applyTheme(*qApp, ThemeChoice::light); }
  TrainedRun run_;
};

void drop(QWidget& target, const QString& file) {
  QMimeData mime;
  mime.setUrls({QUrl::fromLocalFile(file)});
  QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &mime, Qt::LeftButton, {});
  QApplication::sendEvent(&target, &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent event(QPointF(10, 10), Qt::CopyAction, &mime, Qt::LeftButton, {});
  QApplication::sendEvent(&target, &event);
}

// Statistics of an F32 tensor in one plain loop.
struct Plain {
  double min = 1e300, max = -1e300, sum = 0, squares = 0;
  std::uint64_t zeros = 0, values = 0;
};
Plain plainly(const QString& file, const std::string& tensor) {
  Plain p;
  const auto opened = SafetensorsFile::open(file.toStdString());
  const auto bytes = opened.read(tensor);
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    float x = 0;
    std::memcpy(&x, bytes.data() + i, 4);
    const auto value = static_cast<double>(x);
    p.min = std::min(p.min, value);
    p.max = std::max(p.max, value);
    p.sum += value;
    p.squares += value * value;
    p.zeros += value == 0;
    ++p.values;
  }
  return p;
}

int rowWithReason(const CheckpointListModel& list, const QString& reason) {
  for (int row = 0; row < list.rowCount(); ++row)
    if (list.item(row).view.reason == reason) return row;
  ADD_FAILURE() << "no checkpoint of reason " << reason.toStdString();
  return 0;
}

TEST_F(FilePanels, CheckpointsAreListedInspectedAndExported) {
  auto panel = makeShown<CheckpointsPanel>(run_, "checkpoints", {760, 700});
  run_.train();
  run_.save();
  ASSERT_GE(panel->list().rowCount(), 2);
  auto* table = child<QTableView>(*panel, "Checkpoints");
  ASSERT_NE(table, nullptr);
  const int manual = rowWithReason(panel->list(), "manual");
  EXPECT_EQ(panel->list().item(manual).view.step, 120u);
  auto* resume = child<QToolButton>(*panel, "Resume");
  EXPECT_FALSE(resume->isEnabled());
  clickRow(*table, manual);
  EXPECT_TRUE(resume->isEnabled());
  QSignalSpy asked(panel.get(), &Panel::resumeRequested);
  QTest::mouseClick(resume, Qt::LeftButton);
  ASSERT_EQ(asked.count(), 1);
  EXPECT_EQ(asked[0][0].toString(), panel->list().path(manual));

  CheckpointInspector& inspector = *panel->inspector();
  QSignalSpy finished(&inspector, &CheckpointInspector::finished);
  QTest::keyClick(table, Qt::Key_Return);
  EXPECT_TRUE(inspector.isVisible());
  ASSERT_TRUE(spinUntil([&] { return finished.count() > 0; }));
  const TensorTableModel& tensors = inspector.tensors();
  ASSERT_GT(tensors.rowCount(), 50);
  int row = -1;
  for (int i = 0; i < tensors.rowCount(); ++i) {
    EXPECT_TRUE(tensors.statistics(i).has_value()) << tensors.tensor(i).name;
    if (row < 0 && tensors.tensor(i).name.starts_with("params.") && tensors.tensor(i).elements > 200) row = i;
  }
  ASSERT_GE(row, 0);
  const std::string name = tensors.tensor(row).name;
  const Plain plain = plainly(inspector.file(), name);
  const TensorStatistics& s = *tensors.statistics(row);
  EXPECT_EQ(s.values, plain.values);
  EXPECT_EQ(s.zeros, plain.zeros);
  EXPECT_DOUBLE_EQ(s.min, plain.min);
  EXPECT_DOUBLE_EQ(s.max, plain.max);
  EXPECT_NEAR(s.mean, plain.sum / static_cast<double>(plain.values), 1e-12 + 1e-9 * std::abs(s.mean));
  EXPECT_NEAR(s.norm, std::sqrt(plain.squares), 1e-9 * s.norm);

  inspector.selectTensor(row);
  const QString title = QString::fromStdString(name);
  ASSERT_TRUE(spinUntil(
      [&] { return inspector.histogram().title() == title && inspector.histogram().badge().contains("bins"); }));
  EXPECT_TRUE(inspector.histogram().badge().startsWith(QLocale().toString(static_cast<qlonglong>(plain.values))))
      << inspector.histogram().badge().toStdString();
  auto* text = child<QPlainTextEdit>(inspector, "Metadata");
  EXPECT_TRUE(text->toPlainText().contains("\"reason\": \"manual\""));
  EXPECT_TRUE(text->toPlainText().contains("\"hidden\": 32")) << "the configuration is taken apart";

  QSignalSpy told(panel.get(), &Panel::message);
  QTemporaryDir out;
  for (const char* suffix : {"t.csv", "t.json"}) {
    inspector.exportTo(out.filePath(suffix));
    ASSERT_TRUE(spinUntil([&] { return told.count() > 0; }));
    EXPECT_EQ(told.takeFirst()[0].toString(), "info");
  }
  QFile json(out.filePath("t.json")), csv(out.filePath("t.csv"));
  ASSERT_TRUE(json.open(QIODevice::ReadOnly) && csv.open(QIODevice::ReadOnly));
  const auto document = nlohmann::json::parse(json.readAll().toStdString());
  EXPECT_EQ(static_cast<int>(document.at("tensors").size()), tensors.rowCount());
  EXPECT_EQ(csv.readAll().count('\n'), tensors.rowCount() + 1);
  inspector.exportTo(out.filePath("no/such/folder.csv"));
  ASSERT_TRUE(spinUntil([&] { return told.count() > 0; }));
  EXPECT_EQ(told.takeFirst()[0].toString(), "error");

  // Cancelled at once: what is there stays, the panel goes on.
  inspector.inspect(inspector.file());
  inspector.cancel();
  EXPECT_TRUE(inspector.cancelled() && inspector.done());
  EXPECT_TRUE(inspector.summary().contains("cancelled after")) << inspector.summary().toStdString();
  QTest::mouseClick(child<QToolButton>(*panel, "Close"), Qt::LeftButton);
  EXPECT_FALSE(inspector.isVisible());
}

TEST_F(FilePanels, TwoCheckpointsAreCompared) {
  auto panel = makeShown<CheckpointsPanel>(run_, "checkpoints", {760, 700});
  run_.train();
  run_.save();
  auto* table = child<QTableView>(*panel, "Checkpoints");
  auto* compare = child<QToolButton>(*panel, "Compare");
  EXPECT_FALSE(compare->isEnabled());
  const int manual = rowWithReason(panel->list(), "manual");
  int earlier = -1;
  for (int i = 0; i < panel->list().rowCount(); ++i)
    if (panel->list().item(i).view.reason == "best" && panel->list().item(i).view.fold == 0) earlier = i;
  ASSERT_GE(earlier, 0);
  clickRow(*table, manual);
  clickRow(*table, earlier, Qt::ControlModifier);
  ASSERT_TRUE(compare->isEnabled());
  CheckpointComparison& comparison = *panel->comparison();
  QSignalSpy finished(&comparison, &CheckpointComparison::finished);
  QTest::mouseClick(compare, Qt::LeftButton);
  ASSERT_TRUE(spinUntil([&] { return finished.count() > 0; }));
  const ComparisonModel& model = comparison.model();
  const FileComparison& found = model.comparison();
  EXPECT_FALSE(found.identical);
  EXPECT_FALSE(found.extra.empty()) << "the full file has moments that the model file lacks";
  EXPECT_TRUE(found.missing.empty());
  EXPECT_TRUE(comparison.summary().contains("only in the second")) << comparison.summary().toStdString();
  // One tensor by hand: the model file is the first, being older.
  const TensorDifference* difference = nullptr;
  for (const TensorDifference& d : found.tensors)
    if (d.name.starts_with("params.") && !d.identical) difference = &d;
  ASSERT_NE(difference, nullptr);
  const auto a = SafetensorsFile::open(panel->list().path(earlier).toStdString()).as_doubles(difference->name);
  const auto b = SafetensorsFile::open(panel->list().path(manual).toStdString()).as_doubles(difference->name);
  double largest = 0, change = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i] - a[i]));
    change += (b[i] - a[i]) * (b[i] - a[i]);
    size += a[i] * a[i];
  }
  EXPECT_DOUBLE_EQ(difference->max_abs, largest);
  EXPECT_NEAR(difference->relative_l2, std::sqrt(change / size), 1e-9);
  QTemporaryDir out;
  QSignalSpy told(panel.get(), &Panel::message);
  comparison.exportTo(out.filePath("c.csv"));
  comparison.exportTo(out.filePath("c.json"));
  ASSERT_EQ(told.count(), 2);
  QFile csv(out.filePath("c.csv"));
  ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
  EXPECT_EQ(csv.readAll().count('\n'), model.rowCount() + 1);
}

TEST_F(FilePanels, ADroppedFileThatCannotBeUsedSaysWhy) {
  auto panel = makeShown<CheckpointsPanel>(run_, "checkpoints", {760, 500});
  QTemporaryDir folder;
  const QString broken = folder.filePath("broken.safetensors"), plain = folder.filePath("plain.safetensors");
  QFile file(broken);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("not a header at all");
  file.close();
  SafetensorsWriter writer;
  const float values[] = {1, std::nanf(""), 0, INFINITY, 2, 2};
  writer.add("w", DType::f32, {2, 3}, values);
  const float zeros[] = {0, 0, 0, 1, 0, 0};
  writer.add("dead", DType::f32, {3, 2}, zeros);
  const float same[] = {5, 5};
  writer.add("same", DType::f32, {2}, same);
  writer.write(plain.toStdString());

  QSignalSpy told(panel.get(), &Panel::message);
  QSignalSpy finished(panel->inspector(), &CheckpointInspector::finished);
  drop(*panel, broken);
  ASSERT_TRUE(spinUntil([&] { return finished.count() == 1; }));
  ASSERT_EQ(panel->list().rowCount(), 1);
  EXPECT_FALSE(panel->list().item(0).view.problem.isEmpty());
  EXPECT_EQ(panel->list().index(0, CheckpointListModel::reason).data().toString(), "cannot be used");
  ASSERT_EQ(told.count(), 1);
  EXPECT_EQ(told[0][0].toString(), "error");
  EXPECT_TRUE(told[0][1].toString().contains("broken.safetensors")) << told[0][1].toString().toStdString();
  EXPECT_TRUE(panel->inspector()->summary().contains("cannot be used"));

  drop(*panel, plain);
  ASSERT_TRUE(spinUntil([&] { return finished.count() == 2; }));
  ASSERT_EQ(panel->list().rowCount(), 2);
  EXPECT_EQ(panel->list().index(1, CheckpointListModel::step).data().toString(), "–") << "no file of a run";
  const TensorTableModel& tensors = panel->inspector()->tensors();
  ASSERT_EQ(tensors.rowCount(), 3);
  const auto shown = [&](int row, int column) { return tensors.index(row, column).data().toString(); };
  EXPECT_EQ(shown(0, TensorTableModel::not_finite), "2");
  EXPECT_EQ(shown(0, TensorTableModel::zeros), "1");
  EXPECT_EQ(shown(1, TensorTableModel::dead_units), "2");
  EXPECT_EQ(shown(2, TensorTableModel::dead_units), "–");
  // A constant tensor has a histogram all the same.
  panel->inspector()->selectTensor(2);
  ASSERT_TRUE(spinUntil([&] { return panel->inspector()->histogram().badge().startsWith("2 values"); }));
  // Dropped again it is the same row.
  drop(*panel, plain);
  EXPECT_EQ(panel->list().rowCount(), 2);
  ASSERT_TRUE(spinUntil([&] { return finished.count() == 3; }));
}

TEST_F(FilePanels, RunsAreFoundSearchedAndOpened) {
  run_.train(1, 10);
  const auto first = run_.data().folder();
  const auto other = run_.runs() / "20250101T000000Z-other-es", damaged = run_.runs() / "20240101T000000Z-damaged";
  std::filesystem::create_directories(other);
  std::filesystem::create_directories(damaged);
  RunInfo info = read_run_info(first);
  info.simulated = false;
  info.status = "training";  // by a process that is gone
  info.best = {{"sharpe", 1.25}, {"net", 4321}};
  write_run_info(other, info);
  QFile bad(QString::fromStdString((damaged / "run.json").string()));
  ASSERT_TRUE(bad.open(QIODevice::WriteOnly));
  bad.write("{\"status\": ");
  bad.close();

  auto panel = makeShown<RunsPanel>(run_, "runs", {900, 300});
  ASSERT_TRUE(spinUntil([&] { return panel->list().rowCount() == 3; }));
  auto* table = child<QTableView>(*panel, "Runs");
  const auto cell = [&](int row, int column) { return panel->list().index(row, column).data().toString(); };
  EXPECT_TRUE(cell(0, RunListModel::status).contains("running")) << "the session still waits for commands";
  EXPECT_TRUE(cell(0, RunListModel::market).contains("simulated"));
  EXPECT_EQ(cell(1, RunListModel::status), "Interrupted");
  EXPECT_EQ(cell(1, RunListModel::sharpe), "1.250");
  EXPECT_FALSE(cell(1, RunListModel::market).contains("simulated"));
  EXPECT_EQ(cell(2, RunListModel::status), "Unreadable");
  EXPECT_FALSE(panel->list().index(2, RunListModel::status).data(Qt::ToolTipRole).toString().isEmpty());
  EXPECT_TRUE(panel->list().index(0, RunListModel::name).data(Qt::FontRole).value<QFont>().bold()) << "shown now";

  auto* search = child<QLineEdit>(*panel, "Search runs");
  search->setFocus();
  QTest::keyClicks(search, "interrupted other");
  ASSERT_EQ(table->model()->rowCount(), 1);
  EXPECT_TRUE(panel->summary().startsWith("1 of 3 runs"));
  QSignalSpy opened(panel.get(), &Panel::openRunRequested);
  clickRow(*table, 0);
  QTest::keyClick(table, Qt::Key_Return);
  ASSERT_EQ(opened.count(), 1);
  EXPECT_EQ(opened[0][0].toString().toStdString(), other.string());
  search->clear();
  QTest::keyClicks(search, "nothing like this");
  EXPECT_EQ(table->model()->rowCount(), 0);
  search->clear();

  // A run that ends elsewhere is seen at the next look.
  run_.bridge().stopNow();
  ASSERT_TRUE(run_.spin([&] { return !run_.bridge().live() && !RunLock::is_held(first); }));
  panel->reload();
  ASSERT_TRUE(spinUntil([&] { return !cell(0, RunListModel::status).contains("running"); }));
  panel->setRunsFolder(QString::fromStdString((run_.runs() / "none").string()));
  ASSERT_TRUE(spinUntil([&] { return panel->summary().startsWith("No runs"); }));
}

}  // namespace
}  // namespace foxhunt::ui::test
