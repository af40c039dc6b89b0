// Two lines of numbers over curves in percent.
#include "ui/panels/system_panel.h"

#include <QLabel>
#include <cmath>

#include "ui/charts/curve_chart.h"
#include "ui/charts/format.h"
#include "ui/panels/panel_parts.h"

namespace foxhunt::ui {
namespace {

QString percentText(const std::optional<double>& share) {
  return share ? SystemPanel::tr("%1 %").arg(std::lround(100 * *share)) : SystemPanel::tr("n/a");
}

QString bytesText(const std::optional<std::uint64_t>& used, const std::optional<std::uint64_t>& total) {
  if (!used) return SystemPanel::tr("n/a");
  const QString text = formatBytes(static_cast<double>(*used));
  return total ? SystemPanel::tr("%1 of %2").arg(text, formatBytes(static_cast<double>(*total))) : text;
}

QString numberText(const std::optional<double>& value, const std::optional<double>& limit, const QString& unit) {
  if (!value) return SystemPanel::tr("n/a");
  const QString text = formatCount(std::round(*value));
  return limit ? SystemPanel::tr("%1 of %2 %3").arg(text, formatCount(std::round(*limit)), unit)
               : QStringLiteral("%1 %2").arg(text, unit);
}

}  // namespace

SystemPanel::SystemPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent), feed_(context.system), gpu_(new MetricTiles(this)), host_(new MetricTiles(this)) {
  QVBoxLayout* column = panelColumn(this);
  chart_ = new CurveChart(tr("Use"), this);
  chart_->setTitleVisible(false);
  chart_->setUnit(tr("%"));
  sentence_ = new QLabel(tr("Waiting for the first sample…"), this);
  sentence_->setWordWrap(true);
  sentence_->setContentsMargins(10, 4, 8, 4);
  sentence_->setProperty("muted", true);
  gpu_->setAccessibleName(tr("GPU"));
  host_->setAccessibleName(tr("Host"));
  gpu_->hide();
  column->addWidget(gpu_);
  column->addWidget(sentence_);
  column->addWidget(host_);
  column->addWidget(chart_, 1);
  if (feed_ == nullptr) {
    sentence_->setText(tr("Nothing is sampled here."));
    return;
  }
  chart_->setXScales({feed_->timeScale()});
  connect(feed_, &SystemFeed::sampled, this, &SystemPanel::showSample);
  showSample();
}

// What there is to see is known with the first sample.
void SystemPanel::addCurves(bool gpu) {
  const auto curve = [&](SystemFeed::Curve which, const QString& name, const QString& meaning, int color) {
    chart_->addSeries({name, tr("%"), meaning, color}, feed_->series(which));
  };
  if (gpu) {
    curve(SystemFeed::gpu_use, tr("GPU"), tr("share of the last sample period in which a kernel ran"), 0);
    curve(SystemFeed::gpu_memory, tr("GPU memory"), tr("share of the GPU's memory that is taken"), 1);
  }
  curve(SystemFeed::cpu_use, tr("CPU"), tr("share of all cores' time, all programs together"), 2);
  curve(SystemFeed::process_use, tr("this program"), tr("share of all cores' time that this program takes"), 3);
}

void SystemPanel::setData(RunData* run) {
  if (feed_ == nullptr) return;
  connect(run, &RunData::statusChanged, this,
          [this, run] { feed_->watchDevice(QString::fromStdString(run->status().device)); });
}

void SystemPanel::refresh() {
  chart_->refresh();
}

void SystemPanel::showSample() {
  const telemetry::SystemSample& s = feed_->latest();
  if (s.number == 0) return;
  const bool gpu = s.gpu_problem.empty();
  gpu_->setVisible(gpu);
  sentence_->setVisible(!gpu);
  if (chart_->seriesCount() == 0) addCurves(gpu);
  if (gpu) {
    gpu_->setTiles({{tr("GPU"), percentText(s.gpu.gpu_use), QString::fromStdString(s.gpu_name)},
                    {tr("GPU memory"), bytesText(s.gpu.memory_used, s.gpu.memory_total), tr("taken, by all programs")},
                    {tr("Power"), numberText(s.gpu.power, s.gpu.power_limit, tr("W")), tr("drawn, and its limit")},
                    {tr("Temperature"), numberText(s.gpu.temperature, {}, tr("°C")), {}},
                    {tr("Clock"), numberText(s.gpu.sm_clock, {}, tr("MHz")), tr("of the multiprocessors")},
                    {tr("Memory clock"), numberText(s.gpu.memory_clock, {}, tr("MHz")), {}},
                    {tr("Bandwidth"), percentText(s.gpu.memory_use),
                     tr("share of the time in which memory was read or written")}});
  } else {
    QString text = QString::fromStdString(s.gpu_problem);
    if (!text.isEmpty()) text[0] = text[0].toUpper();
    sentence_->setText(text + QLatin1Char('.'));
  }
  const QString cores = s.host.process_cores
                            ? tr("%1 of %2 cores").arg(formatValue(*s.host.process_cores, 2)).arg(s.host.cores)
                            : tr("n/a");
  host_->setTiles({{tr("CPU"), percentText(s.host.cpu_use), tr("share of all cores' time, all programs together")},
                   {tr("This program"), cores, tr("cores that it keeps busy")},
                   {tr("Its memory"), bytesText(s.host.process_memory, {}), tr("resident")},
                   {tr("Memory"), bytesText(s.host.memory_used, s.host.memory_total), tr("of the machine, taken")}});
}

QString SystemPanel::summary() const {
  QStringList lines;
  if (sentence_->isVisibleTo(this)) lines << sentence_->text();
  if (gpu_->isVisibleTo(this)) lines << gpu_->accessibleDescription();
  lines << host_->accessibleDescription();
  return lines.join(QLatin1Char('\n'));
}

}  // namespace foxhunt::ui
