// What the recorder leaves in a run folder: columns of the three tables, and rules back-tested over three recorded
// runs.
#include <gtest/gtest.h>

#include "engine/run/rule_back_test.h"
#include "engine/run/run_sink.h"
#include "engine/telemetry/recorder.h"
#include "engine/telemetry/rule_text.h"
#include "tests/run/run_support.h"
#include "tests/telemetry/mapped_writer.h"

namespace foxhunt {
namespace {

using telemetry::TableEntry;
using test::MappedWriter;

void expect_columns(const RunReader& run, RunTable table, std::span<const TableEntry> entries) {
  const auto columns = run.columns(table);
  std::size_t found = 0;
  for (const TableEntry& entry : entries) {
    if (entry.reserved() || entry.name == "step_last") continue;
    const auto column =
        std::find_if(columns.begin(), columns.end(), [&](const RunColumn& c) { return c.label == entry.name; });
    ASSERT_NE(column, columns.end()) << entry.name << " is no column of " << table_name(table);
    EXPECT_EQ(column->unit, entry.unit) << entry.name;
    EXPECT_EQ(column->group, entry.group) << entry.name;
    EXPECT_EQ(column->meaning, entry.meaning) << entry.name;
    EXPECT_EQ(column->whole, entry.type == telemetry::WordType::u32) << entry.name;
    ++found;
  }
  std::size_t labelled = 0;
  for (const RunColumn& column : columns) labelled += column.label.empty() ? 0 : 1;
  EXPECT_EQ(labelled, found) << "columns of " << table_name(table) << " that no table has";
}

// One run through mapped memory, recorder and store; loss_of(step) is what its losses are.
std::filesystem::path record_run(const std::filesystem::path& folder, int steps,
                                 const std::function<float(int)>& loss_of) {
  auto store = RunStore::create_at(folder, test::small_info(), telemetry_columns());
  RunStoreSink sink(*store);
  MappedWriter writer;
  telemetry::RunRecorder recorder(writer.mapped(), sink, {.rows_per_second = 1e6, .pace_seconds = 3600});
  for (int step = 1; step <= steps; ++step) {
    writer.write(step % 50 == 0, loss_of(step));
    if (step % 50 == 0) recorder.flush();
  }
  recorder.flush();
  store->flush();
  return folder;
}

std::vector<std::uint64_t> steps_of(const RuleBackTest& test) {
  std::vector<std::uint64_t> steps;
  for (const auto& event : test.events) steps.push_back(event.step);
  return steps;
}

TEST(RecordedRun, ColumnsAreThoseOfTheTables) {
  const RunReader run = RunReader::open(record_run(test::scratch_folder() / "columns", 50, [](int) { return 1.0f; }));
  expect_columns(run, RunTable::steps, telemetry::step_table());
  expect_columns(run, RunTable::health, telemetry::health_table());
  expect_columns(run, RunTable::signals, telemetry::signal_table());
}

// Three runs: one calm, one with two spikes, one that stops learning and then has no numbers any more.
TEST(RecordedRun, RulesAreBackTestedOverThreeRuns) {
  const auto folder = test::scratch_folder();
  const auto calm =
      record_run(folder / "calm", 400, [](int step) { return 2.0f + 0.1f * static_cast<float>(step % 7); });
  const auto spikes = record_run(folder / "spikes", 400, [](int step) {
    return step == 123 || step == 300 ? 9.0f : 2.0f + 0.1f * static_cast<float>(step % 7);
  });
  const auto dead = record_run(folder / "dead", 400, [](int step) {
    return step >= 390 ? std::nanf("") : 1.0f + 1.0f / static_cast<float>(std::min(step, 100));
  });
  const std::vector<std::filesystem::path> runs = {calm, spikes, dead};
  using Steps = std::vector<std::uint64_t>;

  auto results = back_test(runs, telemetry::parse_rule("step loss.total above 5, cool_down 0"));
  ASSERT_EQ(results.size(), 3u);
  for (const auto& one : results) ASSERT_EQ(one.problem, "") << one.folder;
  EXPECT_EQ(steps_of(results[0].result), Steps{});
  EXPECT_EQ(steps_of(results[1].result), (Steps{123, 300}));
  EXPECT_EQ(steps_of(results[2].result), (Steps{390, 391, 392, 393, 394, 395, 396, 397, 398, 399, 400}));
  EXPECT_EQ(results[0].result.samples, 400u);
  EXPECT_EQ(results[1].result.events[0].reason, "loss.total = 9 is above 5");
  EXPECT_EQ(results[0].result.sentence(), "never fires in 400 samples");
  EXPECT_EQ(results[1].result.sentence(), "fires 2 times in 400 samples, first at step 123");

  results = back_test(runs, telemetry::parse_rule("step loss.total rises 6 sigma over 50, cool_down 0"));
  EXPECT_EQ(steps_of(results[0].result), Steps{});
  EXPECT_EQ(steps_of(results[1].result), (Steps{123, 300}));

  results = back_test(runs, telemetry::parse_rule("step loss.total no_progress 200 by 0.0001, cool_down 3600"));
  EXPECT_EQ(steps_of(results[0].result), (Steps{207}));  // its best came at step 7
  EXPECT_EQ(steps_of(results[1].result), (Steps{207}));
  // 1 / step falls by less than 0.0001 from step 100 on: the best is at 100 at the latest.
  ASSERT_EQ(results[2].result.events.size(), 1u);
  EXPECT_GT(results[2].result.events[0].step, 250u);
  EXPECT_LE(results[2].result.events[0].step, 300u);

  // Snapshots are samples of their own.
  const auto health = back_test(runs, telemetry::parse_rule("health progress.step above 149, cool_down 0"));
  EXPECT_EQ(steps_of(health[0].result), (Steps{150, 200, 250, 300, 350, 400}));
  EXPECT_EQ(health[0].result.samples, 8u);
}

// Above its rate the recorder joins steps; a spike is still seen, at the row that holds it.
TEST(RecordedRun, JoinedRowsShowTheirExtremes) {
  const auto folder = test::scratch_folder() / "joined";
  {
    auto store = RunStore::create_at(folder, test::small_info(), telemetry_columns());
    RunStoreSink sink(*store);
    MappedWriter writer;
    telemetry::RunRecorder recorder(writer.mapped(), sink, {.rows_per_second = 10, .pace_seconds = 3600});
    for (int step = 1; step <= 1000; ++step) writer.write(false, step == 777 ? 50.0f : (step == 333 ? -50.0f : 1.0f));
    recorder.flush();
    store->flush();
  }
  const RunReader run = RunReader::open(folder);
  const RuleBackTest above = back_test(run, telemetry::parse_rule("step loss.total above 40, cool_down 0"));
  EXPECT_GT(above.joined, 0u);
  ASSERT_EQ(above.events.size(), 1u);
  EXPECT_EQ(above.events[0].value, 50);
  EXPECT_GE(above.events[0].step, 777u);
  const RuleBackTest below = back_test(run, telemetry::parse_rule("step loss.total below -40, cool_down 0"));
  ASSERT_EQ(below.events.size(), 1u);
  EXPECT_EQ(below.events[0].value, -50);
}

TEST(RecordedRun, AFolderThatIsNoRunHasASentence) {
  const auto results =
      back_test(std::vector{test::scratch_folder() / "nothing"}, telemetry::parse_rule("step loss.total above 5"));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_FALSE(results[0].problem.empty());
}

}  // namespace
}  // namespace foxhunt
