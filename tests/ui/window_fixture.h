// A main window with folders of its own, a watchdog over the GUI thread, and a session that a test scripts.
#pragma once

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <QAbstractButton>
#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <atomic>
#include <mutex>
#include <thread>

#include "engine/base/clock.h"
#include "ui/main_window.h"
#include "ui/panels/session_panel.h"

namespace foxhunt::ui::test {

// Longest time between two turns of the event loop that the window itself caused. Time in which other processes had the
// processor does not count, neither this thread's nor, where it waits for another, that one's: a thread that only
// sleeps tells how late the machine wakes those that are ready.
class GuiWatchdog : public QObject {
 public:
  GuiWatchdog() {
    sleeper_ = std::thread([this] {
      using Clock = std::chrono::steady_clock;
      constexpr std::chrono::milliseconds nap(2);
      while (!over_) {
        const auto due = Clock::now() + nap;
        std::this_thread::sleep_for(nap);
        late_ns_ += std::chrono::nanoseconds(Clock::now() - due).count();
      }
    });
    restart();
    timer_.setTimerType(Qt::PreciseTimer);
    timer_.setInterval(2);
    connect(&timer_, &QTimer::timeout, this, [this] { look(); });
    timer_.start();
  }
  ~GuiWatchdog() override {
    over_ = true;
    sleeper_.join();
  }
  void restart() {
    worst_ms_ = 0;
    clock_.start();
    waited_ns_ = waited() + late_ns_;
  }
  double worstMilliseconds() const { return worst_ms_; }

 private:
  void look() {
    const qint64 other = waited() + late_ns_;
    const double own = static_cast<double>(clock_.nsecsElapsed() - (other - waited_ns_)) / 1e6;
    worst_ms_ = std::max(worst_ms_, own);
    clock_.start();
    waited_ns_ = other;
  }
  // Nanoseconds that this thread was ready and had no processor.
  static qint64 waited() {
    QFile file(QStringLiteral("/proc/self/task/%1/schedstat").arg(syscall(SYS_gettid)));
    if (!file.open(QIODevice::ReadOnly)) return 0;
    return file.readAll().split(' ').value(1).toLongLong();
  }

  QTimer timer_;
  QElapsedTimer clock_;
  qint64 waited_ns_ = 0;
  double worst_ms_ = 0;
  std::atomic<bool> over_{false};
  std::atomic<qint64> late_ns_{0};
  std::thread sleeper_;
};

// Shared between a test and the session that the window made.
struct Script {
  std::mutex mutex;
  SessionStatus status;
  std::vector<CommandRecord> commands;
  std::vector<SessionEvent> events;
  bool answers = true;  // commands are done at once; else they stay requested
  std::atomic<bool> over{false};
  int destruction_ms = 0;  // how long joining the worker takes
  std::atomic<int> destroyed{0};

  void set(SessionState state, const std::string& reason = {}) {
    const std::scoped_lock lock(mutex);
    status.state = state;
    status.reason = reason;
  }
};

class ScriptedSession : public SessionPort {
 public:
  explicit ScriptedSession(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  ~ScriptedSession() override {
    std::this_thread::sleep_for(std::chrono::milliseconds(script_->destruction_ms));
    ++script_->destroyed;
  }
  std::uint64_t post(Command command) override {
    const std::scoped_lock lock(script_->mutex);
    CommandRecord record;
    record.number = script_->commands.size() + 1;
    record.command = command;
    record.requested = wall_seconds();
    if (script_->answers) {
      record.stage = CommandRecord::Stage::done;
      record.done = record.requested + 0.003;
      const bool stop = command.kind == CommandKind::stop_and_save || command.kind == CommandKind::stop_now;
      if (stop) script_->status.state = SessionState::stopped;
      if (stop) script_->over = true;
    }
    script_->commands.push_back(record);
    return record.number;
  }
  std::shared_ptr<const SessionStatus> status() const override {
    const std::scoped_lock lock(script_->mutex);
    return std::make_shared<SessionStatus>(script_->status);
  }
  std::shared_ptr<const SessionPlan> plan() const override { return nullptr; }
  std::vector<CommandRecord> commands(std::uint64_t after) const override {
    const std::scoped_lock lock(script_->mutex);
    const auto from = std::min<std::size_t>(after, script_->commands.size());
    return {script_->commands.begin() + static_cast<std::ptrdiff_t>(from), script_->commands.end()};
  }
  std::vector<SessionEvent> events(std::size_t after) const override {
    const std::scoped_lock lock(script_->mutex);
    const auto from = std::min(after, script_->events.size());
    return {script_->events.begin() + static_cast<std::ptrdiff_t>(from), script_->events.end()};
  }
  std::vector<std::shared_ptr<const FoldResult>> results() const override { return {}; }
  std::vector<std::filesystem::path> checkpoints() const override { return {}; }
  const kernels::MappedTelemetry* telemetry() const override { return nullptr; }
  bool ended() const override { return script_->over; }

 private:
  std::shared_ptr<Script> script_;
};

inline SessionFactory scriptedSessions(const std::shared_ptr<Script>& script) {
  return [script](const Config&, const SessionOptions&) { return std::make_unique<ScriptedSession>(script); };
}

struct WindowRig {
  QTemporaryDir folder;
  std::unique_ptr<MainWindow> window;

  explicit WindowRig(SessionFactory sessions = engineSessions()) { open(std::move(sessions)); }
  ~WindowRig() {
    if (window && window->bridge().live()) window->bridge().stopNow();
    spin([this] { return !window || !window->bridge().live(); }, 30);
    window.reset();
    EXPECT_TRUE(SessionBridge::waitForEnded(30));
  }
  void open(SessionFactory sessions = engineSessions()) {
    WindowOptions options;
    options.runs_folder = (folder.path() + QStringLiteral("/runs")).toStdString();
    options.settings_folder = folder.path() + QStringLiteral("/settings");
    options.sessions = std::move(sessions);
    window = std::make_unique<MainWindow>(options);
    window->resize(1600, 950);
    window->show();
    window->activateWindow();
    // Keys go to the active window alone; a display server makes it that some time after it is shown.
    ASSERT_TRUE(QTest::qWaitForWindowActive(window.get(), 20000));
    QTest::qWait(50);
  }
  bool spin(const std::function<bool()>& condition, double seconds = 60) {
    QElapsedTimer timer;
    timer.start();
    while (!condition()) {
      if (static_cast<double>(timer.elapsed()) > seconds * 1e3) return false;
      QTest::qWait(5);
    }
    return true;
  }
  // A real click into the middle of the widget of that name.
  void click(const QString& name) {
    auto* button = window->findChild<QAbstractButton*>(name);
    ASSERT_NE(button, nullptr) << name.toStdString();
    ASSERT_TRUE(button->isEnabled()) << name.toStdString();
    QTest::mouseClick(button, Qt::LeftButton, {}, QPoint(12, button->height() / 2));
  }
};

}  // namespace foxhunt::ui::test
