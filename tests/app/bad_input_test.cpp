// Wrong files of every kind from the command line: one sentence with file, offset or line, reason and hint, the exit
// code for it, and nothing left behind.
#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <fstream>
#include <functional>

#include "tests/app/cli_runner.h"
#include "tests/app/small_session.h"
#include "tests/support/shared_data.h"

namespace foxhunt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::run_cli;

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string decompressed(const std::string& data) {
  std::string out;
  ZSTD_DCtx* context = ZSTD_createDCtx();
  std::vector<char> piece(1 << 20);
  ZSTD_inBuffer in{data.data(), data.size(), 0};
  while (in.pos < in.size) {
    ZSTD_outBuffer to{piece.data(), piece.size(), 0};
    const std::size_t result = ZSTD_decompressStream(context, &to, &in);
    EXPECT_FALSE(ZSTD_isError(result));
    out.append(piece.data(), to.pos);
  }
  ZSTD_freeDCtx(context);
  return out;
}

// Every file below a folder with its size; two equal ones: nothing came or went.
std::vector<std::string> listing(const fs::path& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    out.push_back(entry.path().string() + (entry.is_regular_file() ? std::to_string(entry.file_size()) : ""));
  std::sort(out.begin(), out.end());
  return out;
}

// Simulated inputs, plain and compressed, and a finished run, made once.
struct Good {
  fs::path folder;
  std::string bars_zstd, bars, checkpoint;
  std::vector<std::string> trio;  // names in the configuration's order
};
const Good& good() {
  static const Good made = [] {
    Good g;
    g.folder = test::scratch_root() / "bad-input";
    fs::remove_all(g.folder);
    fs::create_directories(g.folder);
    EXPECT_EQ(run_cli({"simulate", "--out", g.folder.string(), "--bars", "400", "--seed", "5", "--json"}).exit_code, 0);
    g.bars_zstd = bytes_of(g.folder / "bars.dbn.zst");
    g.bars = decompressed(g.bars_zstd);
    test::write_tiny(g.folder);
    const auto run = run_cli({"train", "--config", "tiny.json", "--run-dir", "run", "--json"}, {.folder = g.folder});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    g.checkpoint = run.document()["checkpoints"].back();
    return g;
  }();
  return made;
}

struct Refused {
  const char* name;
  std::function<std::vector<std::string>(const fs::path&)> make;  // writes the wrong file, returns the words
  int exit_code;
  const char* file;     // part of error.file; empty: no file
  const char* place;    // "offset", "line" or "": which of them must be there
  const char* message;  // part of the sentence
};

// What `data` says of one input of bars.
std::vector<std::string> data_of(const fs::path& file) {
  return {"data", "--ohlcv", file.string()};
}

Refused bars_cut(const char* name, std::size_t keep, const char* message) {
  return {name,
          [keep](const fs::path& folder) {
            write(folder / "cut.dbn", std::string_view(good().bars).substr(0, keep));
            return data_of(folder / "cut.dbn");
          },
          1,
          "cut.dbn",
          "offset",
          message};
}

Refused csv(const char* name, const char* text, const char* message, int exit_code = 1) {
  return {name,
          [text](const fs::path& folder) {
            write(folder / "bars.csv", text);
            auto words = data_of(folder / "bars.csv");
            words.insert(words.end(), {"--timezone", "UTC"});
            return words;
          },
          exit_code,
          "bars.csv",
          "line",
          message};
}

// A configuration file with this text, given to `train`.
Refused config(const char* name, const char* text, const char* place, const char* message) {
  return {name,
          [text](const fs::path& folder) {
            write(folder / "wrong.json", text);
            return std::vector<std::string>{"train", "--config", "wrong.json", "--run-dir", "run"};
          },
          2,
          "wrong.json",
          place,
          message};
}

std::string damaged_checkpoint(const fs::path& folder, const std::function<void(std::string&)>& damage) {
  std::string bytes = bytes_of(good().checkpoint);
  damage(bytes);
  write(folder / "ckpt.safetensors", bytes);
  return (folder / "ckpt.safetensors").string();
}

// The same damage before each command that reads checkpoints.
std::vector<Refused> checkpoint(const std::string& name, std::function<void(std::string&)> damage,
                                const char* message) {
  static std::vector<std::string> names;  // they outlive the parameters that point to them
  names.reserve(100);
  std::vector<Refused> out;
  for (const char* command : {"inspect", "evaluate", "compare", "resume"}) {
    names.push_back(name + "_" + command);
    out.push_back({names.back().c_str(),
                   [damage, command = std::string(command)](const fs::path& folder) -> std::vector<std::string> {
                     const std::string file = damaged_checkpoint(folder, damage);
                     test::write_tiny(folder);
                     if (command == "inspect") return {"inspect", file};
                     if (command == "evaluate") return {"evaluate", file, "--config", "tiny.json"};
                     if (command == "compare") return {"compare", good().checkpoint, file};
                     return {"train", "--config", "tiny.json", "--resume", file, "--run-dir", "run"};
                   },
                   1, "ckpt.safetensors", "", message});
  }
  return out;
}

std::vector<Refused> cases() {
  std::vector<Refused> out = {
      {"zstd_cut",
       [](const fs::path& folder) {
         write(folder / "cut.dbn.zst", std::string_view(good().bars_zstd).substr(0, good().bars_zstd.size() / 2));
         return data_of(folder / "cut.dbn.zst");
       },
       1, "cut.dbn.zst", "offset", "zstd stream is cut"},
      {"zstd_damaged",
       [](const fs::path& folder) {
         std::string bytes = good().bars_zstd;
         for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 64; ++i) bytes[i] = static_cast<char>(~bytes[i]);
         write(folder / "bad.dbn.zst", bytes);
         return data_of(folder / "bad.dbn.zst");
       },
       1, "bad.dbn.zst", "offset", ""},
      bars_cut("dbn_cut_in_the_magic", 3, ""),
      bars_cut("dbn_cut_in_the_length", 6, ""),
      bars_cut("dbn_cut_in_the_metadata", 60, ""),
      {"record_of_length_0",
       [](const fs::path& folder) {
         std::string bytes = good().bars;
         std::uint32_t length = 0;
         std::memcpy(&length, bytes.data() + 4, 4);
         bytes[8 + length + 56 * 7] = 0;
         write(folder / "zero.dbn", bytes);
         return data_of(folder / "zero.dbn");
       },
       1, "zero.dbn", "offset", ""},
      {"missing", [](const fs::path& folder) { return data_of(folder / "absent.dbn"); }, 2, "absent.dbn", "",
       "no such file"},
      {"a_folder",
       [](const fs::path& folder) {
         fs::create_directories(folder / "bars.dbn");
         return data_of(folder / "bars.dbn");
       },
       2, "bars.dbn", "", "folder"},
      {"empty",
       [](const fs::path& folder) {
         write(folder / "empty.dbn", "");
         return data_of(folder / "empty.dbn");
       },
       1, "empty.dbn", "", "empty"},
      {"garbage",
       [](const fs::path& folder) {
         write(folder / "noise.dbn", std::string(5000, '\x93'));
         return data_of(folder / "noise.dbn");
       },
       1, "noise.dbn", "", ""},
      csv("csv_text_for_a_price",
          "time,open,high,low,close,volume\n2024-01-02T10:00:00Z,1,2,1,2,5\n2024-01-02T10:01:00Z,1,x,1,2,5\n", ""),
      csv("csv_too_few_columns",
          "time,open,high,low,close,volume\n2024-01-02T10:00:00Z,1,2,1,2,5\n2024-01-02T10:01:00Z,1,2\n", ""),
      csv("csv_no_time", "time,open,high,low,close,volume\n2024-01-02T10:00:00Z,1,2,1,2,5\nyesterday,1,2,1,2,5\n", ""),
      config("json_cut", R"({ "data": { "simulated": { "bars": 1200 })", "line", ""),
      config("json_trailing_comma", "{\n  \"seed\": 3,\n}", "line", ""),
      config("unknown_key", R"({ "trainin": { "epochs": 2 } })", "", "trainin"),
      config("key_given_twice", "{ \"seed\": 3,\n \"seed\": 4 }", "", "seed"),
      config("wrong_type", R"({ "training": { "epochs": "two" } })", "", "epochs"),
      config("out_of_range", R"({ "training": { "epochs": 0 } })", "", "epochs"),
      config("not_whole", R"({ "training": { "epochs": 1.5 } })", "", "epochs"),
      config("too_large_a_number", R"({ "training": { "epochs": 1e300 } })", "", "epochs"),
      {"config_missing",
       [](const fs::path&) {
         return std::vector<std::string>{"train", "--config", "absent.json"};
       },
       2, "absent.json", "", "no such file"},
      {"config_empty",
       [](const fs::path& folder) {
         write(folder / "empty.json", "");
         return std::vector<std::string>{"train", "--config", "empty.json"};
       },
       2, "empty.json", "", ""},
      {"checkpoint_of_another_network",
       [](const fs::path& folder) {
         test::write_tiny(folder);
         return std::vector<std::string>{"train",    "--config",        "tiny.json", "--set", "learner.hidden=24",
                                         "--resume", good().checkpoint, "--run-dir", "run"};
       },
       1, "safetensors", "", "layout"},
      {"model_file_cannot_be_resumed",
       [](const fs::path& folder) -> std::vector<std::string> {
         test::write_tiny(folder);
         for (const auto& entry : fs::directory_iterator(good().folder / "run" / "checkpoints"))
           if (entry.path().string().find("best") != std::string::npos)
             return {"train", "--config", "tiny.json", "--resume", entry.path().string(), "--run-dir", "run"};
         return {};
       },
       1, "best", "", "full checkpoint"},
  };
  const auto add = [&](std::vector<Refused> more) { out.insert(out.end(), more.begin(), more.end()); };
  add(checkpoint(
      "cut_in_the_data", [](std::string& b) { b.resize(b.size() - 1000); }, ""));
  add(checkpoint(
      "cut_in_the_header", [](std::string& b) { b.resize(100); }, ""));
  add(checkpoint(
      "cut_in_the_length", [](std::string& b) { b.resize(5); }, ""));
  add(checkpoint(
      "garbage", [](std::string& b) { b.assign(3000, '\x41'); }, ""));
  add(checkpoint(
      "nothing", [](std::string& b) { b.clear(); }, ""));
  add(checkpoint(
      "longer_than_it_says", [](std::string& b) { b += "more"; }, ""));
  add(checkpoint(
      "header_begins_otherwise", [](std::string& b) { b[8] = '['; }, ""));
  return out;
}

class BadInput : public ::testing::TestWithParam<int> {
 protected:
  static const Refused& at(int i) {
    static const std::vector<Refused> all = cases();
    return all.at(static_cast<std::size_t>(i));
  }
};

TEST_P(BadInput, OneSentenceAndNothingLeftBehind) {
  good();
  const Refused& r = at(GetParam());
  SCOPED_TRACE(r.name);
  const auto folder = test::scratch_folder();
  std::vector<std::string> words = r.make(folder);
  ASSERT_FALSE(words.empty());
  const auto before = listing(folder);
  const auto text = run_cli(words, {.folder = folder});
  words.push_back("--json");
  const auto result = run_cli(words, {.folder = folder});
  EXPECT_EQ(result.exit_code, r.exit_code) << result.out << result.err;
  EXPECT_EQ(text.exit_code, r.exit_code);
  const json error = result.error();
  EXPECT_NE(error.value("message", "").find(r.message), std::string::npos) << error;
  EXPECT_NE(error.value("message", ""), "") << result.out;
  EXPECT_NE(error.value("file", json()).dump().find(r.file), std::string::npos) << error;
  EXPECT_FALSE(error.value("hint", json()).is_null()) << error;
  if (*r.place) {
    EXPECT_TRUE(error.value(r.place, json()).is_number()) << r.place << " in " << error;
  }
  // On standard error for people: one line, no trace of an exception.
  EXPECT_NE(text.err.find("foxhunt-cli: "), std::string::npos) << text.err;
  EXPECT_EQ(text.err.find("exception"), std::string::npos) << text.err;
  EXPECT_EQ(listing(folder), before);
}

INSTANTIATE_TEST_SUITE_P(Files, BadInput, ::testing::Range(0, static_cast<int>(cases().size())));

// A last record that is cut is read up to there; a file cut between records is a shorter file.
TEST(BadInputs, ACutLastRecordIsAWarningWithItsOffset) {
  const auto folder = test::scratch_folder();
  std::uint32_t length = 0;
  std::memcpy(&length, good().bars.data() + 4, 4);
  const std::size_t records = 8 + length;
  for (const std::size_t cut : {1u, 20u, 55u, 56u}) {
    write(folder / "cut.dbn", std::string_view(good().bars).substr(0, records + 56 * 300 + cut));
    const auto result = run_cli({"data", "--ohlcv", (folder / "cut.dbn").string(), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.out;
    const json d = result.document();
    EXPECT_EQ(d["bars"], cut == 56 ? 301 : 300) << cut;
    int cuts = 0;
    for (const json& warning : d["warnings"]) {
      if (!warning["offset"].is_number()) continue;
      ++cuts;
      EXPECT_EQ(warning["offset"], records + 56 * 300) << warning;
      EXPECT_NE(warning["message"].get<std::string>().find(std::to_string(cut)), std::string::npos) << warning;
    }
    EXPECT_EQ(cuts, cut == 56 ? 0 : 1) << d["warnings"];
  }
}

TEST(BadInputs, WhatMayNotBeReadIsSaid) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const auto folder = test::scratch_folder();
  write(folder / "bars.dbn", good().bars);
  fs::permissions(folder / "bars.dbn", fs::perms::none);
  const auto result = run_cli({"data", "--ohlcv", (folder / "bars.dbn").string(), "--json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.error().value("message", "").find("ermission"), std::string::npos) << result.out;
}

TEST(BadInputs, ARunFolderThatCannotBeMadeIsSaid) {
  const auto folder = test::scratch_folder();
  test::write_tiny(folder);
  write(folder / "file", "");
  const auto result =
      run_cli({"train", "--config", "tiny.json", "--run-dir", "file/run", "--json"}, {.folder = folder});
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_NE(result.error().value("file", "").find("file/run"), std::string::npos) << result.out;
}

// Files larger than a limit cannot be written, as on a full disk: the history is kept in memory and the run goes on; a
// checkpoint that fails says so and leaves no part of it.
TEST(FullDisk, IsReportedAndTrainingGoesOn) {
  const auto folder = test::scratch_folder();
  test::write_tiny(folder);
  const auto result = run_cli({"train", "--config", "tiny.json", "--run-dir", "run", "--set", "training.epochs=4",
                               "--set", "training.steps_per_epoch=100", "--json"},
                              {.folder = folder, .largest_file = 300'000});
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  const json d = result.document();
  EXPECT_EQ(d["status"], "failed");
  EXPECT_EQ(d["steps"], 400) << "it trained to the end";
  EXPECT_NE(d["error"].value("message", "").find("last checkpoint could not be written"), std::string::npos) << d;
  EXPECT_NE(result.err.find("history cannot be written"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("a checkpoint could not be written"), std::string::npos) << result.err;
  for (const auto& entry : fs::directory_iterator(folder / "run" / "checkpoints"))
    EXPECT_EQ(run_cli({"inspect", entry.path().string(), "--json"}).exit_code, 0) << entry.path();
  const json run = run_cli({"runs", "show", "run", "--runs", ".", "--json"}, {.folder = folder}).document();
  EXPECT_EQ(run["status"], "failed");
  EXPECT_EQ(run["steps"], 400);
}

}  // namespace
}  // namespace foxhunt
