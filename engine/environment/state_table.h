// The 96 numbers of the state as one table: the market's 72 from features.def, the account's 8 from own_features.def,
// the learner's 16 signals from signals.def. Code, tooltips and documentation read it.
#pragma once

#include <array>
#include <string_view>

namespace foxhunt {

inline constexpr int kStateColumns = 96;

// Besides market::kSessionLookBack (-1).
inline constexpr int kSinceEntry = -2, kSinceStart = -3, kSinceTraining = -4;

struct StateColumn {
  std::string_view name, group, unit;
  int look_back = 0;  // earlier bars, or one of the negative names
  std::string_view formula, source;
};

// In the order of the state.
const std::array<StateColumn, kStateColumns>& state_columns();
// "20 bars", "this bar", "session", "since entry", "since the start", "since training began".
std::string_view look_back_text(const StateColumn& column, std::array<char, 24>& buffer);

}  // namespace foxhunt
