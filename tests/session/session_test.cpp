// A session from start to end: states, commands, what it leaves in the run folder, real data, and every way to fail
// before it begins.
#include <gtest/gtest.h>

#include <fstream>

#include "engine/base/error.h"
#include "engine/checkpoint/tensor_statistics.h"
#include "engine/run/run_reader.h"
#include "engine/session/checkpoint_load.h"
#include "tests/session/session_fixture.h"
#include "tests/support/log_watch.h"

namespace foxhunt {
namespace {

using namespace test;

TEST(Session, TrainsTwoFoldsAndLeavesAWholeRun) {
  const auto folder = scratch_folder() / "run";
  Session session(tiny_config(), options_in(folder));
  ASSERT_TRUE(session.wait(120));
  ASSERT_EQ(session.status()->state, SessionState::finished) << session.status()->reason;
  EXPECT_EQ(session.status()->step, 120u);
  const auto results = session.results();
  ASSERT_EQ(results.size(), 2u);
  for (const auto& fold : results) EXPECT_EQ(fold->epochs.size(), 2u);
  const auto last = session.checkpoints().back();
  EXPECT_NE(last.string().find("stop"), std::string::npos);
  EXPECT_TRUE(SafetensorsFile::open(last).find("state.control"));

  const auto reader = RunReader::open(folder);
  EXPECT_EQ(reader.info().status, "finished");
  EXPECT_EQ(reader.info().steps, 120);
  std::int64_t steps = 0;
  reader.visit(RunTable::steps, 0, [&](std::int64_t, const RunRecord&) {
    ++steps;
    return true;
  });
  EXPECT_EQ(steps, 120) << "every step is recorded below the stated rate";
}

TEST(Session, EvaluateReproducesTheLastValidation) {
  const auto folder = scratch_folder();
  Session session(tiny_config(), options_in(folder / "run"));
  ASSERT_TRUE(session.wait(120));
  const auto last = session.results().back()->epochs.back();
  const auto again = evaluate_checkpoint(session.checkpoints().back(), tiny_config());
  EXPECT_EQ(again.fold, 1);
  const auto want = metric_values(last->evaluation.metrics), got = metric_values(again.result.metrics);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::string(want[i].first) == "dsr")
      continue;  // deflated by the trials of the run, which a single evaluation has not
    EXPECT_EQ(got[i].second, want[i].second) << want[i].first;
  }
  EXPECT_EQ(again.result.equity, last->evaluation.equity);
  EXPECT_EQ(again.result.baselines.buy_and_hold.net, last->evaluation.baselines.buy_and_hold.net);
  EXPECT_EQ(again.result.baselines.random.net, last->evaluation.baselines.random.net);
  // Bar by bar too. The session has the newest trace alone, no epoch a copy of its own.
  const auto trace = session.trace();
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->fold, 1);
  EXPECT_EQ(trace->step, last->step);
  EXPECT_EQ(again.step, last->step);
  EXPECT_TRUE(last->evaluation.trace.empty());
  EXPECT_EQ(trace->bars->rows, again.window);
  EXPECT_EQ(trace->bars->close, again.bars.close);
  ASSERT_EQ(trace->trace.size(), again.result.trace.size());
  for (std::size_t i = 0; i < trace->trace.size(); ++i) {
    ASSERT_EQ(trace->trace[i].position, again.result.trace[i].position) << i;
    ASSERT_EQ(trace->trace[i].action, again.result.trace[i].action) << i;
    ASSERT_EQ(trace->trace[i].reward, again.result.trace[i].reward) << i;
  }
  ASSERT_EQ(trace->trades.size(), again.result.trades.size());
  double costs = 0;
  for (const TradeRecord& trade : trace->trades) costs += trade.costs;
  EXPECT_NEAR(costs, last->evaluation.metrics.costs, 1e-6);
}

// The row of an epoch's end shows the validation read there, which is of the epoch before.
TEST(Session, GreedyActionsOfTheValidationAreWordsOfHealthDiag) {
  const auto folder = scratch_folder() / "run";
  Config c = tiny_config();
  c.folds.count = 1;
  c.training.epochs = 3;
  c.telemetry.diag_interval = 1000;  // rows at epoch ends alone
  Session session(c, options_in(folder));
  ASSERT_TRUE(session.wait(120));
  const std::vector<std::string> words = {
      "evaluation_action_direction_short", "evaluation_action_direction_hold",    "evaluation_action_direction_long",
      "evaluation_action_direction_flat",  "evaluation_action_magnitude_quarter", "evaluation_action_magnitude_half",
      "evaluation_action_magnitude_full",  "evaluation_action_order_market",      "evaluation_action_order_limit",
      "evaluation_action_order_pegged",    "evaluation_action_urgency_patient",   "evaluation_action_urgency_normal",
      "evaluation_action_urgency_urgent"};
  const auto rows = RunReader::open(folder).rows(RunTable::health, 0, 100, words);
  ASSERT_EQ(rows.ids.size(), 3u);
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t k = 0; k < words.size(); ++k) {
      const double want = row == 0 ? 0 : session.results().at(0)->epochs.at(row - 1)->evaluation.action_frequency()[k];
      EXPECT_NEAR(rows.values[k][row], want, 1e-6) << words[k] << " at the end of epoch " << row;
    }
}

TEST(Session, StopsAtTheStepLimitWithAValidatedCheckpoint) {
  SessionOptions o = options_in(scratch_folder() / "run");
  o.max_steps = 17;
  Session session(tiny_config(), o);
  ASSERT_TRUE(session.wait(120));
  EXPECT_EQ(session.status()->state, SessionState::stopped);
  EXPECT_EQ(session.status()->step, 17u);
  ASSERT_FALSE(session.results().empty());
  const auto file = SafetensorsFile::open(session.checkpoints().back());
  EXPECT_EQ(file.metadata().at("step"), "17");
  EXPECT_NE(file.metadata().at("metrics"), "null");
}

TEST(Session, RefusesWhatDoesNotFitItsState) {
  Session session(tiny_config(), options_in(scratch_folder() / "run"));
  ASSERT_TRUE(wait_for(session, 60, [](const SessionStatus& s) { return s.step >= 1; }));
  const auto resume = session.post(command(CommandKind::resume));
  const auto start = session.post(command(CommandKind::start_folds));
  Command rate = command(CommandKind::set_value);
  rate.field = "learner.lr";
  rate.value = "2e-4";
  const auto set = session.post(rate);
  rate.field = "learner.hidden";
  const auto bad = session.post(rate);
  session.post(command(CommandKind::stop_now));
  ASSERT_TRUE(session.wait(60));
  const auto commands = session.commands();
  EXPECT_EQ(commands[resume - 1].stage, CommandRecord::Stage::refused);
  EXPECT_EQ(commands[start - 1].stage, CommandRecord::Stage::refused);
  EXPECT_EQ(commands[set - 1].stage, CommandRecord::Stage::done) << commands[set - 1].message;
  EXPECT_EQ(commands[bad - 1].stage, CommandRecord::Stage::refused);
  EXPECT_EQ(session.status()->state, SessionState::stopped);
}

TEST(Session, WrongDataLeaveNoRunFolder) {
  struct Mistake {
    const char* part;
    std::function<void(Config&)> make;
  };
  const auto folder = scratch_folder();
  std::ofstream(folder / "naive.csv")
      << "datetime,open,high,low,close,volume\n2026-01-02 10:00:00,1,2,0.5,1.5,3\n2026-01-02 10:01:00,1,2,0.5,1.5,3\n";
  const Mistake mistakes[] = {
      {"order",
       [&](Config& c) {
         c.data.simulated.reset();
         c.data.ohlcv = {(folder / "naive.csv").string()};
       }},
      {"time",
       [&](Config& c) {
         c.data.simulated.reset();
         c.data.order_flow = "absent";
         c.data.ohlcv = {(folder / "naive.csv").string()};
       }},
      {"fold", [](Config& c) { c.folds.train_bars = 100'000; }},
      {"max_position", [](Config& c) { c.environment.max_position = 0.25; }},
  };
  for (const auto& mistake : mistakes) {
    Config c = tiny_config();
    mistake.make(c);
    Session session(c, options_in(folder / "run"));
    ASSERT_TRUE(session.wait(60));
    EXPECT_EQ(session.status()->state, SessionState::failed);
    ASSERT_NE(session.error(), nullptr);
    try {
      std::rethrow_exception(session.error());
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage) << e.sentence();
      EXPECT_NE(e.sentence().find(mistake.part), std::string::npos) << e.sentence();
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "run")) << mistake.part;
  }
}

void train_real(Config c, const char* name) {
  c.folds.count = 1;
  c.training.epochs = 1;
  const auto folder = scratch_folder();
  Session session(c, options_in(folder / name));
  ASSERT_TRUE(session.wait(300));
  ASSERT_EQ(session.status()->state, SessionState::finished) << session.status()->reason;
  const auto last = session.results().back()->epochs.back();
  const auto again = evaluate_checkpoint(session.checkpoints().back(), c);
  EXPECT_EQ(again.result.metrics.net, last->evaluation.metrics.net);
  EXPECT_EQ(again.result.equity, last->evaluation.equity);
}

TEST(Session, TrainsOnRealBookAndTrades) {
  FH_NEEDS_SHARED("data/es_derived/esh4_20231225.ohlcv-1s.v3.dbn.zst");
  Config c = tiny_config();
  c.data.simulated.reset();
  c.data.ohlcv = {shared("data/es_derived/esh4_20231225.ohlcv-1s.v3.dbn.zst").string()};
  c.data.mbp10 = {shared("data/es_derived/esh4_20231225.mbp-10.v3.dbn.zst").string()};
  c.data.trades = {shared("data/es_derived/esh4_20231225.trades.v3.dbn.zst").string()};
  c.folds.train_bars = 500;
  c.folds.validation_bars = 200;
  train_real(c, "es");
}

TEST(Session, TrainsOnRealBarsAlone) {
  FH_NEEDS_SHARED("data/ohlcv/ES_5min_202602-202604.csv.zst");
  Config c = tiny_config();
  c.data.simulated.reset();
  c.data.ohlcv = {shared("data/ohlcv/ES_5min_202602-202604.csv.zst").string()};
  c.data.order_flow = "absent";
  c.data.timezone = "America/New_York";
  c.folds.train_bars = 3000;
  c.folds.validation_bars = 600;
  train_real(c, "bars");
}

}  // namespace
}  // namespace foxhunt
