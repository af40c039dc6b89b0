// All words of the group in the table's order, the total in front.
#include "ui/panels/losses_panel.h"

#include "ui/panels/panel_parts.h"

namespace foxhunt::ui {

LossesPanel::LossesPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : CurvePanel(id, title, parent), chart_(addChart(title)) {
  panelColumn(this)->addWidget(chart_, 1);
  chart_->setTitleVisible(false);
  chart_->setLogY(true);
}

void LossesPanel::fill(RunData& run) {
  const QStringList names = {tr("total"),    tr("c51"),        tr("mse"),        tr("iqn"),
                             tr("iql high"), tr("iql low"),    tr("cql"),        tr("aux return"),
                             tr("aux dir."), tr("aux volat."), tr("moe balance")};
  for (int i = 0; i < names.size(); ++i) addStep(*chart_, run, kernels::step_word_loss_total + i, names[i], i);
  addStep(*chart_, run, kernels::step_word_c51_alpha, tr("c51 alpha"), static_cast<int>(names.size()));
  // A share, not a loss: a click in the legend shows it.
  chart_->setSeriesVisible(chart_->seriesCount() - 1, false);
}

}  // namespace foxhunt::ui
