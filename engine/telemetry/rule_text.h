// A rule as one line of text, for an editor: what a person types is checked while it is typed, and an error says where.
//
//   signal risk.exposure above 0.9
//   step loss.total rises 3 sigma over 100, 2 of 5, cool_down 60, notify
//   health q.mean no_progress 500 by 0.01 higher, stop
//
// rule      = source column condition { "," option }
// source    = "step" | "signal" | "health"                       a row of which table is a sample
// condition = ("above" | "below") number
//           | "rises" number "sigma" "over" count                above mean + number x deviation of `count` samples
//           | "no_progress" count ["by" number] ["lower" | "higher"]   no better value for `count` samples
// option    = count "of" count | "cool_down" seconds | action | "off"
// action    = "mark" | "notify" | "checkpoint" | "pause" | "stop"
//
// What is left out keeps the default of `Rule`; "off" keeps the rule without setting it to work. Words are separated by
// blanks; case matters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/telemetry/rules.h"

namespace foxhunt::telemetry {

// Either `rule` or an error.
struct RuleCheck {
  std::optional<Rule> rule;
  std::string sentence;                  // what is wrong; empty when nothing is
  std::size_t position = 0, length = 0;  // bytes of the text that are meant; length 0: something is missing at position
  std::vector<std::string> allowed;      // words that could stand there, those that are most alike first; may be empty
};

// Never throws. The rule's name is `name`, or the text itself where that is empty.
RuleCheck check_rule_text(std::string_view text, std::string_view name = {});

// As above; throws usage_error whose sentence holds the position.
Rule parse_rule(std::string_view text, std::string_view name = {});

// The text of a rule; parse_rule(rule_text(rule), rule.name) is the rule again.
std::string rule_text(const Rule& rule);

// What `column` may be, in the table's order; reserved words are left away.
std::vector<std::string> rule_columns(RuleSource source);

}  // namespace foxhunt::telemetry
