// The newest epoch is shown until another is chosen in the list or the table.
#include "ui/panels/validation_panel.h"

#include <QComboBox>
#include <QLocale>
#include <QSplitter>
#include <QToolButton>
#include <cmath>
#include <set>

#include "ui/charts/format.h"
#include "ui/models/evaluation_view.h"
#include "ui/models/table_text.h"

namespace foxhunt::ui {
namespace {

constexpr int newest = 0, best = 1, first_epoch = 2;  // of the list
constexpr int table_height = 380;                     // of the panel, from which the table is shown unasked
constexpr int tiles_height = 220;

// Contracts that the buy-and-hold baseline buys: all that the position cap allows. NaN when unknown.
double heldContracts(const nlohmann::ordered_json& configuration) {
  if (!configuration.is_object() || !configuration.contains("environment")) return kNone;
  return configuration.at("environment").value("max_position", kNone);
}

// "1,999 bars, 9 days" behind a ratio.
QString sampleOf(const EquityCurve& equity) {
  if (equity.times.size() < 2) return {};
  std::set<qint64> days;
  for (const double time : equity.times) days.insert(static_cast<qint64>(std::floor(time / 86400)));
  const auto bars = static_cast<double>(equity.times.size() - 1);
  return days.size() == 1 ? ValidationPanel::tr("%1 bars of 1 day").arg(formatCount(bars))
                          : ValidationPanel::tr("%1 bars, %2 days").arg(formatCount(bars)).arg(days.size());
}

// Where the agent was in the market for another share of the bars than holding is, the comparison says so.
QString exposureNote(const EpochView& epoch) {
  const double agent = metricOf(epoch.agent, "exposure"), hold = metricOf(epoch.buy_and_hold, "exposure");
  if (!(std::abs(agent - hold) >= 0.005)) return {};
  return ValidationPanel::tr("in the market: agent %1, hold %2")
      .arg(formatMetric("exposure", agent), formatMetric("exposure", hold));
}

QString placeOf(const EpochView& epoch) {
  return ValidationPanel::tr("Fold %1, epoch %2").arg(epoch.fold + 1).arg(epoch.epoch + 1);
}

}  // namespace

ValidationPanel::ValidationPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent), model_(new EpochTableModel(this)) {
  QVBoxLayout* column = panelColumn(this);
  QHBoxLayout* row = controlRow(column);
  choice_ = new QComboBox(this);
  choice_->setAccessibleName(tr("Epoch shown"));
  choice_->setToolTip(tr("Validation whose equity is shown"));
  choice_->setMinimumContentsLength(16);
  choice_->addItems({tr("Newest epoch"), tr("Best epoch")});
  table_button_ = toolButton(tr("All epochs"), tr("Shows the table of all validations"), this);
  table_button_->setCheckable(true);
  row->addWidget(choice_);
  row->addStretch(1);
  row->addWidget(table_button_);
  tiles_ = new MetricTiles(this);
  column->addWidget(tiles_);
  splitter_ = new QSplitter(Qt::Vertical, this);
  splitter_->setChildrenCollapsible(false);
  chart_ = new EquityChart(title, this);
  chart_->setMinimumSize(160, 90);
  table_ = sortedTable(model_, tr("Validations"), this);
  table_.view->setMinimumHeight(70);
  keepColumnsInView(table_.view,
                    {EpochTableModel::costs, EpochTableModel::exposure, EpochTableModel::dsr, EpochTableModel::sortino,
                     EpochTableModel::profit_factor, EpochTableModel::step, EpochTableModel::hit_rate,
                     EpochTableModel::against_hold, EpochTableModel::trades, EpochTableModel::drawdown});
  table_.view->hide();
  splitter_->addWidget(chart_);
  splitter_->addWidget(table_.view);
  splitter_->setStretchFactor(0, 3);
  splitter_->setStretchFactor(1, 2);
  column->addWidget(splitter_, 1);
  connect(table_button_, &QToolButton::toggled, this, [this](bool on) { table_.view->setVisible(on); });
  connect(table_button_, &QToolButton::clicked, this, [this] { table_asked_ = true; });
  connect(choice_, &QComboBox::currentIndexChanged, this, [this] {
    if (listing_) return;
    stale_ = true;
    const EpochTableModel::Epoch epoch = choice_->currentIndex() == newest ? nullptr : chosen();
    data_->evaluation()->chooseEpoch(epoch ? std::optional(std::pair(epoch->fold, epoch->epoch)) : std::nullopt);
  });
  connect(table_.view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
    const int at = currentSourceRow(table_);
    if (at >= 0 && !listing_) choose(*model_->at(at));
  });
}

void ValidationPanel::setData(RunData* run) {
  if (data_ != nullptr) {
    disconnect(data_, nullptr, this, nullptr);
    disconnect(data_->evaluation(), nullptr, this, nullptr);
  }
  data_ = run;
  connect(data_, &RunData::resultsChanged, this, [this] { takeEpochs(); });
  connect(data_, &RunData::cleared, this, [this] {
    choice_->setCurrentIndex(newest);
    takeEpochs();
  });
  connect(data_->evaluation(), &EvaluationView::epochChosen, this, &ValidationPanel::followOthers);
  takeEpochs();
}

void ValidationPanel::takeEpochs() {
  const bool had_none = model_->rowCount() == 0;
  listing_ = true;
  model_->setEpochs(data_->epochs());
  listEpochs();
  listing_ = false;
  if (had_none && model_->rowCount() > 0) fitColumns(table_.view);
  stale_ = true;
}

void ValidationPanel::listEpochs() {
  const QVariant kept = choice_->currentData();
  const int kind = choice_->currentIndex();
  while (choice_->count() > first_epoch) choice_->removeItem(choice_->count() - 1);
  for (int i = 0; i < model_->rowCount(); ++i) {
    const EpochView& epoch = *model_->at(i);
    choice_->addItem(placeOf(epoch), QPoint(epoch.fold, epoch.epoch));
  }
  const int again = kind < first_epoch ? kind : choice_->findData(kept);
  choice_->setCurrentIndex(std::max(0, again));
}

EpochTableModel::Epoch ValidationPanel::chosen() const {
  const auto& epochs = data_->epochs();
  if (epochs.empty()) return nullptr;
  const auto sharpe = [](const EpochTableModel::Epoch& epoch) {
    const double value = metricOf(epoch->agent, "sharpe");
    return std::isnan(value) ? 0.0 : value;
  };
  if (choice_->currentIndex() == newest)
    return *std::max_element(epochs.begin(), epochs.end(),
                             [](const auto& a, const auto& b) { return a->step < b->step; });
  if (choice_->currentIndex() == best)
    return *std::max_element(epochs.begin(), epochs.end(),
                             [&](const auto& a, const auto& b) { return sharpe(a) < sharpe(b); });
  const QPoint place = choice_->currentData().toPoint();
  for (const auto& epoch : epochs)
    if (epoch->fold == place.x() && epoch->epoch == place.y()) return epoch;
  return nullptr;
}

void ValidationPanel::choose(const EpochView& epoch) {
  if (shown_ && shown_->fold == epoch.fold && shown_->epoch == epoch.epoch) return;
  choice_->setCurrentIndex(choice_->findData(QPoint(epoch.fold, epoch.epoch)));
}

void ValidationPanel::followOthers() {
  const auto& place = data_->evaluation()->chosenEpoch();
  const EpochTableModel::Epoch now = choice_->currentIndex() == newest ? nullptr : chosen();
  if (now ? place == std::pair(now->fold, now->epoch) : !place) return;
  const int at = place ? choice_->findData(QPoint(place->first, place->second)) : newest;
  if (at < 0) return;  // not recorded
  listing_ = true;
  choice_->setCurrentIndex(at);
  listing_ = false;
  stale_ = true;
}

void ValidationPanel::refresh() {
  if (data_ == nullptr || !stale_) return;
  stale_ = false;
  showChosen();
}

void ValidationPanel::showChosen() {
  shown_ = chosen();
  if (!shown_) {
    chart_->setTitle(tr("No validation yet"));
    chart_->setBadge({});
    chart_->setLines({});
    tiles_->setTiles({});
    return;
  }
  const EpochView& epoch = *shown_;
  const QString currency = currencyOf(data_->configuration());
  std::vector<EquityLine> lines;
  const auto add = [&lines](const QString& name, const EquityCurve& curve, int color) {
    if (!curve.times.empty()) lines.push_back({name, curve.times, curve.values, color});
  };
  add(tr("agent"), epoch.equity, 0);
  const double size = heldContracts(data_->configuration());
  add(std::isnan(size) ? tr("buy and hold") : tr("buy and hold %1 contracts").arg(QLocale().toString(size)),
      epoch.buy_and_hold_equity, 1);
  add(tr("random"), epoch.random_equity, 2);
  add(tr("flat"), {epoch.equity.times, std::vector<double>(epoch.equity.times.size(), 0.0)}, 3);
  chart_->setLines(std::move(lines), currency);
  chart_->setTitle(currency.isEmpty() ? tr("%1 · net of costs").arg(placeOf(epoch))
                                      : tr("%1 · net of costs (%2)").arg(placeOf(epoch), currency));
  chart_->setBadge(epoch.best ? tr("best of its fold") : QString());
  showTiles(epoch);
  listing_ = true;
  for (int i = 0; i < model_->rowCount(); ++i) {
    if (model_->at(i)->fold == epoch.fold && model_->at(i)->epoch == epoch.epoch) selectSourceRow(table_, i);
  }
  listing_ = false;
}

void ValidationPanel::showTiles(const EpochView& epoch) {
  std::vector<MetricTile> tiles;
  for (const char* name : {"net", "sharpe", "max_drawdown", "trades", "hit_rate", "profit_factor", "exposure", "costs",
                           "sortino", "dsr"}) {
    const MetricText text = metricText(name);
    tiles.push_back({text.label, formatMetric(name, metricOf(epoch.agent, name)),
                     text.unit.isEmpty() ? text.meaning : QStringLiteral("%1 (%2)").arg(text.meaning, text.unit)});
    if (name == std::string_view("sharpe") && !sampleOf(epoch.equity).isEmpty()) {
      tiles.back().label =
          tr("%1 · %2 bars").arg(text.label, formatCount(static_cast<double>(epoch.equity.times.size() - 1)));
      tiles.back().tip += tr(" · annualised from %1").arg(sampleOf(epoch.equity));
    }
    if (tiles.size() == 1) {
      const double hold = metricOf(epoch.buy_and_hold, "net"), random = metricOf(epoch.random, "net");
      const double size = heldContracts(data_->configuration());
      QString tip = tr("Net profit of buying at the window's begin and holding to its end");
      if (!std::isnan(size))
        tip += tr(": %1 contracts, all that the position cap allows").arg(QLocale().toString(size));
      if (!exposureNote(epoch).isEmpty()) tip += QStringLiteral(" · ") + exposureNote(epoch);
      tiles.push_back({std::isnan(size) ? tr("Buy and hold") : tr("Buy and hold %1").arg(QLocale().toString(size)),
                       formatMetric("net", hold), tip});
      if (!exposureNote(epoch).isEmpty()) {
        const auto share = [](const MetricList& of) {
          return QStringLiteral("%1 %").arg(QLocale().toString(100 * metricOf(of, "exposure"), 'f', 0));
        };
        tiles.push_back({tr("In market"), tr("%1 / %2").arg(share(epoch.agent), share(epoch.buy_and_hold)),
                         tr("Share of bars with a position, agent / buy and hold: they did not bear the same risk")});
      }
      tiles.push_back(
          {tr("Random"), formatMetric("net", random),
           tr("Mean net profit of as many trips of the same size at random times and in random directions")});
    }
  }
  tiles_->setTiles(std::move(tiles));
}

void ValidationPanel::resizeEvent(QResizeEvent* event) {
  Panel::resizeEvent(event);
  if (!table_asked_) table_button_->setChecked(height() >= table_height);
  tiles_->setVisible(height() >= tiles_height);
}

QString ValidationPanel::summary() const {
  return chart_->summary() + QLatin1Char('\n') + tiles_->accessibleDescription();
}

}  // namespace foxhunt::ui
