// What stands beside training: live TensorBoard files, a watcher in another process, the behaviour of two checkpoints.
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "tests/app/cli_runner.h"
#include "tests/app/small_session.h"
#include "tests/support/shared_data.h"

namespace foxhunt {
namespace {

using nlohmann::json;
using test::run_cli;

// Length and check-free reading of TFRecord frames: count of events, and the steps they carry in order.
std::size_t events_in(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::size_t at = 0, count = 0;
  while (at + 12 <= bytes.size()) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, 8);
    at += 12 + length + 4;
    ++count;
  }
  EXPECT_EQ(at, bytes.size()) << "a torn frame in " << file;
  return count;
}

std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> out;
  if (!std::filesystem::exists(folder)) return out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

TEST(TensorBoard, IsWrittenWhileTrainingWithFoldsAsSubRuns) {
  const auto folder = test::scratch_folder();
  test::write_tiny(folder);
  const auto result = run_cli({"train", "--config", "tiny.json", "--run-dir", "run", "--tensorboard", "--set",
                               "folds.count=2", "--set", "data.simulated.bars=2000", "--json"},
                              {.folder = folder});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto files = event_files(folder / "run" / "tensorboard");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].parent_path(), folder / "run" / "tensorboard" / "run" / "fold-0");
  EXPECT_EQ(files[1].parent_path(), folder / "run" / "tensorboard" / "run" / "fold-1");
  // A row an event, the version first: as many as an export made afterwards writes.
  const auto exported =
      run_cli({"runs", "export", "run", "--runs", ".", "--format", "tensorboard", "--out", "out", "--json"},
              {.folder = folder});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const auto after = event_files(folder / "out");
  ASSERT_EQ(after.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(events_in(files[i]), 40u);
    EXPECT_EQ(events_in(files[i]), events_in(after[i]));
  }
}

TEST(TensorBoard, IsThereBeforeTheEnd) {
  const auto folder = test::scratch_folder();
  test::write_tiny(folder);
  const auto killed = run_cli({"train", "--config", "tiny.json", "--run-dir", "run", "--tensorboard", "--set",
                               "training.epochs=100000", "--json"},
                              {.folder = folder, .kill_after = folder / "run" / "tensorboard", .kill_seconds = 0.3});
  ASSERT_EQ(killed.exit_code, 128 + 9);
  EXPECT_FALSE(event_files(folder / "run" / "tensorboard").empty());
}

TEST(Watch, FollowsARunOfAnotherProcess) {
  const auto folder = test::scratch_folder();
  test::write_tiny(folder);
  test::CliResult trained;
  std::thread training([&] {
    trained = run_cli({"train", "--config", "tiny.json", "--run-dir", "run", "--set", "training.epochs=60", "--json"},
                      {.folder = folder});
  });
  while (!std::filesystem::exists(folder / "run" / "run.json"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto watched = run_cli({"watch", "run", "--runs", ".", "--json"}, {.folder = folder});
  training.join();
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  ASSERT_EQ(watched.exit_code, 0) << watched.err;
  const json d = watched.document();
  EXPECT_EQ(d["status"], "finished");
  EXPECT_EQ(d["steps"], 1200);
  EXPECT_GT(d["events"].get<int>(), 60) << "each epoch's validation at least";
  EXPECT_GT(d["looks"].get<int>(), 1);
}

TEST(Watch, PrintsEventsAndSteps) {
  const auto folder = test::scratch_folder();
  test::write_tiny(folder);
  ASSERT_EQ(run_cli({"train", "--config", "tiny.json", "--run-dir", "run", "--json"}, {.folder = folder}).exit_code, 0);
  const auto text = run_cli({"watch", "run", "--runs", "."}, {.folder = folder});
  EXPECT_EQ(text.exit_code, 0);
  for (const char* part : {"fold 1 epoch 2: validation net", "step 40", "loss", "finished"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << " in " << text.out;
  EXPECT_EQ(text.out.find('\r'), std::string::npos) << "no terminal";
}

struct Pair {
  std::filesystem::path folder;
  std::string first, second;  // checkpoints of 20 and 40 steps
};
Pair two_checkpoints() {
  Pair p;
  p.folder = test::scratch_folder();
  test::write_tiny(p.folder);
  const auto part = run_cli({"train", "--config", "tiny.json", "--run-dir", "a", "--max-steps", "20", "--json"},
                            {.folder = p.folder});
  const auto whole = run_cli({"train", "--config", "tiny.json", "--set", "learner.lr=0.01", "--run-dir", "b", "--json"},
                             {.folder = p.folder});
  EXPECT_EQ(part.exit_code + whole.exit_code, 0) << part.err << whole.err;
  p.first = part.document()["checkpoints"].back();
  p.second = whole.document()["checkpoints"].back();
  return p;
}

TEST(Compare, BehaviourOfTwoCheckpoints) {
  const Pair p = two_checkpoints();
  const auto same = run_cli({"compare", p.first, p.first, "--probe", "tiny.json", "--json"}, {.folder = p.folder});
  ASSERT_EQ(same.exit_code, 0) << same.out;
  const json equal = same.document()["behaviour"];
  EXPECT_EQ(same.document()["identical"], true);
  EXPECT_EQ(equal["agreement"], 1);
  EXPECT_EQ(equal["states"], 100) << "the validation window's bars";
  for (const json& branch : equal["branches"]) {
    EXPECT_EQ(branch["q_max_abs"], 0);
    EXPECT_EQ(branch["actions_a"], branch["actions_b"]);
  }
  const auto other = run_cli({"compare", p.first, p.second, "--probe", "tiny.json", "--json"}, {.folder = p.folder});
  ASSERT_EQ(other.exit_code, 0) << other.out;
  const json d = other.document()["behaviour"];
  ASSERT_EQ(d["branches"].size(), 4u);
  std::vector<std::string> names;
  double least = 1;
  for (const json& branch : d["branches"]) {
    names.push_back(branch["name"]);
    least = std::min(least, branch["agreement"].get<double>());
    EXPECT_GT(branch["q_mean_abs"].get<double>(), 0);
    EXPECT_GE(branch["q_max_abs"].get<double>(), branch["q_mean_abs"].get<double>());
    for (const char* side : {"actions_a", "actions_b"}) {
      double sum = 0;
      for (const json& share : branch[side]) sum += share.get<double>();
      EXPECT_NEAR(sum, 1, 1e-9) << side;
    }
    // The mean difference of Q bounds that of the means.
    EXPECT_LE(std::abs(branch["q_mean_b"].get<double>() - branch["q_mean_a"].get<double>()),
              branch["q_mean_abs"].get<double>() + 1e-9);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"direction", "magnitude", "order", "urgency"}));
  EXPECT_LE(d["agreement"].get<double>(), least + 1e-9) << "all branches agree at most as often as one";
  const auto text = run_cli({"compare", p.first, p.second, "--probe", "tiny.json"}, {.folder = p.folder});
  EXPECT_NE(text.out.find("all branches agree in"), std::string::npos) << text.out;
  EXPECT_FALSE(
      run_cli({"compare", p.first, p.second, "--json"}, {.folder = p.folder}).document().contains("behaviour"));
}

TEST(Compare, ProbeNeedsWhatEvaluationNeeds) {
  const Pair p = two_checkpoints();
  const auto folds = run_cli({"compare", p.first, p.second, "--probe", "absent.json", "--json"}, {.folder = p.folder});
  EXPECT_EQ(folds.exit_code, 2);
  const auto set = run_cli({"compare", p.first, p.second, "--set", "seed=3", "--json"}, {.folder = p.folder});
  EXPECT_EQ(set.exit_code, 2);
  EXPECT_EQ(set.error()["field"], "--set");
}

}  // namespace
}  // namespace foxhunt
