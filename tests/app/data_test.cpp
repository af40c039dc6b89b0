// simulate and data: one document with the agreed names, each input alone, overrides, damaged files.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/app/cli_runner.h"
#include "tests/support/shared_data.h"

namespace foxhunt {
namespace {

using nlohmann::json;
using test::run_cli;

void expect_members(const json& document, const std::vector<const char*>& names) {
  for (const char* name : names)
    EXPECT_TRUE(document.contains(name)) << name << " in " << document.dump().substr(0, 300);
}

const std::vector<const char*> kDataNames = {"bars",     "first",     "last",     "symbol", "order_flow",
                                             "inferred", "anomalies", "warnings", "folds"};

// 600 one-minute bars of the simulator, made once.
const std::filesystem::path& simulated() {
  static const std::filesystem::path folder = [] {
    const auto made = test::scratch_root() / "simulated";
    std::filesystem::remove_all(made);
    const auto result = run_cli({"simulate", "--out", made.string(), "--bars", "600", "--seed", "3", "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return made;
  }();
  return folder;
}

std::vector<std::string> trio() {
  const auto& f = simulated();
  return {"--ohlcv",  (f / "bars.dbn.zst").string(),  "--mbp10", (f / "book.dbn.zst").string(),
          "--trades", (f / "trades.dbn.zst").string()};
}

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(Simulate, WritesTheThreeInputsAndTheSameSeedTheSameBytes) {
  const auto folder = test::scratch_folder();
  const auto again = run_cli({"simulate", "--out", folder.string(), "--bars", "600", "--seed", "3", "--json"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.document()["bars"], 600);
  EXPECT_EQ(again.document()["seed"], 3);
  for (const char* name : {"bars.dbn.zst", "book.dbn.zst", "trades.dbn.zst"}) {
    std::ifstream a(simulated() / name, std::ios::binary), b(folder / name, std::ios::binary);
    const std::string first((std::istreambuf_iterator<char>(a)), {}), second((std::istreambuf_iterator<char>(b)), {});
    EXPECT_GT(first.size(), 1000u);
    EXPECT_TRUE(first == second) << name;
  }
}

TEST(Simulate, InterruptedItLeavesNothing) {
  const auto folder = test::scratch_folder() / "new";
  const auto result =
      run_cli({"simulate", "--out", folder.string(), "--bars", "50000000", "--json"}, {.interrupt_after = folder});
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_TRUE(result.document().contains("error"));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(Data, ReadsTheTrioOfTheSimulator) {
  const auto result = run_cli(joined({"data", "--json", "--set", "folds.count=1", "--set", "folds.train_bars=200",
                                      "--set", "folds.validation_bars=100"},
                                     trio()));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json d = result.document();
  expect_members(d, kDataNames);
  EXPECT_EQ(d["bars"], 600);
  EXPECT_EQ(d["symbol"], "SIM");
  EXPECT_EQ(d["order_flow"], "required");
  EXPECT_EQ(d["first"], "2024-01-07T23:00:00Z");
  ASSERT_EQ(d["folds"].size(), 1u);
  const json fold = d["folds"][0];
  expect_members(fold, {"train", "gap", "validation"});
  EXPECT_EQ(fold["train"][1].get<int>() - fold["train"][0].get<int>(), 200);
  EXPECT_EQ(fold["gap"][0], fold["train"][1]);
  EXPECT_EQ(fold["validation"][0], fold["gap"][1]);
  ASSERT_EQ(d["features"].size(), 72u);
  for (const json& f : d["features"]) expect_members(f, {"name", "group", "unit", "mean", "std", "min", "max"});
  const auto text = run_cli(joined({"data"}, trio()));
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.out.find("600 bars of SIM"), std::string::npos);
}

TEST(Data, TakesEachInputAlone) {
  const std::vector<std::string> all = trio();
  for (std::size_t i = 0; i < all.size(); i += 2) {
    const auto result = run_cli({"data", all[i], all[i + 1], "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const json d = result.document();
    expect_members(d, kDataNames);
    EXPECT_EQ(d["order_flow"], "absent");
    EXPECT_EQ(d["symbol"], "SIM");
    if (i == 0) {
      EXPECT_EQ(d["bars"], 600);
      continue;
    }
    EXPECT_EQ(d["bars"], 0);
    EXPECT_GT(d["records"][all[i].substr(2)].get<int>(), 600);
    EXPECT_EQ(d["first"].get<std::string>().substr(0, 10), "2024-01-07");
  }
}

TEST(Data, OrderFlowThatIsAskedForMustBeThere) {
  const auto result =
      run_cli({"data", "--ohlcv", (simulated() / "bars.dbn.zst").string(), "--order-flow", "required", "--json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.error()["field"], "data.mbp10");
}

TEST(Data, FoldsThatDoNotFitAreAWarning) {
  const json d = run_cli(joined({"data", "--json"}, trio())).document();
  EXPECT_TRUE(d["folds"].empty());
  bool told = false;
  for (const json& warning : d["warnings"]) told |= warning.value("message", "").find("6000") != std::string::npos;
  EXPECT_TRUE(told) << d["warnings"];
}

TEST(Data, ConfigurationAndOverrides) {
  const auto folder = test::scratch_folder();
  std::ofstream(folder / "c.json") << R"({ "data": { "simulated": { "bars": 1200, "seed": 5 } }, // a comment
    "folds": { "count": 2, "train_bars": 400, "validation_bars": 150 }, "evaluation": { "windows": 4 } })";
  const auto plain = run_cli({"data", "--config", "c.json", "--json"}, {.folder = folder});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.document()["bars"], 1200);
  EXPECT_EQ(plain.document()["folds"].size(), 2u);
  const auto changed =
      run_cli({"data", "--config", "c.json", "--set", "data.simulated.bars=1000", "--set", "folds.count=1", "--json"},
              {.folder = folder});
  EXPECT_EQ(changed.document()["bars"], 1000);
  EXPECT_EQ(changed.document()["folds"].size(), 1u);
}

TEST(Data, NaiveTimesNeedAZone) {
  FH_NEEDS_SHARED("data/ohlcv/ES_5min_202602-202604.csv.zst");
  const std::string file = test::shared("data/ohlcv/ES_5min_202602-202604.csv.zst").string();
  const auto refused = run_cli({"data", "--ohlcv", file, "--json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.error().value("file", "").find("ES_5min"), std::string::npos) << refused.out;
  const auto read = run_cli({"data", "--ohlcv", file, "--timezone", "America/New_York", "--json"});
  ASSERT_EQ(read.exit_code, 0) << read.err;
  EXPECT_EQ(read.document()["bars"].get<int>() > 13'000, true);
  EXPECT_GT(read.document()["anomalies"].size(), 0u);
}

TEST(Data, RealTrioOfOneSecondBars) {
  FH_NEEDS_SHARED("data/es_derived/esh4_20231225.ohlcv-1s.v3.dbn.zst");
  const std::string base = test::shared("data/es_derived/esh4_20231225.").string();
  const auto result = run_cli({"data", "--ohlcv", base + "ohlcv-1s.v3.dbn.zst", "--mbp10", base + "mbp-10.v3.dbn.zst",
                               "--trades", base + "trades.v3.dbn.zst", "--symbol", "ESH4", "--set", "folds.count=1",
                               "--set", "folds.train_bars=500", "--set", "folds.validation_bars=200", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json d = result.document();
  EXPECT_EQ(d["bars"], 986);
  EXPECT_EQ(d["symbol"], "ESH4");
  EXPECT_EQ(d["order_flow"], "required");
  EXPECT_EQ(d["folds"].size(), 1u);
}

TEST(Data, DamagedFilesAreRefusedWithTheirPlace) {
  FH_NEEDS_SHARED("data/dbn_malformed");
  for (const char* name : {"only_magic.dbn", "version_255.dbn", "zstd_truncated.dbn.zst", "symbols_count_huge.dbn"}) {
    const auto result =
        run_cli({"data", "--trades", test::shared(std::string("data/dbn_malformed/") + name).string(), "--json"});
    EXPECT_TRUE(result.exit_code == 1 || result.exit_code == 2) << name << " " << result.exit_code;
    const json error = result.error();
    EXPECT_NE(error.value("message", ""), "") << name;
    EXPECT_NE(error.value("file", "").find(name), std::string::npos) << name;
    EXPECT_TRUE(error.contains("offset")) << name << error.dump();
  }
}

TEST(Data, CutFilesAreReadUpToThereWithAWarning) {
  FH_NEEDS_SHARED("data/dbn_malformed/truncated_mid_record.dbn");
  const auto result =
      run_cli({"data", "--trades", test::shared("data/dbn_malformed/truncated_mid_record.dbn").string(), "--json"});
  if (result.exit_code != 0) {  // not of trades: then the other input
    EXPECT_NE(result.error().value("message", ""), "");
    const auto book =
        run_cli({"data", "--mbp10", test::shared("data/dbn_malformed/truncated_mid_record.dbn").string(), "--json"});
    ASSERT_EQ(book.exit_code, 0) << book.out;
    ASSERT_FALSE(book.document()["warnings"].empty());
    expect_members(book.document()["warnings"][0], {"message", "file", "offset"});
    return;
  }
  ASSERT_FALSE(result.document()["warnings"].empty());
  expect_members(result.document()["warnings"][0], {"message", "file", "offset"});
}

}  // namespace
}  // namespace foxhunt
