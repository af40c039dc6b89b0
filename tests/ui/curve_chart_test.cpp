// Curve charts: drawn pixels, marks, mouse and keyboard, links, threshold and export.
#include "ui/charts/curve_chart.h"

#include <gtest/gtest.h>

#include <QAccessible>
#include <QApplication>
#include <QFile>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>
#include <cmath>

#include "engine/base/error.h"
#include "ui/charts/crosshair_model.h"

namespace foxhunt::ui {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Data = std::shared_ptr<MinMaxPyramid>;

Data ramp(int count, double level = 0, double slope = 0.001) {
  auto data = std::make_shared<MinMaxPyramid>();
  for (int i = 0; i < count; ++i) data->append(i, level + slope * i);
  return data;
}

class Curves : public testing::Test {
 protected:
  void SetUp() override { applyTheme(*qApp, ThemeChoice::dark); }
  void open(int series = 2, int count = 1000) {
    chart_ = std::make_unique<CurveChart>("Losses");
    for (int i = 0; i < series; ++i) {
      data_.push_back(ramp(count, i, 0.001));
      chart_->addSeries({QStringLiteral("s%1").arg(i), "nat", "what it means", -1}, data_.back());
    }
    chart_->resize(600, 360);
    show();
  }
  void show() {
    chart_->show();
    QApplication::processEvents();
    QApplication::processEvents();
  }
  QImage picture() { return chart_->grab().toImage(); }
  QPoint centre() { return chart_->plotRect().center().toPoint(); }
  void wheel(QPoint at, int delta, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWheelEvent event(at, chart_->mapToGlobal(at), {}, {0, delta}, Qt::NoButton, modifiers, Qt::NoScrollPhase, false);
    QApplication::sendEvent(chart_.get(), &event);
  }
  void move(QPoint at, Qt::MouseButtons buttons = Qt::NoButton, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QMouseEvent event(QEvent::MouseMove, at, chart_->mapToGlobal(at), Qt::NoButton, buttons, modifiers);
    QApplication::sendEvent(chart_.get(), &event);
  }
  void drag(QPoint from, QPoint to, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::mousePress(chart_.get(), Qt::LeftButton, modifiers, from);
    move((from + to) / 2, Qt::LeftButton, modifiers);
    move(to, Qt::LeftButton, modifiers);
    QTest::mouseRelease(chart_.get(), Qt::LeftButton, modifiers, to);
  }
  // Pixels of the column at widget x inside the plot that are nearer to the colour than to the background.
  int inked(const QImage& image, int x, const QColor& color) {
    const QRect plot = chart_->plotRect().toRect();
    int found = 0;
    for (int y = plot.top(); y < plot.bottom(); ++y) {
      const QColor pixel = image.pixelColor(x, y);
      found += std::abs(pixel.red() - color.red()) + std::abs(pixel.green() - color.green()) +
                   std::abs(pixel.blue() - color.blue()) <
               60;
    }
    return found;
  }
  std::vector<Data> data_;
  std::unique_ptr<CurveChart> chart_;
};

TEST_F(Curves, OneSampleAmongTenMillionIsVisible) {
  chart_ = std::make_unique<CurveChart>("Spike");
  auto data = std::make_shared<MinMaxPyramid>();
  constexpr int count = 10000000, spike = 6543210;
  for (int i = 0; i < count; ++i) data->append(i, i == spike ? 1.0f : 0.0f);
  chart_->addSeries({"s", {}, {}, 0}, data);
  chart_->resize(600, 360);
  show();
  EXPECT_TRUE(chart_->badge().contains("10.0 M points"));
  EXPECT_TRUE(chart_->badge().contains("min/max exact"));
  const QImage image = picture();
  const int x = static_cast<int>(std::floor(chart_->xToPixel(spike)));
  const double reach = chart_->yToPixel(0) - chart_->yToPixel(1);
  ASSERT_GT(reach, 100);
  const QColor color = theme().seriesColor(0);
  EXPECT_GT(inked(image, x, color), reach - 4);
  EXPECT_LE(inked(image, x - 4, color), 3);
  EXPECT_LE(inked(image, x + 4, color), 3);
}

TEST_F(Curves, LogAxisDrawsEveryPositiveSampleAndMarksTheRest) {
  chart_ = std::make_unique<CurveChart>("Log");
  auto data = std::make_shared<MinMaxPyramid>();
  const int count = 240;
  std::vector<double> y;
  for (int i = 0; i < count; ++i) {
    double value = std::pow(10, std::sin(i * 0.3) * 2);
    if (i % 10 == 3) value = std::nan("");
    if (i % 10 == 5) value = 0;
    if (i % 10 == 6) value = -3;
    if (i == 7) value = infinity;
    if (i == 17) value = -infinity;
    y.push_back(value);
    data->append(i, value);
  }
  chart_->addSeries({"s", {}, {}, 0}, data);
  chart_->setLogY(true);
  chart_->resize(600, 360);
  show();
  const QImage image = picture();
  for (int i = 0; i < count - 1; ++i) {  // the end marker covers the last
    if (!std::isfinite(y[static_cast<std::size_t>(i)]) || y[static_cast<std::size_t>(i)] <= 0) continue;
    const int x = static_cast<int>(std::floor(chart_->xToPixel(i)));
    const int row = static_cast<int>(std::floor(chart_->yToPixel(y[static_cast<std::size_t>(i)])));
    bool found = false;
    for (int dy = -1; dy <= 1; ++dy) {
      const QColor pixel = image.pixelColor(x, std::clamp(row + dy, 0, image.height() - 1));
      found = found || pixel.blue() > 120;
    }
    EXPECT_TRUE(found) << "sample " << i << " = " << y[static_cast<std::size_t>(i)];
  }
  std::map<MarkKind, unsigned> counts;
  for (const ChartMark& mark : chart_->marks()) counts[mark.kind] += mark.count;
  EXPECT_EQ(counts[MarkKind::nan], 24u);
  EXPECT_EQ(counts[MarkKind::non_positive], 48u);
  EXPECT_EQ(counts[MarkKind::plus_inf], 1u);
  EXPECT_EQ(counts[MarkKind::minus_inf], 1u);
  EXPECT_TRUE(chart_->summary().contains("24 NaN"));
  EXPECT_TRUE(chart_->summary().contains("48 not above zero"));
  chart_->setLogY(false);
  counts.clear();
  for (const ChartMark& mark : chart_->marks()) counts[mark.kind] += mark.count;
  EXPECT_EQ(counts[MarkKind::non_positive], 0u);
  EXPECT_EQ(counts[MarkKind::nan], 24u);
}

// A line of 1.4 pixels may lie across two rows: what counts is how much of the colour a column has.
TEST_F(Curves, NaNLeavesAGapAndConstantSeriesArePadded) {
  chart_ = std::make_unique<CurveChart>("Gap");
  auto data = std::make_shared<MinMaxPyramid>();
  for (int i = 0; i <= 100; ++i) data->append(i, i > 40 && i < 60 ? std::nan("") : 5.0);
  chart_->addSeries({"s", {}, {}, 0}, data);
  chart_->resize(600, 360);
  show();
  const QImage image = picture();
  const QColor color = theme().seriesColor(0), behind = theme().panel;
  const int middle_row = static_cast<int>(chart_->yToPixel(5));
  const auto ink = [&](double x) {
    double sum = 0;
    for (int dy = -3; dy <= 3; ++dy) {
      const double blue = image.pixelColor(static_cast<int>(chart_->xToPixel(x)), middle_row + dy).blueF();
      sum += (blue - behind.blueF()) / (color.blueF() - behind.blueF());
    }
    return sum;
  };
  EXPECT_GT(middle_row, chart_->plotRect().top() + 20);
  EXPECT_LT(middle_row, chart_->plotRect().bottom() - 20);
  EXPECT_GT(ink(20.5), 1.2);
  EXPECT_LT(ink(50.5), 0.6) << "at most the grid";
}

TEST_F(Curves, WheelZoomsAboutTheCursorAndUndoes) {
  open();
  chart_->setRange(100, 900);
  const QPoint at = centre();
  const double under = chart_->pixelToX(at.x());
  wheel(at, 120);
  EXPECT_NEAR(chart_->xView().x1 - chart_->xView().x0, 640, 1);
  EXPECT_NEAR(chart_->pixelToX(at.x()), under, 2);
  const YView before = chart_->yView();
  EXPECT_TRUE(before.automatic);
  wheel(at, 120, Qt::ControlModifier);
  EXPECT_FALSE(chart_->yView().automatic);
  QTest::keyClick(chart_.get(), Qt::Key_Z, Qt::ControlModifier);
  EXPECT_TRUE(chart_->yView().automatic);
  EXPECT_NEAR(chart_->xView().x1 - chart_->xView().x0, 640, 1);
  QTest::keyClick(chart_.get(), Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(chart_->xView().x0, 100);
  EXPECT_EQ(chart_->xView().x1, 900);
  QTest::keyClick(chart_.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_NEAR(chart_->xView().x1 - chart_->xView().x0, 640, 1);
}

TEST_F(Curves, DragPansEndsFollowAndTheButtonReturns) {
  open();
  ASSERT_TRUE(chart_->following());
  EXPECT_TRUE(chart_->followButtonRect().isNull());
  const double width = chart_->xView().x1 - chart_->xView().x0;
  drag(centre(), centre() + QPoint(100, 0));
  EXPECT_FALSE(chart_->following());
  EXPECT_NEAR(chart_->xView().x0, -100 / chart_->plotRect().width() * width, 1);
  for (int i = 1000; i < 1500; ++i) data_[0]->append(i, 1);
  chart_->refresh();
  EXPECT_LT(chart_->xView().x1, 1000) << "a panned chart stays where it is";
  QTest::mouseClick(chart_.get(), Qt::LeftButton, {}, chart_->followButtonRect().center().toPoint());
  EXPECT_TRUE(chart_->following());
  EXPECT_GE(chart_->xView().x1, 1499);
  for (int i = 1500; i < 3000; ++i) data_[0]->append(i, 1);
  chart_->refresh();
  EXPECT_GE(chart_->xView().x1, 2999);
}

TEST_F(Curves, RectangleKeyboardAndDoubleClick) {
  open();
  const QRectF plot = chart_->plotRect();
  const QPoint a(static_cast<int>(plot.left() + 100), static_cast<int>(plot.top() + 50));
  const QPoint b(static_cast<int>(plot.left() + 300), static_cast<int>(plot.top() + 150));
  const double x0 = chart_->pixelToX(a.x()), x1 = chart_->pixelToX(b.x()), top = chart_->pixelToY(a.y());
  drag(a, b, Qt::ShiftModifier);
  EXPECT_NEAR(chart_->xView().x0, x0, 1e-6);
  EXPECT_NEAR(chart_->xView().x1, x1, 1e-6);
  EXPECT_NEAR(chart_->yView().high, top, 1e-6);
  EXPECT_FALSE(chart_->following());
  const double width = chart_->xView().x1 - chart_->xView().x0;
  QTest::keyClick(chart_.get(), Qt::Key_Right);
  EXPECT_NEAR(chart_->xView().x0, x0 + 0.1 * width, 1e-6);
  QTest::keyClick(chart_.get(), Qt::Key_Plus);
  EXPECT_NEAR(chart_->xView().x1 - chart_->xView().x0, 0.8 * width, 1e-6);
  QTest::mouseDClick(chart_.get(), Qt::LeftButton, {}, centre());
  EXPECT_TRUE(chart_->following());
  EXPECT_TRUE(chart_->yView().automatic);
  EXPECT_EQ(chart_->xView().x0, 0);
  EXPECT_GE(chart_->xView().x1, 999);
  QTest::keyClick(chart_.get(), Qt::Key_L);
  EXPECT_TRUE(chart_->logY());
}

TEST_F(Curves, LegendTogglesAndIsolates) {
  open(3);
  QSignalSpy spy(chart_.get(), &CurveChart::seriesVisibilityChanged);
  const auto place = [this](int series) { return chart_->legendRect(series).center().toPoint(); };
  QTest::mouseClick(chart_.get(), Qt::LeftButton, {}, place(1));
  EXPECT_FALSE(chart_->seriesVisible(1));
  EXPECT_EQ(spy.count(), 1);
  QTest::mouseClick(chart_.get(), Qt::LeftButton, {}, place(1));
  EXPECT_TRUE(chart_->seriesVisible(1));
  QTest::mouseClick(chart_.get(), Qt::LeftButton, Qt::ControlModifier, place(2));
  EXPECT_FALSE(chart_->seriesVisible(0));
  EXPECT_TRUE(chart_->seriesVisible(2));
  QTest::mouseClick(chart_.get(), Qt::LeftButton, Qt::ControlModifier, place(2));
  EXPECT_TRUE(chart_->seriesVisible(0));
  EXPECT_TRUE(chart_->seriesVisible(1));
  QTest::mouseClick(chart_.get(), Qt::LeftButton, {}, place(0));
  QTest::mouseDClick(chart_.get(), Qt::LeftButton, {}, place(0));
  EXPECT_TRUE(chart_->seriesVisible(0));
  EXPECT_FALSE(chart_->seriesVisible(1));
}

TEST_F(Curves, LinkedChartsShareRangeCrosshairAndValues) {
  open(1);
  CurveChart other("Other");
  other.addSeries({"t", "$", {}, 1}, ramp(2000, 7, 0));
  other.resize(600, 360);
  ChartLink link;
  chart_->setLink(&link);
  other.setLink(&link);
  other.show();
  QApplication::processEvents();
  EXPECT_GE(link.view().x1, 1999) << "everything of both charts is in view";
  CrosshairModel model(&link);
  move(centre());
  ASSERT_TRUE(link.crosshair().has_value());
  const double at = *link.crosshair();
  const auto rows = link.values(at);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_NEAR(rows[1].value, 7, 1e-12);
  EXPECT_EQ(model.rowCount(), 2);
  EXPECT_EQ(model.data(model.index(1, 0), Qt::DisplayRole).toString(), "Other");
  const QImage with = other.grab().toImage();
  const int x = static_cast<int>(std::floor(other.xToPixel(at)));
  link.setCrosshair(std::nullopt);
  const QImage without = other.grab().toImage();
  const int low = static_cast<int>(other.plotRect().bottom()) - 9;
  EXPECT_NE(with.pixel(x, low), without.pixel(x, low)) << "the line is drawn in the other chart";
  EXPECT_EQ(model.rowCount(), 0);
  wheel(centre(), -120);
  wheel(centre(), 240);
  EXPECT_EQ(other.xView(), chart_->xView());
  EXPECT_TRUE(link.undo());
  chart_->setLink(nullptr);
  link.setView({10, 20, false, 0});
  EXPECT_NE(chart_->xView().x0, 10);
  EXPECT_EQ(other.xView().x0, 10);
}

TEST_F(Curves, ThresholdIsDragged) {
  open();
  chart_->setThreshold(Threshold{1.5, "trip", true});
  QSignalSpy moved(chart_.get(), &CurveChart::thresholdChanged), done(chart_.get(), &CurveChart::thresholdCommitted);
  const int x = centre().x();
  const QPoint from(x, static_cast<int>(std::lround(chart_->yToPixel(1.5))));
  const QPoint to(x, static_cast<int>(std::lround(chart_->yToPixel(0.9))));
  drag(from, to);
  EXPECT_GE(moved.count(), 2);
  ASSERT_EQ(done.count(), 1);
  EXPECT_NEAR(done[0][0].toDouble(), 0.9, 0.02);
  EXPECT_NEAR(chart_->threshold()->value, 0.9, 0.02);
  EXPECT_TRUE(chart_->following()) << "dragging the line is no pan";
  chart_->setThreshold(Threshold{0.9, "trip", false});
  drag(to, from);
  EXPECT_EQ(done.count(), 1);
}

// The badge takes room from the legend, whose rows push the plot down: whatever the width, the axis fills the plot.
TEST_F(Curves, TheAxisEndsWithThePlotAtEveryWidth) {
  const std::pair<const char*, double> levels[] = {
      {"learning.health", 0.9}, {"action.entropy", 1}, {"replay.effective_samples", 0.6}, {"exploration.share", 0}};
  for (int width = 240; width <= 1200; width += 12) {
    chart_ = std::make_unique<CurveChart>("Signals");
    chart_->setTitleVisible(false);
    for (const auto& [name, level] : levels) {
      auto data = std::make_shared<MinMaxPyramid>();
      for (int i = 0; i < 600; ++i) data->append(i, level);
      chart_->addSeries({name, {}, {}, -1}, data);
    }
    chart_->resize(width, 300);
    show();
    const QImage image = picture();
    const QRectF plot = chart_->plotRect();
    EXPECT_NEAR(chart_->yToPixel(0), plot.bottom(), 1.5) << width;
    EXPECT_GE(chart_->yToPixel(1), plot.top() - 1) << width;
    for (int y = static_cast<int>(plot.bottom()) + 5; y < image.height(); ++y) {
      ASSERT_NE(image.pixelColor(plot.center().toPoint().x(), y).rgb(), theme().seriesColor(3).rgb())
          << width << ", " << y;
    }
  }
}

// The owner sets the line every now and then; whoever holds it keeps it where the mouse is.
TEST_F(Curves, AHeldThresholdStaysWithTheMouse) {
  open();
  chart_->setThreshold(Threshold{1.5, "trip", true});
  QSignalSpy done(chart_.get(), &CurveChart::thresholdCommitted);
  const int x = centre().x();
  const auto at = [&](double value) { return QPoint(x, static_cast<int>(std::lround(chart_->yToPixel(value)))); };
  const QPoint from = at(1.5), half = at(1.2), to = at(0.9);
  QTest::mousePress(chart_.get(), Qt::LeftButton, {}, from);
  QTest::mouseMove(chart_.get(), half);
  chart_->setThreshold(Threshold{1.6, "other", true});
  EXPECT_NEAR(chart_->threshold()->value, 1.2, 0.02);
  EXPECT_EQ(chart_->threshold()->label, "other");
  QTest::mouseMove(chart_.get(), to);
  QTest::mouseRelease(chart_.get(), Qt::LeftButton, {}, to);
  ASSERT_EQ(done.count(), 1);
  EXPECT_NEAR(done[0][0].toDouble(), 0.9, 0.02);
  chart_->setThreshold(Threshold{1.5, "trip", true});
  EXPECT_EQ(chart_->threshold()->value, 1.5) << "let go, it is the owner's";

  QTest::mousePress(chart_.get(), Qt::LeftButton, {}, from);
  QTest::mouseMove(chart_.get(), half);
  chart_->setThreshold(Threshold{1.5, "trip", false});
  EXPECT_EQ(chart_->threshold()->value, 1.5) << "nothing to drag any more";
  QTest::mouseRelease(chart_.get(), Qt::LeftButton, {}, to);
  EXPECT_EQ(done.count(), 1);

  QTest::mousePress(chart_.get(), Qt::LeftButton, {}, from);
  chart_->setThreshold(std::nullopt);
  QTest::mouseMove(chart_.get(), half);
  QTest::mouseRelease(chart_.get(), Qt::LeftButton, {}, to);
  EXPECT_FALSE(chart_->threshold().has_value());
}

TEST_F(Curves, ExportsWhatIsSeenOrAll) {
  chart_ = std::make_unique<CurveChart>("Export");
  auto data = std::make_shared<MinMaxPyramid>();
  data->append(1, 0.1);
  data->append(2, std::nan(""));
  data->append(3, -infinity);
  data->append(4, 12345.678901234567);
  chart_->addSeries({"a,\"b\"", {}, {}, 0}, data);
  chart_->setRunName("run 7");
  chart_->resize(600, 360);
  QTemporaryDir folder;
  const auto read = [](const QString& path) {
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    return file.readAll();
  };
  chart_->exportTo(folder.filePath("all.csv"), ExportExtent::all);
  EXPECT_EQ(read(folder.filePath("all.csv")).toStdString(),
            "series,x,value,min,max,count\n"
            "\"a,\"\"b\"\"\",1,0.1,0.1,0.1,1\n"
            "\"a,\"\"b\"\"\",2,nan,nan,nan,1\n"
            "\"a,\"\"b\"\"\",3,-inf,-inf,-inf,1\n"
            "\"a,\"\"b\"\"\",4,12345.678901234567,12345.678901234567,12345.678901234567,1\n");
  chart_->setRange(3.5, 4.5);
  chart_->exportTo(folder.filePath("seen.csv"), ExportExtent::seen);
  EXPECT_EQ(read(folder.filePath("seen.csv")).count('\n'), 2);
  for (const char* suffix : {"png", "svg", "pdf"}) {
    const QString path = folder.filePath(QStringLiteral("chart.") + suffix);
    chart_->exportTo(path, ExportExtent::all);
    EXPECT_GT(read(path).size(), 1500) << suffix;
  }
  EXPECT_GE(QImage(folder.filePath("chart.png")).width(), 1200);
  EXPECT_TRUE(read(folder.filePath("chart.svg")).contains("<svg"));
  EXPECT_TRUE(read(folder.filePath("chart.pdf")).startsWith("%PDF"));
  EXPECT_THROW(chart_->exportTo(folder.filePath("chart.bmp"), ExportExtent::all), Error);
  EXPECT_THROW(chart_->exportTo(folder.filePath("no/such/chart.svg"), ExportExtent::all), Error);
}

TEST_F(Curves, RepaintsOnlyForNewsAndNeverWhileHidden) {
  open();
  const int drawn = chart_->redraws(), painted = chart_->paints();
  for (int i = 0; i < 5; ++i) chart_->refresh();
  QApplication::processEvents();
  EXPECT_EQ(chart_->paints(), painted) << "no news, no painting";
  data_[0]->append(1000, 5);
  chart_->refresh();
  QApplication::processEvents();
  EXPECT_EQ(chart_->redraws(), drawn + 1);
  chart_->hide();
  const int before = chart_->paints();
  data_[0]->append(1001, 5);
  chart_->refresh();
  QApplication::processEvents();
  EXPECT_EQ(chart_->paints(), before);
}

// A chart that grew sample by sample looks like one that was given everything at once.
TEST_F(Curves, IncrementalDrawingEqualsAFreshOne) {
  open(1, 500);
  for (int i = 500; i < 2500; ++i) {
    data_[0]->append(i, i % 97 == 0 ? std::nan("") : std::sin(i * 0.05));
    if (i % 50 == 0) {
      chart_->refresh();
      picture();
    }
  }
  chart_->refresh();
  QTest::qWait(20);  // a range that grew is taken up within some frames
  chart_->refresh();
  const QImage grown = picture();
  CurveChart fresh("Losses");
  fresh.addSeries({"s0", "nat", "what it means", -1}, data_[0]);
  fresh.link().setView(chart_->xView());
  fresh.resize(600, 360);
  fresh.show();
  QApplication::processEvents();
  EXPECT_EQ(fresh.xView(), chart_->xView());
  EXPECT_EQ(grown, fresh.grab().toImage());
}

TEST_F(Curves, OutliersAreClippedAndMarked) {
  chart_ = std::make_unique<CurveChart>("Clip");
  auto data = std::make_shared<MinMaxPyramid>();
  for (int i = 0; i < 3000; ++i) data->append(i, i == 1500 ? 1e6 : std::sin(i * 0.1));
  chart_->addSeries({"s", {}, {}, 0}, data);
  chart_->setClipOutliers(true);
  chart_->resize(600, 360);
  show();
  EXPECT_LT(chart_->pixelToY(chart_->plotRect().top()), 3);
  bool marked = false;
  for (const ChartMark& mark : chart_->marks()) marked = marked || mark.kind == MarkKind::clipped_high;
  EXPECT_TRUE(marked);
  chart_->setClipOutliers(false);
  EXPECT_GE(chart_->pixelToY(chart_->plotRect().top()), 1e6 - 1);
}

TEST_F(Curves, SmoothingScalesMenuAndAccessibility) {
  open();
  chart_->setSmoothing({SmoothingKind::median, 25});
  EXPECT_TRUE(chart_->badge().contains("median of 25"));
  EXPECT_THROW(chart_->setSmoothing({SmoothingKind::ema, 2}), Error);
  auto time = std::make_shared<AnchoredScale>("wall time", AnchoredScale::Unit::date);
  time->addAnchor(0, 1.7e9);
  time->addAnchor(500, 1.7e9 + 3600);
  time->addAnchor(1000, 1.7e9 + 36000);
  chart_->setXScales({std::make_shared<StepScale>("step"), time});
  const double middle = chart_->xToPixel(500);
  chart_->setXScale(1);
  EXPECT_LT(chart_->xToPixel(500), middle - 50) << "the first half took a tenth of the time";
  EXPECT_NEAR(chart_->pixelToX(chart_->xToPixel(700)), 700, 1e-6);
  EXPECT_THROW(time->addAnchor(900, 2e9), Error);
  std::unique_ptr<QMenu> menu(chart_->createMenu());
  QStringList texts;
  for (const QAction* action : menu->actions()) texts << action->text();
  EXPECT_TRUE(texts.contains("X axis"));
  EXPECT_TRUE(texts.contains("Logarithmic y"));
  QAccessibleInterface* reader = QAccessible::queryAccessibleInterface(chart_.get());
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(reader->text(QAccessible::Name), "Losses");
  EXPECT_TRUE(reader->text(QAccessible::Description).contains("s1: last 1.999"));
}

TEST_F(Curves, EmptyHiddenAndOddDataAreDrawnWithoutFuss) {
  chart_ = std::make_unique<CurveChart>("Odd");
  chart_->resize(240, 130);
  show();
  EXPECT_TRUE(chart_->summary().contains("no samples"));
  auto data = std::make_shared<MinMaxPyramid>();
  chart_->addSeries({"a name far too long for the legend of a chart as small as this", {}, {}, -1}, data);
  for (double y : {-1.0, std::nan(""), infinity, -infinity, 0.0}) data->append(5, y);
  chart_->refresh();
  for (bool log : {true, false}) {
    chart_->setLogY(log);
    picture();
  }
  EXPECT_EQ(chart_->marks().size(), 3u);
  data->append(1e15, 1e300);
  data->append(2e15, -1e300);
  chart_->refresh();
  picture();
  data->clear();
  chart_->refresh();
  picture();
  EXPECT_TRUE(chart_->marks().empty());
}

}  // namespace
}  // namespace foxhunt::ui
