// The status bar: speed, age of the data, what was torn or missed, the window's own cost, device and memory.
#pragma once

#include <QWidget>

class QLabel;
class QStatusBar;

namespace foxhunt::ui {

class FrameClock;
class RunData;
class SessionBridge;
class SystemFeed;

class StatusLine {
 public:
  explicit StatusLine(QStatusBar* bar);
  // `command`: what came of the last one; empty where the top bar says it.
  void show(const RunData& data, const SessionBridge& bridge, const FrameClock& clock, const SystemFeed& system,
            const QString& command);

 private:
  QLabel *speed_, *reading_, *cost_, *command_, *device_;
};

// Resident bytes of this process; 0 where the system does not tell.
std::size_t residentBytes();

}  // namespace foxhunt::ui
