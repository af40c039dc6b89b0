// The window on a small screen: its own default layout, nothing cut off.
#include <gtest/gtest.h>

#include <QDockWidget>
#include <QLabel>
#include <QTabBar>
#include <QToolButton>

#include "tests/ui/window_fixture.h"
#include "ui/panels/panel_registry.h"

namespace foxhunt::ui {
namespace {

std::unique_ptr<MainWindow> shownAt(const QTemporaryDir& folder, QSize size) {
  WindowOptions options;
  options.runs_folder = (folder.path() + QStringLiteral("/runs")).toStdString();
  auto window = std::make_unique<MainWindow>(options);
  window->resize(size);
  window->show();
  QTest::qWait(50);
  return window;
}

// Docks that stand side by side at the top.
int columnsOf(const MainWindow& window) {
  std::set<int> lefts;
  for (const PanelEntry& entry : panelTable()) {
    const QDockWidget* dock = window.dock(QString::fromLatin1(entry.id));
    if (!dock->visibleRegion().isEmpty()) lefts.insert(dock->x());
  }
  return static_cast<int>(lefts.size());
}

TEST(WindowNarrow, OpensAtTheSizeAskedForWithALayoutOfItsOwn) {
  QTemporaryDir folder;
  const auto narrow = shownAt(folder, {1280, 800});
  EXPECT_EQ(narrow->size(), QSize(1280, 800));
  EXPECT_EQ(columnsOf(*narrow), 3);
  const auto wide = shownAt(folder, {1600, 950});
  EXPECT_EQ(wide->size(), QSize(1600, 950));
  EXPECT_EQ(columnsOf(*wide), 4);
  wide->resize(1400, 900);  // stays as it is until the default is asked for
  QTest::qWait(30);
  EXPECT_EQ(columnsOf(*wide), 4);
  EXPECT_TRUE(wide->applyLayout(QStringLiteral("default")));
  QTest::qWait(30);
  EXPECT_EQ(columnsOf(*wide), 3);
}

TEST(WindowNarrow, NoButtonAndNoTabIsCut) {
  QTemporaryDir folder;
  const auto window = shownAt(folder, {1280, 800});
  for (const PanelEntry& entry : panelTable()) {
    const QString id = QString::fromLatin1(entry.id);
    window->bringToFront(id);
    QTest::qWait(10);
    const Panel* panel = window->panel(id);
    EXPECT_GE(panel->width(), 280) << entry.id;
    EXPECT_GE(panel->height(), 200) << entry.id;
    for (const auto* button : panel->findChildren<QAbstractButton*>()) {
      if (!button->isVisible() || button->text().isEmpty()) continue;
      EXPECT_GE(button->width(), button->minimumSizeHint().width()) << entry.id << ": " << button->text().toStdString();
      const QRect place(button->mapTo(panel, QPoint()), button->size());
      const auto* scrolled = button->parentWidget()->parentWidget();
      if (scrolled != nullptr && scrolled->objectName() == QLatin1String("qt_scrollarea_viewport")) continue;
      EXPECT_TRUE(panel->rect().contains(place)) << entry.id << ": " << button->text().toStdString();
    }
  }
  for (const auto* bar : window->findChildren<QTabBar*>()) {
    if (bar->parentWidget() != window.get() || !bar->isVisible()) continue;
    for (int i = 0; i < bar->count(); ++i)
      EXPECT_LE(bar->tabRect(i).right(), bar->width()) << bar->tabText(i).toStdString();
  }
}

}  // namespace
}  // namespace foxhunt::ui
