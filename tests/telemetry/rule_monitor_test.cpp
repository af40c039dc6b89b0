// Rules in a live session: a scripted stream of steps through mapped memory and the recorder, whose rows are joined.
#include "engine/telemetry/rule_monitor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/telemetry/recorder.h"
#include "engine/telemetry/rule_text.h"
#include "tests/support/log_watch.h"
#include "tests/telemetry/mapped_writer.h"

namespace foxhunt::test {
namespace {

using namespace telemetry;
using Steps = std::vector<std::uint64_t>;

struct NullSink : TelemetrySink {
  bool fail = false;
  std::uint64_t rows = 0, buckets = 0;
  void step_rows(std::span<const StepRow> more) override {
    if (fail) throw std::runtime_error("the disk is full");
    rows += more.size();
  }
  void step_bucket(const StepBucket&) override {
    if (fail) throw std::runtime_error("the disk is full");
    ++buckets;
  }
  void signals_row(double, std::uint32_t, std::span<const float>) override {}
  void health_row(double, const HealthDiag&) override {}
  void missed_steps(double, std::uint64_t) override {}
};

// Recorder and rules over a stream that the test writes; only flush() drains.
class Live {
 public:
  explicit Live(std::vector<std::string> rules, double rows_per_second = 200) {
    set(std::move(rules));
    RecorderOptions options{.rows_per_second = rows_per_second, .pace_seconds = 3600};
    options.rules = &monitor_;
    recorder_ = std::make_unique<RunRecorder>(writer.mapped(), sink, options);
  }
  void set(std::vector<std::string> rules) { monitor_.set(parse_rules(rules)); }
  void steps(int count, const std::function<float(std::uint64_t)>& loss, bool health = false) {
    for (int i = 0; i < count; ++i) writer.write(health, loss(writer.step() + 1));
    recorder_->flush();
  }
  Steps fired(const std::string& rule) const {
    Steps steps;
    for (const RuleEvent& event : events)
      if (event.rule == rule) steps.push_back(event.step);
    return steps;
  }

  MappedWriter writer;
  NullSink sink;
  std::vector<RuleEvent> events;

 private:
  RuleMonitor monitor_{[this](const RuleEvent& event) { events.push_back(event); }};
  std::unique_ptr<RunRecorder> recorder_;
};

float spikes(std::uint64_t step) {
  return step == 700 || step == 701 || step == 1500 ? 9.0f : 1.0f;
}

TEST(RuleMonitor, SeesEveryStepAlsoWhereRowsAreJoined) {
  const std::string one = "step loss.total above 5, cool_down 0";
  const std::string two = "step loss.total above 5, 2 of 2, cool_down 0, pause";
  Live live({one, two}, 10);
  live.steps(2000, spikes);
  EXPECT_LE(live.sink.buckets, 10u);
  EXPECT_EQ(live.fired(one), (Steps{700, 701, 1500}));
  EXPECT_EQ(live.fired(two), (Steps{701}));
  ASSERT_EQ(live.events.size(), 4u);
  EXPECT_EQ(live.events[0].reason, "loss.total = 9 is above 5");
  EXPECT_EQ(live.events[1].action, RuleAction::mark);
  EXPECT_EQ(live.events[2].action, RuleAction::pause);
  EXPECT_EQ(live.events[2].reason, "loss.total = 9 is above 5, in 2 of the last 2 samples");
}

TEST(RuleMonitor, CoolDownIsWallTime) {
  const std::string rule = "step loss.total above 5, cool_down 3600";
  Live live({rule});
  live.steps(900, spikes);
  live.steps(900, spikes);
  EXPECT_EQ(live.fired(rule), (Steps{700}));
}

TEST(RuleMonitor, SignalsAndSnapshotsAreSamplesWhenTheyBecomeRows) {
  const std::string signal = "signal risk.exposure above 100, cool_down 0";
  const std::string health = "health progress.step above 149, cool_down 0, checkpoint";
  Live live({signal, health});
  for (int i = 0; i < 4; ++i) {
    live.steps(49, spikes);
    live.steps(1, spikes, true);
  }
  // A row of signals comes with each snapshot; between them at most five a second.
  const Steps signals = live.fired(signal);
  ASSERT_GE(signals.size(), 2u);
  EXPECT_EQ(signals.back(), 200u);
  EXPECT_EQ(live.fired(health), (Steps{150, 200}));
}

TEST(RuleMonitor, CanBeChangedWhileStepsCome) {
  const std::string stays = "step loss.total no_progress 600, cool_down 0",
                    goes = "step loss.total above 5, cool_down 0";
  const std::string comes = "step loss.total below 2, cool_down 3600";
  Live live({stays, goes});
  live.steps(500, [](std::uint64_t) { return 1.0f; });
  live.set({comes, stays});
  live.steps(300, spikes);  // a spike at 700 that nobody watches any more
  EXPECT_EQ(live.fired(goes), Steps{});
  EXPECT_EQ(live.fired(comes), (Steps{501}));
  ASSERT_FALSE(live.fired(stays).empty());
  EXPECT_EQ(live.fired(stays).front(), 601u) << "what it had seen before the change counts";
}

TEST(RuleMonitor, WhatIsOffSeesNothing) {
  const std::string off = "step loss.total above 5, cool_down 0, stop, off";
  Live live({off});
  live.steps(1000, spikes);
  EXPECT_TRUE(live.events.empty());
  EXPECT_FALSE(parse_rule(off).enabled);
  EXPECT_EQ(parse_rule(rule_text(parse_rule(off)), off), parse_rule(off));
  live.set({"step loss.total above 5, cool_down 0, stop"});
  live.steps(1000, spikes);
  EXPECT_EQ(live.events.size(), 1u);
}

TEST(RuleMonitor, GoesOnWhereRecordingHasEnded) {
  ExpectLog expected("the disk is full");
  const std::string rule = "step loss.total above 5, cool_down 0";
  Live live({rule});
  live.sink.fail = true;
  live.steps(600, spikes);
  live.sink.fail = false;
  live.steps(600, spikes);
  EXPECT_EQ(live.sink.rows + live.sink.buckets, 0u);
  EXPECT_EQ(live.fired(rule), (Steps{700, 701}));
  EXPECT_EQ(expected.count(), 1);
}

TEST(RuleMonitor, TextsAreCheckedWithTheirPlace) {
  const auto field = [](std::vector<std::string> texts) -> std::string {
    try {
      parse_rules(texts);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.place().field + ": " + error.what();
    }
    return "";
  };
  const std::string good = "signal risk.exposure above 0.9";
  EXPECT_EQ(field({good, "step td.mean below 1"}), "");
  EXPECT_EQ(field({good, "step td.mean abov 1"}),
            "rules[1]: rules[1] is \"step td.mean abov 1\"; character 14: \"abov\" is not a condition; did you mean "
            "\"above\"?");
  EXPECT_NE(field({good, "step td.mean below 1", good}).find("rules[2] is"), std::string::npos);
}

}  // namespace
}  // namespace foxhunt::test
