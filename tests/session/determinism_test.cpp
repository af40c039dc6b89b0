// The same configuration and seed give the same bits: over threads, pauses, eager and captured steps, and across a
// resume.
#include <gtest/gtest.h>

#include "engine/checkpoint/compare.h"
#include "tests/session/session_fixture.h"

namespace foxhunt {
namespace {

using namespace test;

class Determinism : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = scratch_folder();
    reference_ = train(tiny_config(), options_in(folder_ / "reference"));
  }
  std::filesystem::path folder_, reference_;
};

TEST_F(Determinism, SameAgain) {
  expect_identical(reference_, train(tiny_config(), options_in(folder_ / "again")));
}

TEST_F(Determinism, TwoThreads) {
  Config c = tiny_config();
  c.threads = 2;
  expect_identical(reference_, train(c, options_in(folder_ / "threads")));
}

TEST_F(Determinism, Eager) {
  SessionOptions o = options_in(folder_ / "eager");
  o.eager = true;
  expect_identical(reference_, train(tiny_config(), o));
}

TEST_F(Determinism, PausedSteppedAndSaved) {
  Session session(tiny_config(), options_in(folder_ / "paused"));
  ASSERT_TRUE(wait_for(session, 60, [](const SessionStatus& s) { return s.step >= 3; }));
  session.post(command(CommandKind::pause));
  ASSERT_TRUE(wait_for(session, 60, [](const SessionStatus& s) { return s.state == SessionState::paused; }));
  const auto at = session.status()->step;
  session.post(command(CommandKind::one_step));
  session.post(command(CommandKind::save_checkpoint));
  session.post(command(CommandKind::resume));
  ASSERT_TRUE(session.wait(120));
  EXPECT_EQ(session.status()->state, SessionState::finished);
  const auto commands = session.commands();
  ASSERT_EQ(commands.size(), 4u);
  for (const auto& c : commands) EXPECT_EQ(c.stage, CommandRecord::Stage::done) << c.message;
  EXPECT_EQ(commands[1].step, at);
  EXPECT_EQ(commands[2].step, at + 1) << "one step was taken while paused";
  expect_identical(reference_, session.checkpoints().back());
  // Wherever the pause fell, also between two epochs: a checkpoint is of the epoch in which its newest step was made.
  for (const auto& path : session.checkpoints()) {
    const auto file = SafetensorsFile::open(path);
    const int step = std::stoi(file.metadata().at("step")), c = tiny_config().training.steps_per_epoch;
    EXPECT_EQ(std::stoi(file.metadata().at("epoch")), (step - 1) / c % tiny_config().training.epochs) << path;
  }
}

// Single steps over the ends of two epochs: each is validated in its place, and the checkpoints say their epochs.
TEST(SingleSteps, OverTheEndsOfEpochs) {
  const auto folder = scratch_folder();
  Config c = tiny_config();
  c.folds.count = 1;
  c.training.steps_per_epoch = 300;
  const auto reference = train(c, options_in(folder / "reference"));
  Session session(c, options_in(folder / "single"));
  ASSERT_TRUE(wait_for(session, 60, [](const SessionStatus& s) { return s.step >= 1; }));
  session.post(command(CommandKind::pause));
  ASSERT_TRUE(wait_for(session, 60, [](const SessionStatus& s) { return s.state == SessionState::paused; }));
  const auto paused_at = session.status()->step;
  ASSERT_LT(paused_at, 290u);
  for (auto step = paused_at + 1; step <= 600; ++step) {
    session.post(command(CommandKind::one_step));
    if (step >= 298 && step <= 302) session.post(command(CommandKind::save_checkpoint));
  }
  ASSERT_TRUE(session.wait(120));
  EXPECT_EQ(session.status()->state, SessionState::finished) << session.status()->reason;
  EXPECT_EQ(session.status()->step, 600u);
  ASSERT_EQ(session.results().size(), 1u);
  ASSERT_EQ(session.results().back()->epochs.size(), 2u);
  EXPECT_EQ(session.results().back()->epochs[0]->step, 300u);
  int manual = 0;
  for (const auto& path : session.checkpoints()) {
    manual += path.filename().string().find("manual") != std::string::npos;
    const auto file = SafetensorsFile::open(path);
    EXPECT_EQ(std::stoi(file.metadata().at("epoch")), (std::stoi(file.metadata().at("step")) - 1) / 300) << path;
  }
  EXPECT_EQ(manual, 5);
  expect_identical(reference, session.checkpoints().back());
}

TEST_F(Determinism, AnotherSeedDiffers) {
  Config c = tiny_config();
  c.seed = 8;
  const auto other = train(c, options_in(folder_ / "seed"));
  EXPECT_FALSE(compare_files(SafetensorsFile::open(reference_), SafetensorsFile::open(other)).identical);
}

TEST_F(Determinism, ResumedFromTheMiddleOfAnEpoch) {
  std::filesystem::path middle;
  {
    Session session(tiny_config(), options_in(folder_ / "first"));
    ASSERT_TRUE(wait_for(session, 60, [](const SessionStatus& s) { return s.step >= 5; }));
    session.post(command(CommandKind::pause));
    session.post(command(CommandKind::save_checkpoint));
    ASSERT_TRUE(wait_for(session, 60, [&](const SessionStatus&) {
      return session.commands().size() == 2 && session.commands()[1].done > 0;
    }));
    for (const auto& path : session.checkpoints())
      if (path.filename().string().find("manual") != std::string::npos) middle = path;
  }
  ASSERT_FALSE(middle.empty());
  SessionOptions o = options_in(folder_ / "second");
  o.resume = middle;
  expect_identical(reference_, train(tiny_config(), o));
}

}  // namespace
}  // namespace foxhunt
