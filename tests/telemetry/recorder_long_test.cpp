// A million steps at the stated rate: 20,000 steps a second, at which the ring lasts a fifth of a second, are recorded
// without one being lost, whatever else the machine does in shorter spells.
#include <gtest/gtest.h>

#include <chrono>

#include "engine/telemetry/recorder.h"
#include "tests/telemetry/mapped_writer.h"

namespace foxhunt::test {
namespace {

constexpr std::uint64_t kSteps = 1'000'000;
constexpr double kRate = 20'000;  // steps a second

struct CountingSink : telemetry::TelemetrySink {
  std::uint64_t steps = 0, rows = 0, missed = 0, wrong = 0, next = 1, health = 0;

  void step_rows(std::span<const telemetry::StepRow> more) override {
    for (const auto& row : more) {
      wrong += row.record.step == next && whole(row.record) ? 0 : 1;
      next = row.record.step + 1;
    }
    steps += more.size();
    rows += more.size();
  }
  void step_bucket(const telemetry::StepBucket& b) override {
    const bool right = b.first_step == next && b.last_step == next + b.count - 1 &&
                       b.min[step_word_lr] == static_cast<float>(b.first_step) &&
                       b.max[step_word_lr] == static_cast<float>(b.last_step);
    wrong += right ? 0 : 1;
    next = b.last_step + 1;
    steps += b.count;
    ++rows;
  }
  void signals_row(double, std::uint32_t, std::span<const float>) override {}
  void health_row(double, const telemetry::HealthDiag&) override { ++health; }
  void missed_steps(double, std::uint64_t count) override { missed += count; }
};

TEST(Recorder, AMillionStepsAtTheStatedRateLoseNothing) {
  MappedWriter writer;
  CountingSink sink;
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  {
    telemetry::RunRecorder recorder(writer.mapped(), sink);
    while (writer.step() < kSteps) {
      const std::chrono::duration<double> spent = Clock::now() - start;
      const auto due = std::min(kSteps, static_cast<std::uint64_t>(spent.count() * kRate));
      // What a pause of this thread has left over is not made up for in one burst: the rate holds at every moment.
      const std::uint64_t end = std::min(due, writer.step() + 100);
      while (writer.step() < end) writer.write(writer.step() % 50 == 49);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    recorder.flush();
    EXPECT_EQ(recorder.state().missed, 0u);
    EXPECT_EQ(recorder.state().torn, 0u);
    EXPECT_EQ(recorder.state().drained, kSteps);
  }
  const std::chrono::duration<double> spent = Clock::now() - start;
  std::printf("%llu steps in %.1f s as %llu rows\n", static_cast<unsigned long long>(kSteps), spent.count(),
              static_cast<unsigned long long>(sink.rows));
  EXPECT_EQ(sink.steps, kSteps);
  EXPECT_EQ(sink.missed, 0u);
  EXPECT_EQ(sink.wrong, 0u);
  // 200 rows a second, a second's reserve at first, one more row a drain at most.
  EXPECT_LE(static_cast<double>(sink.rows), 200 * (spent.count() + 1) + spent.count() / 0.025 + 10);
  EXPECT_GT(sink.health, 0u);
}

}  // namespace
}  // namespace foxhunt::test
