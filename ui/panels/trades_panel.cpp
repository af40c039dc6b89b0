// Which evaluation's trades are listed, and what choosing one does.
#include "ui/panels/trades_panel.h"

#include <QComboBox>
#include <QFileDialog>
#include <QLabel>
#include <QPoint>
#include <QToolButton>
#include <algorithm>

#include "engine/base/error.h"
#include "ui/models/table_text.h"

namespace foxhunt::ui {
namespace {

constexpr int as_in_market = 0, epochs_from = 1;  // of the list
constexpr int totals_width = 520;                 // of the panel, from which the line of totals is shown whole

}  // namespace

TradesPanel::TradesPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent), model_(new TradeModel(this)) {
  QVBoxLayout* column = panelColumn(this);
  QHBoxLayout* row = controlRow(column);
  choice_ = new QComboBox(this);
  choice_->setAccessibleName(tr("Evaluation listed"));
  choice_->setToolTip(tr("Whose trades are listed: the evaluation in the Market panel, or a recorded validation"));
  choice_->setMinimumContentsLength(14);
  choice_->addItem(tr("As in Market"));
  totals_ = mutedLabel({}, this);
  export_ = toolButton(tr("CSV…"), tr("Writes all trades of the list to a file"), this);
  row->addWidget(choice_);
  row->addWidget(totals_, 100);
  row->addStretch(1);
  row->addWidget(export_);
  empty_ = new QLabel(tr("The trades of a validation appear with the first one."), this);
  empty_->setProperty("muted", true);
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setWordWrap(true);
  empty_->setMargin(16);
  column->addWidget(empty_, 1);
  table_ = sortedTable(model_, tr("Trades"), this);
  column->addWidget(table_.view, 1);
  keepColumnsInView(table_.view, {TradeModel::number, TradeModel::exit_time, TradeModel::bars, TradeModel::costs,
                                  TradeModel::reason, TradeModel::contracts, TradeModel::entry, TradeModel::exit});
  connect(choice_, &QComboBox::currentIndexChanged, this, [this] {
    if (filling_) return;
    stale_ = true;
    // Market follows; with its own evaluation of that epoch this list goes back to what it shows.
    const auto shown = data_->evaluation()->shown();
    const bool evaluated = shown && !data_->evaluation()->file().empty();
    const QPoint place = choice_->currentData().toPoint();
    if (choice_->currentIndex() > as_in_market) {
      data_->evaluation()->chooseEpoch(std::pair(place.x(), place.y()));
    } else {
      data_->evaluation()->chooseEpoch(evaluated ? std::optional(std::pair(shown->fold, shown->epoch)) : std::nullopt);
    }
  });
  connect(export_, &QToolButton::clicked, this, [this] {
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Export trades"), QStringLiteral("trades.csv"), tr("CSV (*.csv)"));
    if (!path.isEmpty()) exportTo(path);
  });
  connect(table_.view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
    if (!filling_) selectCurrent();
  });
  connect(table_.view, &QTableView::clicked, this, [this] { selectCurrent(); });
  connect(table_.view, &QTableView::activated, this, [this] {
    selectCurrent();
    Q_EMIT panelRequested(QStringLiteral("market"));
  });
}

void TradesPanel::setData(RunData* run) {
  if (data_ != nullptr) {
    disconnect(data_, nullptr, this, nullptr);
    disconnect(data_->evaluation(), nullptr, this, nullptr);
    data_->evaluation()->want(this, false);
  }
  data_ = run;
  const auto stale = [this] { stale_ = true; };
  connect(data_, &RunData::resultsChanged, this, stale);
  connect(data_, &RunData::cleared, this, [this] {
    stale_ = true;
    choice_->setCurrentIndex(as_in_market);
  });
  connect(data_->evaluation(), &EvaluationView::changed, this, stale);
  connect(data_->evaluation(), &EvaluationView::selectedChanged, this, &TradesPanel::chooseShown);
  connect(data_->evaluation(), &EvaluationView::epochChosen, this, &TradesPanel::followOthers);
  data_->evaluation()->want(this, isVisible());
}

void TradesPanel::showEvent(QShowEvent* event) {
  Panel::showEvent(event);
  if (data_ != nullptr) data_->evaluation()->want(this, true);
}

void TradesPanel::hideEvent(QHideEvent* event) {
  Panel::hideEvent(event);
  if (data_ != nullptr) data_->evaluation()->want(this, false);
}

void TradesPanel::resizeEvent(QResizeEvent* event) {
  Panel::resizeEvent(event);
  totals_->setVisible(model_->rowCount() > 0 && width() >= totals_width);
}

void TradesPanel::refresh() {
  if (data_ == nullptr || !stale_) return;
  stale_ = false;
  listEpochs();
  load();
}

void TradesPanel::listEpochs() {
  filling_ = true;
  const QVariant kept = choice_->currentData();
  const auto& epochs = data_->epochs();
  while (choice_->count() > epochs_from + static_cast<int>(epochs.size())) choice_->removeItem(choice_->count() - 1);
  for (std::size_t i = 0; i < epochs.size(); ++i) {
    const EpochView& epoch = *epochs[i];
    const QString text = epoch.best ? tr("Fold %1, epoch %2 · best").arg(epoch.fold + 1).arg(epoch.epoch + 1)
                                    : tr("Fold %1, epoch %2").arg(epoch.fold + 1).arg(epoch.epoch + 1);
    const int at = epochs_from + static_cast<int>(i);
    if (at >= choice_->count()) choice_->addItem(text);
    choice_->setItemText(at, text);
    choice_->setItemData(at, QPoint(epoch.fold, epoch.epoch));
  }
  choice_->setCurrentIndex(kept.isValid() ? std::max(as_in_market, choice_->findData(kept)) : as_in_market);
  filling_ = false;
}

// The epoch that Validation or Market shows: as Market has it, or as it was recorded.
void TradesPanel::followOthers() {
  listEpochs();
  const auto& place = data_->evaluation()->chosenEpoch();
  const auto shown = data_->evaluation()->shown();
  const bool in_market = place && shown && place == std::pair(shown->fold, shown->epoch);
  const int at = place && !in_market ? choice_->findData(QPoint(place->first, place->second)) : as_in_market;
  filling_ = true;
  choice_->setCurrentIndex(std::max(as_in_market, at));
  filling_ = false;
  stale_ = true;
}

// Where Market shows nothing, the newest recorded validation stands in.
void TradesPanel::load() {
  const auto& epochs = data_->epochs();
  const auto shown = data_->evaluation()->shown();
  const bool as_market = choice_->currentIndex() == as_in_market;
  std::vector<TradeView> trades;
  std::shared_ptr<const void> source;
  QString whose;
  if (as_market && shown) {
    source = shown;
    trades = tradeViews(*shown);
    whose = tr("Fold %1, epoch %2").arg(shown->fold + 1).arg(shown->epoch + 1);
  } else if (!epochs.empty()) {
    const QPoint place = choice_->currentData().toPoint();
    auto found = std::find_if(epochs.begin(), epochs.end(),
                              [&](const auto& epoch) { return epoch->fold == place.x() && epoch->epoch == place.y(); });
    if (as_market || found == epochs.end()) {
      found = std::max_element(epochs.begin(), epochs.end(),
                               [](const auto& a, const auto& b) { return a->step < b->step; });
      whose = tr("Fold %1, epoch %2").arg((*found)->fold + 1).arg((*found)->epoch + 1);
    }
    source = *found;
    trades = (*found)->trades;
  }
  if (source && source == listed_) return;
  listed_ = source;
  const bool had_none = model_->rowCount() == 0;
  filling_ = true;
  model_->setCurrency(currencyOf(data_->configuration()));
  model_->setTrades(std::move(trades));
  filling_ = false;
  if (had_none && model_->rowCount() > 0) fitColumns(table_.view);
  totals_->setText(whose.isEmpty() ? model_->totals() : QStringLiteral("%1 · %2").arg(whose, model_->totals()));
  totals_->setToolTip(totals_->text());
  const bool any = model_->rowCount() > 0;
  export_->setEnabled(any);
  table_.view->setVisible(any);
  empty_->setVisible(!any);
  totals_->setVisible(any && width() >= totals_width);
  empty_->setText(epochs.empty() && !shown
                      ? tr("The trades of a validation appear with the first one, at the end of the session's first "
                           "epoch; of a run that is opened, those that it recorded.")
                      : tr("This policy made no trade in its validation window."));
  chooseShown();
}

// The row of the trade that is looked at in Market.
void TradesPanel::chooseShown() {
  if (filling_ || data_ == nullptr) return;
  filling_ = true;
  const auto& selected = data_->evaluation()->selected();
  const int at = selected ? model_->find(*selected) : -1;
  if (at >= 0) {
    selectSourceRow(table_, at);
  } else {
    table_.view->setCurrentIndex({});
    table_.view->clearSelection();
  }
  filling_ = false;
}

void TradesPanel::selectCurrent() {
  const int at = currentSourceRow(table_);
  if (at >= 0) data_->evaluation()->select(model_->at(at));
}

void TradesPanel::exportTo(const QString& path) {
  try {
    writeTextFile(path, model_->csv());
    Q_EMIT message(QStringLiteral("info"), tr("%1 was written.").arg(path));
  } catch (const Error& error) {
    Q_EMIT message(QStringLiteral("error"), QString::fromStdString(error.sentence()));
  }
}

QString TradesPanel::summary() const {
  return model_->rowCount() > 0 ? totals_->text() : empty_->text();
}

}  // namespace foxhunt::ui
