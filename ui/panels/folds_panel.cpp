// Table and start button.
#include "ui/panels/folds_panel.h"

#include <QHeaderView>
#include <QPushButton>
#include <QSortFilterProxyModel>

namespace foxhunt::ui {

FoldsPanel::FoldsPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent), model_(new FoldModel(this)) {
  QVBoxLayout* column = panelColumn(this);
  table_ = sortedTable(model_, tr("Folds"), this);
  table_.view->setObjectName(QStringLiteral("foldTable"));
  table_.view->setSelectionMode(QAbstractItemView::ExtendedSelection);
  table_.view->setColumnHidden(FoldModel::rows, true);
  table_.view->sortByColumn(FoldModel::number, Qt::AscendingOrder);
  keepColumnsInView(table_.view, {FoldModel::state, FoldModel::train});
  column->addWidget(table_.view, 1);
  QHBoxLayout* row = controlRow(column);
  start_ = new QPushButton(this);
  start_->setObjectName(QStringLiteral("startSelectedFolds"));
  row->addWidget(start_, 1);
  connect(start_, &QPushButton::clicked, this, [this] {
    const auto [first, last] = selectedFolds();
    Q_EMIT startRequested(first, last);
  });
  connect(table_.view->selectionModel(), &QItemSelectionModel::selectionChanged, this, &FoldsPanel::updateButton);
  connect(model_, &QAbstractItemModel::modelReset, this, &FoldsPanel::updateButton);
  connect(table_.view, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
    const int fold = table_.proxy->mapToSource(index).row();
    Q_EMIT startRequested(fold, fold);
  });
  updateButton();
}

void FoldsPanel::setData(RunData* run) {
  model_->setData(run);
  connect(run, &RunData::foldsChanged, this, [this] { fitColumns(table_.view); });
}

std::pair<int, int> FoldsPanel::selectedFolds() const {
  int first = -1, last = -1;
  for (const QModelIndex& index : table_.view->selectionModel()->selectedRows()) {
    const int fold = table_.proxy->mapToSource(index).row();
    first = first < 0 ? fold : std::min(first, fold);
    last = std::max(last, fold);
  }
  return first < 0 ? std::pair(0, -1) : std::pair(first, last);
}

void FoldsPanel::updateButton() {
  const auto [first, last] = selectedFolds();
  start_->setText(last < 0        ? tr("Start all folds")
                  : first == last ? tr("Start fold %1").arg(first + 1)
                                  : tr("Start folds %1 to %2").arg(first + 1).arg(last + 1));
  start_->setAccessibleName(start_->text());
  start_->setToolTip(tr("Trains the selected folds, first to last; without a selection all of them"));
}

QString FoldsPanel::summary() const {
  QStringList lines;
  for (int row = 0; row < model_->rowCount(); ++row) lines << model_->describe(row);
  return lines.isEmpty() ? tr("no folds yet") : lines.join(QStringLiteral("; "));
}

}  // namespace foxhunt::ui
