// Layouts, tables and switches in the panels' style.
#include "ui/panels/panel_parts.h"

#include <QButtonGroup>
#include <QCoreApplication>
#include <QHeaderView>
#include <QLabel>
#include <QSaveFile>
#include <QSortFilterProxyModel>
#include <QToolButton>

#include "engine/base/error.h"
#include "ui/models/cell_table_model.h"
#include "ui/models/table_text.h"

namespace foxhunt::ui {

QVBoxLayout* panelColumn(QWidget* panel) {
  auto* column = new QVBoxLayout(panel);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  return column;
}

QHBoxLayout* controlRow(QVBoxLayout* column) {
  auto* row = new QHBoxLayout;
  row->setContentsMargins(8, 6, 8, 4);
  row->setSpacing(6);
  column->addLayout(row);
  return row;
}

SortedTable sortedTable(QAbstractItemModel* model, const QString& accessible_name, QWidget* parent,
                        QSortFilterProxyModel* proxy) {
  SortedTable table;
  table.proxy = proxy != nullptr ? proxy : new QSortFilterProxyModel(parent);
  table.proxy->setSortRole(CellTableModel::sort_role);
  table.proxy->setSortCaseSensitivity(Qt::CaseInsensitive);
  table.proxy->setSourceModel(model);
  table.view = new QTableView(parent);
  table.view->setModel(table.proxy);
  table.view->setAccessibleName(accessible_name);
  table.view->setSelectionBehavior(QAbstractItemView::SelectRows);
  table.view->setSelectionMode(QAbstractItemView::SingleSelection);
  table.view->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table.view->setShowGrid(false);
  table.view->setWordWrap(false);
  table.view->setTabKeyNavigation(false);
  table.view->setIconSize({12, 12});
  table.view->setSortingEnabled(true);
  table.view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table.view->verticalHeader()->hide();
  table.view->verticalHeader()->setDefaultSectionSize(22);
  table.view->verticalHeader()->setMinimumSectionSize(20);
  QHeaderView* header = table.view->horizontalHeader();
  header->setHighlightSections(false);
  header->setMinimumSectionSize(36);
  header->setSortIndicator(-1, Qt::AscendingOrder);
  header->setStretchLastSection(true);
  table.proxy->sort(-1);
  return table;
}

void fitColumns(QTableView* view) {
  view->resizeColumnsToContents();
  QHeaderView* header = view->horizontalHeader();
  for (int c = 0; c < header->count(); ++c) header->resizeSection(c, std::min(header->sectionSize(c) + 6, 280));
}

int currentSourceRow(const SortedTable& table) {
  const QModelIndex current = table.view->currentIndex();
  return current.isValid() ? table.proxy->mapToSource(current).row() : -1;
}

void selectSourceRow(const SortedTable& table, int row) {
  const QModelIndex index = table.proxy->mapFromSource(table.proxy->sourceModel()->index(row, 0));
  if (index.isValid()) table.view->setCurrentIndex(index);
}

Switch::Switch(const QStringList& names, const QString& accessible_name, QWidget* parent)
    : QWidget(parent), group_(new QButtonGroup(this)) {
  setAccessibleName(accessible_name);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(2);
  for (const QString& name : names) {
    auto* button = new QToolButton(this);
    button->setText(name);
    button->setAccessibleName(QStringLiteral("%1: %2").arg(accessible_name, name));
    button->setCheckable(true);
    button->setFocusPolicy(Qt::TabFocus);
    group_->addButton(button, static_cast<int>(group_->buttons().size()));
    row->addWidget(button);
  }
  group_->button(0)->setChecked(true);
  connect(group_, &QButtonGroup::idToggled, this, [this](int id, bool on) {
    if (on) Q_EMIT changed(id);
  });
}

int Switch::current() const {
  return group_->checkedId();
}

void Switch::setCurrent(int index) {
  group_->button(index)->setChecked(true);
}

QToolButton* toolButton(const QString& text, const QString& tip, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setText(text);
  button->setToolTip(tip);
  button->setAccessibleName(text);
  button->setAccessibleDescription(tip);
  button->setFocusPolicy(Qt::TabFocus);
  return button;
}

QLabel* mutedLabel(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("muted", true);
  label->setTextFormat(Qt::PlainText);
  label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  return label;
}

SeriesInfo seriesInfo(const telemetry::TableEntry& entry, const QString& name, int color_index) {
  QString meaning = tableText(entry.meaning);
  const QString range = healthyRange(entry);
  if (!range.isEmpty()) meaning += QCoreApplication::translate("foxhunt::ui::PanelParts", " · healthy: %1").arg(range);
  return {name, tableText(entry.unit), meaning, color_index};
}

void writeTextFile(const QString& path, const std::string& text) {
  QSaveFile file(path);
  const auto size = static_cast<qint64>(text.size());
  if (file.open(QIODevice::WriteOnly) && file.write(text.data(), size) == size && file.commit()) return;
  throw Error("the file could not be written: " + file.errorString().toStdString(),
              {.file = path.toStdString(), .hint = "choose a folder that exists and may be written to"});
}

}  // namespace foxhunt::ui
