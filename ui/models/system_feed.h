// What GPU and host do, sampled off the window's thread about once a second, as curves over wall time.
#pragma once

#include <QObject>
#include <array>
#include <memory>

#include "engine/telemetry/system_sampler.h"
#include "ui/charts/minmax_pyramid.h"
#include "ui/charts/x_scale.h"

namespace foxhunt::ui {

class SystemFeed : public QObject {
  Q_OBJECT
 public:
  // Percent, but for the last three: watts, degrees Celsius, bytes.
  enum Curve { gpu_use, gpu_memory, cpu_use, process_use, power, temperature, process_memory };
  static constexpr int curves = 7;
  using Series = std::shared_ptr<const MinMaxPyramid>;

  explicit SystemFeed(QObject* parent = nullptr, double seconds = 1);
  ~SystemFeed() override;

  const telemetry::SystemSample& latest() const { return latest_; }
  Series series(Curve curve) const { return series_[static_cast<std::size_t>(curve)]; }
  // x of the series is the number of the sample.
  std::shared_ptr<const XScale> timeScale() const { return scale_; }
  // From "cuda:1 NVIDIA ...", as a session says its device; others leave the choice as it is.
  void watchDevice(const QString& device);

  // "GPU 87 % · 12.3 of 139 GB · 54 °C · 312 W", or without a GPU "CPU 43 %"; empty before the first sample.
  QString brief() const;

 Q_SIGNALS:
  void sampled();

 private:
  void take();

  telemetry::SystemSampler sampler_;
  telemetry::SystemSample latest_;
  double last_wall_ = 0;
  std::array<std::shared_ptr<MinMaxPyramid>, curves> series_;
  std::shared_ptr<AnchoredScale> scale_;
};

// "12.3 GB", "512 MB".
QString formatBytes(double bytes);

}  // namespace foxhunt::ui
