// The table of state columns, put together from the three lists.
#include "engine/environment/state_table.h"

#include <fmt/format.h>

#include "engine/market/features.h"
#include "kernels/telemetry_types.h"

namespace foxhunt {
namespace {

constexpr StateColumn kOwn[] = {
#define FH_OWN_FEATURE(name, unit, look_back, formula, source) {#name, "portfolio", unit, look_back, formula, source},
#include "engine/environment/own_features.def"
#undef FH_OWN_FEATURE
};

struct SignalText {
  std::string_view name, unit, meaning;
};
constexpr SignalText kSignalTexts[] = {
#define FH_SIGNAL(id, name, unit, group, kind, low, high, meaning) {name, unit, meaning},
#include "kernels/signals.def"
#undef FH_SIGNAL
};

std::array<StateColumn, kStateColumns> make() {
  std::array<StateColumn, kStateColumns> out;
  std::size_t i = 0;
  for (const auto& f : market::market_features())
    out[i++] = {f.name, market::group_name(f.group), f.unit, f.look_back, f.formula, f.source};
  for (const StateColumn& own : kOwn) out[i++] = own;
  for (const int slot : kernels::kStateSignals) {
    const SignalText& text = kSignalTexts[slot];
    out[i++] = {text.name,      "signals",    text.unit.empty() ? "-" : text.unit,
                kSinceTraining, text.meaning, "signal bus; clipped to +-5, 0 when not finite"};
  }
  return out;
}

}  // namespace

static_assert(std::size(kOwn) == 8);

const std::array<StateColumn, kStateColumns>& state_columns() {
  static const std::array<StateColumn, kStateColumns> table = make();
  return table;
}

std::string_view look_back_text(const StateColumn& column, std::array<char, 24>& buffer) {
  switch (column.look_back) {
    case 0:
      return "this bar";
    case market::kSessionLookBack:
      return "session";
    case kSinceEntry:
      return "since entry";
    case kSinceStart:
      return "since the start";
    case kSinceTraining:
      return "since training began";
    default:
      break;
  }
  const auto end = fmt::format_to_n(buffer.data(), buffer.size(), "{} bars", column.look_back);
  return {buffer.data(), end.size};
}

}  // namespace foxhunt
