// The three tables: sizes, names, ranges, and the page that is made of them.
#include "engine/telemetry/tables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

namespace foxhunt::telemetry {
namespace {

void expect_sound(std::span<const TableEntry> table) {
  std::set<std::string_view> names;
  for (const TableEntry& entry : table) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.meaning.empty()) << entry.name;
    EXPECT_FALSE(entry.group.empty()) << entry.name;
    EXPECT_EQ(entry.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_."), std::string_view::npos)
        << entry.name;
    EXPECT_FALSE(entry.low > entry.high) << entry.name;
  }
}

TEST(Tables, AreComplete) {
  EXPECT_EQ(step_table().size(), 40u);
  EXPECT_EQ(signal_table().size(), 160u);
  EXPECT_EQ(health_table().size(), 147u);
  expect_sound(step_table());
  expect_sound(signal_table());
  expect_sound(health_table());
}

TEST(Tables, SlotsStandWhereTheyAreDocumented) {
  const std::pair<int, const char*> places[] = {{0, "loss.total"},
                                                {7, "gradient.norm"},
                                                {8, "learning.health"},
                                                {12, "q.mean.direction"},
                                                {16, "q.reference.magnitude"},
                                                {20, "q.reference.next"},
                                                {21, "q.reference.direction"},
                                                {22, "q.gap.direction"},
                                                {26, "distribution.spread.direction"},
                                                {30, "action.direction.short"},
                                                {42, "action.urgency.urgent"},
                                                {43, "vsn.weight.price"},
                                                {49, "regime.quiet"},
                                                {52, "regime.now"},
                                                {53, "support.low.direction"},
                                                {60, "support.high.urgency"},
                                                {62, "distribution.entropy"},
                                                {63, "reward.pnl"},
                                                {69, "by_magnitude.win_rate.quarter"},
                                                {81, "risk.kelly_cap"},
                                                {84, "risk.drawdown"},
                                                {86, "risk.ruin_share"},
                                                {88, "vsn.concentration"},
                                                {91, "exploration.share"},
                                                {93, "target.cosine"},
                                                {94, "noise.direction"},
                                                {98, "gradient.vsn"},
                                                {108, "gradient.iql_aux"},
                                                {112, "step.time"},
                                                {114, "aux.direction"},
                                                {117, "aux.volatility"},
                                                {118, "expert.0"},
                                                {128, "expert.lambda"},
                                                {129, "reserved.129"}};
  for (const auto& [slot, name] : places) EXPECT_EQ(signal_table()[slot].name, name);
  const int fed_back[16] = {8, 9, 10, 11, 12, 13, 14, 15, 16, 21, 22, 49, 50, 51, 81, 84};
  for (int i = 0; i < 16; ++i) EXPECT_EQ(kernels::kStateSignals[i], fed_back[i]);
  for (int slot = 0; slot < 160; ++slot) {
    EXPECT_EQ(signal_table()[slot].kind == SignalKind::epoch, slot >= 16 && slot <= 21) << slot;
    EXPECT_EQ(signal_table()[slot].kind == SignalKind::reserved, slot >= 129) << slot;
  }
}

TEST(Tables, MirroredWordsKeepUnitAndRangeOfTheirSignal) {
  int mirrored = 0;
  for (const TableEntry& word : health_table()) {
    if (word.mirror < 0) continue;
    ++mirrored;
    EXPECT_EQ(word.unit, signal_table()[word.mirror].unit) << word.name;
    EXPECT_EQ(std::isnan(word.low), std::isnan(signal_table()[word.mirror].low)) << word.name;
  }
  EXPECT_EQ(mirrored, 12 + 6 + 8 + 3 + 10 + 1);  // by magnitude, reward, noise and drift, auxiliary, moe, clip share
}

TEST(Tables, HealthyRangeIncludesItsEndsAndNothingThatIsNotFinite) {
  const TableEntry entry{"x", "", "g", "m", 0.1f, 2, WordType::f32, SignalKind::ema, -1};
  EXPECT_TRUE(entry.healthy(0.1f));
  EXPECT_TRUE(entry.healthy(2));
  EXPECT_FALSE(entry.healthy(2.0001));
  EXPECT_FALSE(entry.healthy(0.0999));
  EXPECT_FALSE(entry.healthy(std::nan("")));
  const TableEntry open{"x", "", "g", "m", std::nanf(""), std::nanf(""), WordType::f32, SignalKind::ema, -1};
  EXPECT_TRUE(open.healthy(1e30));
  EXPECT_FALSE(open.healthy(INFINITY));
  EXPECT_FALSE(open.has_range());
}

TEST(Tables, WordsAreReadByTheirType) {
  HealthDiag health{};
  health.step = 3'000'000'000u;
  health.q_mean = -1.5f;
  health.controller_alpha = 1;
  EXPECT_EQ(word_value(health, 0), 3e9);
  EXPECT_EQ(word_value(health, 26), -1.5);
  EXPECT_EQ(word_value(health, 141), 1);
  StepRecord record{};
  record.step_last = 7;
  record.td_max = 0.25f;
  EXPECT_EQ(word_value(record, 39), 7);
  EXPECT_EQ(word_value(record, kernels::step_word_td_max), 0.25);
  EXPECT_EQ(find_entry(health_table(), "q.mean"), 26);
  EXPECT_EQ(find_entry(health_table(), "q.meen"), -1);
}

TEST(Tables, NanFlagsAreNamedFirstStageFirst) {
  EXPECT_EQ(nan_flag_names(0), "");
  EXPECT_EQ(nan_flag_names(1u << 12 | 1u << 2), "branch_logits, trunk_output");
  EXPECT_EQ(nan_flag_names(0xffff),
            "states, value_logits, branch_logits, loss, parameters, target_parameters, gradients, log_probabilities, "
            "projected_target, iqn, td_errors, priorities, trunk_output, gates, vsn_weights, rewards");
}

TEST(Tables, PageIsThatOfTheTable) {
  std::ifstream file(FOXHUNT_SOURCE_DIR "/docs/health_diag.md");
  ASSERT_TRUE(file) << "docs/health_diag.md is absent";
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), health_markdown()) << "docs/health_diag.md is not what health_markdown() says";
}

}  // namespace
}  // namespace foxhunt::telemetry
