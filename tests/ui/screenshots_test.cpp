// Writes a picture of every kind of chart, dark and light, into screenshots/ of the build folder; every series must be
// seen in it.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDir>
#include <QGridLayout>
#include <cmath>
#include <random>

#include "ui/charts/bars_chart.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/equity_chart.h"
#include "ui/charts/histogram_chart.h"
#include "ui/charts/stacked_area_chart.h"
#include "ui/theme.h"

namespace foxhunt::ui {
namespace {

using Data = std::shared_ptr<MinMaxPyramid>;

Data walk(unsigned seed, double from, double to, double noise, int points = 300000, bool log = false) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 1);
  auto data = std::make_shared<MinMaxPyramid>();
  double drift = 0;
  for (int i = 0; i < points; ++i) {
    const double part = static_cast<double>(i) / points;
    drift = 0.9995 * drift + 0.03 * normal(random) * noise;
    const double level = from + (to - from) * (1 - std::exp(-4 * part)) + drift + 0.3 * noise * normal(random);
    data->append(60000 + 20000 * part, log ? std::pow(10, level) : level);
  }
  return data;
}

std::vector<EventLine> someEvents() {
  return {{66200, EventKind::fold, "fold 2", "2026-02-01 to 2026-03-14"},
          {72400, EventKind::checkpoint, "checkpoint", "best, Sharpe 0.97"},
          {76800, EventKind::setting, "lr 3e-4→1e-4", "set by hand"},
          {77100, EventKind::guard, "q-drift warns", "|Q| 1.12 above floor"}};
}

std::unique_ptr<CurveChart> qChart() {
  auto chart = std::make_unique<CurveChart>("Q mean per branch");
  const char* names[] = {"direction", "magnitude", "order", "urgency"};
  const double levels[][2] = {{0.5, 0.8}, {0.4, 0.6}, {0.3, 0.4}, {0.22, 0.28}};
  for (int i = 0; i < 4; ++i) {
    chart->addSeries({names[i], "", "mean Q-value of the greedy action", -1},
                     walk(static_cast<unsigned>(i + 1), levels[i][0], levels[i][1], 0.05));
  }
  chart->setThreshold(Threshold{1.8, "trip", true});
  chart->setEvents(someEvents());
  return chart;
}

std::unique_ptr<CurveChart> lossChart() {
  auto chart = std::make_unique<CurveChart>("Losses");
  chart->setLogY(true);
  const char* names[] = {"total", "c51", "iqn", "cql", "mse"};
  const double levels[][2] = {{0.4, -0.2}, {0.6, 0.3}, {-0.5, -0.8}, {-0.6, -1.0}, {-0.4, -1.6}};
  for (unsigned i = 0; i < 5; ++i)
    chart->addSeries({names[i], "", "", -1}, walk(i + 11, levels[i][0], levels[i][1], 0.1, 120000, true));
  auto odd = std::make_shared<MinMaxPyramid>();
  for (int i = 0; i < 4000; ++i) {
    double y = 3 + std::sin(i * 0.01);
    if (i >= 1800 && i < 1803) y = std::nan("");
    if (i > 2300 && i < 2420) y = -1;
    if (i == 3000) y = std::numeric_limits<double>::infinity();
    odd->append(60000 + i * 5, y);
  }
  chart->addSeries({"aux", "", "", -1}, odd);
  chart->setEvents(someEvents());
  return chart;
}

std::unique_ptr<CurveChart> signalChart() {
  auto chart = std::make_unique<CurveChart>("Signals (ISV) · 4 of 160");
  const char* names[] = {"reward.pnl", "reward.cost", "target.drift", "gate.entropy"};
  const double levels[][2] = {{0.1, 0.4}, {-0.35, -0.3}, {0.7, 0.3}, {0.9, 0.8}};
  for (unsigned i = 0; i < 4; ++i)
    chart->addSeries({names[i], "", "", -1}, walk(i + 21, levels[i][0], levels[i][1], 0.15, 60000));
  chart->setSmoothing({SmoothingKind::ema, 0.99});
  chart->setEvents(someEvents());
  return chart;
}

std::unique_ptr<EquityChart> equityChart() {
  auto chart = std::make_unique<EquityChart>("Validation equity · fold 2, epoch 6, net of costs ($)");
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 1);
  std::vector<EquityLine> lines;
  const double drifts[] = {0.9, 0.6, -0.25, 0};
  const char* names[] = {"agent", "buy and hold", "random, same turnover", "flat"};
  for (int l = 0; l < 4; ++l) {
    EquityLine line{names[l], {}, {}, -1};
    double value = 0;
    for (int i = 0; i < 9000; ++i) {
      line.times.push_back(1773532800.0 + i * 336.0);
      line.values.push_back(value);
      if (l < 3) value += drifts[l] + 45 * normal(random);
    }
    lines.push_back(line);
  }
  chart->setLines(std::move(lines), "$");
  chart->setBadge("Sharpe 0.97 · max DD $1,940 · 212 trades");
  return chart;
}

std::unique_ptr<StackedAreaChart> areaChart() {
  auto chart = std::make_unique<StackedAreaChart>("Action distribution · direction (training)");
  std::vector<ShareRow> rows;
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal(0, 1);
  double state[4] = {0, 0, 0, -0.8};
  for (int i = 0; i < 900; ++i) {
    ShareRow row{60000.0 + i * 22.2, {}};
    for (double& s : state) {
      s = 0.98 * s + 0.06 * normal(random);
      row.shares.push_back(std::exp(s));
    }
    rows.push_back(row);
  }
  for (std::size_t i = 500; i < 512; ++i) rows[i].shares.assign(4, std::nan(""));
  chart->setData({"Short", "Hold", "Long", "Flat"}, std::move(rows));
  return chart;
}

std::unique_ptr<BarsChart> barsChart(Qt::Orientation orientation) {
  auto chart = std::make_unique<BarsChart>("Greedy now", orientation);
  chart->setBars(
      {{"Short", 0.21, "21 %", 0}, {"Hold", 0.33, "33 %", 1}, {"Long", 0.34, "34 %", 2}, {"Flat", 0.12, "12 %", 3}});
  return chart;
}

std::unique_ptr<HistogramChart> histogramChart(bool two) {
  auto chart = std::make_unique<HistogramChart>(two ? "direction.out.weight · 71,000 and 79,310"
                                                    : "Return distribution · direction");
  std::vector<Histogram> list;
  for (int h = 0; h < (two ? 2 : 1); ++h) {
    Histogram histogram{h == 0 ? "71,000" : "79,310", {}, {}};
    for (int b = 0; b <= 51; ++b) histogram.edges.push_back(-10 + b * 20.0 / 51);
    for (int b = 0; b < 51; ++b) {
      const double x = (b - 25.0) / 25 * 10 - h;
      histogram.counts.push_back(std::exp(-(x - 1) * (x - 1) / 6) + 0.35 * std::exp(-(x + 5) * (x + 5) / 3));
    }
    list.push_back(histogram);
  }
  chart->setData(list,
                 two ? std::vector<HistogramMarker>{} : std::vector<HistogramMarker>{{0.42, "mean"}, {-6.1, "5 %"}});
  return chart;
}

// Pixels of exactly this colour.
int pixelsOf(const QImage& image, QColor color) {
  int count = 0;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y).rgb() == color.rgb();
  }
  return count;
}

class Screenshots : public ::testing::TestWithParam<ThemeChoice> {
 protected:
  void SetUp() override {
    applyTheme(*qApp, GetParam());
    folder_ = QStringLiteral(FOXHUNT_BINARY_DIR "/screenshots");
    ASSERT_TRUE(QDir().mkpath(folder_));
  }
  // Each of the first `series` colours of the theme must be seen.
  void save(QWidget& widget, const QString& name, int series, QSize size = {1280, 800}) {
    widget.resize(size);
    widget.show();
    QApplication::processEvents();
    const QImage image = widget.grab().toImage();
    for (int i = 0; i < series; ++i)
      EXPECT_GE(pixelsOf(image, theme().seriesColor(i)), 10) << name.toStdString() << ", series " << i;
    const QString tone = GetParam() == ThemeChoice::dark ? "dark" : "light";
    EXPECT_TRUE(image.save(folder_ + '/' + name + '-' + tone + ".png"));
  }
  QString folder_;
};

TEST_P(Screenshots, EachKindAlone) {
  auto q = qChart();
  save(*q, "curves", 4);
  auto loss = lossChart();
  save(*loss, "curves-log", 6);
  save(*signalChart(), "curves-smoothed", 4);
  save(*equityChart(), "equity", 4);
  save(*areaChart(), "stacked-area", 4);
  save(*barsChart(Qt::Horizontal), "bars-horizontal", 4);
  save(*barsChart(Qt::Vertical), "bars-vertical", 4);
  save(*histogramChart(false), "histogram", 1);
  save(*histogramChart(true), "histogram-two", 2);
}

TEST_P(Screenshots, TogetherAsInTheWindow) {
  QWidget window;
  auto* grid = new QGridLayout(&window);
  grid->setSpacing(6);
  grid->setContentsMargins(6, 6, 6, 6);
  ChartLink link;
  auto* q = qChart().release();
  auto* loss = lossChart().release();
  auto* isv = signalChart().release();
  for (CurveChart* chart : {q, loss, isv}) chart->setLink(&link);
  grid->addWidget(q, 0, 0, 1, 2);
  grid->addWidget(loss, 0, 2, 1, 2);
  grid->addWidget(areaChart().release(), 1, 0);
  grid->addWidget(barsChart(Qt::Horizontal).release(), 1, 1);
  grid->addWidget(isv, 1, 2, 1, 2);
  grid->addWidget(equityChart().release(), 2, 0, 1, 2);
  grid->addWidget(histogramChart(false).release(), 2, 2);
  grid->addWidget(barsChart(Qt::Vertical).release(), 2, 3);
  for (int column = 0; column < 4; ++column) grid->setColumnStretch(column, 1);
  link.setCrosshair(70000);
  save(window, "together", 6);
}

INSTANTIATE_TEST_SUITE_P(Tones, Screenshots, ::testing::Values(ThemeChoice::dark, ThemeChoice::light),
                         [](const auto& chosen) { return chosen.param == ThemeChoice::dark ? "Dark" : "Light"; });

}  // namespace
}  // namespace foxhunt::ui
