// The program killed in the middle of training: the run opens, says that it was interrupted and at which step, and its
// last checkpoint can be inspected, evaluated and gone on from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/run/run_reader.h"
#include "tests/app/cli_runner.h"
#include "tests/app/small_session.h"
#include "tests/support/shared_data.h"

namespace foxhunt {
namespace {

using nlohmann::json;
using test::run_cli;

// The longest time without a new row while the run was well: what a kill must be allowed beside its one second.
double longest_gap(const std::vector<double>& walls) {
  double gap = 0;
  for (std::size_t i = 1; i < walls.size(); ++i) gap = std::max(gap, walls[i] - walls[i - 1]);
  return gap;
}

void expect_interrupted(const std::filesystem::path& folder, double killed) {
  const json run = run_cli({"runs", "show", "run", "--runs", ".", "--json"}, {.folder = folder}).document();
  EXPECT_EQ(run["status"], "interrupted");
  EXPECT_EQ(run["running"], false);
  EXPECT_EQ(run["problem"], nullptr);
  const auto rows = RunReader::open(folder / "run").rows(RunTable::steps, 0, 10'000'000, {"wall", "step", "bucket"});
  if (!rows.ids.empty()) {
    // A row stands for `bucket` steps when a machine is faster than the stated rate; none is left out.
    double step = 0;
    for (std::size_t i = 0; i < rows.ids.size(); ++i) ASSERT_EQ(rows.values[1][i], step += rows.values[2][i]);
    EXPECT_GE(run["steps"].get<double>(), step);
    EXPECT_LT(killed - rows.values[0].back(), 1 + longest_gap(rows.values[0])) << "more than a second of records lost";
  }
  // Nothing that is listed is gone or half there.
  for (const json& checkpoint : run["checkpoints"]) {
    EXPECT_EQ(checkpoint["problem"], "") << checkpoint;
    const auto inspected = run_cli({"inspect", checkpoint["file"].get<std::string>(), "--json"});
    ASSERT_EQ(inspected.exit_code, 0) << inspected.out;
    EXPECT_EQ(inspected.document()["metadata"]["step"], std::to_string(checkpoint["step"].get<int>()));
  }
}

TEST(Kill, LeavesARunThatOpensWithItsLastCheckpointGood) {
  constexpr unsigned kSeed = 20240501;
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  std::mt19937 random(kSeed);
  std::filesystem::path full, in;
  const auto scratch = test::scratch_folder();               // asked for once: it is emptied each time
  for (int i = 0; i < 6 || (full.empty() && i < 12); ++i) {  // longer ones where the machine is slow
    const auto folder = scratch / std::to_string(i);
    std::filesystem::create_directories(folder);
    test::write_tiny(folder);
    // The first within the first steps, the last after some seconds.
    const double seconds = 0.15 * i * i * std::uniform_real_distribution<>(0.5, 1)(random);
    SCOPED_TRACE(fmt::format("killed {:.3f} s after run.json came", seconds));
    const auto killed =
        run_cli({"train", "--config", "tiny.json", "--run-dir", "run", "--set", "training.epochs=100000", "--json"},
                {.folder = folder, .kill_after = folder / "run" / "run.json", .kill_seconds = seconds});
    ASSERT_EQ(killed.exit_code, 128 + 9) << killed.err;
    expect_interrupted(folder, killed.ended);
    for (const auto& checkpoint : RunReader::open(folder / "run").checkpoints()) {
      if (checkpoint.kind != "full") continue;
      full = checkpoint.file;
      in = folder;
    }
  }
  ASSERT_FALSE(full.empty()) << "no run lived long enough for a full checkpoint";
  const auto evaluated = run_cli({"evaluate", full.string(), "--config", "tiny.json", "--json"}, {.folder = in});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.out;
  EXPECT_TRUE(evaluated.document()["metrics"]["net"].is_number());
  const auto resumed = run_cli({"train", "--config", "tiny.json", "--run-dir", "on", "--set", "training.epochs=100000",
                                "--resume", full.string(), "--max-steps", "10000000", "--json"},
                               {.folder = in, .interrupt_after = in / "on" / "run.json"});
  EXPECT_EQ(resumed.exit_code, 130) << resumed.out << resumed.err;
}

TEST(Kill, TheNextStartSaysSo) {
  const auto folder = test::scratch_folder();
  test::write_tiny(folder);
  const auto killed =
      run_cli({"train", "--config", "tiny.json", "--runs", "runs", "--set", "training.epochs=100000", "--json"},
              {.folder = folder, .kill_after = folder / "runs", .kill_seconds = 1.0});
  ASSERT_EQ(killed.exit_code, 128 + 9);
  const auto next =
      run_cli({"train", "--config", "tiny.json", "--runs", "runs", "--max-steps", "5", "--json"}, {.folder = folder});
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_NE(next.err.find("was interrupted; --resume"), std::string::npos) << next.err;
  const json list = run_cli({"runs", "list", "--runs", "runs", "--json"}, {.folder = folder}).document()["runs"];
  ASSERT_EQ(list.size(), 2u);
  std::vector<std::string> states = {list[0]["status"], list[1]["status"]};
  std::sort(states.begin(), states.end());
  EXPECT_EQ(states, (std::vector<std::string>{"interrupted", "stopped"}));
  for (const json& run : list) EXPECT_GT(run["steps"].get<int>(), 0) << run;
}

}  // namespace
}  // namespace foxhunt
