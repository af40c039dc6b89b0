// Frame cost of the window's live charts: 12 charts of 4 series of 1,000,000 points each at 1600 x 900, offscreen,
// 100 new points a series and frame, everything in view and following. Prints GUI-thread milliseconds a frame and the
// cost while the charts are hidden. Usage: chart_bench [frames] [points]
#include <fmt/format.h>
#include <stdlib.h>
#include <time.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QGridLayout>
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "ui/charts/curve_chart.h"
#include "ui/charts/minmax_pyramid.h"
#include "ui/theme.h"

namespace {

using foxhunt::ui::CurveChart;
using foxhunt::ui::MinMaxPyramid;

constexpr int charts = 12, series_each = 4, points_a_frame = 100;

struct Feed {
  std::shared_ptr<MinMaxPyramid> data = std::make_shared<MinMaxPyramid>();
  double level = 1, step = 0;
};

// A walk that returns to its level, with noise: as busy as a real loss curve.
void append(Feed& feed, std::mt19937_64& random, int count) {
  std::normal_distribution<double> noise(0, 1);
  for (int i = 0; i < count; ++i) {
    feed.level += 0.002 * noise(random) - 0.0001 * (feed.level - 1);
    feed.data->append(feed.step++, static_cast<float>(std::exp(feed.level + 0.1 * noise(random))));
  }
}

// Wall time, and the thread's own time, which other programs on the machine do not inflate.
struct Times {
  std::vector<double> wall, thread;
};

double threadMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

void print(const char* what, const char* clock, std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  fmt::print("{:<40} {:<6} median {:6.2f} ms  p99 {:6.2f} ms  worst {:6.2f} ms  ({} frames)\n", what, clock,
             ms[ms.size() / 2], ms[ms.size() * 99 / 100], ms.back(), ms.size());
}

void report(const char* what, const Times& times) {
  print(what, "wall", times.wall);
  print(what, "thread", times.thread);
}

// Feeding is outside the measured time; looking for news and painting inside.
Times frames(std::vector<CurveChart*>& all, std::vector<Feed>& feeds, std::mt19937_64& random, int count) {
  Times times;
  QElapsedTimer timer;
  for (int f = 0; f < count; ++f) {
    for (Feed& feed : feeds) append(feed, random, points_a_frame);
    timer.start();
    const double before = threadMs();
    for (CurveChart* chart : all) chart->refresh();
    QApplication::processEvents();
    times.thread.push_back(threadMs() - before);
    times.wall.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
  }
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  setenv("QT_QPA_PLATFORM", "offscreen", 0);
  QTemporaryDir runtime;
  setenv("XDG_RUNTIME_DIR", runtime.path().toLocal8Bit().constData(), 0);
  const int count = argc > 1 ? std::atoi(argv[1]) : 600;
  const int points = argc > 2 ? std::atoi(argv[2]) : 1000000;
  QApplication app(argc, argv);
  foxhunt::ui::applyTheme(app, foxhunt::ui::ThemeChoice::dark);
  std::mt19937_64 random(20240601);
  std::vector<Feed> feeds(charts * series_each);
  std::size_t bytes = 0;
  for (Feed& feed : feeds) {
    append(feed, random, points);
    bytes += feed.data->bytes();
  }
  fmt::print("{} series of {} points hold {:.1f} MB ({:.1f} bytes a point)\n", feeds.size(), points,
             static_cast<double>(bytes) / 1e6,
             static_cast<double>(bytes) / (static_cast<double>(points) * static_cast<double>(feeds.size())));
  QWidget window;
  QGridLayout grid(&window);
  grid.setContentsMargins(6, 6, 6, 6);
  grid.setSpacing(6);
  std::vector<CurveChart*> all;
  for (int c = 0; c < charts; ++c) {
    auto* chart = new CurveChart(QStringLiteral("Chart %1").arg(c + 1));
    for (int s = 0; s < series_each; ++s) {
      chart->addSeries({QStringLiteral("series %1").arg(s + 1), {}, {}, -1},
                       feeds[static_cast<std::size_t>(c * series_each + s)].data);
    }
    if (c % 2 == 1) chart->setLogY(true);
    grid.addWidget(chart, c / 4, c % 4);
    all.push_back(chart);
  }
  window.resize(1600, 900);
  window.show();
  frames(all, feeds, random, 10);
  report("visible, everything in view, following", frames(all, feeds, random, count));
  for (CurveChart* chart : all) {
    const auto range = *chart->dataRange();
    chart->setRange(range.second - 5000, range.second);
    chart->link().follow();
  }
  report("visible, last 5,000 points, following", frames(all, feeds, random, count));
  window.hide();
  const int painted = all[0]->paints();
  report("hidden", frames(all, feeds, random, count));
  fmt::print("paints while hidden: {}\n", all[0]->paints() - painted);
  return 0;
}
