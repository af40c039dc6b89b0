// Groups are those of the table; reserved slots are left away.
#include "ui/panels/signals_panel.h"

#include <QLabel>
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
constexpr int list_beside_width = 520;  // pixels in which chart and list stand side by side

}  // namespace

SignalsPanel::SignalsPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : CurvePanel(id, title, parent), chart_(addChart(title)) {
  chosen_ = {kernels::signal_learning_health, kernels::signal_action_entropy, kernels::signal_effective_samples,
             kernels::signal_exploration_share};
  auto* side = side_ = new QWidget(this);
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
  splitter_ = new QSplitter(Qt::Horizontal, this);
  splitter_->addWidget(chart_);
  splitter_->addWidget(side);
  splitter_->setChildrenCollapsible(false);
  splitter_->setStretchFactor(0, 1);
  splitter_->setSizes({560, 220});
  side->setMinimumWidth(200);
  narrow_row_ = new QWidget(this);
  auto* narrow = new QHBoxLayout(narrow_row_);
  narrow->setContentsMargins(8, 6, 8, 4);
  narrow->setSpacing(6);
  choose_ = toolButton(tr("Choose…"), tr("Shows the list of signals in place of the curves"), narrow_row_);
  choose_->setCheckable(true);
  count_ = mutedLabel({}, narrow_row_);
  narrow->addWidget(choose_);
  narrow->addWidget(count_, 1);
  QVBoxLayout* whole = panelColumn(this);
  whole->addWidget(narrow_row_);
  whole->addWidget(splitter_, 1);
  connect(choose_, &QToolButton::toggled, this, &SignalsPanel::arrange);
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
  const QString count = tr("%1 of %2").arg(static_cast<int>(chosen_.size())).arg(static_cast<int>(kernels::kSignals));
  chart_->setTitle(tr("Signals · %1").arg(count));
  count_->setText(tr("%1 signals shown").arg(count));
}

void SignalsPanel::resizeEvent(QResizeEvent* event) {
  CurvePanel::resizeEvent(event);
  arrange();
}

void SignalsPanel::arrange() {
  const bool wide = width() >= list_beside_width;
  narrow_row_->setVisible(!wide);
  chart_->setVisible(wide || !choose_->isChecked());
  side_->setVisible(wide || choose_->isChecked());
}

}  // namespace foxhunt::ui
