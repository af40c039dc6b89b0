// User rules in real sessions: every action through the command queue, what the run keeps of it, changes while it runs.
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/run/run_reader.h"
#include "tests/session/session_fixture.h"
#include "tests/support/log_watch.h"

namespace foxhunt {
namespace {

using namespace test;

// Fires once, at step 51.
std::string at_51(const std::string& action) {
  return "step step above 50, cool_down 3600, " + action;
}

Config ruled(std::vector<std::string> rules, int steps = 400) {
  Config c = tiny_config();
  c.folds.count = 1;
  c.training.epochs = 2;
  c.training.steps_per_epoch = steps;
  c.training.checkpoint_epochs = 0;
  c.rules = std::move(rules);
  return c;
}

Command set_rules(const std::vector<std::string>& rules) {
  Command c = command(CommandKind::set_value);
  c.field = "rules";
  c.value = nlohmann::json(rules).dump();
  return c;
}

// The one event of the rule in the run's history, as a window or `runs show` reads it.
RunReader::Event event_of(const std::filesystem::path& run, const std::string& rule) {
  RunReader::Event found;
  int count = 0;
  for (const auto& event : RunReader::open(run).events()) {
    if (event.kind != "rule" || event.source != rule) continue;
    found = event;
    ++count;
  }
  EXPECT_EQ(count, 1) << rule;
  return found;
}

// The events that a command of the rule left.
std::vector<std::string> commands_of(const std::filesystem::path& run, const std::string& rule) {
  std::vector<std::string> messages;
  for (const auto& event : RunReader::open(run).events())
    if (event.kind == "command" && event.source == rule) messages.push_back(event.message);
  return messages;
}

void expect_fired(const std::filesystem::path& run, const std::string& rule, const std::string& action) {
  const auto event = event_of(run, rule);
  EXPECT_EQ(event.step, 51);
  EXPECT_EQ(event.severity, action == "mark" ? "info" : "warning");
  EXPECT_NE(event.message.find("step = 51 is above 50"), std::string::npos) << event.message;
  const auto details = nlohmann::json::parse(event.details);
  EXPECT_EQ(details.at("rule"), rule);
  EXPECT_EQ(details.at("action"), action);
  EXPECT_EQ(details.at("value"), 51);
  EXPECT_EQ(details.contains("command"), action != "mark" && action != "notify");
}

TEST(SessionRules, MarkAndNotifyLeaveTrainingAlone) {
  const ExpectLog notified("step = 51 is above 50");
  const auto run = scratch_folder() / "run";
  Session session(ruled({at_51("mark"), at_51("notify")}, 60), options_in(run));
  ASSERT_TRUE(session.wait(120));
  EXPECT_EQ(session.status()->state, SessionState::finished) << session.status()->reason;
  EXPECT_TRUE(session.commands().empty());
  expect_fired(run, at_51("mark"), "mark");
  expect_fired(run, at_51("notify"), "notify");
  EXPECT_EQ(notified.count(), 1) << "a mark warns nobody";
  int seen = 0;
  for (const SessionEvent& event : session.events()) seen += event.kind == "rule" && event.step == 51;
  EXPECT_EQ(seen, 2) << "the window hears of both";
}

TEST(SessionRules, CheckpointIsSavedAndAcknowledged) {
  const ExpectLog expected("a checkpoint is asked for");
  const auto run = scratch_folder() / "run";
  const std::string rule = at_51("checkpoint");
  Session session(ruled({rule}), options_in(run));
  ASSERT_TRUE(session.wait(120));
  EXPECT_EQ(session.status()->state, SessionState::finished) << session.status()->reason;
  const auto commands = session.commands();
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].command.kind, CommandKind::save_checkpoint);
  EXPECT_EQ(commands[0].command.by, rule);
  EXPECT_EQ(commands[0].stage, CommandRecord::Stage::done) << commands[0].message;
  EXPECT_GE(commands[0].step, 51u);
  EXPECT_LT(commands[0].step, 800u);
  expect_fired(run, rule, "checkpoint");
  EXPECT_EQ(commands_of(run, rule).size(), 1u);
  int manual = 0;
  for (const auto& saved : RunReader::open(run).checkpoints())
    manual += saved.reason == "manual" && saved.problem.empty();
  EXPECT_EQ(manual, 1);
}

TEST(SessionRules, PauseWaitsForTheUser) {
  const ExpectLog expected("a pause is asked for");
  const auto run = scratch_folder() / "run";
  const std::string rule = at_51("pause");
  Session session(ruled({rule}), options_in(run));
  ASSERT_TRUE(wait_for(session, 60, [](const SessionStatus& s) { return s.state == SessionState::paused; }));
  const auto at = session.status()->step;
  EXPECT_GE(at, 51u);
  EXPECT_LT(at, 800u);
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  EXPECT_EQ(session.status()->step, at) << "nothing moves";
  session.post(command(CommandKind::resume));
  ASSERT_TRUE(session.wait(120));
  EXPECT_EQ(session.status()->state, SessionState::finished) << session.status()->reason;
  EXPECT_EQ(session.status()->step, 800u);
  EXPECT_EQ(session.commands()[0].stage, CommandRecord::Stage::done);
  EXPECT_EQ(session.commands()[0].step, at);
  expect_fired(run, rule, "pause");
  EXPECT_EQ(commands_of(run, rule), (std::vector<std::string>{fmt::format("pause at step {}", at)}));
}

TEST(SessionRules, StopSavesAndNamesTheRule) {
  const ExpectLog expected("the session is asked to stop and save");
  const auto run = scratch_folder() / "run";
  const std::string rule = at_51("stop");
  Session session(ruled({rule}), options_in(run));
  ASSERT_TRUE(session.wait(120));
  EXPECT_EQ(session.status()->state, SessionState::stopped);
  EXPECT_NE(session.status()->reason.find(rule), std::string::npos) << session.status()->reason;
  EXPECT_LT(session.status()->step, 800u);
  ASSERT_FALSE(session.checkpoints().empty());
  EXPECT_NE(session.checkpoints().back().string().find("-stop"), std::string::npos);
  expect_fired(run, rule, "stop");
  EXPECT_EQ(RunReader::open(run).info().status, "stopped");
}

TEST(SessionRules, AreChangedWhileItRuns) {
  const ExpectLog expected("the session is asked to stop and save");
  const auto run = scratch_folder() / "run";
  const std::string off = at_51("stop") + ", off", late = "step step above 300, cool_down 3600, stop";
  Session session(ruled({off}, 4000), options_in(run));
  ASSERT_TRUE(wait_for(session, 60, [](const SessionStatus& s) { return s.step >= 60; }));
  const auto wrong = session.post(set_rules({off, "step step abov 300"}));
  const auto right = session.post(set_rules({off, late}));
  ASSERT_TRUE(session.wait(120));
  const auto commands = session.commands();
  EXPECT_EQ(commands[wrong - 1].stage, CommandRecord::Stage::refused);
  EXPECT_NE(commands[wrong - 1].message.find("rules[1]"), std::string::npos) << commands[wrong - 1].message;
  EXPECT_NE(commands[wrong - 1].message.find("did you mean \"above\"?"), std::string::npos);
  EXPECT_EQ(commands[right - 1].stage, CommandRecord::Stage::done) << commands[right - 1].message;
  EXPECT_EQ(session.status()->state, SessionState::stopped);
  EXPECT_GE(event_of(run, late).step, 301);
  for (const auto& event : RunReader::open(run).events()) EXPECT_NE(event.source, off);
  // What is saved from here on has the rules that were at work.
  const auto file = SafetensorsFile::open(session.checkpoints().back());
  EXPECT_NE(file.metadata().at("config").find("above 300"), std::string::npos);
}

TEST(SessionRules, AWrongOneIsRefusedBeforeThereIsARun) {
  const auto run = scratch_folder() / "run";
  Session session(ruled({at_51("mark"), "signal risk.exposur above 1"}), options_in(run));
  ASSERT_TRUE(session.wait(60));
  EXPECT_EQ(session.status()->state, SessionState::failed);
  try {
    std::rethrow_exception(session.error());
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_EQ(e.place().field, "rules[1]");
    EXPECT_NE(e.sentence().find("character 8"), std::string::npos) << e.sentence();
    EXPECT_NE(e.sentence().find("risk.exposure"), std::string::npos) << e.sentence();
  }
  EXPECT_FALSE(std::filesystem::exists(run));
}

// A rule changes nothing of what is learned: the same bits with and without.
TEST(SessionRules, DoNotTouchTraining) {
  const ExpectLog expected("is asked for");
  const auto folder = scratch_folder();
  const auto plain = train(ruled({}, 100), options_in(folder / "plain"));
  const auto watched = train(ruled({"step loss.total no_progress 20, cool_down 0", at_51("checkpoint")}, 100),
                             options_in(folder / "ruled"));
  const auto a = SafetensorsFile::open(plain), b = SafetensorsFile::open(watched);
  for (const TensorInfo& tensor : a.tensors()) {
    std::vector<std::byte> x(tensor.bytes()), y(b.at(tensor.name).bytes());
    a.read_into(tensor, x.data());
    b.read_into(b.at(tensor.name), y.data());
    EXPECT_TRUE(x == y) << tensor.name;
  }
}

}  // namespace
}  // namespace foxhunt
