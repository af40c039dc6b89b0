// Lanes against plain loops and pixels, and by mouse, wheel and keys.
#include <gtest/gtest.h>

#include <QApplication>
#include <QFile>
#include <QFileInfo>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QWheelEvent>
#include <QtTest>
#include <cmath>
#include <random>

#include "engine/base/error.h"
#include "ui/charts/chart_types.h"
#include "ui/charts/lane_chart.h"
#include "ui/theme.h"

namespace foxhunt::ui::test {
namespace {


// Bars around 100, each a minute.
LaneData flatBars(std::size_t n) {
  LaneData data;
  for (std::size_t i = 0; i < n; ++i) {
    data.times.push_back(1.7e9 + 60.0 * static_cast<double>(i));
    data.open.push_back(100);
    data.high.push_back(100.25);
    data.low.push_back(99.75);
    data.close.push_back(i % 2 == 0 ? 100.25 : 99.75);
  }
  Lane position{"Position", "contracts", {}, Lane::Kind::area, std::vector<double>(n, 0.0), 2, 0};
  Lane reward{"Reward", {}, {}, Lane::Kind::columns, std::vector<double>(n, 0.0), 11, 5};
  Lane gap{"Q gap", {}, {}, Lane::Kind::line, std::vector<double>(n, 0.5), 10, 10};
  data.lanes = {position, reward, gap};
  return data;
}

void wheel(QWidget& widget, const QPointF& at, int angle, Qt::KeyboardModifiers modifiers = {}) {
  QWheelEvent event(at, widget.mapToGlobal(at), {}, {0, angle}, Qt::NoButton, modifiers, Qt::NoScrollPhase, false);
  QApplication::sendEvent(&widget, &event);
}

// Rows of `box` in which a pixel of the column range is other than the background.
int drawnRows(const QImage& image, const QRectF& box, double x0, double x1, const QColor& color) {
  int rows = 0;
  for (int y = static_cast<int>(box.top()); y < static_cast<int>(box.bottom()); ++y) {
    bool drawn = false;
    for (int x = static_cast<int>(x0); x <= static_cast<int>(x1); ++x) {
      const QColor at = image.pixelColor(x, y);
      drawn = drawn || (std::abs(at.red() - color.red()) < 70 && std::abs(at.green() - color.green()) < 70 &&
                        std::abs(at.blue() - color.blue()) < 70);
    }
    rows += drawn;
  }
  return rows;
}

TEST(LaneContent, ExtremesAndClassesAreThoseOfPlainLoops) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0, 1);
  constexpr std::size_t n = 3000;
  LaneData data = flatBars(n);
  data.strip.resize(n);
  data.strip_name = "decision";
  data.strip_names = {"a", "b", "c"};
  data.strip_colors = {0, 1, 2};
  for (std::size_t i = 0; i < n; ++i) {
    const double value = normal(random);
    data.lanes[2].values[i] = i % 97 < 9 ? kNone : i % 500 == 0 ? INFINITY : value;
    data.low[i] = 100 - std::abs(value);
    data.high[i] = 100 + std::abs(normal(random));
    data.strip[i] = i % 11 == 0 ? LaneData::no_class : static_cast<std::uint8_t>(i % 3);
    if (i % 7 == 0) data.markers.push_back({i, 100, 1, i % 2 == 0, 0});
  }
  const std::vector<double> values = data.lanes[2].values, low = data.low, high = data.high;
  const std::vector<std::uint8_t> strip = data.strip;
  const LaneContent content(std::move(data));
  for (int k = 0; k < 700; ++k) {
    std::size_t a = random() % (n + 1), b = random() % (n + 1);
    if (a > b) std::swap(a, b);
    double least = INFINITY, most = -INFINITY, lowest = INFINITY, highest = -INFINITY;
    std::uint32_t counts[3] = {0, 0, 0}, markers = 0;
    for (std::size_t i = a; i < b; ++i) {
      if (std::isfinite(values[i])) least = std::min(least, values[i]), most = std::max(most, values[i]);
      lowest = std::min(lowest, low[i]);
      highest = std::max(highest, high[i]);
      if (strip[i] != LaneData::no_class) ++counts[strip[i]];
      markers += i % 7 == 0;
    }
    const auto found = content.values(2, a, b), prices = content.prices(a, b);
    ASSERT_EQ(found.min, least) << a << " " << b;
    ASSERT_EQ(found.max, most) << a << " " << b;
    ASSERT_EQ(prices.min, lowest);
    ASSERT_EQ(prices.max, highest);
    const auto classes = content.classes(a, b);
    for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ(classes[c], counts[c]);
    ASSERT_EQ(content.markers(a, b).size(), markers);
  }
  EXPECT_EQ(content.barAt(0), 0u);
  EXPECT_EQ(content.barAt(1.7e9 + 61), 2u);
  EXPECT_EQ(content.barAt(1e18), n - 1);
}

TEST(LaneContent, RefusesWhatDoesNotFit) {
  LaneData shorter = flatBars(10);
  shorter.lanes[1].values.pop_back();
  EXPECT_THROW(LaneContent{std::move(shorter)}, Error);
  LaneData back = flatBars(10);
  std::swap(back.times[3], back.times[4]);
  EXPECT_THROW(LaneContent{std::move(back)}, Error);
  LaneData beyond = flatBars(10);
  beyond.markers.push_back({10, 1, 1, true, 0});
  EXPECT_THROW(LaneContent{std::move(beyond)}, Error);
}

// One bar among a million in each lane, with everything in view.
TEST(LaneChart, AOneBarSpikeAmongAMillionIsSeen) {
  for (const ThemeChoice tone : {ThemeChoice::dark, ThemeChoice::light}) {
    applyTheme(*qApp, tone);
    constexpr std::size_t n = 1'000'000, spike = 617'123, dip = 251'007;
    LaneData data = flatBars(n);
    data.high[spike] = 140;
    data.low[dip] = 60;
    data.lanes[0].values[spike] = 8;
    data.lanes[1].values[dip] = -3;
    data.lanes[2].values[spike] = 4;
    LaneChart chart("Market");
    chart.setContent(std::make_shared<LaneContent>(std::move(data)));
    chart.resize(900, 520);
    chart.show();
    QApplication::processEvents();
    const QImage image = chart.grab().toImage();
    ASSERT_EQ(chart.candleBars(), 10000u);
    const double at = chart.pixelOf(spike + 0.5), below = chart.pixelOf(dip + 0.5), half = 5;
    const auto rows = [&](int lane, double x, int index) {
      return drawnRows(image, chart.laneRect(lane), x - half, x + half, theme().seriesColor(index));
    };
    const double price = chart.laneRect(-1).height();
    EXPECT_GT(std::max(rows(-1, at, 6), rows(-1, at, 7)), 0.35 * price);
    EXPECT_GT(std::max(rows(-1, below, 6), rows(-1, below, 7)), 0.35 * price);
    EXPECT_LT(std::max(rows(-1, chart.pixelOf(400'000), 6), rows(-1, chart.pixelOf(400'000), 7)), 0.1 * price);
    EXPECT_GT(rows(0, at, 2), 0.5 * chart.laneRect(0).height());
    EXPECT_GT(rows(1, below, 5), 0.5 * chart.laneRect(1).height());
    EXPECT_GT(rows(2, at, 10), 0.5 * chart.laneRect(2).height());
    EXPECT_LT(rows(0, chart.pixelOf(400'000), 2), 3);
    EXPECT_TRUE(chart.badge().contains("10,000")) << chart.badge().toStdString();
    EXPECT_TRUE(chart.summary().contains("60")) << chart.summary().toStdString();
  }
}

TEST(LaneChart, MouseWheelAndKeysMoveTheRange) {
  applyTheme(*qApp, ThemeChoice::dark);
  LaneData data = flatBars(1000);
  data.markers.push_back({500, 100, 3, true, 0});
  data.marker_names = {"market order"};
  LaneChart chart("Market");
  chart.setContent(std::make_shared<LaneContent>(std::move(data)));
  chart.resize(900, 420);
  chart.show();
  chart.setFocus();
  QApplication::processEvents();
  EXPECT_EQ(chart.view(), std::pair(0.0, 1000.0));
  const QPointF middle = chart.laneRect(-1).center();
  const double before = chart.positionAt(middle.x());
  wheel(chart, middle, 240);
  EXPECT_NEAR(chart.view().second - chart.view().first, 640, 1e-6);
  EXPECT_NEAR(chart.positionAt(middle.x()), before, 1e-6) << "what is under the pointer stays there";
  const double left = chart.view().first;
  QTest::mousePress(&chart, Qt::LeftButton, {}, middle.toPoint());
  QTest::mouseMove(&chart, middle.toPoint() + QPoint(40, 0));
  QTest::mouseMove(&chart, middle.toPoint() + QPoint(80, 0));
  QTest::mouseRelease(&chart, Qt::LeftButton, {}, middle.toPoint() + QPoint(80, 0));
  EXPECT_LT(chart.view().first, left);
  EXPECT_NEAR(chart.view().second - chart.view().first, 640, 1e-6) << "panning keeps the width";
  const double dragged = chart.view().first;
  QTest::keyClick(&chart, Qt::Key_Right);
  EXPECT_NEAR(chart.view().first, dragged + 64, 1e-6);
  QTest::keyClick(&chart, Qt::Key_Plus);
  EXPECT_NEAR(chart.view().second - chart.view().first, 512, 1e-6);
  QTest::keyClick(&chart, Qt::Key_Backspace);
  QTest::keyClick(&chart, Qt::Key_Backspace);
  EXPECT_NEAR(chart.view().first, dragged, 1e-6);
  QTest::mousePress(&chart, Qt::LeftButton, Qt::ShiftModifier, QPoint(200, 100));
  QTest::mouseMove(&chart, QPoint(300, 110));
  const double from = chart.positionAt(200);
  const double to = chart.positionAt(300);
  QTest::mouseRelease(&chart, Qt::LeftButton, Qt::ShiftModifier, QPoint(300, 110));
  EXPECT_NEAR(chart.view().first, from, 1e-6);
  EXPECT_NEAR(chart.view().second, to, 1e-6);
  for (int i = 0; i < 60; ++i) wheel(chart, middle, 240);
  EXPECT_NEAR(chart.view().second - chart.view().first, LaneChart::least_bars, 1e-9);
  QTest::mouseDClick(&chart, Qt::LeftButton, {}, middle.toPoint());
  EXPECT_EQ(chart.view(), std::pair(0.0, 1000.0));

  chart.setView(490, 510);
  QApplication::processEvents();
  QSignalSpy clicked(&chart, &LaneChart::barClicked);
  const QPoint at(static_cast<int>(chart.pixelOf(500.5)), static_cast<int>(middle.y()));
  QTest::mouseMove(&chart, at);
  ASSERT_EQ(chart.crosshair(), 500u);
  QTest::mouseClick(&chart, Qt::LeftButton, {}, at);
  ASSERT_EQ(clicked.count(), 1);
  EXPECT_EQ(clicked[0][0].toULongLong(), 500u);
  QTest::keyClick(&chart, Qt::Key_Left, Qt::ShiftModifier);
  EXPECT_EQ(chart.crosshair(), 499u);
  QTest::keyClick(&chart, Qt::Key_Right, Qt::ShiftModifier);
  const auto [head, rows] = chart.valuesAt(500);
  EXPECT_TRUE(head.endsWith("UTC"));
  const auto row = [&rows = rows](const QString& name) {
    for (const ValueBoxRow& each : rows)
      if (each.name == name) return each.text;
    return QString();
  };
  EXPECT_EQ(row("high"), "100.25");
  EXPECT_EQ(row("Q gap"), "0.5000");
  EXPECT_EQ(row("market order"), "buys 3 at 100");
  EXPECT_TRUE(chart.accessibleDescription().contains("buys 3 at 100"));

  QTemporaryDir folder;
  for (const char* name : {"m.png", "m.svg", "m.pdf", "m.csv"}) {
    chart.exportTo(folder.filePath(name));
    EXPECT_GT(QFileInfo(folder.filePath(name)).size(), 1000) << name;
  }
  QFile csv(folder.filePath("m.csv"));
  ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
  const QByteArray text = csv.readAll();
  EXPECT_TRUE(text.startsWith("seconds_utc,open,high,low,close,Position,Reward,Q gap\n"));
  EXPECT_EQ(text.count('\n'), 1001);
  EXPECT_THROW(chart.exportTo(folder.filePath("m.bmp")), Error);
  EXPECT_THROW(chart.exportTo(folder.filePath("no/m.csv")), Error);
}

// The lower the chart, the fewer lanes; the badge says how many are missing.
TEST(LaneChart, LanesWithoutRoomAreLeftOutAndCounted) {
  LaneChart chart("Market");
  chart.setContent(std::make_shared<LaneContent>(flatBars(50)));
  chart.show();
  int last = 4;
  for (const int height : {420, 200, 160, 120}) {
    chart.resize(700, height);
    QApplication::processEvents();
    int shown = 0;
    for (int lane = 0; lane < 3; ++lane) shown += !chart.laneRect(lane).isNull();
    EXPECT_LE(shown, last);
    EXPECT_EQ(chart.badge().contains("without room"), shown < 3) << height;
    last = shown;
  }
  EXPECT_EQ(last, 0);
  chart.resize(700, 420);
  chart.setLaneVisible(1, false);
  QApplication::processEvents();
  EXPECT_TRUE(chart.laneRect(1).isNull());
  EXPECT_FALSE(chart.laneRect(2).isNull());
}

}  // namespace
}  // namespace foxhunt::ui::test
