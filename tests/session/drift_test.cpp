// The Q-drift guard in real sessions: a run's first epoch never trips, a fold's first one does, and what a trip leaves.
#include <gtest/gtest.h>

#include "engine/run/run_reader.h"
#include "tests/session/session_fixture.h"
#include "tests/support/log_watch.h"

namespace foxhunt {
namespace {

using namespace test;

// Trips at any growth at all.
Config touchy() {
  Config c = tiny_config();
  c.guards.drift = "armed";
  c.guards.drift_factor = 1.000001;
  c.guards.drift_reference_factor = 1e-9;
  c.guards.drift_floor = 0;
  c.guards.drift_window = 100'000'000;  // at epoch ends alone
  return c;
}

TEST(Drift, NeverInTheFirstEpochOfARun) {
  Config c = touchy();
  c.guards.drift_window = 1;
  SessionOptions o = options_in(scratch_folder() / "run");
  o.max_steps = 30;  // the whole first epoch, its end included
  Session session(c, o);
  ASSERT_TRUE(session.wait(120));
  EXPECT_EQ(session.status()->state, SessionState::stopped) << session.status()->reason;
  EXPECT_EQ(session.status()->step, 30u);
}

TEST(Drift, TheFirstEpochOfAFoldIsComparedWithTheFoldBefore) {
  const ExpectLog expected("mean Q");
  const auto folder = scratch_folder();
  Config c = touchy();
  c.guards.drift = "off";
  SessionOptions part = options_in(folder / "part");
  part.max_steps = 60;  // all of the first fold
  std::filesystem::path left;
  {
    Session first(c, part);
    ASSERT_TRUE(first.wait(120));
    left = first.checkpoints().back();
  }
  SessionOptions rest = options_in(folder / "rest");
  rest.resume = with_session(left, folder / "changed.safetensors",
                             [](nlohmann::json& session) { session["drift_previous"] = 1e-12; });
  c.guards.drift = "armed";
  Session session(c, rest);
  ASSERT_TRUE(session.wait(120));
  const auto status = session.status();
  EXPECT_EQ(status->state, SessionState::halted) << status->reason;
  EXPECT_EQ(status->step, 90u) << "the end of the second fold's first epoch";
  EXPECT_EQ(status->fold, 1);
  EXPECT_NE(status->reason.find("against 1e-12 in the epoch before"), std::string::npos) << status->reason;
  // All five numbers, a rejected checkpoint, and a recording of the last seconds.
  const RunReader run = RunReader::open(folder / "rest");
  int guards = 0;
  for (const auto& event : run.events()) {
    if (event.kind != "guard") continue;
    ++guards;
    EXPECT_EQ(event.source, "q-drift");
    for (const char* part_of_it : {"mean Q", "ratio", "floor", "magnitude", "direction"})
      EXPECT_NE(event.message.find(part_of_it), std::string::npos) << event.message;
  }
  EXPECT_EQ(guards, 1);
  ASSERT_FALSE(run.checkpoints().empty());
  EXPECT_TRUE(run.checkpoints().back().rejected);
  EXPECT_TRUE(std::filesystem::exists(folder / "rest" / "flight" / "step000000090.json"));
}

// Every epoch's end against plain arithmetic over the means that the run itself recorded.
TEST(Drift, WarnsExactlyWhereTheMeansGrow) {
  const ExpectLog expected("mean Q");
  const auto folder = scratch_folder() / "run";
  Config c = touchy();
  c.guards.drift = "warn";
  c.training.epochs = 4;
  train(c, options_in(folder));
  const RunReader run = RunReader::open(folder);
  const auto epochs = run.rows(RunTable::epochs, 0, 100, {"step", "q_mean"});
  ASSERT_EQ(epochs.ids.size(), 8u);
  std::vector<std::int64_t> grown, warned;
  for (std::size_t i = 1; i < epochs.ids.size(); ++i) {
    if (std::abs(epochs.values[1][i]) > c.guards.drift_factor * std::abs(epochs.values[1][i - 1]))
      grown.push_back(static_cast<std::int64_t>(epochs.values[0][i]));
  }
  for (const auto& event : run.events())
    if (event.kind == "guard") warned.push_back(event.step);
  EXPECT_EQ(warned, grown);
  EXPECT_FALSE(grown.empty());
}

}  // namespace
}  // namespace foxhunt
