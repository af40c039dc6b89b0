// Mistakes on the command line: exit code 2, a sentence with the word that is wrong and what is near or allowed.
#include <gtest/gtest.h>

#include <fstream>

#include "app/options.h"
#include "tests/app/cli_runner.h"
#include "tests/support/shared_data.h"

namespace foxhunt {
namespace {

using test::run_cli;

struct Mistake {
  const char* name;
  std::vector<std::string> words;
  const char* message;  // part of it
  const char* field;
  const char* hint;  // part of it
};

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreToldWithWhatIsAllowed) {
  const Mistake& m = GetParam();
  auto words = m.words;
  const auto plain = run_cli(words);
  EXPECT_EQ(plain.exit_code, 2);
  EXPECT_EQ(plain.out, "");
  EXPECT_NE(plain.err.find(m.message), std::string::npos) << plain.err;
  words.push_back("--json");
  const auto json = run_cli(words);
  EXPECT_EQ(json.exit_code, 2);
  const auto error = json.error();
  EXPECT_NE(error.value("message", "").find(m.message), std::string::npos) << json.out;
  EXPECT_EQ(error["field"], m.field);
  EXPECT_NE(error["hint"].is_null() ? std::string::npos : error.value("hint", "").find(m.hint), std::string::npos)
      << json.out;
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, Mistakes,
    ::testing::Values(
        Mistake{"unknown_command", {"trian"}, "there is no command \"trian\"", "trian", "did you mean train?"},
        Mistake{"unknown_second_word", {"runs", "lst"}, "there is no command \"runs lst\"", "runs lst", "runs list"},
        Mistake{"unknown_option", {"bench", "--bacth", "8"}, "bench takes no option --bacth", "--bacth", "--batch?"},
        Mistake{
            "option_of_another", {"devices", "--batch", "8"}, "devices takes no option --batch", "--batch", "--json"},
        Mistake{"no_value", {"simulate", "--out"}, "--out needs a value", "--out", "folder"},
        Mistake{"needed_option", {"simulate"}, "simulate needs --out DIR", "--out", "folder"},
        Mistake{"needed_operand", {"inspect"}, "inspect needs FILE", "FILE", "foxhunt-cli inspect FILE"},
        Mistake{"extra_operand", {"devices", "now"}, "no further word", "now", "--help"},
        Mistake{"twice", {"bench", "--steps", "9", "--steps", "8"}, "given twice", "--steps", "once"},
        Mistake{"choice",
                {"runs", "export", "x", "--out", "y", "--format", "cvs"},
                "csv, json, tensorboard",
                "--format",
                "csv?"},
        Mistake{"no_such_file", {"inspect", "/nowhere/model.safetensors"}, "there is no such file", "FILE", "path"},
        Mistake{
            "no_such_config", {"train", "--config", "/nowhere/c.json"}, "there is no such file", "--config", "path"},
        Mistake{"no_such_input", {"data", "--ohlcv", "/nowhere/b.csv"}, "there is no such file", "--ohlcv", "path"},
        Mistake{"a_folder", {"compare", "/tmp", "/tmp"}, "this is a folder", "A", "path"},
        Mistake{"no_config", {"train"}, "train needs --config F", "--config", "configuration"},
        Mistake{"no_input", {"data"}, "data needs an input", "--ohlcv", "--config"},
        Mistake{"unknown_field",
                {"data", "--set", "learner.lrr=1"},
                "there is no field \"lrr\"",
                "learner.lrr",
                "learner.lr?"}),
    [](const auto& mistake) { return mistake.param.name; });

TEST(Usage, NumbersSayTheirRange) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"simulate", "--out", "d", "--bars", "0"},
                                                                 {"simulate", "--out", "d", "--bars", "12x"},
                                                                 {"simulate", "--out", "d", "--edge", "nan"},
                                                                 {"simulate", "--out", "d", "--seed", "-1"},
                                                                 {"bench", "--batch", "64", "0"}}) {
    auto json_words = words;
    json_words.push_back("--json");
    const auto result = run_cli(json_words);
    EXPECT_EQ(result.exit_code, 2) << words.back();
    EXPECT_NE(result.error().value("message", "").find("it must be"), std::string::npos) << result.out;
  }
  EXPECT_FALSE(std::filesystem::exists("d"));
}

TEST(Usage, UnknownDeviceIsAUsageError) {
  const auto result = run_cli({"bench", "--device", "gpu", "--json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.error().value("message", "").find("auto, cpu, cuda"), std::string::npos) << result.out;
}

TEST(Usage, NoCommandNamesTheHelp) {
  const auto result = run_cli({});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("--help"), std::string::npos);
  EXPECT_EQ(run_cli({"--json"}).error()["field"], "COMMAND");
}

TEST(Usage, HelpListsEveryCommandAndItsOptions) {
  const auto help = run_cli({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  const auto document = run_cli({"--help", "--json"}).document();
  EXPECT_EQ(document["commands"].size(), app::commands().size());
  for (const app::CommandInfo& command : app::commands()) {
    EXPECT_NE(help.out.find(std::string(command.name)), std::string::npos) << command.name;
    for (const std::string_view option : command.options)
      EXPECT_NE(app::find_option(option), nullptr) << command.name << " " << option;
  }
  const auto train = run_cli({"train", "--help"});
  EXPECT_EQ(train.exit_code, 0);
  EXPECT_NE(train.out.find("--max-steps N"), std::string::npos);
  EXPECT_EQ(train.out.find("--batch"), std::string::npos);
}

TEST(Usage, EveryOptionBelongsToACommand) {
  for (const app::OptionInfo& option : app::options()) {
    bool used = false;
    for (const app::CommandInfo& command : app::commands()) used |= app::takes(command, option.name);
    EXPECT_TRUE(used) << option.name;
  }
}

TEST(Usage, ConfigurationHelpAndSchema) {
  const auto text = run_cli({"--help-config"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.out.find("learner.lr"), std::string::npos);
  const auto schema = run_cli({"--help-config", "--json"}).document();
  EXPECT_TRUE(schema["properties"]["learner"]["properties"].contains("lr"));
}

TEST(Usage, Version) {
  const auto text = run_cli({"--version"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_EQ(text.out, "foxhunt-cli " + run_cli({"--version", "--json"}).document().value("version", "?") + "\n");
}

TEST(Usage, AFullDiskUnderStandardOutputIsAFailure) {
  const int status = std::system("\"" FOXHUNT_BINARY_DIR "/bin/foxhunt-cli\" --help >/dev/full 2>/dev/null");
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(Usage, ErrorsOfTheConfigurationNameFileLineAndField) {
  const auto folder = test::scratch_folder();
  std::ofstream(folder / "c.json") << "{\n \"seed\": 3,\n \"learner\": { \"lr\": \"fast\" }\n}\n";
  const auto result = run_cli({"train", "--config", "c.json", "--json"}, {.folder = folder});
  EXPECT_EQ(result.exit_code, 2);
  const auto error = result.error();
  EXPECT_EQ(error["line"], 3);
  EXPECT_EQ(error["field"], "learner.lr");
  EXPECT_NE(error.value("file", "").find("c.json"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
}

}  // namespace
}  // namespace foxhunt
