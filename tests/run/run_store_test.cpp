// What a run keeps: rows, NaN, records with new columns, order, one controller, and what a full disk does.
#include "engine/run/run_store.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <thread>

#include "engine/base/log.h"
#include "engine/run/run_list.h"
#include "engine/run/run_reader.h"
#include "tests/run/run_support.h"
#include "tests/support/log_watch.h"

namespace foxhunt {
namespace {

using test::small_columns;
using test::small_info;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(RunStore, TelemetryRoundTrip) {
  const auto folder = test::scratch_folder() / "run";
  auto store = RunStore::create_at(folder, small_info(), small_columns());
  store->append_step(100.5, std::vector<double>{1, 0, 2.5, kNan});
  store->append_step_bucket(101.0, {3, {4, 0, 7.25, 0.1}, {2, 0, -kInf, 0}, {4, 0, kInf, 1}, {0, 0, 2, 0}});
  store->append_step(102.0, std::vector<double>{5, 1, kInf, -0.0});
  store->append_health(100.0, std::vector<double>{1, 1.0 / 3});
  store->append_signals(100.0, 7, 1, 2, std::vector<double>{kNan});
  store->flush();
  const RunReader reader = RunReader::open(folder);
  EXPECT_TRUE(reader.problem().empty()) << reader.problem();
  EXPECT_TRUE(reader.running());
  const RunRows steps = reader.rows(RunTable::steps, 0, 100, {"wall", "bucket", "step", "loss_total", "order"});
  EXPECT_EQ(steps.ids, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(steps.values[0], (std::vector<double>{100.5, 101.0, 102.0}));
  EXPECT_EQ(steps.values[1], (std::vector<double>{1, 3, 1}));
  EXPECT_EQ(steps.values[2], (std::vector<double>{1, 4, 5}));
  EXPECT_EQ(steps.values[3], (std::vector<double>{2.5, 7.25, kInf}));
  EXPECT_TRUE(std::isnan(steps.values[4][0]));
  EXPECT_EQ(steps.values[4][1], 0.1);
  const RunRows low = reader.rows(RunTable::steps_min), high = reader.rows(RunTable::steps_max);
  EXPECT_EQ(low.ids, std::vector<std::int64_t>{2});
  EXPECT_EQ(low.values[2][0], -kInf);
  EXPECT_EQ(high.values[2][0], kInf);
  EXPECT_EQ(reader.rows(RunTable::steps_not_finite).values[2][0], 2);
  EXPECT_EQ(reader.rows(RunTable::steps, 2).ids, std::vector<std::int64_t>{3});
  EXPECT_EQ(reader.rows(RunTable::steps, 0, 2).ids.size(), 2U);
  EXPECT_EQ(reader.last_id(RunTable::steps), 3);
  EXPECT_EQ(reader.rows(RunTable::health, 0, 9, {"q_mean"}).values[0][0], 1.0 / 3);
  const RunRows signals = reader.rows(RunTable::signals, 0, 9, {"step", "epoch", "td"});
  EXPECT_EQ(signals.values[0][0], 7);
  EXPECT_EQ(signals.values[1][0], 2);
  EXPECT_TRUE(std::isnan(signals.values[2][0]));
  EXPECT_THROW(reader.rows(RunTable::steps, 0, 9, {"absent"}), Error);
  const auto columns = reader.columns(RunTable::steps);
  EXPECT_EQ(columns[4].name, "loss_total");
  EXPECT_EQ(columns[4].label, "loss.total");
  EXPECT_EQ(columns[4].group, "loss");
  store.reset();
  EXPECT_FALSE(reader.running());
  EXPECT_EQ(reader.last_id(RunTable::steps), 3);
}

TEST(RunStore, RecordsRoundTrip) {
  const auto folder = test::scratch_folder() / "run";
  auto store = RunStore::create_at(folder, small_info(), small_columns());
  store->append(RunTable::epochs, {{"fold", std::int64_t{0}},
                                   {"epoch", std::int64_t{3}},
                                   {"loss", kNan},
                                   {"note", std::string("a, \"b\"")},
                                   {"sharpe", std::monostate{}}});
  store->append(RunTable::epochs, {{"fold", std::int64_t{0}}, {"sharpe", 1.5}});
  RunEvent event;
  event.step = 12;
  event.kind = "guard";
  event.source = "q-drift";
  event.severity = "error";
  event.message = "tripped";
  store->append(event);
  RunCheckpoint checkpoint;
  checkpoint.step = 12;
  checkpoint.path = "checkpoints/a.safetensors";
  checkpoint.rejected = true;
  store->append(checkpoint);
  store->flush();
  std::ofstream(folder / "checkpoints" / "a.safetensors") << "x";
  const RunReader reader = RunReader::open(folder);
  const auto epochs = reader.records(RunTable::epochs);
  ASSERT_EQ(epochs.size(), 2U);
  EXPECT_TRUE(std::isnan(std::get<double>(value_of(epochs[0], "loss"))));
  EXPECT_EQ(std::get<std::string>(value_of(epochs[0], "note")), "a, \"b\"");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(value_of(epochs[0], "sharpe")));
  EXPECT_EQ(std::get<double>(value_of(epochs[1], "sharpe")), 1.5);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(value_of(epochs[1], "loss")));
  ASSERT_EQ(reader.events().size(), 1U);
  EXPECT_EQ(reader.events()[0].message, "tripped");
  EXPECT_EQ(reader.events()[0].step, 12);
  EXPECT_GT(reader.events()[0].wall, 1.7e9);
  EXPECT_TRUE(reader.events(1).empty());
  ASSERT_EQ(reader.checkpoints().size(), 1U);
  EXPECT_TRUE(reader.checkpoints()[0].rejected);
  EXPECT_TRUE(reader.checkpoints()[0].problem.empty());
  EXPECT_EQ(reader.checkpoints()[0].file, std::filesystem::canonical(folder / "checkpoints" / "a.safetensors"));
}

TEST(RunStore, RowsCommitByThemselvesAndAnEndingStoreLosesNone) {
  const auto folder = test::scratch_folder() / "run";
  auto store = RunStore::create_at(folder, small_info(), small_columns(), {.commit_seconds = 0.05});
  for (int i = 0; i < 1000; ++i) store->append_step(i, std::vector<double>{1.0 * i, 0, 0, 0});
  while (store->state().rows_pending > 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(RunReader::open(folder).last_id(RunTable::steps), 1000);
  for (int i = 0; i < 1000; ++i) store->append_step(i, std::vector<double>{1.0 * i, 0, 0, 0});
  store.reset();
  EXPECT_EQ(RunReader::open(folder).last_id(RunTable::steps), 2000);
}

TEST(RunStore, SeveralThreadsAppendAndFlush) {
  const auto folder = test::scratch_folder() / "run";
  auto store = RunStore::create_at(folder, small_info(), small_columns(), {.commit_seconds = 0.01});
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&store, t] {
      for (int i = 0; i < 200; ++i) {
        store->append_step(t, std::vector<double>{1.0 * i, 1.0 * t, 0, 0});
        if (i % 50 == 0) store->flush();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  store->flush();
  EXPECT_EQ(RunReader::open(folder).last_id(RunTable::steps), 600);
  EXPECT_EQ(store->state().rows_written, 600U);
}

TEST(RunStore, WrongUseIsRefusedAtTheCall) {
  auto store = RunStore::create_at(test::scratch_folder() / "run", small_info(), small_columns());
  EXPECT_THROW(store->append_step(0, std::vector<double>{1, 2}), Error);
  EXPECT_THROW(store->append(RunTable::steps, {{"step", 1.0}}), Error);
  EXPECT_THROW(store->append(RunTable::epochs, {{"a\" INTEGER); DROP TABLE epochs; --", 1.0}}), Error);
  EXPECT_THROW(store->append(RunTable::epochs, {{"a", 1.0}, {"a", 2.0}}), Error);
  EXPECT_THROW(store->append(RunTable::epochs, {{"id", 1.0}}), Error);
  RunCheckpoint checkpoint;
  checkpoint.path = "../elsewhere.safetensors";
  EXPECT_THROW(store->append(checkpoint), Error);
  store->flush();
}

TEST(RunStore, ExactFolderMustBeAbsentOrEmpty) {
  const auto folder = test::scratch_folder();
  std::filesystem::create_directories(folder / "empty");
  std::filesystem::create_directories(folder / "full" / "x");
  std::ofstream(folder / "file") << "x";
  RunStore::create_at(folder / "empty", small_info(), small_columns());
  RunStore::create_at(folder / "new" / "deep", small_info(), small_columns());
  for (const char* name : {"full", "file", "empty"}) {
    try {
      RunStore::create_at(folder / name, small_info(), small_columns());
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(error.place().field, "--run-dir");
    }
  }
}

TEST(RunStore, NamesOfRunsDoNotCollide) {
  const auto folder = test::scratch_folder();
  std::vector<std::unique_ptr<RunStore>> stores;
  for (int i = 0; i < 3; ++i) {
    stores.push_back(RunStore::create(folder, "ES demo/../x", small_info(), small_columns()));
  }
  for (const auto& store : stores) {
    EXPECT_EQ(store->folder().parent_path(), folder);
    EXPECT_NE(store->folder().filename().string().find("Z-ES-demo-..-x"), std::string::npos);
  }
  EXPECT_EQ(list_runs(folder).size(), 3U);
}

TEST(RunStore, InfoIsReplacedAndLogIsWritten) {
  const auto folder = test::scratch_folder() / "run";
  auto store = RunStore::create_at(folder, small_info(), small_columns());
  store->set_status("training");
  log_info("a line for the run");
  store->update_info([](RunInfo& info) {
    info.steps = 40;
    info.best["sharpe"] = kNan;
  });
  EXPECT_EQ(read_run_info(folder).steps, 40);
  EXPECT_TRUE(std::isnan(read_run_info(folder).best.at("sharpe")));
  EXPECT_TRUE(read_run_info(folder).finished.empty());
  store->set_status("halted", "q-drift");
  EXPECT_EQ(read_run_info(folder).reason, "q-drift");
  EXPECT_FALSE(read_run_info(folder).finished.empty());
  store.reset();
  std::ifstream log(folder / "log.txt");
  std::string line;
  std::getline(log, line);
  EXPECT_NE(line.find("a line for the run"), std::string::npos);
}

TEST(RunStore, FullDiskKeepsTheCallerAndTheCommittedRows) {
  const auto folder = test::scratch_folder() / "run";
  auto store = RunStore::create_at(folder, small_info(), small_columns(),
                                   {.commit_seconds = 0.02, .max_bytes = 200'000, .max_pending_bytes = 3'000'000});
  store->append_step(0, std::vector<double>{1, 0, 0, 0});
  store->flush();
  const test::ExpectLog expected("cannot be written");
  for (int i = 0; i < 40'000; ++i) store->append_step(0, std::vector<double>{1.0 * i, 0.5, 0.25, 0.125});
  try {
    store->flush();
    ADD_FAILURE() << "nothing was said";
  } catch (const Error& error) {
    EXPECT_NE(error.place().hint.find("disk space"), std::string::npos) << error.sentence();
  }
  const RunStoreState state = store->state();
  ASSERT_TRUE(state.error);
  EXPECT_GT(state.rows_lost, 0U);
  EXPECT_GT(state.rows_pending, 0U);
  EXPECT_EQ(state.rows_written + state.rows_pending + state.rows_lost, 40'001U);
  store.reset();
  EXPECT_EQ(expected.count(), 1);
  EXPECT_GE(RunReader::open(folder).last_id(RunTable::steps), 1);
}

TEST(RunStore, TwoControllersInOneProcessExcludeEachOther) {
  const auto folder = test::scratch_folder() / "run";
  auto store = RunStore::create_at(folder, small_info(), small_columns());
  EXPECT_THROW(RunStore::open(folder, small_columns()), Error);
  store.reset();
  EXPECT_NO_THROW(RunStore::open(folder, small_columns()));
}

TEST(RunStore, NewerProgramAddsItsColumnsToAnOlderRun) {
  const auto folder = test::scratch_folder() / "run";
  {
    auto store = RunStore::create_at(folder, small_info(), small_columns());
    store->append_health(1, std::vector<double>{1, 2});
  }
  TelemetryColumns more = small_columns();
  more.health.insert(more.health.begin(), {"late", "", "", "", "", false});
  auto store = RunStore::open(folder, more);
  store->append_health(2, std::vector<double>{5, 6, 7});
  store->flush();
  const RunRows health = RunReader::open(folder).rows(RunTable::health, 0, 9, {"late", "step", "q_mean"});
  EXPECT_TRUE(std::isnan(health.values[0][0]));
  EXPECT_EQ(health.values[0][1], 5);
  EXPECT_EQ(health.values[1], (std::vector<double>{1, 6}));
  EXPECT_EQ(health.values[2], (std::vector<double>{2, 7}));
}

}  // namespace
}  // namespace foxhunt
