// Areas show the range that the linked charts show.
#include "ui/panels/actions_panel.h"

#include <QSplitter>
#include <array>
#include <cmath>
#include <numeric>

#include "ui/panels/panel_parts.h"

namespace foxhunt::ui {
namespace {

struct Branch {
  int first = 0;  // of the 13 actions
  QStringList names;
};

Branch branchAt(int index) {
  switch (index) {
    case 0:
      return {
          0, {ActionsPanel::tr("Short"), ActionsPanel::tr("Hold"), ActionsPanel::tr("Long"), ActionsPanel::tr("Flat")}};
    case 1:
      return {4, {ActionsPanel::tr("Quarter"), ActionsPanel::tr("Half"), ActionsPanel::tr("Full")}};
    case 2:
      return {7, {ActionsPanel::tr("Market"), ActionsPanel::tr("Limit"), ActionsPanel::tr("Pegged")}};
    default:
      return {10, {ActionsPanel::tr("Patient"), ActionsPanel::tr("Normal"), ActionsPanel::tr("Urgent")}};
  }
}

std::vector<double> sharesOf(const std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  if (!(sum > 0) || !std::isfinite(sum)) return {};
  std::vector<double> out;
  for (const double value : values) out.push_back(value / sum);
  return out;
}

}  // namespace

ActionsPanel::ActionsPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent) {
  QVBoxLayout* column = panelColumn(this);
  QHBoxLayout* row = controlRow(column);
  branch_ = new Switch({tr("Direction"), tr("Size"), tr("Order"), tr("Urgency")}, tr("Branch"), this);
  policy_ = new Switch({tr("Train"), tr("Greedy")}, tr("Policy over time"), this);
  policy_->setToolTip(
      tr("Train: what the collector took, noise and exploration included. Greedy: what the best action "
         "was, at each validation."));
  row->addWidget(branch_);
  row->addStretch(1);
  row->addWidget(policy_);
  areas_ = new StackedAreaChart(tr("Action shares over time"), this);
  training_ = new BarsChart(tr("Training now"), Qt::Horizontal, this);
  greedy_ = new BarsChart(tr("Greedy"), Qt::Horizontal, this);
  areas_->setTitleVisible(false);
  auto* bars = new QSplitter(Qt::Vertical, this);
  auto* splitter = new QSplitter(Qt::Horizontal, this);
  for (BarsChart* chart : {training_, greedy_}) {
    chart->setMinimumSize(130, 60);
    bars->addWidget(chart);
  }
  areas_->setMinimumSize(160, 100);
  splitter->addWidget(areas_);
  splitter->addWidget(bars);
  splitter->setStretchFactor(0, 5);
  splitter->setStretchFactor(1, 2);
  for (QSplitter* each : {bars, splitter}) each->setChildrenCollapsible(false);
  column->addWidget(splitter, 1);
  connect(branch_, &Switch::changed, this, [this] { areas_stale_ = bars_stale_ = true; });
  connect(policy_, &Switch::changed, this, [this] {
    areas_stale_ = true;
    showRoom();
  });
  showRoom();
}

// Where there is no room for the bars of both policies, those of the one over time.
void ActionsPanel::showRoom() {
  const bool both = height() >= both_bars, greedy = policy_->current() == 1;
  training_->setVisible(both || !greedy);
  greedy_->setVisible(both || greedy);
}

void ActionsPanel::resizeEvent(QResizeEvent* event) {
  Panel::resizeEvent(event);
  showRoom();
}

void ActionsPanel::setData(RunData* run) {
  if (data_ != nullptr) disconnect(data_, nullptr, this, nullptr);
  data_ = run;
  const auto all = [this] { areas_stale_ = bars_stale_ = true; };
  connect(data_, &RunData::cleared, this, all);
  connect(data_, &RunData::resultsChanged, this, all);
  connect(data_, &RunData::snapshotChanged, this, [this] { bars_stale_ = true; });
  connect(data_->link(), &ChartLink::viewChanged, this, [this] { areas_stale_ = true; });
  all();
}

void ActionsPanel::refresh() {
  if (data_ == nullptr || (since_.isValid() && since_.elapsed() < rebuild_ms && !areas_stale_)) return;
  const std::uint64_t version = data_->signal(kernels::signal_action_direction_short)->version();
  if (areas_stale_ || version != areas_seen_) showAreas();
  if (bars_stale_) showBars();
  areas_seen_ = version;
  areas_stale_ = bars_stale_ = false;
  since_.start();
}

void ActionsPanel::showAreas() {
  const Branch branch = branchAt(branch_->current());
  std::vector<QString> names(branch.names.begin(), branch.names.end());
  const bool greedy = policy_->current() == 1;
  areas_->setXScale(data_->xScales().front());
  areas_->setData(std::move(names), greedy ? greedyRows() : trainingRows());
  if (greedy) areas_->setBadge(tr("greedy, at validations"));
}

std::vector<ShareRow> ActionsPanel::trainingRows() const {
  const Branch branch = branchAt(branch_->current());
  std::vector<RunData::Series> series;
  for (int k = 0; k < branch.names.size(); ++k)
    series.push_back(data_->signal(kernels::signal_action_direction_short + branch.first + k));
  std::size_t size = series.front()->size();
  for (const auto& each : series) size = std::min(size, each->size());
  if (size == 0) return {};
  const XView& view = data_->link()->view();
  const MinMaxPyramid& first = *series.front();
  const std::size_t low = first.lower_bound(view.x0);
  const std::size_t begin = low > 0 ? low - 1 : 0, end = std::min(size, first.upper_bound(view.x1) + 1);
  std::vector<ShareRow> rows;
  if (end <= begin) return rows;
  const std::size_t columns = std::min<std::size_t>(end - begin, most_columns);
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t from = begin + c * (end - begin) / columns, to = begin + (c + 1) * (end - begin) / columns;
    ShareRow row{first.x_at(from), {}};
    for (const auto& each : series) row.shares.push_back(each->summarize(from, to).mean());
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ShareRow> ActionsPanel::greedyRows() const {
  const Branch branch = branchAt(branch_->current());
  std::vector<ShareRow> rows;
  for (const auto& epoch : data_->epochs()) {
    if (!epoch->actions) continue;
    const auto from = epoch->actions->begin() + branch.first;
    rows.push_back({static_cast<double>(epoch->step), {from, from + branch.names.size()}});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ShareRow& a, const ShareRow& b) { return a.x < b.x; });
  return rows;
}

std::vector<double> ActionsPanel::trainingNow() const {
  if (!data_->snapshot()) return {};
  const Branch branch = branchAt(branch_->current());
  std::vector<double> values;
  for (int k = 0; k < branch.names.size(); ++k)
    values.push_back(
        static_cast<double>(data_->snapshot()->signals[kernels::signal_action_direction_short + branch.first + k]));
  return sharesOf(values);
}

std::vector<double> ActionsPanel::greedyNow(QString& from) const {
  const Branch branch = branchAt(branch_->current());
  const auto& epochs = data_->epochs();
  const auto newest = std::max_element(epochs.begin(), epochs.end(), [](const auto& a, const auto& b) {
    return (a->actions ? a->step + 1 : 0) < (b->actions ? b->step + 1 : 0);
  });
  if (newest != epochs.end() && (*newest)->actions) {
    from = tr("F%1 E%2").arg((*newest)->fold + 1).arg((*newest)->epoch + 1);
    const auto begin = (*newest)->actions->begin() + branch.first;
    return sharesOf({begin, begin + branch.names.size()});
  }
  if (!data_->snapshot()) return {};
  from = tr("in the batch");
  std::vector<double> values;
  for (int k = 0; k < branch.names.size(); ++k)
    values.push_back(
        telemetry::word_value(data_->snapshot()->health, kernels::health_greedy_direction_short + branch.first + k));
  return sharesOf(values);
}

void ActionsPanel::showBars() {
  const QStringList names = branchAt(branch_->current()).names;
  QString from;
  const std::vector<double> training = trainingNow(), greedy = greedyNow(from);
  double full = 0.01;
  for (const auto& shares : {training, greedy})
    for (const double share : shares) full = std::max(full, share);
  const auto show = [&](BarsChart& chart, const std::vector<double>& shares) {
    std::vector<Bar> bars;
    for (std::size_t k = 0; k < shares.size(); ++k) {
      const QString text = QLocale().toString(100 * shares[k], 'f', 0) + QStringLiteral(" %");
      bars.push_back({names[static_cast<int>(k)], shares[k], text, static_cast<int>(k)});
    }
    chart.setBars(std::move(bars), full);
  };
  show(*training_, training);
  show(*greedy_, greedy);
  greedy_->setTitle(from.isEmpty() ? tr("Greedy") : tr("Greedy · %1").arg(from));
}

QString ActionsPanel::summary() const {
  return QStringList{areas_->summary(), training_->summary(), greedy_->summary()}.join(QLatin1Char('\n'));
}

}  // namespace foxhunt::ui
