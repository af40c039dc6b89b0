// What the window costs the training: steps a second of the same session without and with the window, in turn, and
// what a poll costs the window's thread. Offscreen at 1600 x 950, every panel of the default layout shown.
// Usage: window_bench [seconds a leg] [pairs] [threads of the engine] [hidden width]
#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <thread>
#include <vector>

#include "engine/config/config.h"
#include "engine/session/session.h"
#include "ui/main_window.h"
#include "ui/panels/session_panel.h"

namespace {

using namespace foxhunt;

Config config_of(int threads, int hidden) {
  Config c;
  c.data.simulated = SimulatedConfig{.bars = 9000, .seed = 1, .edge = 1};
  c.folds.count = 1;
  c.folds.train_bars = 6000;
  c.folds.validation_bars = 1500;
  c.learner.hidden = hidden;
  c.training.epochs = 1000;
  c.training.steps_per_epoch = 500;  // an epoch collects as much as its steps draw
  c.training.batch = 64;
  c.replay.capacity = 16384;
  c.guards.drift = "off";
  c.device = "cpu";
  c.threads = threads;
  return c;
}

double cpu_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

struct Leg {
  double steps_a_second = 0;
  double cpu_ms_a_step = 0;  // of the whole process: what a busy machine does not inflate
  double window_share = 0;   // of one processor, the window's thread
  double poll_us = 0;
};

// Measures between two looks at the step counter; `turn` keeps whatever runs going for so long.
template <class Steps, class Turn>
Leg measure(Steps&& steps, Turn&& turn, double seconds) {
  while (steps() < 50) turn(0.02);
  turn(1);
  QElapsedTimer timer;
  timer.start();
  const auto first = steps();
  const double cpu = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID), own = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
  turn(seconds);
  const double wall = static_cast<double>(timer.nsecsElapsed()) / 1e9;
  const auto done = static_cast<double>(steps() - first);
  Leg leg;
  leg.steps_a_second = done / wall;
  leg.cpu_ms_a_step = 1e3 * (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / std::max(1.0, done);
  leg.window_share = (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - own) / wall;
  return leg;
}

Leg without_window(const Config& config, double seconds) {
  QTemporaryDir folder;
  SessionOptions options;
  options.runs_folder = folder.path().toStdString();
  Session session(config, options);
  const Leg leg = measure([&] { return session.status()->step; },
                          [](double s) { std::this_thread::sleep_for(std::chrono::duration<double>(s)); }, seconds);
  session.post({CommandKind::stop_now, 0, -1, {}, {}});
  session.wait(60);
  return leg;
}

Leg with_window(const Config& config, double seconds) {
  QTemporaryDir folder;
  ui::WindowOptions options;
  options.runs_folder = folder.path().toStdString();
  ui::MainWindow window(options);
  window.resize(1600, 950);
  window.show();
  window.session().setConfig(config);
  window.startFolds(0, -1);
  const auto turn = [](double s) {
    QEventLoop loop;
    QTimer::singleShot(static_cast<int>(1e3 * s), &loop, &QEventLoop::quit);
    loop.exec();
  };
  Leg leg = measure([&] { return window.data().status().step; }, turn, seconds);
  leg.poll_us = window.bridge().pollMicroseconds();
  window.bridge().stopNow();
  while (window.bridge().live()) turn(0.02);
  ui::SessionBridge::waitForEnded(60);
  return leg;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  setenv("QT_QPA_PLATFORM", "offscreen", 0);
  QTemporaryDir runtime;
  setenv("XDG_RUNTIME_DIR", runtime.path().toLocal8Bit().constData(), 0);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  const int pairs = argc > 2 ? std::atoi(argv[2]) : 5;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 1;
  const int hidden = argc > 4 ? std::atoi(argv[4]) : 64;
  QApplication app(argc, argv);
  ui::applyTheme(app, ui::ThemeChoice::dark);
  const Config config = config_of(threads, hidden);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  fmt::print("{} processors, {} engine threads, hidden width {}\n", std::thread::hardware_concurrency(), threads,
             hidden);
  std::vector<double> rates, processor, shares;
  for (int i = 0; i < pairs; ++i) {
    const Leg plain = without_window(config, seconds), shown = with_window(config, seconds);
    rates.push_back(shown.steps_a_second / plain.steps_a_second);
    processor.push_back(shown.cpu_ms_a_step / plain.cpu_ms_a_step);
    shares.push_back(shown.window_share);
    fmt::print(
        "pair {}: {:.1f} steps/s without, {:.1f} with, ratio {:.4f}; CPU a step {:.3f} and {:.3f} ms; window's "
        "thread {:.1f} % of a processor, poll {:.1f} us\n",
        i + 1, plain.steps_a_second, shown.steps_a_second, rates.back(), plain.cpu_ms_a_step, shown.cpu_ms_a_step,
        100 * shown.window_share, shown.poll_us);
  }
  fmt::print("median: step rate with the window {:.2f} % of that without; window's thread {:.1f} % of a processor\n",
             100 * median(rates), 100 * median(shares));
  return 0;
}
