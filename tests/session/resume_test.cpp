// What a resumed run knows of the part before: the best so far, the trials, the validation that was in flight, where it
// stands. It ends as if it had not stopped.
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/run/run_reader.h"
#include "engine/session/checkpoint_load.h"
#include "tests/session/session_fixture.h"

namespace foxhunt {
namespace {

using namespace test;

Config four_epochs() {
  Config c = tiny_config();
  c.folds.count = 1;
  c.training.epochs = 4;
  return c;
}

class Resume : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = scratch_folder();
    Session session(four_epochs(), options_in(folder_ / "whole"));
    ASSERT_TRUE(session.wait(120));
    whole_ = *session.results().back();
    last_ = session.checkpoints().back();
    for (const auto& path : session.checkpoints())
      if (path.string().find("periodic") != std::string::npos) periodic_.push_back(path);
    ASSERT_EQ(periodic_.size(), 2u) << "the newest two are kept";
  }
  SessionOptions from(const std::filesystem::path& checkpoint, const char* name) const {
    SessionOptions o = options_in(folder_ / name);
    o.resume = checkpoint;
    return o;
  }
  std::filesystem::path folder_, last_;
  std::vector<std::filesystem::path> periodic_;
  FoldResult whole_;
};

TEST_F(Resume, EveryPeriodicCheckpointLeadsToTheSameEnd) {
  for (std::size_t i = 0; i < periodic_.size(); ++i) {
    Session session(four_epochs(), from(periodic_[i], i ? "second" : "first"));
    ASSERT_TRUE(session.wait(120));
    ASSERT_EQ(session.status()->state, SessionState::finished) << session.status()->reason;
    expect_identical(last_, session.checkpoints().back());
    const auto results = session.results().back();
    EXPECT_EQ(results->best_step, whole_.best_step);
    EXPECT_EQ(results->best_metrics, whole_.best_metrics);
    // The validation that was in flight when the checkpoint was written is made again.
    ASSERT_EQ(results->epochs.size(), 2 - i + 1);
    for (const auto& epoch : results->epochs) {
      const auto& before = whole_.epochs[static_cast<std::size_t>(epoch->epoch)];
      EXPECT_EQ(epoch->step, before->step);
      EXPECT_EQ(epoch->best, before->best) << "epoch " << epoch->epoch;
      const auto got = metric_values(epoch->evaluation.metrics), want = metric_values(before->evaluation.metrics);
      for (std::size_t m = 0; m < want.size(); ++m)
        EXPECT_EQ(got[m].second, want[m].second) << want[m].first << ", the deflated ones by as many trials";
    }
  }
}

TEST_F(Resume, AWorseEpochLeavesTheBestOfTheEarlierPart) {
  const auto changed = with_session(periodic_.front(), periodic_.front().parent_path() / "changed.safetensors",
                                    [](nlohmann::json& session) { session["validation"]["best_sharpe"] = 1e6; });
  Session session(four_epochs(), from(changed, "rest"));
  ASSERT_TRUE(session.wait(120));
  ASSERT_EQ(session.status()->state, SessionState::finished) << session.status()->reason;
  const auto state = nlohmann::json::parse(SafetensorsFile::open(periodic_.front()).metadata().at("session"));
  const auto best = session.results().back();
  EXPECT_EQ(best->best_step, state["validation"]["best_step"].get<std::uint64_t>());
  for (const auto& epoch : best->epochs) EXPECT_FALSE(epoch->best);
  // The best file has come along, and no other took its place.
  std::vector<std::string> names;
  for (const auto& checkpoint : RunReader::open(folder_ / "rest").checkpoints()) {
    EXPECT_EQ(checkpoint.problem, "");
    if (checkpoint.reason == "best") names.push_back(checkpoint.file.filename().string());
  }
  ASSERT_EQ(names.size(), 1u);
  EXPECT_EQ(names[0], state["validation"]["best_file"].get<std::string>());
  EXPECT_EQ(load_model(folder_ / "rest" / "checkpoints" / names[0]).step, best->best_step);
  EXPECT_EQ(RunReader::open(folder_ / "rest").info().best.at("sharpe"), 1e6);
}

TEST_F(Resume, TrialsAreCountedOn) {
  const auto state = [](const std::filesystem::path& file) {
    return nlohmann::json::parse(SafetensorsFile::open(file).metadata().at("session"))["validation"];
  };
  EXPECT_EQ(state(periodic_.front())["trials"], 2);
  EXPECT_EQ(state(last_)["trials"], 4);
  const auto end = train(four_epochs(), from(periodic_.front(), "rest"));
  EXPECT_EQ(state(end)["trials"], 4);
  EXPECT_EQ(state(end)["trial_sharpes"], state(last_)["trial_sharpes"]);
}

TEST_F(Resume, RefusesWhatDoesNotBelongTogetherAndLeavesNoFolder) {
  struct Mistake {
    const char* field;
    std::function<void(Config&)> make;
  };
  const Mistake mistakes[] = {
      {"layout_fingerprint", [](Config& c) { c.learner.hidden = 48; }},
      {"data_fingerprint", [](Config& c) { c.data.simulated->seed = 4; }},
      {"state.replay.ring", [](Config& c) { c.replay.capacity = 4096; }},
  };
  for (const auto& mistake : mistakes) {
    Config c = four_epochs();
    mistake.make(c);
    Session session(c, from(periodic_.front(), "refused"));
    ASSERT_TRUE(session.wait(60));
    EXPECT_EQ(session.status()->state, SessionState::failed);
    ASSERT_NE(session.error(), nullptr) << mistake.field;
    try {
      std::rethrow_exception(session.error());
    } catch (const Error& e) {
      EXPECT_EQ(e.place().field, mistake.field) << e.sentence();
      EXPECT_NE(e.place().hint, "") << e.sentence();
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "refused")) << mistake.field;
  }
}

TEST(ResumeFolds, AtAFoldsEndTheNextFoldBeginsAsUsual) {
  const auto folder = scratch_folder();
  const auto whole = train(tiny_config(), options_in(folder / "whole"));
  SessionOptions part = options_in(folder / "part");
  part.max_steps = 60;  // of two folds with 60 steps each
  std::filesystem::path middle;
  {
    Session session(tiny_config(), part);
    ASSERT_TRUE(session.wait(120));
    ASSERT_EQ(session.status()->state, SessionState::stopped);
    middle = session.checkpoints().back();
  }
  SessionOptions rest = options_in(folder / "rest");
  rest.resume = middle;
  expect_identical(whole, train(tiny_config(), rest));
}

// Everywhere the same: an epoch is counted from 0 and is the one in which the step was made.
TEST(EpochNumbers, AreTheSameLiveAndStored) {
  const auto folder = scratch_folder() / "run";
  Config c = tiny_config();
  c.training.epochs = 3;
  Session session(c, options_in(folder));
  ASSERT_TRUE(session.wait(120));
  const auto reader = RunReader::open(folder);
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> of_step;  // step: fold, epoch
  const auto rows = reader.rows(RunTable::steps, 0, 1000, {"step", "fold", "epoch"});
  for (std::size_t i = 0; i < rows.ids.size(); ++i)
    of_step[static_cast<std::int64_t>(rows.values[0][i])] = {static_cast<std::int64_t>(rows.values[1][i]),
                                                             static_cast<std::int64_t>(rows.values[2][i])};
  ASSERT_EQ(of_step.size(), 180u);
  for (const auto& [step, place] : of_step) {
    EXPECT_EQ(place.first, (step - 1) / 90);
    EXPECT_EQ(place.second, (step - 1) % 90 / 30) << "step " << step;
  }
  const auto expect_place = [&](std::int64_t step, std::int64_t fold, std::int64_t epoch, const std::string& what) {
    ASSERT_TRUE(of_step.contains(step)) << what << " at step " << step;
    EXPECT_EQ(fold, of_step[step].first) << what << " at step " << step;
    EXPECT_EQ(epoch, of_step[step].second) << what << " at step " << step;
  };
  for (const RunTable table : {RunTable::epochs, RunTable::evaluations, RunTable::health, RunTable::signals}) {
    const auto places = reader.rows(table, 0, 1000, {"step", "fold", "epoch"});
    EXPECT_GT(places.ids.size(), 0u) << table_name(table);
    for (std::size_t i = 0; i < places.ids.size(); ++i)
      expect_place(static_cast<std::int64_t>(places.values[0][i]), static_cast<std::int64_t>(places.values[1][i]),
                   static_cast<std::int64_t>(places.values[2][i]), table_name(table));
  }
  for (const auto& checkpoint : reader.checkpoints()) {
    expect_place(checkpoint.step, checkpoint.fold, checkpoint.epoch, checkpoint.reason);
    const auto file = SafetensorsFile::open(checkpoint.file);
    EXPECT_EQ(file.metadata().at("step"), std::to_string(checkpoint.step));
    EXPECT_EQ(file.metadata().at("fold"), std::to_string(checkpoint.fold));
    EXPECT_EQ(file.metadata().at("epoch"), std::to_string(checkpoint.epoch));
  }
  for (const auto& event : reader.events()) {
    EXPECT_LT(event.epoch, 3) << event.message;
    if (event.step > 0 && event.kind == "epoch") expect_place(event.step, event.fold, event.epoch, event.message);
  }
  for (const auto& fold : session.results())
    for (const auto& epoch : fold->epochs)
      expect_place(static_cast<std::int64_t>(epoch->step), fold->index, epoch->epoch, "result");
  const RunInfo info = reader.info();
  expect_place(info.steps, info.fold, info.epoch, "run.json");
  const auto status = session.status();
  expect_place(static_cast<std::int64_t>(status->step), status->fold, status->epoch, "status");
}

}  // namespace
}  // namespace foxhunt
