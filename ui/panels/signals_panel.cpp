// Groups are those of the table; reserved slots are left away.
#include "ui/panels/signals_panel.h"

#include <QLineEdit>
#include <QSplitter>
#include <QToolButton>
#include <QTreeWidget>
#include <map>

#include "ui/models/table_text.h"
#include "ui/panels/panel_parts.h"

namespace foxhunt::ui {
namespace {

constexpr int slot_role = Qt::UserRole;

}  // namespace

SignalsPanel::SignalsPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : CurvePanel(id, title, parent), chart_(addChart(title)) {
  chosen_ = {kernels::signal_learning_health, kernels::signal_action_entropy, kernels::signal_effective_samples,
             kernels::signal_exploration_share};
  auto* side = new QWidget(this);
  QVBoxLayout* column = panelColumn(side);
  auto* text = new QLineEdit(side);
  text->setPlaceholderText(tr("Search signals"));
  text->setAccessibleName(text->placeholderText());
  text->setClearButtonEnabled(true);
  text->setMinimumWidth(30);
  QToolButton* none = toolButton(tr("None"), tr("Unchecks all signals"), side);
  QHBoxLayout* row = controlRow(column);
  row->addWidget(text, 1);
  row->addWidget(none);
  list_ = new QTreeWidget(side);
  list_->setAccessibleName(tr("Signals"));
  list_->setHeaderHidden(true);
  list_->setRootIsDecorated(true);
  list_->setUniformRowHeights(true);
  column->addWidget(list_, 1);
  makeList();
  auto* splitter = new QSplitter(Qt::Horizontal, this);
  splitter->addWidget(chart_);
  splitter->addWidget(side);
  splitter->setChildrenCollapsible(true);
  splitter->setStretchFactor(0, 1);
  splitter->setSizes({620, 180});
  panelColumn(this)->addWidget(splitter, 1);
  chart_->setTitleVisible(false);
  connect(text, &QLineEdit::textChanged, this, &SignalsPanel::search);
  connect(list_, &QTreeWidget::itemChanged, this, [this] { takeChoice(); });
  connect(none, &QToolButton::clicked, this, [this] {
    {
      const QSignalBlocker quiet(list_);
      for (QTreeWidgetItemIterator it(list_); *it != nullptr; ++it)
        if ((*it)->parent() != nullptr) (*it)->setCheckState(0, Qt::Unchecked);
    }
    takeChoice();
  });
}

void SignalsPanel::makeList() {
  const auto table = telemetry::signal_table();
  std::map<std::string_view, QTreeWidgetItem*> groups;
  for (int slot = 0; slot < static_cast<int>(table.size()); ++slot) {
    const telemetry::TableEntry& entry = table[static_cast<std::size_t>(slot)];
    if (entry.reserved()) continue;
    QTreeWidgetItem*& group = groups[entry.group];
    if (group == nullptr) group = new QTreeWidgetItem(list_, {tableText(entry.group)});
    auto* item = new QTreeWidgetItem(group, {tableText(entry.name)});
    item->setData(0, slot_role, slot);
    const SeriesInfo info = seriesInfo(entry, {});
    item->setToolTip(0, info.unit.isEmpty() ? info.meaning : QStringLiteral("%1 (%2)").arg(info.meaning, info.unit));
    const bool on = chosen_.contains(slot);
    item->setCheckState(0, on ? Qt::Checked : Qt::Unchecked);
    if (on) group->setExpanded(true);
  }
}

void SignalsPanel::search(const QString& text) {
  for (int g = 0; g < list_->topLevelItemCount(); ++g) {
    QTreeWidgetItem* group = list_->topLevelItem(g);
    const bool whole = group->text(0).contains(text, Qt::CaseInsensitive);
    bool any = false;
    for (int i = 0; i < group->childCount(); ++i) {
      const bool match = whole || group->child(i)->text(0).contains(text, Qt::CaseInsensitive);
      group->child(i)->setHidden(!match);
      any = any || match;
    }
    group->setHidden(!any);
    if (any && !text.isEmpty()) group->setExpanded(true);
  }
}

void SignalsPanel::takeChoice() {
  chosen_.clear();
  for (QTreeWidgetItemIterator it(list_); *it != nullptr; ++it)
    if ((*it)->parent() != nullptr && (*it)->checkState(0) == Qt::Checked)
      chosen_.insert((*it)->data(0, slot_role).toInt());
  if (data() == nullptr) return;
  chart_->clearSeries();
  fill(*data());
}

void SignalsPanel::fill(RunData& run) {
  for (const int slot : chosen_)
    addSignal(*chart_, run, slot, tableText(telemetry::signal_table()[static_cast<std::size_t>(slot)].name));
  chart_->setTitle(
      tr("Signals · %1 of %2").arg(static_cast<int>(chosen_.size())).arg(static_cast<int>(kernels::kSignals)));
}

}  // namespace foxhunt::ui
