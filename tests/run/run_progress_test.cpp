// Where a run stands, for those who look from outside: run.json follows, a killed run shows its true last step, a
// checkpoint that was removed is no longer listed, a disk that is full ends nothing.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "engine/base/error.h"
#include "engine/run/run_list.h"
#include "engine/run/run_reader.h"
#include "tests/run/run_support.h"
#include "tests/support/log_watch.h"

namespace foxhunt {
namespace {

using test::small_columns;
using test::small_info;

// Waits for a condition, at most ten seconds.
template <class Condition>
bool wait_for(Condition condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

TEST(RunProgress, RunJsonFollowsWithoutAnyOtherChange) {
  const auto folder = test::scratch_folder() / "run";
  auto store = RunStore::create_at(folder, small_info(), small_columns(), {.commit_seconds = 0.02});
  store->set_status("training");
  for (const std::int64_t steps : {7, 4000}) {
    store->set_progress(steps, 1, 3);
    EXPECT_TRUE(wait_for([&] { return read_run_info(folder).steps == steps; }));
  }
  EXPECT_EQ(read_run_info(folder).fold, 1);
  EXPECT_EQ(read_run_info(folder).epoch, 3);
  EXPECT_EQ(summarize_run(folder).info->steps, 4000);
  // What is changed later stands, whatever was left to be written.
  store->set_progress(4001, 1, 3);
  store->update_info([](RunInfo& info) { info.steps = 4002; });
  store.reset();
  EXPECT_EQ(read_run_info(folder).steps, 4002);
}

TEST(RunProgress, AnInterruptedRunShowsItsTrueLastStep) {
  const auto folder = test::scratch_folder() / "run";
  {
    auto store = RunStore::create_at(folder, small_info(), small_columns());
    store->set_status("training");
    for (int i = 1; i <= 250; ++i) store->append_step(i, std::vector<double>{1.0 * i, 0, 0, 0});
    RunStore::StepBucket bucket;
    bucket.count = 50;
    bucket.mean = bucket.max = {300, 0, 0, 0};
    bucket.min = {251, 0, 0, 0};
    bucket.not_finite = {0, 0, 0, 0};
    store->append_step_bucket(300, bucket);
    store->flush();
  }
  EXPECT_EQ(read_run_info(folder).steps, 0) << "as a kill leaves it";
  EXPECT_EQ(RunReader::open(folder).last_step(), 300);
  EXPECT_EQ(summarize_run(folder).status, "interrupted");
  EXPECT_EQ(summarize_run(folder).info->steps, 300);
  EXPECT_EQ(list_runs(folder.parent_path()).at(0).info->steps, 300);
  EXPECT_TRUE(mark_interrupted(folder));
  EXPECT_EQ(read_run_info(folder).steps, 300);
}

TEST(RunProgress, ARunWithoutAStepShowsNone) {
  const auto folder = test::scratch_folder() / "run";
  RunStore::create_at(folder, small_info(), small_columns())->set_status("preparing");
  EXPECT_EQ(RunReader::open(folder).last_step(), 0);
  EXPECT_EQ(summarize_run(folder).info->steps, 0);
}

TEST(RunProgress, ARemovedCheckpointIsNotListed) {
  const auto folder = test::scratch_folder() / "run";
  auto store = RunStore::create_at(folder, small_info(), small_columns());
  const auto save = [&](const char* reason, int step) {
    RunCheckpoint checkpoint;
    checkpoint.step = step;
    checkpoint.reason = reason;
    checkpoint.kind = "full";
    checkpoint.path = fmt::format("checkpoints/{}{}.safetensors", reason, step);
    std::ofstream(folder / checkpoint.path) << "x";
    store->append(checkpoint);
  };
  for (const int step : {1, 2, 3}) save("periodic", step);
  save("manual", 4);
  std::filesystem::remove(folder / "checkpoints/periodic1.safetensors");
  store->forget_checkpoint("checkpoints/periodic1.safetensors");
  store->flush();
  const auto reader = RunReader::open(folder);
  EXPECT_EQ(reader.records(RunTable::checkpoints).size(), 3u);
  // Killed between the removal of a file and that of its row.
  std::filesystem::remove(folder / "checkpoints/periodic2.safetensors");
  std::vector<std::int64_t> steps;
  for (const auto& checkpoint : reader.checkpoints()) {
    EXPECT_EQ(checkpoint.problem, "");
    steps.push_back(checkpoint.step);
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{3, 4}));
  // One that nobody removed on purpose is missed.
  std::filesystem::remove(folder / "checkpoints/manual4.safetensors");
  EXPECT_EQ(reader.checkpoints().back().problem, "the file is gone");
}

TEST(RunProgress, RunJsonThatCannotBeWrittenIsTriedAgain) {
  const auto folder = test::scratch_folder() / "run";
  auto store = RunStore::create_at(folder, small_info(), small_columns(), {.commit_seconds = 0.02});
  // A folder in its place: it cannot be replaced by a file, not even by root.
  std::filesystem::rename(folder / "run.json", folder / "kept.json");
  std::filesystem::create_directories(folder / "run.json" / "full");
  {
    test::ExpectLog expected("the run's state cannot be written");
    EXPECT_NO_THROW(store->set_status("training"));
    EXPECT_NO_THROW(store->update_info([](RunInfo& info) { info.steps = 12; }));
  }
  std::filesystem::remove_all(folder / "run.json");
  EXPECT_TRUE(wait_for([&] { return std::filesystem::exists(folder / "run.json"); }));
  EXPECT_EQ(read_run_info(folder).status, "training");
  EXPECT_EQ(read_run_info(folder).steps, 12);
}

}  // namespace
}  // namespace foxhunt
