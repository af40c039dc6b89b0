// The trip level follows the guard; dragging it sets the guard's floor.
#include "ui/panels/q_panel.h"

#include <QLabel>

#include "ui/charts/format.h"
#include "ui/panels/panel_parts.h"
#include "ui/session_bridge.h"

namespace foxhunt::ui {
namespace {

constexpr int means = 0, gaps = 1;

QStringList branches() {
  return {QPanel::tr("direction"), QPanel::tr("magnitude"), QPanel::tr("order"), QPanel::tr("urgency")};
}

double floorOf(const nlohmann::ordered_json& configuration) {
  if (!configuration.is_object() || !configuration.contains("guards")) return 0;
  return configuration.at("guards").value("drift_floor", 0.0);
}

}  // namespace

QPanel::QPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent)
    : CurvePanel(id, title, parent), context_(context), chart_(addChart(title)) {
  QVBoxLayout* column = panelColumn(this);
  QHBoxLayout* row = controlRow(column);
  view_ = new Switch({tr("Means"), tr("Gaps"), tr("Spread")}, tr("Shown of Q"), this);
  guard_text_ = mutedLabel({}, this);
  row->addWidget(view_);
  row->addWidget(guard_text_, 1);
  column->addWidget(chart_, 1);
  chart_->setTitleVisible(false);
  chart_->setSmoothing({SmoothingKind::ema, 0.99});
  connect(view_, &Switch::changed, this, [this] {
    if (data() == nullptr) return;
    chart_->clearSeries();
    fill(*data());
  });
  connect(chart_, &CurveChart::thresholdCommitted, this, &QPanel::setFloor);
}

void QPanel::setData(RunData* run) {
  CurvePanel::setData(run);
  for (const auto signal : {&RunData::statusChanged, &RunData::nameChanged, &RunData::resultsChanged})
    connect(run, signal, this, [this] { showGuard(); });
  showGuard();
}

void QPanel::fill(RunData& run) {
  static constexpr int first[] = {kernels::step_word_q_mean_direction, kernels::signal_q_gap_direction,
                                  kernels::signal_spread_direction};
  const QStringList names = branches();
  const int shown = view_->current();
  for (int b = 0; b < names.size(); ++b) {
    if (shown == means) {
      addStep(*chart_, run, first[shown] + b, names[b], b);
    } else {
      addSignal(*chart_, run, first[shown] + b, names[b], b);
    }
  }
  // What the guard compares with its trip level; it would lie over the branches, so a click in the legend shows it.
  if (shown == means) {
    addStep(*chart_, run, kernels::step_word_q_mean, tr("all"), 7);
    chart_->setSeriesVisible(chart_->seriesCount() - 1, false);
  }
  chart_->setTitle(shown == means  ? tr("Q mean per branch")
                   : shown == gaps ? tr("Q gap per branch, best less second")
                                   : tr("Spread of the return distribution per branch"));
  chart_->setUnit(tr("reward"));
  shown_.clear();
  showGuard();
}

void QPanel::refresh() {
  showGuard();
  CurvePanel::refresh();
}

void QPanel::showGuard() {
  if (data() == nullptr) return;
  const GuardView guard = data()->guard();
  const bool on = data()->configuration().is_object() && guard.mode != QLatin1String("off");
  const double level = guard.trip.value_or(floorOf(data()->configuration()));
  const bool live = context_.bridge != nullptr && context_.bridge->live() && data()->source() == RunData::Source::live;
  const QString state = QStringLiteral("%1 %2 %3 %4 %5")
                            .arg(guard.mode, QString::number(level, 'g', 6), QString::number(guard.q, 'g', 3))
                            .arg(live)
                            .arg(guard.trip.has_value());
  if (state == shown_) return;
  shown_ = state;
  if (!data()->configuration().is_object()) {
    guard_text_->clear();
  } else if (!on) {
    guard_text_->setText(tr("Q-drift guard off"));
  } else {
    const QString mode = guard.mode == QLatin1String("warn") ? tr("guard warns") : tr("guard armed");
    guard_text_->setText(guard.trip ? tr("%1 · |Q| %2 of %3").arg(mode, formatValue(guard.q, 3), formatValue(level, 3))
                                    : tr("%1 from the second epoch").arg(mode));
  }
  guard_text_->setToolTip(tr("The Q-drift guard trips when |mean Q| of an epoch is above %1 times that of the epoch "
                             "before and above its floor. Drag the line to set the floor.")
                              .arg(formatValue(guard.factor, 3)));
  std::optional<Threshold> line;
  if (on && view_->current() == means) {
    line = Threshold{level, guard.trip ? tr("trip") : tr("floor"), live};
  }
  const auto& old = chart_->threshold();
  const bool same =
      old.has_value() == line.has_value() &&
      (!line || (old->value == line->value && old->label == line->label && old->draggable == line->draggable));
  if (!same) chart_->setThreshold(line);
}

void QPanel::setFloor(double level) {
  shown_.clear();  // drawn anew whatever comes of it
  if (context_.bridge == nullptr || !context_.bridge->live()) return;
  const double floor = std::max(0.0, level);
  const QString text = QString::number(floor, 'g', 4);
  if (context_.bridge->setValue(QStringLiteral("guards.drift_floor"), text) == 0) return;
  const GuardView guard = data()->guard();
  if (guard.trip && floor < *guard.trip) {
    Q_EMIT message(
        QStringLiteral("info"),
        tr("The floor becomes %1. The trip level is the larger of this floor, %2 times the mean Q of the epoch "
           "before and the reference's floor.")
            .arg(text, formatValue(guard.factor, 3)));
  }
}

QString QPanel::summary() const {
  return CurvePanel::summary() + QLatin1Char('\n') + guard_text_->text();
}

}  // namespace foxhunt::ui
