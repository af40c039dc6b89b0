// Controls, loading of lanes, and the trade that is looked at.
#include "ui/panels/market_panel.h"

#include <QComboBox>
#include <QLabel>
#include <QProgressBar>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/config/load_config.h"
#include "ui/charts/format.h"
#include "ui/models/market_lanes.h"
#include "ui/panels/panel_parts.h"
#include "ui/session_bridge.h"

namespace foxhunt::ui {
namespace {

constexpr int live_entry = 0;
constexpr double least_pad = 12;  // bars beside a trade that is zoomed to
constexpr int state_width = 560;  // of the panel, from which the line of words is shown

QString placeOf(const ValidationTrace& trace) {
  return MarketPanel::tr("Fold %1, epoch %2").arg(trace.fold + 1).arg(trace.epoch + 1);
}

QString nameOf(const CheckpointView& checkpoint) {
  return MarketPanel::tr("Fold %1, step %2 · %3")
      .arg(checkpoint.fold + 1)
      .arg(formatCount(static_cast<double>(checkpoint.step)), checkpoint.reason);
}

}  // namespace

MarketPanel::MarketPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent), context_(context) {
  makeControls();
  chart_ = new LaneChart(title, this);
  chart_->setDetails([this](std::size_t bar) { return detailsOf(bar); });
  layout()->addWidget(chart_);
  static_cast<QVBoxLayout*>(layout())->setStretchFactor(chart_, 1);
  connect(chart_, &LaneChart::barClicked, this, &MarketPanel::selectTradeAt);
}

void MarketPanel::makeControls() {
  QHBoxLayout* row = controlRow(panelColumn(this));
  choice_ = new QComboBox(this);
  choice_->setAccessibleName(tr("Evaluation shown"));
  choice_->setToolTip(tr("What is shown: the newest validation of the session, or a checkpoint of the run"));
  choice_->setMinimumContentsLength(16);
  choice_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  choice_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  choice_->setMaximumWidth(300);
  evaluate_ = toolButton(tr("Evaluate"), tr("Runs the chosen checkpoint over the validation window of its fold"), this);
  hold_ = toolButton(tr("Hold"), tr("Keeps the validation shown while the session makes newer ones"), this);
  hold_->setCheckable(true);
  fit_ = toolButton(tr("Fit"), tr("Shows the whole window (Home)"), this);
  progress_ = new QProgressBar(this);
  progress_->setRange(0, 1000);
  progress_->setTextVisible(false);
  progress_->setMaximumWidth(140);
  progress_->setAccessibleName(tr("Progress of the evaluation"));
  cancel_ = toolButton(tr("Cancel"), tr("Ends the evaluation"), this);
  state_ = mutedLabel({}, this);
  row->addWidget(choice_, 2);
  for (QWidget* widget : {static_cast<QWidget*>(evaluate_), static_cast<QWidget*>(progress_),
                          static_cast<QWidget*>(cancel_), static_cast<QWidget*>(hold_)})
    row->addWidget(widget);
  row->addWidget(state_, 100);
  row->addStretch(1);
  row->addWidget(fit_);
  connect(choice_, &QComboBox::activated, this, [this](int index) {
    if (index == live_entry) {
      view()->showLive();
      view()->chooseEpoch(std::nullopt);
    }
    updateControls();
  });
  connect(evaluate_, &QToolButton::clicked, this,
          [this] { evaluate(std::filesystem::path(choice_->currentData().toString().toStdString())); });
  connect(cancel_, &QToolButton::clicked, this, [this] { view()->cancel(); });
  connect(hold_, &QToolButton::toggled, this, [this](bool on) { view()->hold(on); });
  connect(fit_, &QToolButton::clicked, this, [this] { chart_->fit(); });
}

void MarketPanel::setData(RunData* run) {
  if (data_ != nullptr) {
    disconnect(data_, nullptr, this, nullptr);
    disconnect(view(), nullptr, this, nullptr);
    view()->want(this, false);
  }
  data_ = run;
  const auto stale = [this] { stale_ = true; };
  connect(data_, &RunData::checkpointsChanged, this, stale);
  connect(data_, &RunData::statusChanged, this, [this] {
    if (isVisible() && busy() != busy_) updateControls();
  });
  connect(data_, &RunData::cleared, this, [this] {
    stale_ = true;
    choice_->setCurrentIndex(live_entry);
    hold_->setChecked(false);
  });
  connect(view(), &EvaluationView::changed, this, stale);
  connect(view(), &EvaluationView::changed, this, &MarketPanel::tellEpoch);
  connect(view(), &EvaluationView::epochChosen, this, [this] { stale_ = epoch_asked_ = true; });
  connect(view(), &EvaluationView::activityChanged, this, &MarketPanel::showActivity);
  connect(view(), &EvaluationView::selectedChanged, this, [this] { showSelected(true); });
  connect(view(), &EvaluationView::failed, this, [this](const QString& sentence) {
    Q_EMIT message(QStringLiteral("error"), tr("The checkpoint was not evaluated: %1").arg(sentence));
  });
  view()->want(this, isVisible());
  listCheckpoints();
  showActivity();
}

void MarketPanel::showEvent(QShowEvent* event) {
  Panel::showEvent(event);
  if (data_ != nullptr) view()->want(this, true);
}

void MarketPanel::hideEvent(QHideEvent* event) {
  Panel::hideEvent(event);
  if (data_ != nullptr) view()->want(this, false);
}

void MarketPanel::resizeEvent(QResizeEvent* event) {
  Panel::resizeEvent(event);
  showActivity();
}

void MarketPanel::evaluate(const std::filesystem::path& checkpoint) {
  if (checkpoint.empty()) return;
  try {
    if (!data_->configuration().is_object()) throw usage_error("no run is shown, so nothing says where its data are");
    view()->evaluate(checkpoint, parse_config(data_->configuration().dump(), "run.json", data_->folder()));
  } catch (const Error& error) {
    Q_EMIT message(QStringLiteral("error"), QString::fromStdString(error.sentence()));
  }
}

void MarketPanel::refresh() {
  if (data_ == nullptr || !stale_) return;
  stale_ = false;
  listCheckpoints();
  if (std::exchange(epoch_asked_, false)) followEpoch();
  load();
}

void MarketPanel::tellEpoch() {
  const auto shown = view()->shown();
  if (!shown || view()->file().empty()) return;
  for (const auto& epoch : data_->epochs())
    if (epoch->fold == shown->fold && epoch->step == shown->step)
      return view()->chooseEpoch(std::pair(epoch->fold, epoch->epoch));
}

// An epoch whose weights were not kept cannot be shown bar by bar: the lanes stay, and the badge says so.
void MarketPanel::followEpoch() {
  auto place = view()->chosenEpoch();
  missing_.clear();
  showBadge();
  const auto& epochs = data_->epochs();
  if (!place) {
    if (view()->file().empty() || epochs.empty()) return;
    if (data_->source() == RunData::Source::live) {
      choice_->setCurrentIndex(live_entry);
      return view()->showLive();
    }
    const auto& newest =
        *std::max_element(epochs.begin(), epochs.end(), [](const auto& a, const auto& b) { return a->step < b->step; });
    place = std::pair(newest->fold, newest->epoch);
  }
  const auto epoch =
      std::find_if(epochs.begin(), epochs.end(), [&](const auto& e) { return std::pair(e->fold, e->epoch) == *place; });
  const auto shown = view()->shown();
  if (epoch == epochs.end() || (shown && shown->fold == place->first && shown->step == (*epoch)->step)) return;
  for (const CheckpointView& each : data_->checkpoints()) {
    if (each.fold != place->first || each.step != (*epoch)->step || !each.problem.isEmpty()) continue;
    choice_->setCurrentIndex(std::max(0, choice_->findData(QString::fromStdString(each.file.string()))));
    if (!busy()) return evaluate(each.file);
    break;
  }
  missing_ = busy() ? tr("fold %1, epoch %2 can be shown once training ends")
                    : tr("no checkpoint of fold %1, epoch %2 was kept");
  missing_ = missing_.arg(place->first + 1).arg(place->second + 1);
  showBadge();
}

void MarketPanel::showBadge() {
  const QString bars = shown_ ? tr("%1 bars").arg(formatCount(static_cast<double>(shown_->bars->size()))) : QString();
  chart_->setBadge(missing_.isEmpty() ? bars : missing_);
}

// Newest first; the choice stays with its file.
void MarketPanel::listCheckpoints() {
  const bool live = data_->source() == RunData::Source::live;
  const QVariant kept = choice_->currentData();
  const auto& all = data_->checkpoints();
  std::vector<const CheckpointView*> usable;
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    if (at->problem.isEmpty()) usable.push_back(&*at);
  }
  QStringList names{live ? tr("Newest validation") : tr("Choose a checkpoint")};
  for (const CheckpointView* each : usable) names << nameOf(*each);
  bool same = names.size() == choice_->count();
  for (int i = 0; same && i < names.size(); ++i) same = choice_->itemText(i) == names[i];
  if (!same) {
    choice_->clear();
    choice_->addItem(names[0]);
    for (std::size_t i = 0; i < usable.size(); ++i)
      choice_->addItem(names[static_cast<int>(i) + 1], QString::fromStdString(usable[i]->file.string()));
    choice_->setCurrentIndex(std::max(0, kept.isValid() ? choice_->findData(kept) : live_entry));
  }
  // What was evaluated from elsewhere is chosen here too.
  if (!view()->file().empty()) {
    const int at = choice_->findData(QString::fromStdString(view()->file().string()));
    if (at >= 0 && choice_->currentIndex() == live_entry) choice_->setCurrentIndex(at);
  }
  updateControls();
}

bool MarketPanel::busy() const {
  return context_.bridge != nullptr && context_.bridge->busy() && !view()->running();
}

void MarketPanel::updateControls() {
  busy_ = busy();
  const bool chosen = choice_->currentIndex() > live_entry;
  evaluate_->setEnabled(chosen && !busy_);
  evaluate_->setToolTip(busy_ && chosen ? tr("Possible once the session no longer trains: its device is in use")
                                        : tr("Runs the chosen checkpoint over the validation window of its fold"));
  hold_->setEnabled(data_->source() == RunData::Source::live && !chosen);
  fit_->setEnabled(chart_->content() != nullptr);
}

void MarketPanel::showActivity() {
  if (data_ == nullptr) return;
  const bool running = view()->running();
  evaluate_->setVisible(!running);
  hold_->setVisible(!running && data_->source() != RunData::Source::stored);
  progress_->setVisible(running);
  cancel_->setVisible(running);
  choice_->setEnabled(!running);
  progress_->setRange(0, view()->progress() < 1 ? 1000 : 0);  // the evaluation itself says no share
  progress_->setValue(static_cast<int>(1000 * view()->progress()));
  QString words;
  if (running) {
    words = view()->activity();
  } else if (shown_) {
    words =
        tr("trades %1 · windows %2").arg(formatCount(static_cast<double>(shown_->trades.size()))).arg(shown_->windows);
  }
  state_->setText(words);
  state_->setVisible(width() >= state_width);
  chart_->setEmptyText(emptyText());
  updateControls();
}

QString MarketPanel::emptyText() const {
  if (view()->running()) return tr("Evaluating…");
  if (wanted_) return tr("Preparing…");
  switch (data_->source()) {
    case RunData::Source::live:
      return tr("The lanes appear with the first validation of the session, at the end of its first epoch.");
    case RunData::Source::stored:
      return data_->checkpoints().empty()
                 ? tr("This run has no checkpoint that could be evaluated.")
                 : tr("Choose a checkpoint above and press Evaluate: it trades through the validation window of its "
                      "fold, and every bar of it is shown.");
    case RunData::Source::none:
      return tr("Start a session (F5), or open a run and evaluate one of its checkpoints.");
  }
  return {};
}

void MarketPanel::load() {
  const EvaluationView::Trace trace = view()->shown();
  if (trace == (wanted_ ? wanted_ : shown_)) {
    showActivity();
    return;
  }
  wanted_ = trace;
  if (!trace) {
    task_.cancel();
    shown_.reset();
    chart_->setContent(nullptr);
    chart_->setTitle(title());
    chart_->setBadge({});
    showActivity();
    return;
  }
  auto made = std::make_shared<LaneChart::Content>();
  auto places = std::make_shared<std::vector<std::int32_t>>();
  task_.start(
      [trace, made, places](const BackgroundTask::Context&) {
        *made = evaluationLanes(*trace);
        places->assign(trace->bars->size(), -1);
        for (std::size_t i = 0; i < trace->trace.size(); ++i) {
          const auto at = static_cast<std::size_t>(trace->trace[i].bar - trace->bars->rows.begin);
          if (at < places->size()) (*places)[at] = static_cast<std::int32_t>(i);
        }
      },
      [this, trace, made, places] {
        const bool same = shown_ && shown_->bars->rows == trace->bars->rows;
        wanted_.reset();
        shown_ = trace;
        trace_of_ = std::move(*places);
        chart_->setContent(*made, same);
        chart_->setTitle(placeOf(*trace));
        showBadge();
        showActivity();
        showSelected(false);
      },
      [this](const QString& sentence) {
        wanted_.reset();
        Q_EMIT message(QStringLiteral("error"), sentence);
      });
  showActivity();
}

std::vector<ValueBoxRow> MarketPanel::detailsOf(std::size_t bar) const {
  std::vector<ValueBoxRow> rows;
  if (!shown_ || bar >= trace_of_.size() || trace_of_[bar] < 0) return rows;
  const BarTrace& at = shown_->trace[static_cast<std::size_t>(trace_of_[bar])];
  const auto& words = actionWords();
  QStringList rest;
  for (std::size_t branch = 1; branch < words.size(); ++branch) rest << words[branch].value(at.action[branch]);
  rows.push_back({theme().muted, tr("size, order, urgency"), rest.join(QStringLiteral(", "))});
  static const char* parts[] = {QT_TR_NOOP("P&L"),      QT_TR_NOOP("cost"),  QT_TR_NOOP("risk"),
                                QT_TR_NOOP("drawdown"), QT_TR_NOOP("trail"), QT_TR_NOOP("opportunity")};
  rows.push_back({theme().muted, tr("Kelly factor"), formatValue(static_cast<double>(at.kelly))});
  for (std::size_t k = 0; k < at.parts.size(); ++k) {
    if (at.parts[k] != 0)
      rows.push_back(
          {theme().muted, tr("reward: %1").arg(tr(parts[k])), formatValue(static_cast<double>(at.parts[k]))});
  }
  if (shown_->windows > 1)
    rows.push_back({theme().muted, tr("window"), tr("%1 of %2").arg(at.window + 1).arg(shown_->windows)});
  if (at.ruined) rows.push_back({theme().bad, tr("ruined"), tr("yes")});
  return rows;
}

void MarketPanel::showSelected(bool zoom) {
  const auto& trade = view()->selected();
  if (!trade || !chart_->content() || wanted_) {
    chart_->setHighlight(std::nullopt);
    return;
  }
  const LaneContent& content = *chart_->content();
  const double first = content.data().times.front(), last = content.data().times.back();
  if (trade->exit_time < first || trade->entry_time > last) {  // of another window
    chart_->setHighlight(std::nullopt);
    return;
  }
  LaneHighlight highlight;
  highlight.begin = content.barAt(trade->entry_time);
  highlight.end = content.barAt(trade->exit_time);
  highlight.from = trade->entry_price;
  highlight.to = trade->exit_price;
  highlight.gain = trade->net >= 0;
  if (zoom) {
    const double pad = std::max(least_pad, static_cast<double>(highlight.end - highlight.begin));
    chart_->zoomTo(static_cast<double>(highlight.begin) - pad, static_cast<double>(highlight.end + 1) + pad);
  }
  chart_->setHighlight(highlight);
}

// The shortest of the trades that lie over the bar, without moving the range.
void MarketPanel::selectTradeAt(quint64 bar) {
  if (!shown_) return;
  const std::int64_t row = static_cast<std::int64_t>(bar) + shown_->bars->rows.begin;
  const TradeRecord* found = nullptr;
  for (const TradeRecord& trade : shown_->trades) {
    const bool over = trade.entry_bar <= row && row <= trade.exit_bar;
    if (over && (found == nullptr || trade.exit_bar - trade.entry_bar < found->exit_bar - found->entry_bar))
      found = &trade;
  }
  const auto [x0, x1] = chart_->view();
  if (found == nullptr) {
    view()->select(std::nullopt);
    return;
  }
  ValidationTrace one;
  one.lot = shown_->lot;
  one.bars = shown_->bars;
  one.trades = {*found};
  view()->select(tradeViews(one).front());
  chart_->setView(x0, x1);
}

QString MarketPanel::summary() const {
  return chart_->summary();
}

}  // namespace foxhunt::ui
