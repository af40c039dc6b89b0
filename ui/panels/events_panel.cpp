// A filtered table; a double click centres the charts on the event's step.
#include "ui/panels/events_panel.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QSortFilterProxyModel>

namespace foxhunt::ui {

EventsPanel::EventsPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent), model_(new EventModel(this)), filter_(new QSortFilterProxyModel(this)) {
  filter_->setFilterKeyColumn(-1);
  filter_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  QVBoxLayout* column = panelColumn(this);
  QHBoxLayout* row = controlRow(column);
  auto* search = new QLineEdit(this);
  search->setObjectName(QStringLiteral("eventSearch"));
  search->setPlaceholderText(tr("Filter events"));
  search->setAccessibleName(tr("Filter events"));
  search->setClearButtonEnabled(true);
  row->addWidget(search);
  table_ = sortedTable(model_, tr("Events of the run"), this, filter_);
  table_.view->horizontalHeader()->setStretchLastSection(true);
  table_.view->sortByColumn(0, Qt::DescendingOrder);
  keepColumnsInView(table_.view, {3, 2});
  column->addWidget(table_.view, 1);
  showWhenEmpty(table_.view, [this] {
    return model_->rowCount() > 0
               ? tr("No event has these words: clear the filter.")
               : tr("Commands, checkpoints, folds, guards and warnings of a run appear here. Start a session (F5), or "
                    "open a run.");
  });
  connect(search, &QLineEdit::textChanged, filter_, &QSortFilterProxyModel::setFilterFixedString);
}

void EventsPanel::setData(RunData* run) {
  model_->setData(run);
  connect(run, &RunData::eventsAdded, this, [this] { fitColumns(table_.view); });
  connect(table_.view, &QTableView::doubleClicked, this, [this, run](const QModelIndex& index) {
    const EventView& event = model_->event(filter_->mapToSource(index).row());
    XView view = run->link()->view();
    const double half = (view.x1 - view.x0) / 2;
    view.x0 = static_cast<double>(event.step) - half;
    view.x1 = static_cast<double>(event.step) + half;
    view.follow = false;
    run->link()->setView(view);
    run->link()->setCrosshair(static_cast<double>(event.step));
  });
}

QString EventsPanel::summary() const {
  if (model_->rowCount() == 0) return tr("no events");
  return tr("%n event(s); newest: %1", nullptr, model_->rowCount()).arg(model_->event(0).message);
}

}  // namespace foxhunt::ui
