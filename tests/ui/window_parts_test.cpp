// Theme, frame clock, ticks and the plots drawn by Qt Charts.
#include <gtest/gtest.h>

#include <QApplication>
#include <QCheckBox>
#include <QFile>
#include <QPainter>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "ui/charts/bars_chart.h"
#include "ui/charts/equity_chart.h"
#include "ui/charts/format.h"
#include "ui/charts/histogram_chart.h"
#include "ui/charts/stacked_area_chart.h"
#include "ui/frame_clock.h"
#include "ui/theme.h"

namespace foxhunt::ui {
namespace {

TEST(ThemeTest, ChoiceSetsPaletteAndTellsWidgets) {
  QSignalSpy spy(&themeNotifier(), &ThemeNotifier::changed);
  applyTheme(*qApp, ThemeChoice::dark);
  EXPECT_TRUE(theme().dark);
  EXPECT_TRUE(paletteIsDark(QGuiApplication::palette()));
  applyTheme(*qApp, ThemeChoice::light);
  EXPECT_FALSE(theme().dark);
  EXPECT_FALSE(paletteIsDark(QGuiApplication::palette()));
  EXPECT_EQ(spy.count(), 2);
  EXPECT_FALSE(qApp->styleSheet().contains('@')) << "a colour of the style sheet was not found";
  QPalette night;
  night.setColor(QPalette::Window, Qt::black);
  night.setColor(QPalette::WindowText, Qt::white);
  EXPECT_TRUE(paletteIsDark(night));
  applyTheme(*qApp, ThemeChoice::system);
  EXPECT_FALSE(theme().dark) << "the offscreen platform is light";
}

// WCAG contrast of text at least 4.5, of curves at least 2.4; series colours differ from each other.
TEST(ThemeTest, ColoursCanBeRead) {
  const auto luminance = [](const QColor& color) {
    const auto linear = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
  };
  const auto contrast = [&luminance](const QColor& a, const QColor& b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
  };
  for (const Theme& tone : {darkTheme(), lightTheme()}) {
    EXPECT_GT(contrast(tone.text, tone.panel), 7);
    EXPECT_GT(contrast(tone.muted, tone.panel), 4.5);
    // Borders of check boxes, unchecked and checked.
    for (const QColor& around : {tone.panel, tone.window, tone.field, tone.header}) {
      EXPECT_GT(contrast(tone.muted, around), 3) << around.name().toStdString();
      EXPECT_GT(contrast(tone.accent, around), 3) << around.name().toStdString();
    }
    std::set<QRgb> seen;
    for (const QColor& color : tone.series) {
      EXPECT_GT(contrast(color, tone.panel), 2.4) << color.name().toStdString();
      seen.insert(color.rgb());
    }
    EXPECT_EQ(seen.size(), tone.series.size());
    const QFontMetricsF metrics(tone.number_font);
    EXPECT_DOUBLE_EQ(metrics.horizontalAdvance("1111"), metrics.horizontalAdvance("8888"));
  }
}

TEST(ThemeTest, LampsDifferInShape) {
  std::set<QByteArray> shapes;
  for (Lamp lamp : {Lamp::ok, Lamp::active, Lamp::warning, Lamp::bad, Lamp::idle}) {
    QImage image(16, 16, QImage::Format_ARGB32);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    drawLamp(painter, QRectF(2, 2, 12, 12), lamp);
    painter.end();
    const QImage mask = image.convertToFormat(QImage::Format_Alpha8);
    shapes.insert(QByteArray(reinterpret_cast<const char*>(mask.constBits()), mask.sizeInBytes()));
  }
  EXPECT_EQ(shapes.size(), 5u);
}

TEST(FrameClockTest, ReadersAlwaysPaintersOnlyWhenVisible) {
  FrameClock clock;
  QWidget seen, hidden;
  seen.resize(50, 50);
  seen.show();
  QApplication::processEvents();
  int read = 0, painted = 0, never = 0;
  auto owner = std::make_unique<QObject>();
  clock.addReader(owner.get(), [&read] { ++read; });
  clock.addPainter(&seen, [&painted] { ++painted; });
  clock.addPainter(&hidden, [&never] { ++never; });
  for (int i = 0; i < 3; ++i) clock.tick();
  EXPECT_EQ(read, 3);
  EXPECT_EQ(painted, 3);
  EXPECT_EQ(never, 0);
  QWidget cover(&seen);  // as a chart covers its panel
  cover.setAttribute(Qt::WA_OpaquePaintEvent);
  cover.setGeometry(seen.rect());
  cover.show();
  clock.tick();
  EXPECT_EQ(painted, 4) << "a widget that its opaque child covers is seen through it";
  seen.hide();
  owner.reset();
  clock.tick();
  EXPECT_EQ(read, 4);
  EXPECT_EQ(painted, 4);
  QApplication::processEvents();
  EXPECT_GE(clock.cost().frames, 1) << "the tick was measured once painting was over";
}

TEST(FrameClockTest, PaintsLessUnderLoadAndReadsOn) {
  FrameClock clock;
  QSignalSpy spy(&clock, &FrameClock::paintRateChanged);
  for (int i = 0; i < 30; ++i) clock.recordFrame(20, 16);
  ASSERT_EQ(spy.count(), 1);
  EXPECT_EQ(spy[0][0].toInt(), 30);
  EXPECT_EQ(clock.cost().paint_hz, 30);
  EXPECT_TRUE(clock.summary().contains("30 Hz"));
  EXPECT_DOUBLE_EQ(clock.cost().median_ms, 20);
  EXPECT_DOUBLE_EQ(clock.cost().share, 1);
  QWidget widget;
  widget.resize(50, 50);
  widget.show();
  QApplication::processEvents();
  int read = 0, painted = 0;
  clock.addReader(&widget, [&read] { ++read; });
  clock.addPainter(&widget, [&painted] { ++painted; });
  for (int i = 0; i < 10; ++i) clock.tick();
  EXPECT_EQ(read, 10);
  EXPECT_EQ(painted, 5);
  for (int i = 0; i < 30; ++i) clock.recordFrame(2, 16);
  EXPECT_EQ(clock.cost().paint_hz, 60);
  for (int i = 0; i < 240; ++i) clock.recordFrame(i < 237 ? 4 : 9, 16);
  EXPECT_DOUBLE_EQ(clock.cost().median_ms, 4);
  EXPECT_DOUBLE_EQ(clock.cost().p99_ms, 9);
}

TEST(Ticks, AreRoundOrderedAndFew) {
  for (const auto& [low, high] : {std::pair(0.0, 1.0), std::pair(-3e-7, 5e-7), std::pair(12345.0, 12346.0),
                                  std::pair(-1e12, 1e12), std::pair(60000.0, 80000.0)}) {
    const AxisTicks axis = linearAxis(low, high, 6);
    EXPECT_LE(axis.low, low);
    EXPECT_GE(axis.high, high);
    EXPECT_GE(axis.ticks.size(), 3u);
    EXPECT_LE(axis.ticks.size(), 8u);
    std::set<QString> labels;
    for (const Tick& tick : axis.ticks) labels.insert(tick.label);
    EXPECT_EQ(labels.size(), axis.ticks.size()) << "labels must differ at " << low;
  }
  EXPECT_EQ(linearTicks(60000, 80000, 6)[1].label, "65k") << linearTicks(60000, 80000, 6)[1].label.toStdString();
  const AxisTicks constant = linearAxis(5, 5, 5);
  EXPECT_LT(constant.low, 5);
  EXPECT_GT(constant.high, 5);
  const AxisTicks log = logAxis(0.013, 84, 6);
  EXPECT_EQ(log.low, 0.01);
  EXPECT_EQ(log.high, 100);
  EXPECT_EQ(log.ticks.front().label, "0.01");
  EXPECT_EQ(log.ticks.back().label, "100");
  for (const Tick& tick : logTicks(1e-30, 1e30, 6))
    EXPECT_NEAR(std::log10(tick.value), std::round(std::log10(tick.value)), 1e-6);
  const auto dates = dateTicks(1773532800, 1773532800 + 35 * 86400, 6);
  ASSERT_GE(dates.size(), 4u);
  for (const Tick& tick : dates) EXPECT_EQ(std::fmod(tick.value, 86400), 0);
  EXPECT_FALSE(dateTicks(0, 1.7e9, 6).empty());
  EXPECT_EQ(formatShortCount(1200000), "1.2 M");
  EXPECT_EQ(formatDuration(250), "4 min 10 s");
  EXPECT_EQ(plainNumber(0.1), "0.1");
}

// At least two, whatever the range and the room.
TEST(Ticks, OfALogAxisAreAtLeastTwo) {
  for (const double low : {0.00013, 0.7, 0.95, 3.0, 42.0}) {
    for (const double factor : {1.01, 1.3, 2.0, 4.0, 9.0, 30.0, 200.0, 1e6}) {
      for (const int most : {2, 3, 6}) {
        const AxisTicks axis = logAxis(low, low * factor, most);
        const std::vector<Tick> fixed = logTicks(low, low * factor, most);
        for (const auto& ticks : {axis.ticks, fixed}) {
          ASSERT_GE(ticks.size(), 2u) << low << " by " << factor << ", most " << most;
          EXPECT_NE(ticks.front().label, ticks.back().label) << low << " by " << factor;
        }
      }
    }
  }
}

TEST(ThemeTest, ACheckBoxHasABorderThatIsSeen) {
  for (const ThemeChoice tone : {ThemeChoice::dark, ThemeChoice::light}) {
    applyTheme(*qApp, tone);
    QCheckBox box(QStringLiteral("on"));
    box.resize(80, 24);
    for (const bool on : {false, true}) {
      box.setChecked(on);
      const QImage image = box.grab().toImage();
      const QColor wanted = on ? theme().accent : theme().muted;
      int seen = 0;
      for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < 16; ++x) seen += image.pixelColor(x, y).rgb() == wanted.rgb();
      EXPECT_GE(seen, 36) << (theme().dark ? "dark" : "light") << (on ? ", checked" : "");
    }
  }
}

class Plots : public testing::Test {
 protected:
  void SetUp() override { applyTheme(*qApp, ThemeChoice::dark); }
  QImage picture(QWidget& widget) {
    widget.resize(500, 320);
    widget.show();
    QApplication::processEvents();
    return widget.grab().toImage();
  }
  static int count(const QImage& image, const QColor& color, int tolerance = 12) {
    int found = 0;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) {
        const QColor pixel = image.pixelColor(x, y);
        found += std::abs(pixel.red() - color.red()) <= tolerance &&
                 std::abs(pixel.green() - color.green()) <= tolerance &&
                 std::abs(pixel.blue() - color.blue()) <= tolerance;
      }
    }
    return found;
  }
};

TEST_F(Plots, BarsAreAsLongAsTheirValues) {
  BarsChart chart("Mix", Qt::Horizontal);
  chart.setBars({{"a", 2, {}, 0}, {"b", 1, {}, 1}, {"c", std::nan(""), {}, 2}});
  const QImage image = picture(chart);
  const double ratio = static_cast<double>(count(image, theme().series[0])) / count(image, theme().series[1]);
  EXPECT_NEAR(ratio, 2, 0.1);
  EXPECT_LT(count(image, theme().series[2]), 20);
  EXPECT_TRUE(chart.summary().contains("c NaN"));
}

TEST_F(Plots, SharesFillThePlotAndAddUp) {
  StackedAreaChart chart("Shares");
  std::vector<ShareRow> rows;
  for (int i = 0; i < 2000; ++i) rows.push_back({static_cast<double>(i), {1, 3}});
  rows[5].shares = {0, 0};
  chart.setData({"a", "b"}, rows);
  EXPECT_TRUE(chart.badge().contains("mean of"));
  EXPECT_TRUE(chart.badge().contains("1 empty"));
  const QImage image = picture(chart);
  const int a = count(image, theme().series[0].darker(115)), b = count(image, theme().series[1].darker(115));
  EXPECT_NEAR(static_cast<double>(b) / a, 3, 0.1);
  EXPECT_NEAR(a + b, chart.plotRect().width() * chart.plotRect().height(), 0.03 * (a + b));
  EXPECT_TRUE(chart.summary().contains("b 75.0 %"));
  rows[3].shares.pop_back();
  EXPECT_THROW(chart.setData({"a", "b"}, rows), Error);
}

TEST_F(Plots, HistogramRefusesBadBinsAndExports) {
  HistogramChart chart("Returns");
  chart.setData({{"now", {0, 1, 3}, {4, 2}}}, {{1.5, "mean"}});
  const QImage image = picture(chart);
  EXPECT_GT(count(image, theme().series[0]), 5000);
  EXPECT_THROW(chart.setData({{"now", {0, 1, 1}, {4, 2}}}), Error);
  EXPECT_THROW(chart.setData({{"now", {0, 1, 2}, {4, -2}}}), Error);
  QTemporaryDir folder;
  for (const char* suffix : {"png", "svg", "pdf", "csv"}) {
    const QString path = folder.filePath(QStringLiteral("h.") + suffix);
    chart.exportTo(path);
    EXPECT_GT(QFile(path).size(), 30) << suffix;
  }
  QFile csv(folder.filePath("h.csv"));
  ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
  EXPECT_EQ(csv.readAll().toStdString(), "name,low,high,count\nnow,0,1,4\nnow,1,3,2\n");
  EXPECT_THROW(chart.exportTo(folder.filePath("h.xyz")), Error);
}

TEST_F(Plots, EquityKeepsASpikeAmongManyPointsAndFollowsTheTheme) {
  EquityChart chart("Equity");
  EquityLine line{"agent", {}, {}, 0};
  for (int i = 0; i < 50000; ++i) {
    line.times.push_back(1.7e9 + 60.0 * i);
    line.values.push_back(i == 30000 ? 1000 : i > 40000 && i < 41000 ? std::nan("") : 0);
  }
  chart.setLines({line}, "$");
  const QImage image = picture(chart);
  const QRectF plot = chart.plotRect();
  const int x = static_cast<int>(plot.left() + plot.width() * 30000.0 / 49999.0);
  int tall = 0;
  for (int y = static_cast<int>(plot.top()); y < plot.bottom(); ++y) {
    bool inked = false;
    for (int dx = -1; dx <= 1; ++dx) inked = inked || image.pixelColor(x + dx, y).blue() > 110;
    tall += inked;
  }
  EXPECT_GT(tall, plot.height() * 0.8);
  EXPECT_TRUE(chart.summary().contains("999 not finite"));
  const QColor before = image.pixelColor(2, image.height() - 2);
  applyTheme(*qApp, ThemeChoice::light);
  QApplication::processEvents();
  EXPECT_NE(chart.grab().toImage().pixelColor(2, 318), before);
  line.values.pop_back();
  EXPECT_THROW(chart.setLines({line}), Error);
}

}  // namespace
}  // namespace foxhunt::ui
