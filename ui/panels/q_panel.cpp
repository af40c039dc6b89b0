// The trip level follows the guard; dragging it sets the guard's floor.
#include "ui/panels/q_panel.h"

#include <QComboBox>
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

constexpr const char* modes[] = {"armed", "warn", "off"};

}  // namespace

QPanel::QPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent)
    : CurvePanel(id, title, parent), context_(context), chart_(addChart(title)) {
  QVBoxLayout* column = panelColumn(this);
  QHBoxLayout* row = controlRow(column);
  view_ = new Switch({tr("Means"), tr("Gaps"), tr("Spread")}, tr("Shown of Q"), this);
  guard_text_ = mutedLabel({}, this);
  guard_mode_ = new QComboBox(this);
  guard_mode_->setAccessibleName(tr("Q-drift guard"));
  guard_mode_->addItems({tr("armed"), tr("warns"), tr("off")});
  guard_mode_->setToolTip(tr("Q-drift guard: armed halts training, warns leaves an event, off does neither"));
  row->addWidget(view_);
  row->addWidget(guard_text_, 1);
  row->addWidget(guard_mode_);
  column->addWidget(chart_, 1);
  chart_->setTitleVisible(false);
  chart_->setSmoothing({SmoothingKind::ema, 0.99});
  connect(view_, &Switch::changed, this, [this] {
    if (data() == nullptr) return;
    chart_->clearSeries();
    fill(*data());
  });
  connect(chart_, &CurveChart::thresholdCommitted, this, &QPanel::setTripLevel);
  connect(guard_mode_, &QComboBox::activated, this, &QPanel::setMode);
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
  const bool known = data()->configuration().is_object(), on = known && guard.mode != QLatin1String("off");
  const double level = guard.trip.value_or(guard.floor);
  const bool live = context_.bridge != nullptr && context_.bridge->live() && data()->source() == RunData::Source::live;
  const QString state = QStringLiteral("%1 %2 %3 %4 %5 %6")
                            .arg(guard.mode, QString::number(level, 'g', 6), QString::number(guard.q, 'g', 3))
                            .arg(live)
                            .arg(guard.trip.has_value())
                            .arg(known);
  if (state == shown_) return;
  shown_ = state;
  guard_mode_->setVisible(known);
  guard_mode_->setEnabled(live);
  for (int i = 0; i < 3; ++i)
    if (guard.mode == QLatin1String(modes[i])) guard_mode_->setCurrentIndex(i);
  if (!known) {
    guard_text_->clear();
  } else if (!on) {
    guard_text_->setText(tr("Q-drift guard off"));
  } else if (!guard.trip) {
    guard_text_->setText(tr("guard from the 2nd epoch"));
  } else {
    const QString ratio = guard.ratio ? tr(", ratio %1").arg(formatValue(*guard.ratio, 2)) : QString();
    guard_text_->setText(tr("|Q| %1 of %2%3").arg(formatValue(guard.q, 3), formatValue(level, 3), ratio));
  }
  guard_text_->setToolTip(
      tr("|mean Q| now, of its trip level. The Q-drift guard trips when |mean Q| of an epoch is above %1 times that of "
         "the epoch "
         "before (ratio), above the floor %2, and above %3 times the Q references. Drag the line "
         "to set its level.")
          .arg(formatValue(guard.factor, 3), formatValue(guard.floor, 3), formatValue(guard.reference_factor, 3)));
  std::optional<Threshold> line;
  if (on && view_->current() == means) {
    line = Threshold{level, guard.trip ? tr("|Q| trip") : tr("|Q| floor"), live, true};
  }
  const auto& old = chart_->threshold();
  const bool same =
      old.has_value() == line.has_value() &&
      (!line || (old->value == line->value && old->label == line->label && old->draggable == line->draggable));
  if (!same) chart_->setThreshold(line);
}

void QPanel::setMode(int index) {
  shown_.clear();
  if (context_.bridge != nullptr)
    context_.bridge->setValue(QStringLiteral("guards.drift"), QLatin1String(modes[index]));
}

// The trip level is the largest of factor x |Q before|, floor and reference factor x reference.
void QPanel::setTripLevel(double level) {
  shown_.clear();  // drawn anew whatever comes of it
  if (context_.bridge == nullptr || !context_.bridge->live()) return;
  const GuardView guard = data()->guard();
  const auto set = [this](const char* field, double value) {
    context_.bridge->setValue(QLatin1String(field), QString::number(value, 'g', 4));
  };
  if (level >= guard.trip.value_or(guard.floor)) return set("guards.drift_floor", level);
  const double wanted = std::max(0.0, level);
  if (guard.floor > wanted) set("guards.drift_floor", wanted);
  if (!guard.trip) return;
  if (guard.reference > 0 && guard.reference_factor * guard.reference > wanted && wanted > 0)
    set("guards.drift_reference_factor", wanted / guard.reference);
  if (guard.factor * guard.q_previous <= wanted) return;
  constexpr double least_factor = 1.01;  // the field's range begins above 1
  set("guards.drift_factor", std::max(least_factor, wanted / guard.q_previous));
  if (wanted < least_factor * guard.q_previous)
    Q_EMIT message(
        QStringLiteral("info"),
        tr("The trip level cannot be below %1, the mean Q of the epoch before.").arg(formatValue(guard.q_previous, 4)));
}

QString QPanel::summary() const {
  return CurvePanel::summary() + QLatin1Char('\n') + guard_text_->text();
}

}  // namespace foxhunt::ui
