// What the panels share: layouts, tables, switches, series named by the telemetry tables.
#pragma once

#include <QBoxLayout>
#include <QLabel>
#include <QTableView>
#include <functional>
#include <vector>

#include "engine/telemetry/tables.h"
#include "ui/charts/chart_types.h"

class QButtonGroup;
class QComboBox;
class QLabel;
class QSortFilterProxyModel;
class QToolButton;

namespace foxhunt::ui {

// The panel's one column of widgets, without margins.
QVBoxLayout* panelColumn(QWidget* panel);
// A row of controls with small margins, added to the column.
QHBoxLayout* controlRow(QVBoxLayout* column);

// A dense table over a CellTableModel: whole rows, sorted by clicking headers, no grid. `proxy` sorts by the model's
// sort role; one that filters as well may be given. Both are children of the parent.
struct SortedTable {
  QTableView* view = nullptr;
  QSortFilterProxyModel* proxy = nullptr;
};
SortedTable sortedTable(QAbstractItemModel* model, const QString& accessible_name, QWidget* parent,
                        QSortFilterProxyModel* proxy = nullptr);
// Columns as wide as their contents, within limits; for when rows have come.
void fitColumns(QTableView* view);
// From then on columns that do not fit beside the others are hidden, the first of `order` first, and come back with the
// room; wide ones are cut after that. A table in a narrow dock shows what matters without scrolling sideways.
void keepColumnsInView(QTableView* view, const QList<int>& order);
// Words in the middle of the table while it has no row: what will be here, and why it is empty.
void showWhenEmpty(QTableView* view, std::function<QString()> words);
// Source row of the current one; -1 without.
int currentSourceRow(const SortedTable& table);
void selectSourceRow(const SortedTable& table, int row);

// A row of buttons of which one is down; where they do not fit, a list.
class Switch : public QWidget {
  Q_OBJECT
 public:
  Switch(const QStringList& names, const QString& accessible_name, QWidget* parent = nullptr);
  int current() const;
  void setCurrent(int index);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void changed(int index);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QButtonGroup* group_;
  QWidget* buttons_;
  QComboBox* list_;
};

QToolButton* toolButton(const QString& text, const QString& tip, QWidget* parent);
// A line of text that ends with an ellipsis where there is no room for all of it, and then shows all as a tooltip: a
// number cut short would be another number. Wrapped text is drawn as QLabel does.
class ElidedLabel : public QLabel {
 public:
  using QLabel::QLabel;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;
};

// A muted line of text that may be elided at the right.
QLabel* mutedLabel(const QString& text, QWidget* parent);

// Name without its group, unit and meaning with the healthy range.
SeriesInfo seriesInfo(const telemetry::TableEntry& entry, const QString& name, int color_index = -1);

// Writes a text file as a whole or not at all; throws Error.
void writeTextFile(const QString& path, const std::string& text);

}  // namespace foxhunt::ui
