// Reading of configurations: defaults, overrides, paths, and what each mistake is told.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/config/config_fields.h"
#include "engine/config/load_config.h"
#include "tests/support/shared_data.h"

namespace foxhunt {
namespace {

Config parse(std::string_view text, const std::vector<std::string>& sets = {}) {
  return parse_config(text, "run.json", "/data/here", sets);
}

constexpr const char* kSmall =
    R"({ "data": { "ohlcv": ["bars.dbn.zst"], "mbp10": ["/abs/book.dbn.zst"], "trades": ["../trades.dbn.zst"],
            "symbol": "ESH4", "order_flow": "required", "timezone": "UTC" },
  "instrument": "ES", // the big one
  "folds": { "count": 3, "scheme": "rolling", "train_bars": 6000, "validation_bars": 1500 },
  "training": { "epochs": 4, "steps_per_epoch": 1000, "batch": 64 },
  "device": "auto", "seed": 7 })";

TEST(ParseConfig, ReadsTheSmallDocumentOfTheSpecification) {
  const Config config = parse(kSmall);
  EXPECT_EQ(config.data.ohlcv, std::vector<std::string>{"/data/here/bars.dbn.zst"});
  EXPECT_EQ(config.data.mbp10, std::vector<std::string>{"/abs/book.dbn.zst"});
  EXPECT_EQ(config.data.trades, std::vector<std::string>{"/data/trades.dbn.zst"});
  EXPECT_EQ(config.data.symbol, "ESH4");
  EXPECT_EQ(config.training.epochs, 4);
  EXPECT_EQ(config.seed, 7U);
  EXPECT_TRUE(std::isnan(config.contract.tick));
  EXPECT_FALSE(config.data.simulated);
  check_training_config(config);
}

TEST(ParseConfig, EmptyDocumentGivesTheDefaults) {
  const Config config = parse("{}");
  for (const Field& field : config_fields()) EXPECT_TRUE(is_default(config, field)) << field.path;
  EXPECT_EQ(config_hash(config), config_hash(Config{}));
}

TEST(ParseConfig, SimulatedSectionIsAbsentUnlessGiven) {
  const Config config = parse(R"({"data": {"simulated": {"bars": 30000}}})");
  ASSERT_TRUE(config.data.simulated);
  EXPECT_EQ(config.data.simulated->bars, 30000);
  EXPECT_EQ(config.data.simulated->seed, 1U);
  EXPECT_TRUE(parse(R"({"data": {"simulated": {}}})").data.simulated);
  EXPECT_FALSE(parse(R"({"data": {"simulated": null}})").data.simulated);
  EXPECT_TRUE(parse("{}", {"data.simulated={}"}).data.simulated);
  EXPECT_EQ(parse("{}", {"data.simulated.seed=9"}).data.simulated->seed, 9U);
  EXPECT_FALSE(parse(R"({"data": {"simulated": {}}})", {"data.simulated=null"}).data.simulated);
  check_training_config(config);
}

TEST(ParseConfig, OneSignCannotBeDecimalAndGrouping) {
  EXPECT_EQ(parse("{}", {"data.decimal_sign=,", "data.thousands_sign=."}).data.decimal_sign, ",");
  try {
    parse("{}", {"data.decimal_sign=,", "data.thousands_sign=,"});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.place().field, "data.thousands_sign");
  }
  EXPECT_THROW(parse("{}", {"data.thousands_sign=_"}), Error);
}

TEST(ParseConfig, OverridesComeAfterTheFileInOrder) {
  const Config config = parse(
      kSmall, {"training.batch=32", "learner.lr=3e-4", "training.batch=128", "data.symbol=ES.c.0",
               "data.order_flow=absent", "learner.gamma=[0.9,0.9,0.8,0.8]", "contract.tick=0.5",
               "seed=18446744073709551615", "data.mbp10=", "data.ohlcv=other file.csv", R"(folds.table="folds.json")"});
  EXPECT_EQ(config.training.batch, 128);
  EXPECT_EQ(config.learner.lr, 3e-4);
  EXPECT_EQ(config.data.symbol, "ES.c.0");
  EXPECT_EQ(config.data.order_flow, "absent");
  EXPECT_EQ(config.learner.gamma, (std::vector<double>{0.9, 0.9, 0.8, 0.8}));
  EXPECT_EQ(config.contract.tick, 0.5);
  EXPECT_EQ(config.seed, 18446744073709551615ULL);
  EXPECT_TRUE(config.data.mbp10.empty());
  EXPECT_EQ(config.data.ohlcv, std::vector<std::string>{"/data/here/other file.csv"});
  EXPECT_EQ(config.folds.table, "/data/here/folds.json");
  EXPECT_TRUE(std::isnan(parse(R"({"contract": {"tick": 0.5}})", {"contract.tick=null"}).contract.tick));
}

TEST(ParseConfig, ReadsAFileAndResolvesAgainstItsFolder) {
  const auto folder = test::scratch_folder();
  std::ofstream(folder / "c.json") << R"({"data": {"ohlcv": ["bars.csv"]}})";
  EXPECT_EQ(load_config(folder / "c.json").data.ohlcv.at(0), (folder / "bars.csv").string());
  EXPECT_THROW(load_config(folder / "absent.json"), Error);
  EXPECT_THROW(load_config(folder), Error);
}

TEST(ParseConfig, JsonReadsBackToTheSame) {
  const Config config = parse(kSmall, {"contract.lot=0.1", "learner.lr=0.00031", "environment.kelly_floor=0.1"});
  const std::string text = to_json(config).dump(2);
  const Config again = parse_config(text, "again.json", "/elsewhere");
  EXPECT_EQ(to_json(again).dump(), to_json(config).dump());
  EXPECT_EQ(config_hash(again), config_hash(config));
  EXPECT_NE(config_hash(again), config_hash(Config{}));
  const Config simulated = parse("{}", {"data.simulated.edge=0"});
  EXPECT_EQ(to_json(parse(to_json(simulated).dump())).dump(), to_json(simulated).dump());
  // Every field of the table stands in the document.
  const auto document = nlohmann::json::parse(text);
  for (const Field& field : config_fields()) {
    std::string pointer = "/" + (field.optional_section.empty() ? field.path : field.optional_section);
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    EXPECT_TRUE(document.contains(nlohmann::json::json_pointer(pointer))) << field.path;
  }
}

TEST(ParseConfig, TextOfEveryFieldSetsTheFieldAgain) {
  const Config config = parse(kSmall, {"contract.lot=0.1", "learner.lr=0.00031", "data.date=2024-02-29"});
  Config copy;
  for (const Field& field : config_fields()) {
    if (field.optional_section.empty()) set_field(copy, field.path, field_text(config, field));
  }
  EXPECT_EQ(to_json(copy).dump(), to_json(config).dump());
}

TEST(ParseConfig, SetFieldLeavesTheConfigurationWhenItFails) {
  Config config;
  const std::string before = to_json(config).dump();
  EXPECT_THROW(set_field(config, "training.batch", "0"), Error);
  EXPECT_THROW(set_field(config, "learner.groups", R"([["price", 16], ["volume", 0]])"), Error);
  EXPECT_THROW(set_field(config, "data.simulated.bars", "5"), Error);
  EXPECT_EQ(to_json(config).dump(), before);
  set_field(config, "learner.groups", R"([["one", 3]])");
  EXPECT_EQ(config.learner.groups, (NamedSizes{{"one", 3}}));
}

TEST(ParseConfig, LearnerDocumentOfAFixture) {
  const LearnerConfig learner = parse_learner_config(
      R"({"groups": [["a", 3], ["b", 2]], "branches": [["x", 2]], "hidden": 24, "atoms": 11, "experts": 12,
          "v_min": [-2.0], "v_max": [5], "gamma": [0.99]})",
      "fixture");
  EXPECT_EQ(learner.state(), 5);
  EXPECT_EQ(learner.actions(), 2);
  EXPECT_EQ(learner.experts, 12);
  EXPECT_EQ(to_json(learner)["groups"].dump(), R"([["a",3],["b",2]])");
  EXPECT_THROW(parse_learner_config(R"({"batch": 3})", "fixture"), Error);
}

struct Mistake {
  const char* text;
  std::vector<std::string> sets;
  std::optional<std::uint64_t> line;
  const char* field;
  std::vector<std::string> parts;  // of the whole sentence
};

TEST(ParseConfig, MistakesNameFileLineFieldValueAndWhatIsAllowed) {
  const std::vector<Mistake> mistakes = {
      {"{\n \"training\": {\n  \"batches\": 64 } }",
       {},
       3,
       "training.batches",
       {"run.json:3", "no field \"batches\"", "training.batch"}},
      {R"({"learner": {"learning_rate": 1}})", {}, 1, "learner.learning_rate", {"did you mean learner."}},
      {R"({"learner": {"batch": 1}})", {}, 1, "learner.batch", {"did you mean training.batch?"}},
      {R"({"trainig": {"batch": 1}})", {}, 1, "trainig", {"in the configuration", "did you mean training?"}},
      {"{\n\"seed\": 7,\n\"seed\": 8}", {}, 3, "seed", {"given twice"}},
      {R"({"training": {"batch": "64"}})", {}, 1, "training.batch", {"is \"64\"", "must be a whole number"}},
      {R"({"training": {"batch": 64.0}})", {}, 1, "training.batch", {"64.0", "must be a whole number"}},
      {R"({"training": {"batch": 0}})", {}, 1, "training.batch", {"is 0", "allowed: 1 to 65536", "default 64"}},
      {R"({"training": {"batch": 99999999999999999999}})", {}, 1, "training.batch", {"must be a whole number"}},
      {R"({"training": {"batch": 18446744073709551615}})", {}, 1, "training.batch", {"allowed: 1 to 65536"}},
      {R"({"training": {"batch": true}})", {}, 1, "training.batch", {"is true"}},
      {R"({"training": 3})", {}, 1, "training", {"is 3", "must be an object"}},
      {R"([])", {}, 1, "", {"the document is a list", "must be an object"}},
      {R"({"learner": {"lr": 0}})", {}, 1, "learner.lr", {"above 0, at most 1"}},
      {R"({"learner": {"gamma": [0.9, 1, 0.9, 0.9]}})", {}, 1, "learner.gamma", {"is 1", "at least 0, below 1"}},
      {R"({"learner": {"gamma": [0.9]}})", {}, {}, "learner.gamma", {"1 values for 4 branches"}},
      {R"({"learner": {"v_min": [-10, -10, 10, -10]}})", {}, {}, "learner.v_min", {"of order is 10", "v_max 10"}},
      {R"({"learner": {"groups": [["price"]]}})", {}, 1, "learner.groups", {"[name, size]"}},
      {R"({"learner": {"groups": [["price", 1], ["price", 2]]}})", {}, {}, "learner.groups", {"\"price\" twice"}},
      {R"({"learner": {"groups": []}})", {}, {}, "learner.groups", {"0 entries"}},
      {"{\n\"rules\": [\"signal risk.exposure above 1\",\n\"step td.mean abov 1\"]}",
       {},
       3,
       "rules[1]",
       {"character 14", "did you mean \"above\"?", "for example"}},
      {R"({"rules": ["step td.mean above 1", "step td.mean above 1"]})", {}, 1, "rules[1]", {"stands there before"}},
      {R"({"rules": "step td.mean above 1"})", {}, 1, "rules", {"must be a list of texts"}},
      {R"({"learner": {"groups": [["a b", 1]]}})", {}, {}, "learner.groups", {"\"a b\""}},
      {R"({"learner": {"tau_final": 0.5}})", {}, {}, "learner.tau_final", {"0.5 is above"}},
      {R"({"data": {"order_flow": "optional"}})", {}, 1, "data.order_flow", {"\"optional\"", "required, absent"}},
      {R"({"data": {"ohlcv": "a.csv"}})", {}, 1, "data.ohlcv", {"must be a list of paths"}},
      {R"({"data": {"ohlcv": ["a.csv", ""]}})", {}, 1, "data.ohlcv", {"not empty"}},
      {R"({"data": {"date": "2023-02-29"}})", {}, 1, "data.date", {"YYYY-MM-DD"}},
      {R"({"data": {"ohlcv": ["a.csv"], "simulated": {}}})", {}, {}, "data.simulated", {"beside data files"}},
      {R"({"data": {"simulated": 5}})", {}, 1, "data.simulated", {"must be an object"}},
      {R"({"data": null})", {}, 1, "data", {"null", "must be an object"}},
      {R"({"environment": {"n_step": 6}})", {}, 1, "environment.n_step", {"is 6", "1 to 5"}},
      {R"({"contract": {"lot": 32}})", {}, {}, "environment.max_position", {"16 is below one lot"}},
      {R"({"replay": {"capacity": 10}})", {}, {}, "replay.capacity", {"10 is below training.batch 64"}},
      {R"({"replay": {"beta_start": 1, "beta_end": 0.5}})", {}, {}, "replay.beta_start", {"1 is above"}},
      {R"({"evaluation": {"windows": 1000}})", {}, {}, "evaluation.windows", {"1000", "1500"}},
      {R"({"device": "gpu"})", {}, 1, "device", {"\"gpu\"", "cuda:N"}},
      {R"({"device": "cuda:x"})", {}, 1, "device", {"cuda:N"}},
      {R"({"seed": -1})", {}, 1, "seed", {"is -1", "0 to 18446744073709551615"}},
      {"{\"seed\": 7,}", {}, 1, "", {"not valid JSON"}},
      {"{\"seed\": 7} x", {}, 1, "", {"not valid JSON"}},
      {"", {}, 1, "", {"not valid JSON"}},
      {"{\n\"device\": \"\xff\"}", {}, 2, "", {"not valid JSON", "UTF-8"}},
      {"{\"learner\": {\"lr\": 1e999}}", {}, 1, "", {"1e999"}},
      {"{\"learner\": {\"lr\": NaN}}", {}, 1, "", {"not valid JSON"}},
      {"{}", {"training.batch"}, {}, "", {"--set", "has no ="}},
      {"{}", {"training.batsh=3"}, {}, "training.batsh", {"--set", "did you mean training.batch?"}},
      {"{}", {"=3"}, {}, "\"\"", {"no field"}},
      {"{}", {"training.batch=many"}, {}, "training.batch", {"--set", "\"many\"", "whole number", "1 to 65536"}},
      {"{}", {"training.batch="}, {}, "training.batch", {"empty"}},
      {"{}", {"training=3"}, {}, "training", {"must be an object"}},
      {"{}", {"learner.lr=2"}, {}, "learner.lr", {"--set", "is 2", "at most 1"}},
      {"{}", {"instrument=DAX"}, {}, "instrument", {"\"DAX\"", "ES, MES"}},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string shown = std::string(mistake.text) + (mistake.sets.empty() ? "" : " --set " + mistake.sets[0]);
    try {
      parse(mistake.text, mistake.sets);
      ADD_FAILURE() << "accepted: " << shown;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << shown;
      EXPECT_EQ(error.place().field, mistake.field) << shown << "\n" << error.sentence();
      EXPECT_EQ(error.place().line, mistake.line) << shown << "\n" << error.sentence();
      for (const std::string& part : mistake.parts) {
        EXPECT_NE(error.sentence().find(part), std::string::npos)
            << shown << "\nsays: " << error.sentence() << "\nlacks: " << part;
      }
      EXPECT_FALSE(error.place().hint.empty()) << shown;
      EXPECT_FALSE(error.place().file.empty()) << shown;
    }
  }
}

TEST(ParseConfig, NulBytesDoNotEndTheDocument) {
  const std::string text("{}\0{", 4);
  EXPECT_THROW(parse(text), Error);
}

TEST(ParseConfig, DeepNestingIsRefused) {
  EXPECT_THROW(parse(std::string(100'000, '[')), Error);
}

TEST(CheckTraining, NamesWhatASessionLacks) {
  const auto field_of = [](const Config& config) -> std::string {
    try {
      check_training_config(config, "run.json");
    } catch (const Error& error) {
      return error.place().field;
    }
    return "none";
  };
  EXPECT_EQ(field_of(parse("{}")), "data.ohlcv");
  EXPECT_EQ(field_of(parse(R"({"data": {"ohlcv": ["a"]}})")), "data.mbp10");
  EXPECT_EQ(field_of(parse(R"({"data": {"ohlcv": ["a"], "mbp10": ["b"]}})")), "data.trades");
  EXPECT_EQ(field_of(parse(R"({"data": {"ohlcv": ["a"], "order_flow": "absent"}})")), "none");
  EXPECT_EQ(field_of(parse(kSmall, {"learner.experts=9"})), "learner.experts");
  EXPECT_EQ(field_of(parse(kSmall, {R"(learner.groups=[["price", 16]])"})), "learner.groups");
  EXPECT_EQ(field_of(parse(kSmall, {R"(learner.branches=[["direction",4],["magnitude",3],["order",3],["speed",3]])"})),
            "learner.branches");
}

}  // namespace
}  // namespace foxhunt
