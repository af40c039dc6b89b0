// Scripted sessions of the reference environment through the kernels, and what is refused.
#include "engine/environment/verify_environment.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "tests/environment/test_market.h"
#include "tests/support/shared_data.h"

namespace foxhunt {
namespace {

using nlohmann::json;

json load(const std::string& name) {
  return json::parse(std::ifstream(test::shared("reference/fixtures/" + name)));
}

std::filesystem::path save(const json& document) {
  const auto path = test::scratch_folder() / "session.json";
  std::ofstream(path) << document.dump();
  return path;
}

class Fixtures : public ::testing::TestWithParam<const char*> {};

TEST_P(Fixtures, Pass) {
  const std::string name = std::string("reference/fixtures/environment-") + GetParam() + ".json";
  FH_NEEDS_SHARED(name);
  const auto device = test::cpu();
  const auto result = verify_environment(*device, test::shared(name));
  EXPECT_TRUE(result.passed) << verify_environment_json(result).dump();
  EXPECT_GT(result.rows, 2);
  EXPECT_EQ(result.rows, static_cast<std::int64_t>(
                             load(std::string("environment-") + GetParam() + ".json")["expected"]["rows"].size()));
}

INSTANTIATE_TEST_SUITE_P(Environment, Fixtures, ::testing::Values("es-book", "mes-bars-only", "crypto-lots", "ruin"),
                         [](const auto& fixture) {
                           std::string name = fixture.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

struct Change {
  const char* pointer;
  json value;
  const char* what;  // of the worst difference
};

TEST(VerifyEnvironment, DifferencesAreFound) {
  FH_NEEDS_SHARED("reference/fixtures/environment-es-book.json");
  const auto device = test::cpu();
  const json good = load("environment-es-book.json");
  const Change changes[] = {
      {"/expected/rows/3/fills/0/1", 4, "fill 0 size"},
      {"/expected/rows/3/fills/0/0", "limit", "fill 0 kind"},
      {"/expected/rows/3/fills/0/2", 3993.25, "fill 0 price"},
      {"/expected/rows/3/costs", 24.76, "costs"},
      {"/expected/rows/3/closed/0", 419.3, "closed trade 0"},
      {"/expected/rows/7/position", 1000, "position"},
      {"/expected/rows/7/equity", 1e6, "equity"},
      {"/expected/rows/9/parts/drawdown", -77.0, "parts.drawdown"},
      {"/expected/rows/9/reward", 1.0, "reward"},
      {"/expected/rows/258/done", true, "done"},
      {"/expected/end/equity", -8234.0, "end: equity"},
      {"/expected/end/fills/0/2", 4004.75, "end: fill 0 price"},
      {"/expected/metrics/sharpe", -85.443, "metrics.sharpe"},
      {"/expected/metrics/cost_share", 0.5, "metrics.cost_share"},
      {"/expected/metrics/psr", nullptr, "metrics.psr"},
  };
  for (const Change& change : changes) {
    json bad = good;
    ASSERT_TRUE(bad.contains(json::json_pointer(change.pointer))) << change.pointer;
    bad[json::json_pointer(change.pointer)] = change.value;
    const auto result = verify_environment(*device, save(bad));
    EXPECT_FALSE(result.passed) << change.pointer;
    EXPECT_EQ(result.worst.what, change.what);
    EXPECT_EQ(result.worst.expected, change.value) << change.pointer;
  }
}

TEST(VerifyEnvironment, WrongFixturesAreRefusedByField) {
  FH_NEEDS_SHARED("reference/fixtures/environment-es-book.json");
  const auto device = test::cpu();
  const json good = load("environment-es-book.json");
  const auto refused = [&](const char* field, const auto& edit) {
    json bad = good;
    edit(bad);
    try {
      verify_environment(*device, save(bad));
      ADD_FAILURE() << field << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.place().field, field) << error.sentence();
      EXPECT_NE(std::string(error.what()).find(field), std::string::npos) << error.what();
      EXPECT_FALSE(error.place().file.empty());
    }
  };
  refused("expected", [](json& d) { d.erase("expected"); });
  refused("session.kelly", [](json& d) { d["session"].erase("kelly"); });
  refused("session.kelly", [](json& d) { d["session"]["kelly"].erase(5); });
  refused("session.actions", [](json& d) { d["session"]["actions"].erase(5); });
  refused("session.bars", [](json& d) { d["session"]["bars"] = json::array(); });
  refused("session.bars[3].close", [](json& d) { d["session"]["bars"][3].erase("close"); });
  refused("session.bars[3].close", [](json& d) { d["session"]["bars"][3]["close"] = "12"; });
  refused("session.bars[3].close", [](json& d) { d["session"]["bars"][3]["close"] = nullptr; });
  refused("session.bars[3]", [](json& d) { d["session"]["bars"][3]["clsoe"] = 1; });
  refused("session.bars[4].bids[0]", [](json& d) { d["session"]["bars"][4]["bids"][0] = {1, 2, 3}; });
  refused("session.bars[4].bids", [](json& d) { d["session"]["bars"][4]["bids"] = json(11, json{1, 2}); });
  refused("session.actions[7]", [](json& d) { d["session"]["actions"][7] = {1, 2, 0}; });
  refused("session.actions[7][1]", [](json& d) { d["session"]["actions"][7] = {1, 3, 0, 0}; });
  refused("session.actions[7][0]", [](json& d) { d["session"]["actions"][7] = {1.5, 2, 0, 0}; });
  refused("session.rules.max_position", [](json& d) { d["session"]["rules"]["max_position"] = 0.5; });
  refused("session.rules.capital", [](json& d) { d["session"]["rules"]["capital"] = 0; });
  refused("session.contract.tick", [](json& d) { d["session"]["contract"]["tick"] = 0; });
  refused("session.contract.lot", [](json& d) { d["session"]["contract"]["lot"] = -1; });
  refused("session.trials", [](json& d) { d["session"]["trials"] = 0; });
  refused("expected.rows", [](json& d) { d["expected"]["rows"].erase(100); });
  refused("expected.rows[2].parts.trail", [](json& d) { d["expected"]["rows"][2]["parts"].erase("trail"); });
  refused("expected.metrics.dsr", [](json& d) { d["expected"]["metrics"].erase("dsr"); });
}

TEST(VerifyEnvironment, NumbersThatAreNotFiniteAreRefused) {
  FH_NEEDS_SHARED("reference/fixtures/environment-es-book.json");
  const auto device = test::cpu();
  std::string text = load("environment-es-book.json").dump();
  const auto at = text.find("\"atr\":") + 6;
  for (const char* value : {"NaN", "Infinity", "1e999"}) {
    std::string bad = text;
    bad.replace(at, bad.find(',', at) - at, value);
    const auto path = test::scratch_folder() / "session.json";
    std::ofstream(path) << bad;
    EXPECT_THROW(verify_environment(*device, path), Error) << value;
  }
  EXPECT_THROW(verify_environment(*device, test::scratch_folder() / "absent.json"), Error);
}

}  // namespace
}  // namespace foxhunt
