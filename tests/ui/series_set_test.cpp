// Series that take their samples from shared rows must answer as series that got each sample at once.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "engine/base/error.h"
#include "ui/charts/series_set.h"

namespace foxhunt::ui {
namespace {

constexpr std::size_t kSeries = 7;

// The same samples, appended one by one to series of their own.
struct Plain {
  std::vector<MinMaxPyramid> series{kSeries};
  std::mt19937_64 random{11};
  double x = 0;

  std::array<double, kSeries> next() {
    std::array<double, kSeries> row;
    x += static_cast<double>(random() % 3);
    for (double& y : row) y = random() % 50 == 0 ? std::nan("") : static_cast<double>(random() % 1000) - 500;
    for (std::size_t s = 0; s < kSeries; ++s) series[s].append(x, row[s]);
    return row;
  }
};

void expect_same(const MinMaxPyramid& taken, const MinMaxPyramid& plain) {
  ASSERT_EQ(taken.size(), plain.size());
  EXPECT_EQ(taken.first_x(), plain.first_x());
  EXPECT_EQ(taken.last_x(), plain.last_x());
  const Summary a = taken.summarize(0, taken.size()), b = plain.summarize(0, plain.size());
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  EXPECT_EQ(a.sum, b.sum);
  EXPECT_EQ(a.nan, b.nan);
  EXPECT_EQ(a.count, b.count);
  for (std::size_t i = 0; i < plain.size(); i += 97) {
    ASSERT_EQ(taken.x_at(i), plain.x_at(i)) << i;
    const double y = plain.y_at(i);
    ASSERT_TRUE(taken.y_at(i) == y || (std::isnan(y) && std::isnan(taken.y_at(i)))) << i;
  }
}

TEST(SeriesSet, AnswersAsIfEverySampleWereAppendedAtOnce) {
  Plain plain;
  SeriesSet set(kSeries, 0);
  std::mt19937_64 random(3);
  for (int batch = 0; batch < 900; ++batch) {
    const std::uint64_t rows = random() % 12;
    for (std::uint64_t i = 0; i < rows; ++i) {
      const auto row = plain.next();
      set.append(plain.x, row);
    }
    set.take_turns();
    // One series is read after each batch, one now and then, the others never.
    ASSERT_EQ(set.at(2)->size(), plain.series[2].size());
    if (batch % 100 == 50 && plain.x > 0) expect_same(*set.at(4), plain.series[4]);
  }
  for (std::size_t s = 0; s < kSeries; ++s) {
    SCOPED_TRACE(s);
    expect_same(*set.at(s), plain.series[s]);
  }
}

TEST(SeriesSet, EveryQuestionSeesWhatWaits) {
  const auto ask = [](auto&& question) {
    SeriesSet set(1, 0);
    set.append(1, std::array{10.0});
    set.append(2, std::array{20.0});
    return question(*set.at(0));
  };
  EXPECT_EQ(ask([](const MinMaxPyramid& p) { return p.size(); }), 2u);
  EXPECT_FALSE(ask([](const MinMaxPyramid& p) { return p.empty(); }));
  EXPECT_EQ(ask([](const MinMaxPyramid& p) { return p.first_x(); }), 1);
  EXPECT_EQ(ask([](const MinMaxPyramid& p) { return p.last_x(); }), 2);
  EXPECT_EQ(ask([](const MinMaxPyramid& p) { return p.lower_bound(1.5); }), 1u);
  EXPECT_EQ(ask([](const MinMaxPyramid& p) { return p.upper_bound(2); }), 2u);
  EXPECT_EQ(ask([](const MinMaxPyramid& p) { return p.x_at(1); }), 2);
  EXPECT_EQ(ask([](const MinMaxPyramid& p) { return p.y_at(1); }), 20);
  EXPECT_EQ(ask([](const MinMaxPyramid& p) { return p.summarize(0, 2).sum; }), 30);
  EXPECT_EQ(ask([](const MinMaxPyramid& p) { return p.range(2, 9).sum; }), 20);
  EXPECT_GT(ask([](const MinMaxPyramid& p) { return p.bytes(); }), 2 * sizeof(double));
  EXPECT_EQ(ask([](const MinMaxPyramid& p) {
              double sum = 0;
              p.visit(0, 2, [&](double x, const Summary& y) { sum += x * y.sum; });
              return sum;
            }),
            50);
  EXPECT_EQ(ask([](const MinMaxPyramid& p) {
              const std::array edges{0.0, 1.5, 3.0};
              std::array<PixelColumn, 2> columns;
              p.columns(edges, columns);
              return columns[1].sum;
            }),
            20);
  SeriesSet set(1, 0);
  const auto before = set.at(0)->version();
  set.append(1, std::array{10.0});
  EXPECT_NE(set.at(0)->version(), before);
}

TEST(SampleRows, KeepTheirNumbersWhenEarlierOnesAreDiscarded) {
  SampleRows rows(2);
  for (int i = 0; i < 10; ++i) rows.append(i, std::array{1.0 * i, -1.0 * i});
  rows.discard_before(4);
  EXPECT_EQ(rows.first(), 4u);
  EXPECT_EQ(rows.end(), 10u);
  EXPECT_EQ(rows.x(4), 4);
  EXPECT_EQ(rows.value(9, 1), -9);
  rows.discard_before(2);
  EXPECT_EQ(rows.first(), 4u);
  rows.discard_before(100);
  EXPECT_EQ(rows.first(), 10u);
  EXPECT_EQ(rows.end(), 10u);
}

TEST(SeriesSet, RefusesXThatFallsOrIsNotFinite) {
  SeriesSet set(2, 0);
  set.append(5, std::array{1.0, 2.0});
  set.append(5, std::array{1.0, 2.0});
  EXPECT_THROW(set.append(4.9, std::array{1.0, 2.0}), Error);
  EXPECT_THROW(set.append(std::nan(""), std::array{1.0, 2.0}), Error);
  set.take_turns();
  EXPECT_THROW(set.append(4.9, std::array{1.0, 2.0}), Error) << "also once nothing waits";
  EXPECT_EQ(set.at(0)->size(), 2u);
  EXPECT_EQ(set.at(1)->size(), 2u);
}

TEST(SeriesSet, AClearedSeriesKeepsItsColumn) {
  SeriesSet set(2, 0);
  set.append(1, std::array{1.0, 2.0});
  set.at(1)->clear();
  EXPECT_TRUE(set.at(1)->empty());
  set.append(2, std::array{3.0, 4.0});
  EXPECT_EQ(set.at(1)->size(), 1u);
  EXPECT_EQ(set.at(1)->y_at(0), 4);
  EXPECT_EQ(set.at(0)->size(), 2u);
}

}  // namespace
}  // namespace foxhunt::ui
