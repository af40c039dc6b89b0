// Rules as text: every form, and for mistakes the sentence, the place and what could stand there.
#include "engine/telemetry/rule_text.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/telemetry/system_metrics.h"

namespace foxhunt::telemetry {
namespace {

TEST(RuleText, ReadsEachForm) {
  Rule r = parse_rule("signal risk.exposure above 0.9");
  EXPECT_EQ(r.name, "signal risk.exposure above 0.9");
  EXPECT_EQ(r.source, RuleSource::signal);
  EXPECT_EQ(r.column, "risk.exposure");
  EXPECT_EQ(r.kind, RuleKind::above);
  EXPECT_EQ(r.threshold, 0.9);
  EXPECT_EQ(r.needed, 1);
  EXPECT_EQ(r.of, 1);
  EXPECT_EQ(r.cool_down, 60);
  EXPECT_EQ(r.action, RuleAction::mark);

  r = parse_rule(" step  loss.total rises 2.5 sigma over 40 ,3 of 5, cool_down 7.5, pause", "mine");
  EXPECT_EQ(r.name, "mine");
  EXPECT_EQ(r.source, RuleSource::step);
  EXPECT_EQ(r.kind, RuleKind::rises);
  EXPECT_EQ(r.sigmas, 2.5);
  EXPECT_EQ(r.window, 40);
  EXPECT_EQ(r.needed, 3);
  EXPECT_EQ(r.of, 5);
  EXPECT_EQ(r.cool_down, 7.5);
  EXPECT_EQ(r.action, RuleAction::pause);

  r = parse_rule("health q.mean no_progress 500 by 0.01 higher, stop");
  EXPECT_EQ(r.source, RuleSource::health);
  EXPECT_EQ(r.kind, RuleKind::no_progress);
  EXPECT_EQ(r.window, 500);
  EXPECT_EQ(r.threshold, 0.01);
  EXPECT_FALSE(r.lower_is_better);
  EXPECT_EQ(r.action, RuleAction::stop);
  EXPECT_TRUE(parse_rule("step td.mean no_progress 9").lower_is_better);
  EXPECT_EQ(parse_rule("step td.mean below -1e-3").threshold, -1e-3);
}

TEST(RuleText, IsReadBack) {
  for (const char* text : {"signal risk.exposure above 0.9, 1 of 1, cool_down 60, mark",
                           "step loss.total rises 2.5 sigma over 40, 3 of 5, cool_down 7.5, pause",
                           "health q.mean no_progress 500 by 0.01 higher, 1 of 1, cool_down 0, stop",
                           "step q.mean below -0.25, 2 of 2, cool_down 60, checkpoint"})
    EXPECT_EQ(rule_text(parse_rule(text)), text);
}

struct Mistake {
  std::string text;
  std::size_t position, length;
  std::string sentence;
};

TEST(RuleText, MistakesHaveSentenceAndPlace) {
  const Mistake mistakes[] = {
      {"", 0, 0, "what the rule watches is missing"},
      {"signl risk.exposure above 1", 0, 5, "\"signl\" is not what the rule watches; did you mean \"signal\"?"},
      {"signal", 6, 0, "the name of a signal column is missing"},
      {"step loss.totel above 1", 5, 10,
       "\"loss.totel\" is not the name of a step column; did you mean \"loss.total\"?"},
      {"signal reserved.140 above 1", 7, 12, "\"reserved.140\" is not the name of a signal column; did you mean"},
      {"step loss.total abov 1", 16, 4, "\"abov\" is not a condition; did you mean \"above\"?"},
      {"step loss.total above", 21, 0, "a number, the bound is missing"},
      {"step loss.total above much", 22, 4, "\"much\" is not a number, the bound"},
      {"step loss.total above nan", 22, 3, "\"nan\" is not a number, the bound"},
      {"step loss.total rises 3 sigmas over 5", 24, 6, "did you mean \"sigma\"?"},
      {"step loss.total rises 3 sigma over 5.5", 35, 3, "\"5.5\" is not a whole number of samples"},
      {"step loss.total above 1 notify", 24, 6, "\"notify\" is not the next option"},
      {"step loss.total above 1, notfy", 25, 5, "did you mean \"notify\"?"},
      {"step loss.total above 1,", 24, 0, "an option or an action is missing"},
      {"step loss.total above 1, 3 off 5", 27, 3, "did you mean \"of\"?"},
      {"step loss.total above 1, 3 of 2", 0, 31, "needed is 3; allowed: 1 to 2"},
      {"step loss.total rises 3 sigma over 1", 0, 36, "window is 1; allowed: 2 to"},
  };
  for (const Mistake& m : mistakes) {
    const RuleCheck check = check_rule_text(m.text, "x");
    EXPECT_FALSE(check.rule.has_value()) << m.text;
    EXPECT_NE(check.sentence.find(m.sentence), std::string::npos) << m.text << ": " << check.sentence;
    EXPECT_EQ(check.position, m.position) << m.text << ": " << check.sentence;
    EXPECT_EQ(check.length, m.length) << m.text;
  }
  EXPECT_EQ(check_rule_text("signal risk.exposur above 1").allowed.front(), "risk.exposure");
  try {
    parse_rule("step loss.total abov 1");
    FAIL() << "a wrong rule was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("character 17"), std::string::npos) << error.what();
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
}

// Any bytes: a rule or a sentence.
TEST(RuleText, NothingThatIsTypedBreaksIt) {
  const std::string good = "step loss.total rises 2.5 sigma over 40, 3 of 5, cool_down 7.5, pause";
  for (std::size_t cut = 0; cut <= good.size(); ++cut) {
    for (const char* more : {"", ",", " \t", "\x80\xff", "-"}) {
      const RuleCheck check = check_rule_text(good.substr(0, cut) + more);
      EXPECT_NE(check.rule.has_value(), !check.sentence.empty()) << cut;
      EXPECT_LE(check.position + check.length, cut + std::string(more).size()) << cut;
    }
  }
}

TEST(RuleText, ColumnsAreThoseOfTheTables) {
  EXPECT_EQ(rule_columns(RuleSource::signal).size(), 160u - 31);
  EXPECT_EQ(rule_columns(RuleSource::health).size(), 147u);
  EXPECT_EQ(rule_columns(RuleSource::step).size(), 40u - 6);
  for (RuleSource source : {RuleSource::signal, RuleSource::health, RuleSource::step})
    for (const std::string& name : rule_columns(source))
      EXPECT_TRUE(check_rule_text(std::string(rule_word(source)) + " " + name + " above 0").rule.has_value()) << name;
}

TEST(SystemMetrics, WithoutADriverThereIsASentence) {
  const SystemMonitor none(0, "libfoxhunt-absent-driver.so.1");
  EXPECT_FALSE(none.available());
  EXPECT_EQ(none.problem(),
            "no metrics of the GPU: libfoxhunt-absent-driver.so.1 cannot be loaded, so there is no NVIDIA driver");
  EXPECT_FALSE(none.read().gpu_use.has_value());
  const SystemMonitor other(0, "libm.so.6");  // a library, but not that one
  EXPECT_EQ(other.problem(), "no metrics of the GPU: libm.so.6 has no function nvmlInit_v2");
}

// With a driver the numbers are those of a GPU; without one there is its sentence.
TEST(SystemMetrics, AreWithinTheirRanges) {
  SystemMonitor monitor;
  const SystemMetrics m = monitor.read();
  EXPECT_EQ(monitor.available(), m.memory_total.has_value()) << monitor.problem();
  if (!monitor.available()) return;
  EXPECT_FALSE(monitor.name().empty());
  EXPECT_GE(*m.memory_total, m.memory_used.value_or(0));
  EXPECT_LE(m.gpu_use.value_or(0), 1);
  EXPECT_GT(m.sm_clock.value_or(1), 0);
  EXPECT_LT(m.temperature.value_or(0), 130);
}

}  // namespace
}  // namespace foxhunt::telemetry
