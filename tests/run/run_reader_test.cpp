// Damaged, foreign and hostile run folders are refused with a sentence, and what can be read is read.
#include "engine/run/run_reader.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/run/run_folder.h"
#include "engine/run/run_list.h"
#include "tests/run/run_support.h"

namespace foxhunt {
namespace {

using test::small_columns;
using test::small_info;

std::filesystem::path made_run(const std::filesystem::path& folder) {
  auto store = RunStore::create_at(folder, small_info(), small_columns());
  store->append_step(1, std::vector<double>{1, 0, 0.5, 0});
  store->set_status("finished");
  return folder;
}

void sql(const std::filesystem::path& folder, const char* text) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "run.sqlite").c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

// Another process may look from the moment when run.json is there.
TEST(RunReader, SeesTheColumnsOfTelemetryAllOrNone) {
  const auto scratch = test::scratch_folder();
  for (int i = 0; i < 40; ++i) {
    const auto folder = scratch / std::to_string(i);
    std::atomic<bool> made{false};
    std::thread looking([&] {
      while (!made) {
        if (!std::filesystem::exists(folder / "run.json")) continue;
        const auto columns = RunReader::open(folder).columns(RunTable::steps);
        if (!columns.empty()) {
          EXPECT_EQ(columns.size(), 2 + small_columns().steps.size());
        }
      }
    });
    const auto store = RunStore::create_at(folder, small_info(), small_columns());
    made = true;
    looking.join();
  }
}

TEST(RunInfo, RoundTripKeepsUnknownMembersAndBigSeeds) {
  RunInfo info = small_info();
  info.others["later"] = {{"x", 1}};
  info.best = {{"sharpe", 1.25}, {"net", -INFINITY}};
  const RunInfo again = parse_run_info(to_json(info).dump(), "run.json");
  EXPECT_EQ(to_json(again).dump(), to_json(info).dump());
  EXPECT_EQ(again.seed, 18446744073709551615ULL);
  EXPECT_EQ(again.best.at("net"), -INFINITY);
  EXPECT_EQ(again.configuration["learner"]["lr"], 1e-4);
}

TEST(RunInfo, EveryFaultHasItsField) {
  const struct {
    const char* text;
    const char* field;
    const char* part;
  } faults[] = {
      {"", "", "not valid JSON"},
      {"{", "", "not valid JSON"},
      {"[]", "", "object"},
      {"{}", "format", "format is 0"},
      {R"({"format": 2, "created": "x", "status": "s"})", "format", "knows up to 1"},
      {R"({"format": "1"})", "format", "whole number"},
      {R"({"format": 1, "status": "finished"})", "created", "missing"},
      {R"({"format": 1, "created": "x"})", "status", "missing"},
      {R"({"format": 1, "created": 3, "status": "s"})", "created", "must be a text"},
      {R"({"format": 1, "created": "x", "status": "s", "seed": -1})", "seed", "from 0"},
      {R"({"format": 1, "created": "x", "status": "s", "best": {"a": "many"}})", "best", "numbers"},
      {R"({"format": 1, "created": "x", "status": "s", "versions": {"a": 1}})", "versions", "texts"},
      {R"({"format": 1, "created": "x", "status": "s", "configuration": []})", "configuration", "object"},
      {R"({"format": 1, "created": "x", "created": "y", "status": "s"})", "created", "twice"},
  };
  for (const auto& fault : faults) {
    try {
      parse_run_info(fault.text, "run.json");
      ADD_FAILURE() << fault.text;
    } catch (const Error& error) {
      EXPECT_EQ(error.place().field, fault.field) << fault.text << " " << error.sentence();
      EXPECT_NE(error.sentence().find(fault.part), std::string::npos) << error.sentence();
      EXPECT_EQ(error.place().file, "run.json");
    }
  }
}

TEST(RunReader, RunWithoutHistoryIsEmpty) {
  const auto folder = test::scratch_folder();
  write_run_info(folder, small_info());
  const RunReader reader = RunReader::open(folder);
  EXPECT_TRUE(reader.problem().empty());
  EXPECT_EQ(reader.last_id(RunTable::steps), 0);
  EXPECT_TRUE(reader.rows(RunTable::steps).ids.empty());
  EXPECT_TRUE(reader.events().empty());
  EXPECT_THROW(RunReader::open(folder / "absent"), Error);
}

TEST(RunReader, BadDatabasesAreNamedAndTheRestIsRead) {
  const auto folder = test::scratch_folder();
  const auto problem = [&](const char* name, auto spoil) {
    const auto run = made_run(folder / name);
    spoil(run);
    const RunReader reader = RunReader::open(run);
    EXPECT_EQ(reader.info().status, "finished");
    EXPECT_THROW(reader.last_id(RunTable::steps), Error) << name;
    EXPECT_THROW(RunStore::open(run, small_columns()), Error) << name;
    return reader.problem();
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const std::string garbage =
      problem("garbage", [](const auto& run) { std::ofstream(run / "run.sqlite") << std::string(5000, 'x'); });
  EXPECT_TRUE(has(garbage, "not a database")) << garbage;
  const std::string newer = problem("newer", [](const auto& run) { sql(run, "PRAGMA user_version = 99"); });
  EXPECT_TRUE(has(newer, "schema version is 99")) << newer;
  const std::string foreign = problem("foreign", [](const auto& run) { sql(run, "PRAGMA user_version = 0"); });
  EXPECT_TRUE(has(foreign, "schema version is 0")) << foreign;
  const std::string cut = problem("cut", [](const auto& run) { sql(run, "DROP TABLE steps"); });
  EXPECT_TRUE(has(cut, "no table steps")) << cut;
  const std::string view =
      problem("view", [](const auto& run) { sql(run, "DROP TABLE steps; CREATE VIEW steps AS SELECT 1 AS id"); });
  EXPECT_TRUE(has(view, "no table steps")) << view;
}

TEST(RunReader, WrongTypesAndDamagedPagesAreErrorsNotCrashes) {
  const auto folder = test::scratch_folder();
  const auto run = made_run(folder / "run");
  sql(run, "UPDATE steps SET loss_total = 'much'");
  try {
    RunReader::open(run).rows(RunTable::steps);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.place().field, "loss_total");
    EXPECT_NE(error.sentence().find("\"much\""), std::string::npos);
  }
  // Every page but the header's overwritten in turn: nothing but Error comes out.
  const auto size = std::filesystem::file_size(run / "run.sqlite");
  int errors = 0;
  for (std::uintmax_t page = 4096; page < size; page += 4096) {
    const auto copy = folder / "copy";
    std::filesystem::remove_all(copy);
    std::filesystem::copy(run, copy, std::filesystem::copy_options::recursive);
    std::fstream file(copy / "run.sqlite", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(page));
    file << std::string(4096, '\xa5');
    file.close();
    try {
      const RunReader reader = RunReader::open(copy);
      for (int t = 0; t < kRunTables; ++t) reader.records(static_cast<RunTable>(t));
      reader.checkpoints();
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 0);
}

TEST(RunReader, PathsOfARunCannotLeadOutsideIt) {
  const auto folder = test::scratch_folder();
  const auto run = made_run(folder / "run");
  std::ofstream(folder / "secret") << "x";
  std::filesystem::create_symlink(folder, run / "checkpoints" / "link");
  sql(run,
      "INSERT INTO checkpoints (path) VALUES ('../secret'), ('/etc/passwd'), ('checkpoints/link/secret'), "
      "('checkpoints/gone'), (''), ('checkpoints/../..'), (NULL)");
  const auto checkpoints = RunReader::open(run).checkpoints();
  ASSERT_EQ(checkpoints.size(), 7U);
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    EXPECT_FALSE(checkpoints[i].problem.empty()) << checkpoints[i].path;
    EXPECT_EQ(checkpoints[i].file.empty(), i != 3) << checkpoints[i].path;
  }
  EXPECT_NE(checkpoints[0].problem.find("outside"), std::string::npos);
  EXPECT_NE(checkpoints[1].problem.find("absolute"), std::string::npos);
  EXPECT_EQ(checkpoints[3].problem, "the file is gone");
  std::ofstream(run / "checkpoints" / "a b") << "x";
  const auto inside = std::filesystem::canonical(run / "checkpoints" / "a b");
  EXPECT_EQ(path_inside(run, "checkpoints/./a b"), inside);
  EXPECT_EQ(path_inside(run, "flight/../checkpoints/a b"), inside);
}

TEST(RunList, ShowsGoodAndBadRunsAndFindsThemByName) {
  const auto folder = test::scratch_folder();
  EXPECT_TRUE(list_runs(folder / "absent").empty());
  made_run(folder / "20260101T000000Z-a");
  made_run(folder / "20260102T000000Z-b");
  std::filesystem::create_directories(folder / "20260103T000000Z-bad");
  std::ofstream(folder / "20260103T000000Z-bad" / "run.json") << "{";
  std::filesystem::create_directories(folder / "not-a-run");
  std::ofstream(folder / "file") << "x";
  const auto runs = list_runs(folder);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].status, "unreadable");
  EXPECT_NE(runs[0].problem.find("run.json"), std::string::npos);
  EXPECT_EQ(runs[1].id, "20260102T000000Z-b");
  EXPECT_EQ(runs[1].status, "finished");
  EXPECT_EQ(find_run(folder, "20260101"), folder / "20260101T000000Z-a");
  EXPECT_EQ(find_run(folder, (folder / "20260102T000000Z-b").string()), folder / "20260102T000000Z-b");
  EXPECT_THROW(find_run(folder, "2026"), Error);
  EXPECT_THROW(find_run(folder, "x"), Error);
  EXPECT_THROW(find_run(folder, ""), Error);
}

TEST(RunList, NotesAndTrash) {
  const auto folder = test::scratch_folder();
  const auto run = made_run(folder / "a");
  EXPECT_FALSE(read_run_notes(run).starred);
  write_run_notes(run, {{"good", "long"}, "two\nlines", true});
  EXPECT_EQ(summarize_run(run).notes.tags, (std::vector<std::string>{"good", "long"}));
  EXPECT_EQ(summarize_run(run).notes.notes, "two\nlines");
  const auto trashed = trash_run(run);
  EXPECT_TRUE(list_runs(folder).empty());
  EXPECT_EQ(restore_run(trashed), run);
  EXPECT_EQ(list_runs(folder).size(), 1U);
  EXPECT_THROW(restore_run(run), Error);
  EXPECT_THROW(trash_run(folder / "absent"), Error);
  trash_run(run);
  made_run(folder / "a");
  EXPECT_THROW(restore_run(trashed), Error);
}

}  // namespace
}  // namespace foxhunt
