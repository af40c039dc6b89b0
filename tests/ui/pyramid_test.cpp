// The min/max pyramid and smoothing against plain loops over the same samples.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "engine/base/error.h"
#include "ui/charts/minmax_pyramid.h"
#include "ui/charts/smoothing.h"

namespace foxhunt::ui {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Samples {
  std::vector<double> x, y;
};

// x in ramps, whole steps with repeats, or any doubles; one sample in ten odd.
Samples randomSamples(std::mt19937_64& random, std::size_t count, int form, bool single) {
  Samples samples;
  std::uniform_real_distribution<double> unit(0, 1);
  double x = form == 2 ? -3.7 : 100;
  for (std::size_t i = 0; i < count; ++i) {
    double y = 4 * unit(random) - 1.5;
    if (single) y = static_cast<double>(static_cast<float>(y));
    const double odd = unit(random);
    if (odd < 0.03)
      y = std::nan("");
    else if (odd < 0.05)
      y = infinity;
    else if (odd < 0.07)
      y = -infinity;
    else if (odd < 0.10)
      y = 0;
    samples.x.push_back(x);
    samples.y.push_back(y);
    x += form == 0 ? 5 : form == 1 ? std::floor(4 * unit(random)) : unit(random) * 0.37;
  }
  return samples;
}

std::shared_ptr<MinMaxPyramid> pyramidOf(const Samples& samples, std::size_t budget = 0) {
  auto pyramid = std::make_shared<MinMaxPyramid>(budget);
  for (std::size_t i = 0; i < samples.x.size(); ++i) pyramid->append(samples.x[i], samples.y[i]);
  return pyramid;
}

void expectColumn(const Samples& s, const PixelColumn& got, double from, double to, bool closed) {
  double low = infinity, high = -infinity, positive = infinity, sum = 0, first = std::nan(""), last = std::nan("");
  std::uint32_t count = 0, nan = 0, plus = 0, minus = 0, below = 0, finite = 0;
  bool leading = false, trailing = false;
  double x_first = 0, x_last = 0;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (s.x[i] < from || (closed ? s.x[i] > to : s.x[i] >= to)) continue;
    const double y = s.y[i];
    if (count == 0) x_first = s.x[i];
    x_last = s.x[i];
    if (count == 0) leading = !std::isfinite(y);
    trailing = !std::isfinite(y);
    ++count;
    if (std::isnan(y))
      ++nan;
    else if (y == infinity)
      ++plus;
    else if (y == -infinity)
      ++minus;
    else {
      if (finite++ == 0) first = y;
      last = y;
      low = std::min(low, y);
      high = std::max(high, y);
      sum += y;
      if (y > 0)
        positive = std::min(positive, y);
      else
        ++below;
    }
  }
  EXPECT_EQ(got.count, count);
  EXPECT_EQ(got.nan, nan);
  EXPECT_EQ(got.plus_inf, plus);
  EXPECT_EQ(got.minus_inf, minus);
  EXPECT_EQ(got.non_positive, below);
  EXPECT_EQ(got.min, low);
  EXPECT_EQ(got.max, high);
  EXPECT_EQ(got.min_positive, positive);
  EXPECT_NEAR(got.sum, sum, 1e-9 * (1 + count));
  EXPECT_EQ(got.leading_gap, leading);
  EXPECT_EQ(got.trailing_gap, trailing);
  if (finite > 0) {
    EXPECT_EQ(got.first, first);
    EXPECT_EQ(got.last, last);
  }
  if (count > 0) {
    EXPECT_EQ(got.x_first, x_first);
    EXPECT_EQ(got.x_last, x_last);
  }
}

TEST(MinMaxPyramid, ColumnsEqualPlainLoops) {
  std::mt19937_64 random(7);
  for (int form = 0; form < 3; ++form) {
    for (std::size_t count : {1u, 31u, 32u, 2049u, 9000u, 40000u}) {
      SCOPED_TRACE(testing::Message() << "form " << form << " count " << count << " seed 7");
      const Samples samples = randomSamples(random, count, form, count % 2 == 0);
      const auto pyramid = pyramidOf(samples);
      std::uniform_real_distribution<double> place(samples.x.front() - 3, samples.x.back() + 3);
      for (int trial = 0; trial < 2; ++trial) {
        double a = place(random), b = place(random);
        if (a > b) std::swap(a, b);
        if (trial == 0) a = samples.x.front(), b = samples.x.back();
        const std::size_t width = 23;
        std::vector<double> edges;
        for (std::size_t k = 0; k <= width; ++k) edges.push_back(a + (b - a) * static_cast<double>(k) / width);
        edges.back() = b;
        std::vector<PixelColumn> columns(width);
        pyramid->columns(edges, columns);
        for (std::size_t k = 0; k < width; ++k) {
          expectColumn(samples, columns[k], edges[k], edges[k + 1], k + 1 == width);
        }
      }
    }
  }
}

TEST(MinMaxPyramid, PackingKeepsEveryBit) {
  std::mt19937_64 random(8);
  for (int form = 0; form < 3; ++form) {
    for (bool single : {false, true}) {
      const Samples samples = randomSamples(random, 5000, form, single);
      const auto pyramid = pyramidOf(samples);
      for (std::size_t i = 0; i < samples.x.size(); ++i) {
        ASSERT_EQ(pyramid->x_at(i), samples.x[i]);
        ASSERT_TRUE(pyramid->y_at(i) == samples.y[i] || (std::isnan(samples.y[i]) && std::isnan(pyramid->y_at(i))));
      }
    }
  }
}

TEST(MinMaxPyramid, OnlyNewColumnsGiveTheSameAsAll) {
  std::mt19937_64 random(9);
  const Samples samples = randomSamples(random, 6000, 1, true);
  auto pyramid =
      pyramidOf({{samples.x.begin(), samples.x.begin() + 4000}, {samples.y.begin(), samples.y.begin() + 4000}});
  std::vector<double> edges;
  for (int k = 0; k <= 50; ++k) edges.push_back(samples.x.front() + (samples.x.back() - samples.x.front()) * k / 50);
  edges.back() = samples.x.back();
  std::vector<PixelColumn> grown(50), fresh(50);
  pyramid->columns(edges, grown);
  const double old_last = pyramid->last_x();
  for (std::size_t i = 4000; i < 6000; ++i) pyramid->append(samples.x[i], samples.y[i]);
  const auto from =
      static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), old_last) - edges.begin()) - 1;
  pyramid->columns(edges, grown, from);
  pyramid->columns(edges, fresh);
  for (std::size_t k = 0; k < 50; ++k) {
    EXPECT_EQ(grown[k].count, fresh[k].count) << k;
    EXPECT_EQ(grown[k].max, fresh[k].max) << k;
  }
}

TEST(MinMaxPyramid, RefusesXThatFallsOrIsNotFinite) {
  MinMaxPyramid pyramid;
  pyramid.append(5, 1);
  pyramid.append(5, 2);
  EXPECT_THROW(pyramid.append(4.9, 1), Error);
  EXPECT_THROW(pyramid.append(std::nan(""), 1), Error);
  EXPECT_EQ(pyramid.size(), 2u);
  const auto version = pyramid.version();
  pyramid.clear();
  EXPECT_TRUE(pyramid.empty());
  EXPECT_NE(pyramid.version(), version);
  pyramid.append(1, 1);
  EXPECT_EQ(pyramid.range(0, 2).count, 1u);
}

TEST(MinMaxPyramid, CoarsensOnlyOldSamplesBelowTheScreensResolution) {
  constexpr std::size_t count = 1000000, spike = 123457;
  auto limited = std::make_shared<MinMaxPyramid>(3000000);
  MinMaxPyramid full;
  for (std::size_t i = 0; i < count; ++i) {
    const double y = i == spike ? 1000.0 : std::sin(static_cast<double>(i) * 0.001);
    limited->append(static_cast<double>(i), y);
    full.append(static_cast<double>(i), y);
  }
  EXPECT_LT(limited->bytes(), full.bytes() / 2);
  EXPECT_GT(limited->coarsened(), 0u);
  EXPECT_LE(limited->coarsened(), count * 3 / 4);
  const Summary a = limited->range(0, count), b = full.range(0, count);
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.max, 1000.0);
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(limited->range(static_cast<double>(spike - 40), static_cast<double>(spike + 40)).max, 1000.0);
  EXPECT_EQ(limited->y_at(count - 1), full.y_at(count - 1));
  std::size_t seen = 0;
  limited->visit(0, count, [&seen](double, const Summary& run) { seen += run.count; });
  EXPECT_EQ(seen, count);
  MinMaxPyramid small(1000);
  for (int i = 0; i < 100000; ++i) small.append(i, i);
  EXPECT_EQ(small.coarsened(), 0u) << "coarsening 100,000 samples would show";
  EXPECT_TRUE(small.over_budget());
}

TEST(SmoothedSeries, DebiasedEmaMeanAndMedianEqualPlainLoops) {
  std::mt19937_64 random(10);
  const Samples samples = randomSamples(random, 3000, 0, false);
  const auto source = pyramidOf(samples);
  for (const Smoothing& kind : {Smoothing{SmoothingKind::ema, 0.97}, Smoothing{SmoothingKind::mean, 20},
                                Smoothing{SmoothingKind::median, 20}, Smoothing{SmoothingKind::median, 21}}) {
    SmoothedSeries smooth(source, kind);
    while (smooth.advance(137)) {
    }
    ASSERT_EQ(smooth.result().size(), samples.y.size());
    std::vector<double> finite;
    for (std::size_t i = 0; i < samples.y.size(); ++i) {
      const double got = smooth.result().y_at(i);
      if (!std::isfinite(samples.y[i])) {
        EXPECT_TRUE(got == samples.y[i] || std::isnan(got));
        continue;
      }
      finite.push_back(samples.y[i]);
      double want = 0;
      if (kind.kind == SmoothingKind::ema) {
        double weights = 0;
        for (std::size_t k = finite.size(); k-- > 0;) {
          const double weight = std::pow(kind.amount, static_cast<double>(finite.size() - 1 - k));
          want += weight * finite[k];
          weights += weight;
        }
        want /= weights;
      } else {
        const std::size_t length = std::min(finite.size(), static_cast<std::size_t>(kind.amount));
        std::vector<double> window(finite.end() - static_cast<std::ptrdiff_t>(length), finite.end());
        std::sort(window.begin(), window.end());
        for (double value : window) want += value / static_cast<double>(length);
        if (kind.kind == SmoothingKind::median) want = (window[(length - 1) / 2] + window[length / 2]) / 2;
      }
      ASSERT_NEAR(got, want, 1e-9) << "sample " << i;
    }
  }
  EXPECT_THROW(SmoothedSeries(source, {SmoothingKind::ema, 1.0}), Error);
  EXPECT_THROW(SmoothedSeries(source, {SmoothingKind::mean, 0.0}), Error);
}

TEST(SmoothedSeries, AFarValueLeavesNoTraceInTheMean) {
  auto source = std::make_shared<MinMaxPyramid>();
  for (int i = 0; i < 100; ++i) source->append(i, i == 10 ? 1e30 : 1.0);
  SmoothedSeries smooth(source, {SmoothingKind::mean, 5});
  smooth.advance(100);
  EXPECT_DOUBLE_EQ(smooth.result().y_at(99), 1.0);
}

}  // namespace
}  // namespace foxhunt::ui
