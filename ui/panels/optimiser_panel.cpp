// Two charts above each other: norms and schedules differ by orders of magnitude, so both have log axes.
#include "ui/panels/optimiser_panel.h"

#include <QSplitter>

#include "ui/panels/panel_parts.h"

namespace foxhunt::ui {

OptimiserPanel::OptimiserPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : CurvePanel(id, title, parent), norms_(addChart(tr("Gradient norm"))), schedules_(addChart(tr("Schedules"))) {
  auto* splitter = new QSplitter(Qt::Vertical, this);
  splitter->setChildrenCollapsible(false);
  for (CurveChart* chart : charts()) {
    chart->setLogY(true);
    splitter->addWidget(chart);
  }
  norms_->setSmoothing({SmoothingKind::ema, 0.99});
  panelColumn(this)->addWidget(splitter, 1);
}

void OptimiserPanel::fill(RunData& run) {
  addStep(*norms_, run, kernels::step_word_grad_norm_raw, tr("raw"));
  addStep(*norms_, run, kernels::step_word_grad_norm_clipped, tr("clipped"));
  addStep(*schedules_, run, kernels::step_word_lr, tr("lr"));
  addStep(*schedules_, run, kernels::step_word_tau, tr("tau"));
  addStep(*schedules_, run, kernels::step_word_beta, tr("beta"));
  addStep(*schedules_, run, kernels::step_word_epsilon, tr("epsilon"));
}

}  // namespace foxhunt::ui
