// Layouts, tables and switches in the panels' style.
#include "ui/panels/panel_parts.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QCoreApplication>
#include <QEvent>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QMap>
#include <QPainter>
#include <QSaveFile>
#include <QSortFilterProxyModel>
#include <QStyle>
#include <QToolButton>
#include <QToolTip>
#include <algorithm>

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
  header->setResizeContentsPrecision(20);  // rows that are measured: all of a long table would block the window
  header->setSortIndicator(-1, Qt::AscendingOrder);
  header->setStretchLastSection(true);
  table.proxy->sort(-1);
  return table;
}

namespace {

constexpr int widest_column = 280, narrowest_text = 90;

int naturalWidth(const QTableView& view, int column) {
  const QAbstractItemView& any = view;  // where the hint is public
  const int content = std::max(any.sizeHintForColumn(column), view.horizontalHeader()->sectionSizeHint(column));
  return std::min(content + 6, widest_column);
}

class ColumnKeeper : public QObject {
 public:
  ColumnKeeper(QTableView* view, QList<int> order) : QObject(view), view_(view), order_(std::move(order)) {
    setObjectName(QStringLiteral("columnKeeper"));
    view->viewport()->installEventFilter(this);
  }
  // Hides what does not fit; what then is still too wide is cut, the widest first.
  void keep() {
    QHeaderView* header = view_->horizontalHeader();
    const int room = view_->viewport()->width();
    int needed = 0;
    QMap<int, int> widths;
    for (int c = 0; c < header->count(); ++c) {
      if (view_->isColumnHidden(c) && !order_.contains(c)) continue;
      widths[c] = naturalWidth(*view_, c);
      // The last column takes what is left, and is cut where it is text.
      if (c + 1 == header->count() && header->stretchLastSection()) widths[c] = std::min(widths[c], narrowest_text);
      needed += widths[c];
    }
    for (const int column : order_) {
      const bool hide = needed > room;
      if (hide) needed -= widths.take(column);
      if (view_->isColumnHidden(column) != hide) view_->setColumnHidden(column, hide);
    }
    while (needed > room && !widths.isEmpty()) {
      const auto widest = std::max_element(widths.begin(), widths.end());
      if (*widest <= narrowest_text) break;
      const int cut = std::min(needed - room, *widest - narrowest_text);
      *widest -= cut;
      needed -= cut;
    }
    for (auto at = widths.begin(); at != widths.end(); ++at) {
      if (header->sectionResizeMode(at.key()) == QHeaderView::Interactive) header->resizeSection(at.key(), at.value());
    }
  }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override {
    if (event->type() == QEvent::Resize && view_->viewport()->width() != width_) {
      width_ = view_->viewport()->width();
      keep();
    }
    return QObject::eventFilter(object, event);
  }

 private:
  QTableView* view_;
  QList<int> order_;
  int width_ = 0;
};

}  // namespace

void fitColumns(QTableView* view) {
  auto* keeper = view->findChild<QObject*>(QStringLiteral("columnKeeper"), Qt::FindDirectChildrenOnly);
  if (keeper != nullptr) return static_cast<ColumnKeeper*>(keeper)->keep();
  QHeaderView* header = view->horizontalHeader();
  for (int c = 0; c < header->count(); ++c) {
    if (!view->isColumnHidden(c)) header->resizeSection(c, naturalWidth(*view, c));
  }
}

void keepColumnsInView(QTableView* view, const QList<int>& order) {
  (new ColumnKeeper(view, order))->keep();
}

namespace {

// Lies over the viewport and lets the mouse through.
class EmptyWords : public QLabel {
 public:
  EmptyWords(QTableView* view, std::function<QString()> words)
      : QLabel(view->viewport()), view_(view), words_(std::move(words)) {
    setObjectName(QStringLiteral("emptyWords"));
    setProperty("muted", true);
    setAlignment(Qt::AlignCenter);
    setWordWrap(true);
    setMargin(16);
    setAttribute(Qt::WA_TransparentForMouseEvents);
    view->viewport()->installEventFilter(this);
    const QAbstractItemModel* model = view->model();
    const auto again = [this] { look(); };
    for (const auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
      connect(model, signal, this, again);
    connect(model, &QAbstractItemModel::modelReset, this, again);
    connect(model, &QAbstractItemModel::layoutChanged, this, again);
    look();
  }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override {
    if (event->type() == QEvent::Resize) setGeometry(view_->viewport()->rect());
    return QLabel::eventFilter(object, event);
  }

 private:
  void look() {
    const bool empty = view_->model()->rowCount() == 0;
    if (empty) setText(words_());
    setGeometry(view_->viewport()->rect());
    setVisible(empty);
  }

  QTableView* view_;
  std::function<QString()> words_;
};

}  // namespace

void showWhenEmpty(QTableView* view, std::function<QString()> words) {
  new EmptyWords(view, std::move(words));
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
    : QWidget(parent), group_(new QButtonGroup(this)), buttons_(new QWidget(this)), list_(new QComboBox(this)) {
  setAccessibleName(accessible_name);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  auto* row = new QHBoxLayout(buttons_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(2);
  for (const QString& name : names) {
    auto* button = new QToolButton(buttons_);
    button->setText(name);
    button->setAccessibleName(QStringLiteral("%1: %2").arg(accessible_name, name));
    button->setCheckable(true);
    button->setFocusPolicy(Qt::TabFocus);
    group_->addButton(button, static_cast<int>(group_->buttons().size()));
    row->addWidget(button);
  }
  list_->setAccessibleName(accessible_name);
  list_->addItems(names);
  list_->hide();
  group_->button(0)->setChecked(true);
  connect(group_, &QButtonGroup::idToggled, this, [this](int id, bool on) {
    if (!on) return;
    list_->setCurrentIndex(id);
    Q_EMIT changed(id);
  });
  connect(list_, &QComboBox::activated, this, &Switch::setCurrent);
}

QSize Switch::sizeHint() const {
  return buttons_->sizeHint();
}

QSize Switch::minimumSizeHint() const {
  return {std::min(list_->sizeHint().width(), buttons_->sizeHint().width()), buttons_->sizeHint().height()};
}

void Switch::resizeEvent(QResizeEvent*) {
  const bool fits = buttons_->sizeHint().width() <= width();
  buttons_->setGeometry(rect());
  list_->setGeometry(rect());
  buttons_->setVisible(fits);
  list_->setVisible(!fits);
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

void ElidedLabel::paintEvent(QPaintEvent* event) {
  if (wordWrap() || fontMetrics().horizontalAdvance(text()) <= contentsRect().width()) return QLabel::paintEvent(event);
  QPainter painter(this);
  const QRect room = contentsRect();
  style()->drawItemText(&painter, room, static_cast<int>(alignment()), palette(), isEnabled(),
                        fontMetrics().elidedText(text(), Qt::ElideRight, room.width()), foregroundRole());
}

bool ElidedLabel::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && toolTip().isEmpty() && !wordWrap() &&
      fontMetrics().horizontalAdvance(text()) > contentsRect().width()) {
    QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), text(), this);
    return true;
  }
  return QLabel::event(event);
}

QLabel* mutedLabel(const QString& text, QWidget* parent) {
  auto* label = new ElidedLabel(text, parent);
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
