// The default layouts, from the resources, and named ones.
#include <QDockWidget>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "engine/base/error.h"
#include "ui/main_window.h"
#include "ui/panels/panel_registry.h"

// A static library's resources are registered by hand, outside of any namespace.
static void registerResources() {
  Q_INIT_RESOURCE(window);
}

namespace foxhunt::ui {
namespace {

const QStringList kColumns = {QStringLiteral("left"), QStringLiteral("centre"), QStringLiteral("right"),
                              QStringLiteral("edge")};

// Column name and row of a panel that the resource does not name.
QString placeOf(PanelArea area) {
  return QStringLiteral("%1 %2").arg(kColumns.at(static_cast<int>(area) / 3)).arg(static_cast<int>(area) % 3);
}

constexpr int wide_from = 1500;  // pixels of the window: more than the least that four columns ask for

// The narrow one has three columns of two rows, all else tabs: no panel is narrower than what it holds.
QJsonObject layoutResource(bool narrow) {
  QFile file(narrow ? QStringLiteral(":/foxhunt/layout_narrow.json") : QStringLiteral(":/foxhunt/layout.json"));
  const bool opened = file.open(QIODevice::ReadOnly);
  FH_CHECK(opened, "the default layout is not in the program");
  return QJsonDocument::fromJson(file.readAll()).object();
}

QList<int> numbers(const QJsonValue& array) {
  QList<int> out;
  for (const QJsonValue& value : array.toArray()) out << value.toInt();
  return out;
}

}  // namespace

void MainWindow::useResources() {
  registerResources();
}

bool MainWindow::narrow() const {
  return width() < wide_from;
}

// A window that was given its size after it was made gets the default layout of that size.
void MainWindow::setVisible(bool visible) {
  if (visible && !isVisible() && default_layout_ && narrow_layout_ != narrow()) applyDefaultLayout();
  QMainWindow::setVisible(visible);
}

// Columns are split side by side, then each into rows; panels of one place become tabs.
void MainWindow::applyDefaultLayout() {
  default_layout_ = true;
  narrow_layout_ = narrow();
  const QJsonObject layout = layoutResource(narrow_layout_);
  const QJsonObject areas = layout.value(QLatin1String("areas")).toObject();
  QMap<QString, QList<QDockWidget*>> places;
  for (const PanelEntry& entry : panelTable()) {
    const QString id = QString::fromLatin1(entry.id);
    QDockWidget* dock = docks_.value(id);
    removeDockWidget(dock);
    dock->setFloating(false);
    places[areas.value(id).toString(placeOf(entry.area))] << dock;
  }
  QList<QDockWidget*> tops, shown;
  QList<int> widths;
  QMap<QString, QList<QDockWidget*>> columns;
  for (const QString& column : kColumns) {
    for (int row = 0; row < 3; ++row) {
      const auto found = places.find(QStringLiteral("%1 %2").arg(column).arg(row));
      if (found != places.end()) columns[column] << found->front();
    }
    if (columns[column].isEmpty()) continue;
    QDockWidget* top = columns[column].front();
    if (tops.isEmpty()) {
      addDockWidget(Qt::LeftDockWidgetArea, top);
    } else {
      splitDockWidget(tops.back(), top, Qt::Horizontal);
    }
    tops << top;
    widths << layout.value(QLatin1String("columns")).toObject().value(column).toInt(400);
  }
  for (const QString& column : kColumns) {
    const QList<QDockWidget*>& rows = columns[column];
    for (int row = 1; row < rows.size(); ++row) splitDockWidget(rows[row - 1], rows[row], Qt::Vertical);
  }
  for (const QList<QDockWidget*>& tabs : places) {
    for (int i = 1; i < tabs.size(); ++i) tabifyDockWidget(tabs[i - 1], tabs[i]);
    for (QDockWidget* dock : tabs) dock->show();
    tabs.front()->raise();
  }
  for (const QJsonValue& id : layout.value(QLatin1String("front")).toArray()) docks_.value(id.toString())->raise();
  resizeDocks(tops, widths, Qt::Horizontal);
  for (const QString& column : kColumns) {
    if (columns[column].size() < 2) continue;
    QList<int> heights = numbers(layout.value(QLatin1String("rows")).toObject().value(column));
    while (heights.size() < columns[column].size()) heights << 250;
    heights = heights.mid(0, columns[column].size());
    resizeDocks(columns[column], heights, Qt::Vertical);
  }
}

bool MainWindow::applyLayout(const QString& name) {
  if (name == QLatin1String("default")) {
    applyDefaultLayout();
    return true;
  }
  if (!settings_.layouts.contains(name)) {
    const QStringList known = settings_.layouts.keys();
    showMessage(QStringLiteral("warning"),
                tr("There is no layout called \"%1\"; there are: %2.")
                    .arg(name, (QStringList(QStringLiteral("default")) + known).join(QStringLiteral(", "))));
    return false;
  }
  if (restoreState(settings_.layouts.value(name))) {
    default_layout_ = false;
    return true;
  }
  applyDefaultLayout();
  showMessage(QStringLiteral("warning"),
              tr("The layout \"%1\" does not fit this program; the default one is shown.").arg(name));
  return false;
}

void MainWindow::saveLayout(const QString& name) {
  settings_.layouts.insert(name, saveState());
  saveSettings();
}

}  // namespace foxhunt::ui
