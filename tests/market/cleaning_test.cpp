// The cleaning rules of bars, one by one.
#include "engine/market/cleaning.h"

#include "tests/market/market_fixture.h"

namespace foxhunt::market::test {
namespace {

const std::vector<std::string> kFiles = {"a.csv", "b.csv"};

SourcedBar bar(std::int64_t minute, double open, double high, double low, double close, double volume = 10) {
  SourcedBar out;
  out.bar = {minute * kMinute, (minute + 1) * kMinute, price(open), price(high), price(low), price(close), volume};
  out.record = static_cast<std::uint64_t>(minute);
  return out;
}

SourcedBar quiet(std::int64_t minute, double at = 100) {
  return bar(minute, at, at + 0.5, at - 0.5, at);
}

std::vector<SourcedBar> clean(std::vector<SourcedBar> bars, DataReport& report) {
  return clean_bars(std::move(bars), kFiles, report);
}

// 30 bars, the last closing at 140; a break of an hour; 30 bars around 100; then a hole of two minutes. Next: minute
// 152.
std::vector<SourcedBar> two_sessions() {
  std::vector<SourcedBar> out;
  for (int i = 0; i < 30; ++i) out.push_back(quiet(i, 140));
  for (int i = 0; i < 60; ++i) out.push_back(quiet(90 + i, 100));
  return out;
}

}  // namespace

TEST(Cleaning, SortsAndDropsDuplicates) {
  DataReport report;
  auto second = quiet(3);
  second.file = 1;
  second.bar.volume = 99;
  const auto out = clean({quiet(0), quiet(2), quiet(1), quiet(3), second, quiet(4)}, report);
  ASSERT_EQ(out.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(out[i].bar.open_time, static_cast<Time>(i) * kMinute);
  EXPECT_EQ(out[3].bar.volume, 10);
  EXPECT_EQ(report.anomalies.at("out_of_order").count, 1U);
  EXPECT_EQ(report.anomalies.at("duplicate").count, 1U);
  EXPECT_NE(report.anomalies.at("duplicate").examples[0].find("b.csv, bar 3 at 1970-01-01T00:03:00"),
            std::string::npos);
  EXPECT_EQ(report.anomalies.size(), 2U);
}

TEST(Cleaning, DropsOverlapsAndUndefinedPrices) {
  DataReport report;
  auto half = quiet(1);
  half.bar.open_time += 30 * kSecond;
  half.bar.close_time += 30 * kSecond;
  auto undefined = quiet(3);
  undefined.bar.low = kUndefinedPrice;
  const auto out = clean({quiet(0), quiet(1), half, quiet(2), undefined, quiet(4)}, report);
  EXPECT_EQ(out.size(), 4U);
  EXPECT_EQ(report.anomalies.at("overlap").count, 1U);
  EXPECT_EQ(report.anomalies.at("undefined_price").count, 1U);
}

TEST(Cleaning, WidensInconsistentBars) {
  DataReport report;
  const auto out = clean({quiet(0), bar(1, 100, 99, 98, 101), bar(2, 100, 99, 101, 100)}, report);
  EXPECT_EQ(out[1].bar.high, price(101));
  EXPECT_EQ(out[1].bar.low, price(98));
  EXPECT_EQ(out[2].bar.high, price(101));
  EXPECT_EQ(out[2].bar.low, price(99));
  EXPECT_EQ(report.anomalies.at("inconsistent_bar").count, 2U);
}

TEST(Cleaning, CountsGapsAgainstTheUsualIntervalAndKeepsZeroVolume) {
  DataReport report;
  auto silent = quiet(9);
  silent.bar.volume = 0;
  const auto out = clean(
      {quiet(0), quiet(1), quiet(2), quiet(3), quiet(5), quiet(6), quiet(7), quiet(8), silent, quiet(100)}, report);
  EXPECT_EQ(out.size(), 10U);
  EXPECT_EQ(report.anomalies.at("gap").count, 2U);
  EXPECT_NE(report.anomalies.at("gap").examples[0].find("120 s after the bar before, usual 60 s"), std::string::npos);
  EXPECT_EQ(report.anomalies.at("zero_volume").count, 1U);
  EXPECT_EQ(usual_interval(out), kMinute);
  EXPECT_EQ(usual_interval({}), 0);
}

TEST(Cleaning, KeepsFiveExamples) {
  DataReport report;
  std::vector<SourcedBar> bars;
  for (int i = 0; i < 40; ++i) bars.push_back(bar(i, 100, 100, 100, 100, 0));
  clean(bars, report);
  EXPECT_EQ(report.anomalies.at("zero_volume").count, 40U);
  EXPECT_EQ(report.anomalies.at("zero_volume").examples.size(), 5U);
}

TEST(Cleaning, RepairsGhostOpens) {
  // After the hole a bar opens at the first session's last close and falls back at once.
  for (const bool high : {true, false}) {
    DataReport report;
    auto bars = two_sessions();
    const double stale = high ? 140 : 60;
    bars[29].bar.close = price(stale);
    bars[29].bar.low = std::min(bars[29].bar.low, price(stale));
    bars.push_back(high ? bar(152, 140, 140, 99.5, 100.25) : bar(152, 60, 100.5, 60, 99.75));
    const auto out = clean(bars, report);
    EXPECT_EQ(report.anomalies.at("ghost_open").count, 1U);
    const BarRecord& b = out.back().bar;
    EXPECT_EQ(b.open, price(100));
    EXPECT_EQ(b.high, price(high ? 100.25 : 100.5));
    EXPECT_EQ(b.low, price(high ? 99.5 : 99.75));
    EXPECT_EQ(b.close, price(high ? 100.25 : 99.75));
  }
}

TEST(Cleaning, LeavesHonestOpensAlone) {
  const auto ghosts = [](const SourcedBar& last) {
    DataReport report;
    auto bars = two_sessions();
    bars.push_back(last);
    const auto out = clean(bars, report);
    EXPECT_EQ(out.back().bar.open, last.bar.open);
    return report.anomalies.contains("ghost_open");
  };
  EXPECT_FALSE(ghosts(bar(152, 139, 139, 99.5, 100)));       // not an earlier session's close
  EXPECT_FALSE(ghosts(bar(152, 140, 140, 138, 138)));        // the market stays there: a real jump
  EXPECT_FALSE(ghosts(bar(152, 140, 141, 99, 100)));         // neither high nor low
  EXPECT_FALSE(ghosts(bar(152, 100, 100.5, 99.5, 100.25)));  // the close before itself
}

TEST(Cleaning, TimesInWords) {
  EXPECT_EQ(time_text(0), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(time_text(-1), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(time_text(1'703'545'200 * kSecond + 5), "2023-12-25T23:00:00.000000005Z");
}

}  // namespace foxhunt::market::test
