// Evaluation of checkpoints on request, and who wants what is shown.
#include "ui/models/evaluation_view.h"

#include "engine/session/checkpoint_load.h"

namespace foxhunt::ui {
namespace {

std::shared_ptr<ValidationTrace> traceOf(CheckpointEvaluation&& evaluation) {
  auto trace = std::make_shared<ValidationTrace>();
  trace->fold = evaluation.fold;
  trace->epoch = evaluation.epoch;
  trace->step = evaluation.step;
  trace->lot = evaluation.lot;
  trace->windows = evaluation.result.windows;
  trace->bars = std::make_shared<market::WindowBars>(std::move(evaluation.bars));
  trace->trace = std::move(evaluation.result.trace);
  trace->trades = std::move(evaluation.result.trades);
  trace->fills = std::move(evaluation.result.fills);
  return trace;
}

}  // namespace

void EvaluationView::want(const QObject* who, bool on) {
  if (on == viewers_.contains(who)) return;
  disconnect(who, nullptr, this, nullptr);
  viewers_.remove(who);
  if (!on) return;
  viewers_.insert(who);
  connect(who, &QObject::destroyed, this, [this, who] { viewers_.remove(who); });
}

void EvaluationView::evaluate(const std::filesystem::path& checkpoint, const Config& config) {
  progress_ = 0;
  activity_ = tr("reading the checkpoint");
  auto done = std::make_shared<std::shared_ptr<ValidationTrace>>();
  task_.start(
      [this, done, checkpoint, config](const BackgroundTask::Context& context) {
        market::Progress progress;
        progress.cancel = &context.cancelFlag();
        progress.report = [&](std::uint64_t at, std::uint64_t total, const std::string& what) {
          const double share = total > 0 ? static_cast<double>(at) / static_cast<double>(total) : 0;
          context.post([this, share, name = QString::fromStdString(what)] {
            progress_ = share;
            activity_ = share < 1 ? tr("reading %1").arg(name.section(QLatin1Char('/'), -1)) : tr("evaluating");
            Q_EMIT activityChanged();
          });
        };
        *done = traceOf(evaluate_checkpoint(checkpoint, config, progress));
      },
      [this, done, checkpoint] {
        checkpoint_ = *done;
        file_ = checkpoint;
        selected_.reset();
        Q_EMIT activityChanged();
        Q_EMIT changed();
        Q_EMIT selectedChanged();
      },
      [this](const QString& sentence) {
        Q_EMIT activityChanged();
        Q_EMIT failed(sentence);
      });
  Q_EMIT activityChanged();
}

void EvaluationView::cancel() {
  if (!task_.running()) return;
  task_.cancel();
  Q_EMIT activityChanged();
}

void EvaluationView::showLive() {
  if (!checkpoint_) return;
  checkpoint_.reset();
  file_.clear();
  selected_.reset();
  Q_EMIT changed();
  Q_EMIT selectedChanged();
}

void EvaluationView::select(const std::optional<TradeView>& trade) {
  selected_ = trade;
  Q_EMIT selectedChanged();
}

void EvaluationView::chooseEpoch(const std::optional<Place>& place) {
  if (place == epoch_) return;
  epoch_ = place;
  Q_EMIT epochChosen();
}

void EvaluationView::clear() {
  cancel();
  chooseEpoch(std::nullopt);
  live_.reset();
  newest_.reset();
  held_ = false;
  checkpoint_.reset();
  file_.clear();
  selected_.reset();
  Q_EMIT changed();
  Q_EMIT selectedChanged();
}

void EvaluationView::hold(bool on) {
  held_ = on;
  if (!on) setLive(newest_);
}

void EvaluationView::setLive(const Trace& trace) {
  newest_ = trace;
  if (trace == live_ || !trace || (held_ && live_)) return;
  live_ = trace;
  if (checkpoint_) return;
  selected_.reset();
  Q_EMIT changed();
  Q_EMIT selectedChanged();
}

std::vector<TradeView> tradeViews(const ValidationTrace& trace) {
  std::vector<TradeView> out;
  const market::WindowBars& bars = *trace.bars;
  const auto time = [&](std::int64_t row) {
    const auto at = static_cast<std::size_t>(row - bars.rows.begin);
    return at < bars.size() ? static_cast<double>(bars.close_time[at]) / 1e9 : 0.0;
  };
  for (const TradeRecord& t : trace.trades) {
    out.push_back({time(t.entry_bar), time(t.exit_bar),
                   static_cast<double>(t.side) * static_cast<double>(t.lots) * trace.lot, t.entry, t.exit, t.result,
                   t.hold, t.costs, t.why});
  }
  return out;
}

}  // namespace foxhunt::ui
