// Texts of the status bar.
#include "ui/status_line.h"

#include <unistd.h>

#include <QFile>
#include <QLabel>
#include <QStatusBar>

#include "ui/charts/format.h"
#include "ui/frame_clock.h"
#include "ui/models/system_feed.h"
#include "ui/session_bridge.h"

namespace foxhunt::ui {

std::size_t residentBytes() {
  QFile file(QStringLiteral("/proc/self/statm"));
  if (!file.open(QIODevice::ReadOnly)) return 0;
  const QList<QByteArray> words = file.readAll().split(' ');
  return words.size() < 2 ? 0 : words[1].toULongLong() * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

StatusLine::StatusLine(QStatusBar* bar) {
  const auto add = [bar](const char* name, const QString& tip, int stretch) {
    auto* label = new QLabel(bar);
    label->setObjectName(QLatin1String(name));
    label->setToolTip(tip);
    label->setStyleSheet(QStringLiteral("padding: 1px 14px 1px 6px"));
    if (stretch < 0) {
      bar->addPermanentWidget(label);
    } else {
      bar->addWidget(label, stretch);
    }
    return label;
  };
  speed_ = add("speed", QObject::tr("updates a second, and time of the newest by the device's clock"), 0);
  reading_ = add("reading",
                 QObject::tr("how long ago the device published; snapshots read again because the writer was in "
                             "the way; steps overwritten before they were read"),
                 0);
  cost_ = add("cost", QObject::tr("time of the window's thread for a frame, and its share of that thread"), 1);
  command_ = add("commandBrief", QObject::tr("what came of the last command"), -1);
  device_ = add("device", QObject::tr("what trains, use of GPU or processor, and memory of the whole program"), -1);
}

void StatusLine::show(const RunData& data, const SessionBridge& bridge, const FrameClock& clock,
                      const SystemFeed& system, const QString& command) {
  const QLocale locale;
  const SessionStatus& status = data.status();
  if (data.source() == RunData::Source::live && status.steps_per_second > 0) {
    const auto time = data.steps(kernels::step_word_device_time);
    const double stamped = time->empty() ? 0 : time->y_at(time->size() - 1);
    const double micro = stamped > 0 ? stamped : 1e6 / status.steps_per_second;
    speed_->setText(QObject::tr("%1 steps/s · %2 µs a step")
                        .arg(formatCount(std::round(status.steps_per_second)), formatCount(std::round(micro))));
  } else {
    speed_->setText(data.stepCount() > 0
                        ? QObject::tr("%1 steps recorded").arg(formatCount(static_cast<double>(data.stepCount())))
                        : QObject::tr("no steps yet"));
  }
  const double age = bridge.dataAge();
  const QString how_old = age < 0   ? QObject::tr("no live data")
                          : age < 1 ? QObject::tr("data age %1 ms").arg(std::lround(1000 * age))
                                    : QObject::tr("data age %1").arg(formatDuration(age));
  reading_->setText(QObject::tr("%1 · %2 torn · %3 missed")
                        .arg(how_old, formatCount(static_cast<double>(bridge.torn())),
                             formatCount(static_cast<double>(bridge.missed()))));
  cost_->setText(clock.summary());
  if (command_->text() != command) command_->setText(command);
  command_->setVisible(!command.isEmpty());
  QStringList parts;
  if (!status.device.empty()) parts << QString::fromStdString(status.device);
  if (!system.brief().isEmpty()) parts << system.brief();
  parts << QObject::tr("%1 MB").arg(locale.toString(residentBytes() >> 20));
  device_->setText(parts.join(QStringLiteral(" · ")));
}

}  // namespace foxhunt::ui
