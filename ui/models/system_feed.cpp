// Takes over what the sampler's thread has left.
#include "ui/models/system_feed.h"

#include <QLocale>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/charts/chart_types.h"
#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

constexpr std::size_t curve_bytes = 1u << 20;

double percent(const std::optional<double>& share) {
  return share ? 100 * *share : kNone;
}

double share(const std::optional<std::uint64_t>& part, const std::optional<std::uint64_t>& whole) {
  return part && whole && *whole > 0 ? 100.0 * static_cast<double>(*part) / static_cast<double>(*whole) : kNone;
}

}  // namespace

QString formatBytes(double bytes) {
  const bool large = bytes >= 1e9;
  const double value = large ? bytes / 1e9 : bytes / 1e6;
  return QStringLiteral("%1 %2").arg(QLocale().toString(value, 'f', large && value < 100 ? 1 : 0),
                                     large ? QLatin1String("GB") : QLatin1String("MB"));
}

SystemFeed::SystemFeed(QObject* parent, double seconds)
    : QObject(parent),
      sampler_(0, seconds),
      scale_(std::make_shared<AnchoredScale>(tr("wall time"), AnchoredScale::Unit::date)) {
  for (auto& series : series_) series = std::make_shared<MinMaxPyramid>(curve_bytes);
  auto* timer = new QTimer(this);
  timer->setInterval(static_cast<int>(std::clamp(seconds * 500, 5.0, 500.0)));
  connect(timer, &QTimer::timeout, this, &SystemFeed::take);
  timer->start();
}

SystemFeed::~SystemFeed() = default;

void SystemFeed::take() {
  telemetry::SystemSample sample = sampler_.latest();
  if (sample.number == latest_.number) return;
  latest_ = std::move(sample);
  const telemetry::SystemMetrics& gpu = latest_.gpu;
  const telemetry::HostMetrics& host = latest_.host;
  const auto x = static_cast<double>(latest_.number);
  last_wall_ = std::max(latest_.wall, last_wall_);  // a clock that was set back does not turn the axis
  scale_->addAnchor(x, last_wall_);
  const double process = host.process_cores && host.cores > 0 ? 100 * *host.process_cores / host.cores : kNone;
  const double values[curves] = {percent(gpu.gpu_use),
                                 share(gpu.memory_used, gpu.memory_total),
                                 percent(host.cpu_use),
                                 process,
                                 gpu.power.value_or(kNone),
                                 gpu.temperature.value_or(kNone),
                                 host.process_memory ? static_cast<double>(*host.process_memory) : kNone};
  // What the system does not tell is no point, and not a gap that is counted.
  for (std::size_t i = 0; i < curves; ++i)
    if (std::isfinite(values[i])) series_[i]->append(x, values[i]);
  Q_EMIT sampled();
}

void SystemFeed::watchDevice(const QString& device) {
  if (!device.startsWith(QLatin1String("cuda:"))) return;
  bool number = false;
  const unsigned index = device.section(QLatin1Char(' '), 0, 0).mid(5).toUInt(&number);
  if (number) sampler_.watch(index);
}

QString SystemFeed::brief() const {
  if (latest_.number == 0) return {};
  QStringList parts;
  const telemetry::SystemMetrics& gpu = latest_.gpu;
  if (gpu.gpu_use) parts << tr("GPU %1 %").arg(std::lround(100 * *gpu.gpu_use));
  if (gpu.memory_used && gpu.memory_total)
    parts << tr("%1 of %2")
                 .arg(formatBytes(static_cast<double>(*gpu.memory_used)),
                      formatBytes(static_cast<double>(*gpu.memory_total)));
  if (gpu.temperature) parts << tr("%1 °C").arg(std::lround(*gpu.temperature));
  if (gpu.power) parts << tr("%1 W").arg(std::lround(*gpu.power));
  if (parts.isEmpty() && latest_.host.cpu_use) parts << tr("CPU %1 %").arg(std::lround(100 * *latest_.host.cpu_use));
  return parts.join(QStringLiteral(" · "));
}

}  // namespace foxhunt::ui
