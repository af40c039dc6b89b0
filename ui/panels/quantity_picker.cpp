// The list is a popup of its own, so that it is as large in a narrow dock as in a wide one.
#include "ui/panels/quantity_picker.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QScreen>
#include <QStyleOptionToolButton>
#include <QStylePainter>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <map>

#include "engine/telemetry/rule_text.h"
#include "ui/models/table_text.h"
#include "ui/panels/panel_parts.h"

namespace foxhunt::ui {
namespace {

using telemetry::RuleSource;
constexpr int source_role = Qt::UserRole, column_role = Qt::UserRole + 1;

std::span<const telemetry::TableEntry> tableOf(RuleSource source) {
  return source == RuleSource::step     ? telemetry::step_table()
         : source == RuleSource::signal ? telemetry::signal_table()
                                        : telemetry::health_table();
}

QString sourceName(RuleSource source) {
  switch (source) {
    case RuleSource::step:
      return QuantityPicker::tr("Every step");
    case RuleSource::signal:
      return QuantityPicker::tr("Signals");
    case RuleSource::health:
      return QuantityPicker::tr("Health snapshots");
  }
  return {};
}

}  // namespace

QuantityPicker::QuantityPicker(QWidget* parent) : QToolButton(parent) {
  setObjectName(QStringLiteral("quantityPicker"));
  setFocusPolicy(Qt::TabFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  popup_ = new QFrame(this, Qt::Tool | Qt::FramelessWindowHint);
  popup_->installEventFilter(this);
  popup_->setFrameShape(QFrame::StyledPanel);
  auto* column = new QVBoxLayout(popup_);
  column->setContentsMargins(6, 6, 6, 6);
  column->setSpacing(6);
  search_ = new QLineEdit(popup_);
  search_->setPlaceholderText(tr("Search by name or meaning"));
  search_->setAccessibleName(tr("Search what to watch"));
  search_->setClearButtonEnabled(true);
  search_->installEventFilter(this);
  list_ = new QTreeWidget(popup_);
  list_->setAccessibleName(tr("What to watch"));
  list_->setHeaderHidden(true);
  list_->setUniformRowHeights(true);
  list_->installEventFilter(this);
  column->addWidget(search_);
  column->addWidget(list_, 1);
  fillList();
  connect(this, &QToolButton::clicked, this, &QuantityPicker::openList);
  connect(search_, &QLineEdit::textChanged, this, &QuantityPicker::search);
  connect(list_, &QTreeWidget::itemClicked, this, [this](QTreeWidgetItem* item) { take(item); });
}

void QuantityPicker::fillList() {
  for (const RuleSource source : {RuleSource::step, RuleSource::signal, RuleSource::health}) {
    auto* top = new QTreeWidgetItem(list_, {sourceName(source)});
    top->setFlags(Qt::ItemIsEnabled);
    std::map<std::string_view, QTreeWidgetItem*> groups;
    for (const telemetry::TableEntry& entry : tableOf(source)) {
      if (entry.reserved()) continue;
      QTreeWidgetItem*& group = groups[entry.group];
      if (group == nullptr) {
        group = new QTreeWidgetItem(top, {tableText(entry.group)});
        group->setFlags(Qt::ItemIsEnabled);
      }
      const SeriesInfo info = seriesInfo(entry, {});
      auto* item = new QTreeWidgetItem(group, {tableText(entry.name)});
      item->setData(0, source_role, static_cast<int>(source));
      item->setData(0, column_role, QString::fromUtf8(entry.name.data(), static_cast<int>(entry.name.size())));
      item->setToolTip(0, info.unit.isEmpty() ? info.meaning : QStringLiteral("%1 (%2)").arg(info.meaning, info.unit));
    }
  }
}

void QuantityPicker::setQuantity(RuleSource source, const QString& column) {
  source_ = source;
  column_ = column;
  setText(tr("%1 of %2")
              .arg(column, source == RuleSource::step     ? tr("every step")
                           : source == RuleSource::signal ? tr("the signals")
                                                          : tr("health")));
  setAccessibleName(tr("Watches: %1").arg(text()));
  const int at = telemetry::find_entry(tableOf(source), column.toStdString());
  setToolTip(at < 0 ? QString() : seriesInfo(tableOf(source)[static_cast<std::size_t>(at)], {}).meaning);
}

void QuantityPicker::search(const QString& text) {
  for (int s = 0; s < list_->topLevelItemCount(); ++s) {
    QTreeWidgetItem* top = list_->topLevelItem(s);
    bool some = false;
    for (int g = 0; g < top->childCount(); ++g) {
      QTreeWidgetItem* group = top->child(g);
      bool any = false;
      for (int i = 0; i < group->childCount(); ++i) {
        QTreeWidgetItem* item = group->child(i);
        const bool match = item->text(0).contains(text, Qt::CaseInsensitive) ||
                           item->toolTip(0).contains(text, Qt::CaseInsensitive) ||
                           group->text(0).contains(text, Qt::CaseInsensitive);
        item->setHidden(!match);
        any = any || match;
      }
      group->setHidden(!any);
      group->setExpanded(any && !text.isEmpty());
      some = some || any;
    }
    top->setHidden(!some);
    top->setExpanded(some && !text.isEmpty());
  }
  if (!text.isEmpty()) list_->setCurrentItem(firstMatch());
}

QTreeWidgetItem* QuantityPicker::firstMatch() const {
  for (QTreeWidgetItemIterator it(list_); *it != nullptr; ++it) {
    if ((*it)->data(0, column_role).isValid() && !(*it)->isHidden()) return *it;
  }
  return nullptr;
}

void QuantityPicker::openList() {
  search_->clear();
  search({});
  for (QTreeWidgetItemIterator it(list_); *it != nullptr; ++it) {
    if ((*it)->data(0, column_role).toString() != column_ ||
        (*it)->data(0, source_role).toInt() != static_cast<int>(source_))
      continue;
    list_->setCurrentItem(*it);
    list_->scrollToItem(*it, QAbstractItemView::PositionAtCenter);
    break;
  }
  const QRect room = screen()->availableGeometry();
  QRect place(mapToGlobal(QPoint(0, height())), QSize(std::max(width(), 320), 340).boundedTo(room.size()));
  if (place.bottom() > room.bottom()) place.moveBottom(mapToGlobal(QPoint(0, 0)).y());
  place.moveTop(std::max(place.top(), room.top()));
  place.moveLeft(std::clamp(place.left(), room.left(), std::max(room.left(), room.right() - place.width())));
  popup_->setGeometry(place);
  popup_->show();
  popup_->activateWindow();
  search_->setFocus();
}

bool QuantityPicker::listOpen() const {
  return popup_->isVisible();
}

void QuantityPicker::take(QTreeWidgetItem* item) {
  if (item == nullptr) return;
  if (!item->data(0, column_role).isValid()) {
    item->setExpanded(!item->isExpanded());
    return;
  }
  setQuantity(static_cast<RuleSource>(item->data(0, source_role).toInt()), item->data(0, column_role).toString());
  popup_->hide();
  Q_EMIT picked();
}

// Down goes from the search into the list, Enter takes what is current; a click elsewhere or Escape closes it.
bool QuantityPicker::eventFilter(QObject* object, QEvent* event) {
  if (object == popup_ && event->type() == QEvent::WindowDeactivate) popup_->hide();
  if (event->type() != QEvent::KeyPress) return QToolButton::eventFilter(object, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key == Qt::Key_Escape) {
    popup_->hide();
    return true;
  }
  if (key == Qt::Key_Return || key == Qt::Key_Enter) {
    take(list_->currentItem());
    return true;
  }
  if (object == search_ && key == Qt::Key_Down) {
    list_->setFocus();
    return true;
  }
  return QToolButton::eventFilter(object, event);
}

QSize QuantityPicker::sizeHint() const {
  return {200, QToolButton::sizeHint().height()};
}

QSize QuantityPicker::minimumSizeHint() const {
  return {90, QToolButton::minimumSizeHint().height()};
}

// Text at the left, cut where it does not fit, and an arrow.
void QuantityPicker::paintEvent(QPaintEvent*) {
  QStylePainter painter(this);
  QStyleOptionToolButton option;
  initStyleOption(&option);
  option.text.clear();
  painter.drawComplexControl(QStyle::CC_ToolButton, option);
  const QRect box = rect().adjusted(9, 0, -22, 0);
  painter.setPen(isEnabled() ? theme().text : theme().faint);
  painter.drawText(box, Qt::AlignVCenter | Qt::AlignLeft,
                   fontMetrics().elidedText(text(), Qt::ElideRight, box.width()));
  QIcon(
      QStringLiteral(":/foxhunt/icons/down-%1.svg").arg(theme().dark ? QLatin1String("dark") : QLatin1String("light")))
      .paint(&painter, QRect(width() - 20, (height() - 12) / 2, 12, 12));
}

}  // namespace foxhunt::ui
