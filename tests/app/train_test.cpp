// A session from the command line, and what the other commands make of what it leaves: inspect, evaluate, compare,
// runs, watch. Mistakes before it begins leave no run folder.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/app/cli_runner.h"
#include "tests/app/small_session.h"
#include "tests/support/shared_data.h"

namespace foxhunt {
namespace {

using nlohmann::json;
using test::run_cli;
using test::write_small;

// A finished run of two epochs, made once.
struct Finished {
  std::filesystem::path folder, run, last;
  json document;
};
const Finished& finished() {
  static const Finished made = [] {
    Finished f;
    f.folder = test::scratch_root() / "finished";
    std::filesystem::remove_all(f.folder);
    std::filesystem::create_directories(f.folder);
    write_small(f.folder);
    const auto result =
        run_cli({"train", "--config", "small.json", "--run-dir", "run", "--json"}, {.folder = f.folder});
    EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
    f.document = result.document();
    f.run = f.folder / "run";
    f.last = f.document["checkpoints"].back().get<std::string>();
    return f;
  }();
  return made;
}

TEST(Train, DocumentOfAFinishedRun) {
  const json& d = finished().document;
  EXPECT_EQ(d["status"], "finished");
  EXPECT_EQ(d["steps"], 40);
  EXPECT_EQ(std::filesystem::path(d["run_dir"].get<std::string>()), finished().run);
  ASSERT_GE(d["checkpoints"].size(), 1u);
  for (const json& path : d["checkpoints"]) {
    EXPECT_TRUE(std::filesystem::path(path.get<std::string>()).is_absolute());
    EXPECT_TRUE(std::filesystem::exists(path.get<std::string>())) << path;
  }
  ASSERT_EQ(d["folds"].size(), 1u);
  const json& fold = d["folds"][0];
  EXPECT_EQ(fold["index"], 0);
  EXPECT_TRUE(fold["best"]["metrics"].contains("sharpe"));
  EXPECT_TRUE(fold["best"]["step"].is_number_integer());
  EXPECT_TRUE(fold["last"]["metrics"].contains("net"));
  for (const char* baseline : {"flat", "buy_and_hold", "random"})
    EXPECT_TRUE(fold["last"]["baselines"][baseline].contains("net")) << baseline;
}

TEST(Train, TheLastCheckpointIsAFullOne) {
  const auto result = run_cli({"inspect", finished().last.string(), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json d = result.document();
  EXPECT_EQ(d["metadata"]["step"], "40");
  int params = 0, moments = 0;
  for (const json& tensor : d["tensors"]) {
    const std::string name = tensor["name"];
    params += name.starts_with("params.");
    moments += name.starts_with("m.");
    EXPECT_EQ(tensor["nan"].get<int>() + tensor["inf"].get<int>(), 0) << name;
  }
  EXPECT_EQ(params, 95);
  EXPECT_EQ(moments, 95);
}

TEST(Evaluate, ReproducesTheMetricsOfTheBestCheckpoint) {
  std::string best;
  for (const json& path : finished().document["checkpoints"]) {
    if (path.get<std::string>().find("best") != std::string::npos) best = path;
  }
  ASSERT_NE(best, "");
  const auto result = run_cli({"evaluate", best, "--config", "small.json", "--json"}, {.folder = finished().folder});
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  const json d = result.document();
  const json& expected = finished().document["folds"][0]["best"]["metrics"];
  for (const char* name : {"net", "max_drawdown", "trades", "turnover", "costs", "sharpe"})
    EXPECT_EQ(d["metrics"][name], expected[name]) << name;
  EXPECT_EQ(d["equity"].size(), 200u);
  EXPECT_EQ(d["trades"].size(), d["metrics"]["trades"].get<std::size_t>());
  for (const char* baseline : {"flat", "buy_and_hold", "random"})
    EXPECT_TRUE(d["baselines"][baseline]["net"].is_number()) << baseline;
  EXPECT_EQ(run_cli({"evaluate", best, "--config", "small.json"}, {.folder = finished().folder}).exit_code, 0);
}

TEST(Train, TheSameSeedGivesTheSameBitsWithAnotherNumberOfThreads) {
  const auto folder = test::scratch_folder();
  write_small(folder);
  const auto result = run_cli({"train", "--config", "small.json", "--run-dir", "again", "--threads", "1", "--json"},
                              {.folder = folder});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto compared = run_cli(
      {"compare", finished().last.string(), result.document()["checkpoints"].back().get<std::string>(), "--json"});
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_EQ(compared.document()["identical"], true) << compared.out.substr(0, 800);
}

TEST(Train, AnotherSeedGivesOtherBits) {
  const auto folder = test::scratch_folder();
  write_small(folder);
  const auto result = run_cli({"train", "--config", "small.json", "--run-dir", "other", "--set", "seed=8", "--json"},
                              {.folder = folder});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto compared = run_cli(
      {"compare", finished().last.string(), result.document()["checkpoints"].back().get<std::string>(), "--json"});
  EXPECT_EQ(compared.document()["identical"], false);
}

// In the middle of an epoch and at its end.
class Resuming : public ::testing::TestWithParam<int> {};

TEST_P(Resuming, AfterMaxStepsGoesOnToTheSameBits) {
  const auto folder = test::scratch_folder();
  write_small(folder);
  const auto part = run_cli(
      {"train", "--config", "small.json", "--run-dir", "part", "--max-steps", std::to_string(GetParam()), "--json"},
      {.folder = folder});
  ASSERT_EQ(part.exit_code, 0) << part.err;
  EXPECT_EQ(part.document()["status"], "stopped");
  EXPECT_EQ(part.document()["steps"], GetParam());
  const std::string checkpoint = part.document()["checkpoints"].back();
  const auto rest = run_cli({"train", "--config", "small.json", "--run-dir", "rest", "--resume", checkpoint, "--json"},
                            {.folder = folder});
  ASSERT_EQ(rest.exit_code, 0) << rest.err << rest.out;
  EXPECT_EQ(rest.document()["status"], "finished");
  EXPECT_EQ(rest.document()["steps"], 40);
  const auto compared = run_cli(
      {"compare", finished().last.string(), rest.document()["checkpoints"].back().get<std::string>(), "--json"});
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_EQ(compared.document()["identical"], true) << compared.out.substr(0, 800);
}

INSTANTIATE_TEST_SUITE_P(Train, Resuming, ::testing::Values(20, 27));

TEST(Train, CtrlCSavesAndStops) {
  const auto folder = test::scratch_folder();
  write_small(folder);
  const auto result =
      run_cli({"train", "--config", "small.json", "--run-dir", "run", "--set", "training.epochs=1000", "--json"},
              {.folder = folder, .interrupt_after = folder / "run" / "run.json"});
  EXPECT_EQ(result.exit_code, 130) << result.err;
  const json d = result.document();
  EXPECT_EQ(d["status"], "stopped");
  EXPECT_LT(d["steps"].get<int>(), 20'000);
}

TEST(Train, PlainLinesSayHowItStands) {
  const auto folder = test::scratch_folder();
  write_small(folder);
  const auto result =
      run_cli({"train", "--config", "small.json", "--runs", "all", "--max-steps", "10"}, {.folder = folder});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("steps/s"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("stopped"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("\x1b["), std::string::npos);
  const auto quiet =
      run_cli({"train", "--config", "small.json", "--runs", "all", "--max-steps", "10", "--quiet"}, {.folder = folder});
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(run_cli({"runs", "list", "--runs", "all", "--json"}, {.folder = folder}).document()["runs"].size(), 2u);
}

struct Refusal {
  const char* name;
  std::vector<std::string> words;
  const char* field;
};
class Refusals : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refusals, LeaveNoRunFolder) {
  const auto folder = test::scratch_folder();
  write_small(folder);
  std::ofstream(folder / "bars.csv") << "time,open,high,low,close,volume\n2024-01-02 10:00:00,1,2,1,2,5\n";
  std::ofstream(folder / "naive.json") << R"({ "data": { "ohlcv": ["bars.csv"], "order_flow": "absent" } })";
  std::ofstream(folder / "no_flow.json") << R"({ "data": { "ohlcv": ["bars.csv"] } })";
  std::vector<std::string> words = {"train", "--json"};
  words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
  const auto result = run_cli(words, {.folder = folder});
  EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
  EXPECT_EQ(result.error()["field"], GetParam().field) << result.out;
  EXPECT_NE(result.error().value("message", ""), "");
  EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

INSTANTIATE_TEST_SUITE_P(
    Train, Refusals,
    ::testing::Values(
        Refusal{"no_order_flow", {"--config", "no_flow.json"}, "data.mbp10"},
        Refusal{"naive_times", {"--config", "naive.json", "--run-dir", "run"}, "data.timezone"},
        Refusal{"folds_too_long", {"--config", "small.json", "--set", "folds.train_bars=6000"}, "folds.train_bars"},
        Refusal{"no_such_fold", {"--config", "small.json", "--folds", "0-3"}, "--folds"},
        Refusal{"folds_backwards", {"--config", "small.json", "--folds", "2-1"}, "--folds"},
        Refusal{"out_of_range", {"--config", "small.json", "--set", "learner.lr=7"}, "learner.lr"},
        Refusal{"no_device", {"--config", "small.json", "--device", "cuda:9"}, "device"}),
    [](const auto& refusal) { return refusal.param.name; });

TEST(Train, AnotherRunsFolderIsNotTakenOver) {
  const auto result =
      run_cli({"train", "--config", "small.json", "--run-dir", "run", "--json"}, {.folder = finished().folder});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.error().value("file", ""), "");
  EXPECT_TRUE(std::filesystem::exists(finished().last));
}

TEST(Evaluate, AFileThatIsNoCheckpointIsRefused) {
  std::ofstream(finished().folder / "no.safetensors") << "no tensors";
  const auto result =
      run_cli({"evaluate", "no.safetensors", "--config", "small.json", "--json"}, {.folder = finished().folder});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.error().value("file", "").find("no.safetensors"), std::string::npos);
}

TEST(Runs, ListShowAndExport) {
  const auto list = run_cli({"runs", "list", "--runs", ".", "--json"}, {.folder = finished().folder});
  ASSERT_EQ(list.exit_code, 0) << list.err;
  ASSERT_EQ(list.document()["runs"].size(), 1u);
  EXPECT_EQ(list.document()["runs"][0]["id"], "run");
  EXPECT_EQ(list.document()["runs"][0]["status"], "finished");
  const auto show = run_cli({"runs", "show", "run", "--runs", ".", "--json"}, {.folder = finished().folder});
  ASSERT_EQ(show.exit_code, 0) << show.err;
  const json d = show.document();
  EXPECT_EQ(d["configuration"]["training"]["steps_per_epoch"], 20);
  EXPECT_EQ(d["steps"], 40);
  EXPECT_GE(d["checkpoints"].size(), 1u);
  EXPECT_GE(d["evaluations"].size(), 2u);
  EXPECT_EQ(run_cli({"runs", "show", "run", "--runs", "."}, {.folder = finished().folder}).exit_code, 0);
  for (const char* format : {"csv", "json", "tensorboard"}) {
    const auto out = finished().folder / "exports" / format;
    const auto exported =
        run_cli({"runs", "export", "run", "--runs", ".", "--format", format, "--out", out.string(), "--json"},
                {.folder = finished().folder});
    ASSERT_EQ(exported.exit_code, 0) << exported.err;
    EXPECT_GE(exported.document()["files"].size(), 2u) << format;
    for (const json& file : exported.document()["files"])
      EXPECT_TRUE(std::filesystem::exists(file.get<std::string>())) << file;
  }
  const auto unknown = run_cli({"runs", "show", "ran", "--runs", ".", "--json"}, {.folder = finished().folder});
  EXPECT_EQ(unknown.exit_code, 2);
}

TEST(Watch, OfAFinishedRunSaysHowItEnded) {
  const auto result = run_cli({"watch", "run", "--runs", ".", "--json"}, {.folder = finished().folder});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.document()["status"], "finished");
  EXPECT_EQ(result.document()["steps"], 40);
  const auto text = run_cli({"watch", "run", "--runs", "."}, {.folder = finished().folder});
  EXPECT_NE(text.out.find("finished"), std::string::npos) << text.out;
}

TEST(Train, TheRealTrioOfOneSecondBars) {
  FH_NEEDS_SHARED("data/es_derived/esh4_20231225.ohlcv-1s.v3.dbn.zst");
  const auto folder = test::scratch_folder();
  const std::string base = test::shared("data/es_derived/esh4_20231225.").lexically_normal().string();
  const json config = {{"data",
                        {{"ohlcv", {base + "ohlcv-1s.v3.dbn.zst"}},
                         {"mbp10", {base + "mbp-10.v3.dbn.zst"}},
                         {"trades", {base + "trades.v3.dbn.zst"}},
                         {"symbol", "ESH4"}}},
                       {"instrument", "ES"},
                       {"folds", {{"count", 1}, {"train_bars", 500}, {"validation_bars", 200}}},
                       {"training", {{"epochs", 1}, {"steps_per_epoch", 20}, {"batch", 16}}},
                       {"device", "cpu"}};
  std::ofstream(folder / "es.json") << config.dump();
  const auto result = run_cli({"train", "--config", "es.json", "--run-dir", "run", "--json"}, {.folder = folder});
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  const json d = result.document();
  const std::string last = d["checkpoints"].back();
  const auto evaluated = run_cli({"evaluate", last, "--config", "es.json", "--json"}, {.folder = folder});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_EQ(evaluated.document()["metrics"]["net"], d["folds"][0]["last"]["metrics"]["net"]);
}

}  // namespace
}  // namespace foxhunt
