// Eleven noisy curves over one another cannot be read: averages stand out, and the five that are watched most are shown
// until a click in the legend brings others.
#include "ui/panels/losses_panel.h"

#include "ui/panels/panel_parts.h"

namespace foxhunt::ui {

LossesPanel::LossesPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : CurvePanel(id, title, parent), chart_(addChart(title)) {
  panelColumn(this)->addWidget(chart_, 1);
  chart_->setTitleVisible(false);
  chart_->setLogY(true);
  chart_->setSmoothing({SmoothingKind::ema, 0.99});
  connect(chart_, &CurveChart::seriesVisibilityChanged, this, [this](int series, bool shown) {
    if (!filling_) shown_[static_cast<std::size_t>(series)] = shown;
  });
}

void LossesPanel::fill(RunData& run) {
  struct Curve {
    int word;
    QString name;
    bool shown;
  };
  const Curve curves[] = {{kernels::step_word_loss_total, tr("total"), true},
                          {kernels::step_word_loss_c51, tr("c51"), true},
                          {kernels::step_word_loss_iqn, tr("iqn"), true},
                          {kernels::step_word_loss_cql, tr("cql"), true},
                          {kernels::step_word_loss_mse, tr("mse"), true},
                          {kernels::step_word_loss_iql_high, tr("iql high"), false},
                          {kernels::step_word_loss_iql_low, tr("iql low"), false},
                          {kernels::step_word_loss_aux_return, tr("aux return"), false},
                          {kernels::step_word_loss_aux_direction, tr("aux dir."), false},
                          {kernels::step_word_loss_aux_volatility, tr("aux volat."), false},
                          {kernels::step_word_loss_moe_balance, tr("moe balance"), false},
                          {kernels::step_word_c51_alpha, tr("c51 alpha"), false}};
  if (shown_.empty()) {
    for (const Curve& curve : curves) shown_.push_back(curve.shown);
  }
  filling_ = true;
  for (std::size_t i = 0; i < std::size(curves); ++i) {
    addStep(*chart_, run, curves[i].word, curves[i].name, static_cast<int>(i));
    chart_->setSeriesVisible(static_cast<int>(i), shown_[i]);
  }
  filling_ = false;
}

}  // namespace foxhunt::ui
