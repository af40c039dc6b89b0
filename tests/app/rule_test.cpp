// A rule over three recorded runs through the program, against the values that the runs themselves hold.
#include <gtest/gtest.h>

#include "engine/run/run_reader.h"
#include "tests/app/cli_runner.h"
#include "tests/app/small_session.h"
#include "tests/support/shared_data.h"

namespace foxhunt {
namespace {

using nlohmann::json;
using test::run_cli;

TEST(RunsRule, SaysWhenEachOfThreeRunsWouldHaveFired) {
  const auto folder = test::scratch_folder();
  test::write_tiny(folder);
  for (int seed = 1; seed <= 3; ++seed) {
    const auto trained =
        run_cli({"train", "--config", "tiny.json", "--run-dir", fmt::format("runs/run{}", seed), "--set",
                 fmt::format("seed={}", seed), "--set", "telemetry.diag_interval=5", "--json"},
                {.folder = folder});
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }
  // The bound is the largest loss of the first run: it is never above it, the others where they are.
  std::vector<std::vector<double>> losses;
  for (int seed = 1; seed <= 3; ++seed)
    losses.push_back(RunReader::open(folder / fmt::format("runs/run{}", seed))
                         .rows(RunTable::steps, 0, 1000, {"loss_total"})
                         .values[0]);
  const double bound = *std::max_element(losses[0].begin(), losses[0].end());
  const std::string rule = fmt::format("step loss.total above {}, cool_down 0", bound);
  const auto tested = run_cli({"runs", "rule", rule, "--json"}, {.folder = folder});
  ASSERT_EQ(tested.exit_code, 0) << tested.err;
  const json document = tested.document();
  ASSERT_EQ(document.at("runs").size(), 3u);
  for (const json& run : document.at("runs")) {
    const auto number = static_cast<std::size_t>(run.at("run").get<std::string>().back() - '1');
    std::vector<std::uint64_t> expected;
    for (std::size_t i = 0; i < losses[number].size(); ++i)
      if (losses[number][i] > bound) expected.push_back(i + 1);
    std::vector<std::uint64_t> fired;
    for (const json& event : run.at("events")) fired.push_back(event.at("step"));
    EXPECT_EQ(fired, expected) << run.dump();
    EXPECT_EQ(run.at("fired"), expected.size());
    EXPECT_EQ(run.at("samples"), losses[number].size());
    EXPECT_EQ(run.at("first").is_null(), expected.empty());
  }

  // In words, of two of them, and of one that is none.
  const auto words =
      run_cli({"runs", "rule", "health progress.step above 9", "--in", "run1", "run3"}, {.folder = folder});
  ASSERT_EQ(words.exit_code, 0) << words.err;
  EXPECT_NE(words.out.find("run1"), std::string::npos) << words.out;
  EXPECT_EQ(words.out.find("run2"), std::string::npos);
  EXPECT_NE(words.out.find("first step"), std::string::npos);
  const auto wrong = run_cli({"runs", "rule", "step loss.totel above 1", "--json"}, {.folder = folder});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.error().at("message").get<std::string>().find("did you mean \"loss.total\"?"), std::string::npos);
}

// A configuration with a wrong rule is refused with file, line and field before there is a run.
TEST(RunsRule, AWrongOneInTheConfigurationNamesItsPlace) {
  const auto folder = test::scratch_folder();
  std::ofstream(folder / "ruled.json") << "{ \"data\": { \"simulated\": { \"bars\": 1200 } },\n"
                                          "  \"rules\": [\"signal risk.exposure above 0.9\",\n"
                                          "            \"step td.mean rises 3 sigma over\"] }";
  const auto result = run_cli({"train", "--config", "ruled.json", "--run-dir", "run", "--json"}, {.folder = folder});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.error().at("line"), 3);
  EXPECT_EQ(result.error().at("field"), "rules[1]");
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

}  // namespace
}  // namespace foxhunt
