// Links the charts and fills them when the run changes.
#include "ui/panels/curve_panel.h"

#include "ui/panels/panel_parts.h"

namespace foxhunt::ui {

CurveChart* CurvePanel::addChart(const QString& title) {
  auto* chart = new CurveChart(title, this);
  chart->setObjectName(title);
  charts_.push_back(chart);
  return chart;
}

void CurvePanel::setData(RunData* run) {
  if (data_ != nullptr) disconnect(data_, nullptr, this, nullptr);
  data_ = run;
  connect(data_, &RunData::cleared, this, [this] { rebuild(); });
  connect(data_, &RunData::nameChanged, this, [this] {
    for (CurveChart* chart : charts_) chart->setRunName(data_->name());
  });
  for (CurveChart* chart : charts_) chart->setLink(data_->link());
  rebuild();
}

void CurvePanel::rebuild() {
  for (CurveChart* chart : charts_) {
    chart->clearSeries();
    chart->setXScales(data_->xScales());
    chart->setRunName(data_->name());
  }
  fill(*data_);
}

void CurvePanel::refresh() {
  for (CurveChart* chart : charts_) chart->refresh();
}

QString CurvePanel::summary() const {
  QStringList parts;
  for (const CurveChart* chart : charts_) parts << chart->summary();
  return parts.join(QStringLiteral("\n"));
}

void CurvePanel::addStep(CurveChart& chart, RunData& run, int word, const QString& name, int color_index) {
  chart.addSeries(seriesInfo(telemetry::step_table()[static_cast<std::size_t>(word)], name, color_index),
                  run.steps(word));
}

void CurvePanel::addSignal(CurveChart& chart, RunData& run, int signal, const QString& name, int color_index) {
  chart.addSeries(seriesInfo(telemetry::signal_table()[static_cast<std::size_t>(signal)], name, color_index),
                  run.signal(signal));
}

}  // namespace foxhunt::ui
