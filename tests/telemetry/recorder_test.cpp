// The recorder: full rate and buckets, HealthDiag rows, missed steps, a failing sink; and the flight recorder.
#include "engine/telemetry/recorder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/support/log_watch.h"
#include "tests/telemetry/mapped_writer.h"

namespace foxhunt::test {
namespace {

using namespace telemetry;

struct MemorySink : TelemetrySink {
  std::vector<StepRow> rows;
  std::vector<StepBucket> buckets;
  std::vector<std::uint32_t> health, signals;
  std::uint64_t missed = 0;
  bool fail = false;

  void step_rows(std::span<const StepRow> more) override {
    if (fail) throw std::runtime_error("the disk is full");
    rows.insert(rows.end(), more.begin(), more.end());
  }
  void step_bucket(const StepBucket& bucket) override { buckets.push_back(bucket); }
  void signals_row(double, std::uint32_t step, std::span<const float> values) override {
    ASSERT_EQ(values.size(), 160u);
    signals.push_back(step);
  }
  void health_row(double, const HealthDiag& row) override { health.push_back(row.step); }
  void missed_steps(double, std::uint64_t count) override { missed += count; }
};

// The thread is kept asleep: only flush() drains.
constexpr RecorderOptions kManual{.pace_seconds = 3600};

TEST(Recorder, KeepsEveryStepUpToItsRate) {
  MappedWriter writer;
  MemorySink sink;
  {
    RunRecorder recorder(writer.mapped(), sink, kManual);
    for (int i = 0; i < 150; ++i) {
      writer.write(i % 50 == 49);
      if (i % 50 == 49) recorder.flush();
    }
    writer.write(false);
  }  // drains once more
  ASSERT_EQ(sink.rows.size(), 151u);
  EXPECT_TRUE(sink.buckets.empty());
  for (std::size_t i = 0; i < 151; ++i) EXPECT_EQ(sink.rows[i].record.step, i + 1);
  EXPECT_EQ(sink.health, (std::vector<std::uint32_t>{50, 100, 150}));
  EXPECT_EQ(sink.signals, (std::vector<std::uint32_t>{50, 100, 150}));
}

TEST(Recorder, JoinsStepsAboveItsRateWithNoneLost) {
  MappedWriter writer;
  MemorySink sink;
  const auto start = std::chrono::steady_clock::now();
  RunRecorder recorder(writer.mapped(), sink, kManual);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1001; ++i) writer.write(false);
    recorder.flush();
  }
  std::uint32_t next = 1;
  for (const StepBucket& bucket : sink.buckets) {
    EXPECT_EQ(bucket.first_step, next);
    EXPECT_EQ(bucket.last_step, next + bucket.count - 1);
    EXPECT_EQ(bucket.min[step_word_lr], next);
    EXPECT_EQ(bucket.max[step_word_lr], bucket.last_step);
    EXPECT_DOUBLE_EQ(bucket.mean[step_word_lr], next + (bucket.count - 1) / 2.0);
    EXPECT_EQ(bucket.not_finite[step_word_lr], 0u);
    next += bucket.count;
  }
  EXPECT_EQ(next, 3004u);
  // A second's rows at first, then what the clock allowed; each drain gives at least one.
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  EXPECT_LE(static_cast<double>(sink.buckets.size()), 200 + 200 * spent.count() + 3);
  EXPECT_GT(sink.buckets.size(), 100u);
  EXPECT_EQ(recorder.state().drained, 3003u);
  EXPECT_EQ(recorder.state().buckets, sink.buckets.size());
}

TEST(Recorder, BucketsCountWhatIsNotFinite) {
  std::vector<StepRow> rows(7);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].record.step = static_cast<std::uint32_t>(i + 5);
    rows[i].record.loss_total = i == 3 ? std::nanf("") : static_cast<float>(i);
    rows[i].record.td_max = INFINITY;
  }
  const StepBucket bucket = make_bucket(1, rows);
  EXPECT_EQ(bucket.count, 7u);
  EXPECT_EQ(bucket.not_finite[step_word_loss_total], 1u);
  EXPECT_DOUBLE_EQ(bucket.mean[step_word_loss_total], (0 + 1 + 2 + 4 + 5 + 6) / 6.0);
  EXPECT_EQ(bucket.max[step_word_loss_total], 6);
  EXPECT_EQ(bucket.not_finite[step_word_td_max], 7u);
  EXPECT_TRUE(std::isnan(bucket.mean[step_word_td_max]));
  EXPECT_EQ(bucket.mean[step_word_step], 8);
}

TEST(Recorder, SaysWhatItMissed) {
  MappedWriter writer;
  MemorySink sink;
  RunRecorder recorder(writer.mapped(), sink, kManual);
  for (int i = 0; i < 5000; ++i) writer.write();
  recorder.flush();
  EXPECT_EQ(sink.missed, 904u);
  EXPECT_EQ(recorder.state().missed, 904u);
  EXPECT_EQ(recorder.state().health_rows, 1u);
  EXPECT_EQ(recorder.state().health_skipped, 4999u);
}

TEST(Recorder, ItsThreadDrainsByItself) {
  MappedWriter writer;
  MemorySink sink;
  std::uint64_t steps = 0;
  {
    RunRecorder recorder(writer.mapped(), sink, {.pace_seconds = 0.002});
    for (int i = 0; i < 100; ++i) {
      for (int k = 0; k < 500; ++k) writer.write(false);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    steps = writer.step();
  }
  std::uint64_t seen = sink.rows.size() + sink.missed;
  for (const StepBucket& bucket : sink.buckets) seen += bucket.count;
  EXPECT_EQ(seen, steps);
}

TEST(Recorder, AFailingSinkEndsItWithASentence) {
  ExpectLog expected("the disk is full");
  MappedWriter writer;
  MemorySink sink;
  sink.fail = true;
  RunRecorder recorder(writer.mapped(), sink, kManual);
  writer.write();
  recorder.flush();
  EXPECT_EQ(recorder.state().error, "the disk is full");
  EXPECT_EQ(expected.count(), 1);
  sink.fail = false;
  writer.write();
  recorder.flush();
  EXPECT_TRUE(sink.rows.empty());
}

TEST(Recorder, GoesOnAfterACheckpointWasLoaded) {
  MappedWriter writer;
  MemorySink sink;
  RunRecorder recorder(writer.mapped(), sink, kManual);
  for (int i = 0; i < 20; ++i) writer.write(false);
  recorder.restart(11);
  writer.go_to(10);
  for (int i = 0; i < 3; ++i) writer.write(false);
  recorder.flush();
  ASSERT_EQ(sink.rows.size(), 23u);
  EXPECT_EQ(sink.rows[20].record.step, 11u);
  EXPECT_EQ(sink.missed, 0u);
}

StepRow row(double wall, std::uint32_t step, float q, float td) {
  StepRow r;
  r.wall = wall;
  r.record.step = r.record.step_last = step;
  r.record.q_mean = q;
  r.record.td_mean = td;
  r.record.action_entropy = 0.8f;
  return r;
}

TEST(FlightRecorder, KeepsTheLastSeconds) {
  FlightRecorder flight(10);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const StepRow r = row(0.01 * i, i, 1, 1);
    flight.add({&r, 1});
  }
  const FlightReport report = flight.report();
  EXPECT_EQ(report.steps.back().record.step, 2999u);
  EXPECT_EQ(report.steps.front().record.step, 1999u);
  EXPECT_FALSE(report.first_unhealthy.has_value());
  EXPECT_FALSE(report.shortened);
}

TEST(FlightRecorder, MarksWhatLeftItsRangeFirstAndStayedOutside) {
  FlightRecorder flight;
  for (std::uint32_t i = 0; i < 100; ++i) {
    // TD errors leave at 40 and return at 50, Q leaves at 60, TD errors leave again at 70.
    const bool td_outside = (i >= 40 && i < 50) || i >= 70;
    const StepRow r = row(0.01 * i, i, i >= 60 ? 80.0f : 1.0f, td_outside ? 11.0f : 1.0f);
    flight.add({&r, 1});
  }
  const FlightReport report = flight.report();
  ASSERT_TRUE(report.first_unhealthy.has_value());
  EXPECT_EQ(report.first_unhealthy->name, "q.mean");
  EXPECT_FALSE(report.first_unhealthy->signal);
  EXPECT_EQ(report.first_unhealthy->step, 60u);
  EXPECT_EQ(report.first_unhealthy->value, 80);
  EXPECT_EQ(report.first_unhealthy->high, 50);
}

TEST(FlightRecorder, MarksSignalsAndPassingDeparturesToo) {
  FlightRecorder flight;
  for (std::uint32_t i = 0; i < 50; ++i) {
    FlightSignals s{0.1 * i, i, {}};
    s.signals[signal_kelly_cap] = 0.5f;
    s.signals[signal_ruin_share] = i == 20 ? 0.5f : 0;
    flight.add(s);
  }
  const FlightReport report = flight.report();
  ASSERT_TRUE(report.first_unhealthy.has_value());
  EXPECT_TRUE(report.first_unhealthy->signal);
  EXPECT_EQ(report.first_unhealthy->name, "risk.ruin_share");
  EXPECT_EQ(report.first_unhealthy->step, 20u);
}

TEST(FlightRecorder, AHaltReturnsTheFullRateEvenWhereRowsWereJoined) {
  MappedWriter writer;
  MemorySink sink;
  RunRecorder recorder(writer.mapped(), sink, kManual);
  for (int i = 0; i < 3000; ++i) writer.write(false);
  writer.control().halt = kHaltNan;
  writer.control().nan_flags = 1u << 6;
  writer.write(false);
  const FlightReport report = recorder.flight();
  EXPECT_EQ(report.steps.size(), 3001u);
  EXPECT_LT(sink.buckets.size(), 3001u);
  ASSERT_TRUE(report.first_unhealthy.has_value());
  EXPECT_EQ(report.steps.back().record.nan_flags, 1u << 6);
}

}  // namespace
}  // namespace foxhunt::test
