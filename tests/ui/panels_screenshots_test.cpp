// A picture of every panel of the registry, dark and light, in screenshots/panels of the build folder.
#include <gtest/gtest.h>

#include <QDir>
#include <QSet>
#include <QSignalSpy>
#include <QTableView>
#include <QToolButton>

#include "tests/ui/panels_fixture.h"
#include "ui/panels/checkpoints_panel.h"
#include "ui/panels/panel_registry.h"

namespace foxhunt::ui::test {
namespace {

int colorsOf(const QImage& image) {
  QSet<QRgb> colors;
  for (int y = 0; y < image.height(); y += 2)
    for (int x = 0; x < image.width(); x += 2) colors.insert(image.pixel(x, y));
  return static_cast<int>(colors.size());
}

class PanelPictures {
 public:
  explicit PanelPictures(TrainedRun& run) : run_(run) {}
  void take(Panel& panel, const QString& name, QSize size) {
    panel.resize(size);
    panel.show();
    run_.spin([] { return false; }, 0.06);
    panel.refresh();
    QApplication::processEvents();
    const QString folder = QStringLiteral(FOXHUNT_BINARY_DIR "/screenshots/panels");
    ASSERT_TRUE(QDir().mkpath(folder));
    const QImage image = panel.grab().toImage();
    EXPECT_GT(colorsOf(image), 8) << name.toStdString();
    EXPECT_TRUE(image.save(QStringLiteral("%1/%2-%3.png").arg(folder, name, theme().dark ? "dark" : "light")));
  }

 private:
  TrainedRun& run_;
};

TEST(PanelScreenshots, DarkAndLight) {
  applyTheme(*qApp, ThemeChoice::dark);
  TrainedRun run;
  run.train(2, 120);
  run.save();
  PanelPictures pictures(run);
  for (const PanelEntry& entry : panelTable()) {
    const QString id = QString::fromLatin1(entry.id);
    std::unique_ptr<Panel> panel(entry.make(run.context(), id, QString::fromLatin1(entry.title), nullptr));
    panel->setData(&run.data());
    for (const ThemeChoice tone : {ThemeChoice::dark, ThemeChoice::light}) {
      applyTheme(*qApp, tone);
      pictures.take(*panel, id, {760, 460});
      pictures.take(*panel, id + "-small", {470, 240});
      auto* checkpoints = dynamic_cast<CheckpointsPanel*>(panel.get());
      if (checkpoints == nullptr) continue;
      QSignalSpy finished(checkpoints->inspector(), &CheckpointInspector::finished);
      checkpoints->inspect(checkpoints->list().path(0));
      ASSERT_TRUE(spinUntil([&] { return finished.count() > 0; }));
      checkpoints->inspector()->selectTensor(3);
      pictures.take(*panel, "checkpoints-inspect", {1100, 800});
      QSignalSpy compared(checkpoints->comparison(), &CheckpointComparison::finished);
      auto* table = child<QTableView>(*panel, "Checkpoints");
      clickRow(*table, 0);
      clickRow(*table, table->model()->rowCount() - 1, Qt::ControlModifier);
      QTest::mouseClick(child<QToolButton>(*panel, "Compare"), Qt::LeftButton);
      ASSERT_TRUE(spinUntil([&] { return compared.count() > 0; }));
      pictures.take(*panel, "checkpoints-compare", {760, 800});
    }
  }
}

}  // namespace
}  // namespace foxhunt::ui::test
