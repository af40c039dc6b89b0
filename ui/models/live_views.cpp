// Conversions of session results; times become seconds, optionals NaN.
#include "ui/models/live_views.h"

#include <QRegularExpression>
#include <limits>

#include "engine/base/clock.h"
#include "engine/environment/metrics.h"

namespace foxhunt::ui {
namespace {

double seconds(market::Time time) {
  return static_cast<double>(time) / 1e9;
}

MetricList metricList(const Metrics& metrics) {
  MetricList list;
  for (const auto& [name, value] : metric_values(metrics)) list.emplace_back(name, value.value_or(kNone));
  return list;
}

EquityCurve curve(const std::vector<double>& values, market::Range window, const SessionPlan& plan) {
  EquityCurve out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t bar = static_cast<std::size_t>(window.begin) + i;
    if (bar >= plan.times.size()) break;
    out.times.push_back(seconds(plan.times[bar]));
    out.values.push_back(values[i]);
  }
  return out;
}

double timeAt(const SessionPlan& plan, std::int64_t bar) {
  const auto at = static_cast<std::size_t>(bar);
  return bar >= 0 && at < plan.times.size() ? seconds(plan.times[at]) : 0;
}

}  // namespace

EventView eventView(const SessionEvent& event) {
  EventView view;
  view.wall = event.wall;
  view.step = event.step;
  view.fold = event.fold;
  view.epoch = event.epoch;
  view.kind = QString::fromStdString(event.kind);
  view.source = event.source.empty() ? QStringLiteral("session") : QString::fromStdString(event.source);
  view.severity = QString::fromStdString(event.severity);
  view.message = QString::fromStdString(event.message);
  return view;
}

std::vector<FoldView> foldViews(const SessionPlan& plan) {
  std::vector<FoldView> views;
  for (const market::Fold& fold : plan.folds) {
    FoldView view;
    view.rows = fold;
    view.train_first = timeAt(plan, fold.train.begin);
    view.train_last = timeAt(plan, fold.train.end - 1);
    view.validation_first = timeAt(plan, fold.validation.begin);
    view.validation_last = timeAt(plan, fold.validation.end - 1);
    views.push_back(view);
  }
  return views;
}

std::shared_ptr<const EpochView> epochView(const FoldResult& fold, const EpochResult& epoch, const SessionPlan& plan) {
  const EvaluationResult& e = epoch.evaluation;
  auto view = std::make_shared<EpochView>();
  view->fold = fold.index;
  view->epoch = epoch.epoch;
  view->step = epoch.step;
  view->best = fold.best_step == epoch.step;
  view->agent = metricList(e.metrics);
  view->flat = metricList(e.baselines.flat);
  view->buy_and_hold = metricList(e.baselines.buy_and_hold);
  view->random = {{"net", e.baselines.random.net}, {"trades", e.baselines.random.trades}};
  view->equity = curve(e.equity, e.window, plan);
  view->buy_and_hold_equity = curve(e.baselines.buy_and_hold_equity, e.window, plan);
  view->random_equity = curve(e.baselines.random.equity, e.window, plan);
  for (const TradeRecord& t : e.trades) {
    view->trades.push_back({timeAt(plan, t.entry_bar), timeAt(plan, t.exit_bar), static_cast<double>(t.side * t.lots),
                            t.entry, t.exit, t.result, t.hold, t.costs, t.why});
  }
  view->actions = e.action_frequency();
  return view;
}

CheckpointView checkpointView(const std::filesystem::path& file,
                              const std::vector<std::shared_ptr<const FoldResult>>& results) {
  CheckpointView view;
  view.file = file;
  view.wall = wall_seconds();
  static const QRegularExpression form(QStringLiteral("^fold(\\d+)-step(\\d+)-([a-z]+)\\.safetensors$"));
  const auto match = form.match(QString::fromStdString(file.filename().string()));
  if (match.hasMatch()) {
    view.fold = match.captured(1).toInt();
    view.step = match.captured(2).toULongLong();
    view.reason = match.captured(3);
  }
  view.kind = view.reason == QLatin1String("best") ? QStringLiteral("model") : QStringLiteral("full");
  view.rejected = view.reason == QLatin1String("rejected");
  std::error_code missing;
  const auto bytes = std::filesystem::file_size(file, missing);
  view.bytes = missing ? 0 : static_cast<std::int64_t>(bytes);
  for (const auto& fold : results) {
    if (fold->index != view.fold) continue;
    for (const auto& epoch : fold->epochs) {
      if (epoch->step > view.step) continue;
      view.epoch = epoch->epoch;  // at least; the recorded steps know better
      if (epoch->step == view.step) view.metrics = metricList(epoch->evaluation.metrics);
    }
  }
  return view;
}

}  // namespace foxhunt::ui
