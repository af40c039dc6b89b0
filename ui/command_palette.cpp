// Filtering and choosing.
#include "ui/command_palette.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QTimer>
#include <QVBoxLayout>

namespace foxhunt::ui {

QString plainText(const QAction* action) {
  return action->text().remove(QLatin1Char('&')).remove(QStringLiteral("…"));
}

CommandPalette::CommandPalette(const QList<QAction*>& actions, QWidget* parent) : QDialog(parent), actions_(actions) {
  setObjectName(QStringLiteral("commandPalette"));
  setWindowTitle(tr("Command palette"));
  resize(520, 380);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(8, 8, 8, 8);
  search_ = new QLineEdit(this);
  search_->setPlaceholderText(tr("Type a command"));
  search_->setAccessibleName(tr("Command"));
  search_->installEventFilter(this);
  list_ = new QListWidget(this);
  list_->setAccessibleName(tr("Matching commands"));
  column->addWidget(search_);
  column->addWidget(list_, 1);
  connect(search_, &QLineEdit::textChanged, this, &CommandPalette::fill);
  connect(search_, &QLineEdit::returnPressed, this, &CommandPalette::run);
  connect(list_, &QListWidget::itemActivated, this, &CommandPalette::run);
  fill({});
  search_->setFocus();
}

void CommandPalette::fill(const QString& text) {
  list_->clear();
  const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  for (int i = 0; i < actions_.size(); ++i) {
    const QString name = plainText(actions_[i]);
    const QString where = name + QLatin1Char(' ') + actions_[i]->toolTip();
    const bool fits = std::all_of(words.begin(), words.end(),
                                  [&](const QString& word) { return where.contains(word, Qt::CaseInsensitive); });
    if (!fits) continue;
    const QString keys = actions_[i]->shortcut().toString(QKeySequence::NativeText);
    auto* item = new QListWidgetItem(keys.isEmpty() ? name : name + QStringLiteral("    ") + keys, list_);
    item->setToolTip(actions_[i]->toolTip());
    item->setData(Qt::UserRole, i);
    if (!actions_[i]->isEnabled()) item->setFlags(item->flags() & ~Qt::ItemIsEnabled);
  }
  list_->setCurrentRow(0);
}

void CommandPalette::run() {
  const QListWidgetItem* item = list_->currentItem();
  if (item == nullptr) return;
  QAction* action = actions_.at(item->data(Qt::UserRole).toInt());
  accept();
  if (action->isEnabled()) QTimer::singleShot(0, action, &QAction::trigger);
}

// Up and down move in the list while the text keeps the focus.
bool CommandPalette::eventFilter(QObject* object, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QDialog::eventFilter(object, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key != Qt::Key_Up && key != Qt::Key_Down) return QDialog::eventFilter(object, event);
  const int row = list_->currentRow() + (key == Qt::Key_Down ? 1 : -1);
  if (row >= 0 && row < list_->count()) list_->setCurrentRow(row);
  return true;
}

}  // namespace foxhunt::ui
