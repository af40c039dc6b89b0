// The tables, expanded from kernels/*.def.
#include "engine/telemetry/tables.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace foxhunt::telemetry {
namespace {

constexpr float FH_NONE = std::numeric_limits<float>::quiet_NaN();
constexpr int signal_none = -1;  // what the mirror column `none` becomes
using enum SignalKind;

constexpr TableEntry kStepTable[] = {
#define FH_STEP_WORD(id, name, unit, group, type, low, high, meaning) \
  {name, unit, group, meaning, low, high, WordType::type, ema, -1},
#include "kernels/step_record.def"
#undef FH_STEP_WORD
};

constexpr TableEntry kSignalTable[] = {
#define FH_SIGNAL(id, name, unit, group, kind, low, high, meaning) \
  {name, unit, group, meaning, low, high, WordType::f32, kind, -1},
#include "kernels/signals.def"
#undef FH_SIGNAL
};

using namespace kernels;
constexpr TableEntry kHealthTable[] = {
#define FH_HEALTH_WORD(id, name, unit, group, type, low, high, mirror, meaning) \
  {name, unit, group, meaning, low, high, WordType::type, ema, signal_##mirror},
#include "kernels/health_diag.def"
#undef FH_HEALTH_WORD
};

constexpr NanPlaceEntry kNanTable[] = {
    {"states", "the gathered states"},
    {"value_logits", "atom logits of the state value"},
    {"branch_logits", "atom logits of the branches"},
    {"loss", "the blended loss and its terms"},
    {"parameters", "online parameters"},
    {"target_parameters", "target parameters"},
    {"gradients", "gradients, before clipping"},
    {"log_probabilities", "log-probabilities of the return distributions"},
    {"projected_target", "projected target distributions"},
    {"iqn", "quantile values"},
    {"td_errors", "TD errors"},
    {"priorities", "new priorities"},
    {"trunk_output", "output of the shared trunk"},
    {"gates", "gate weights of the experts"},
    {"vsn_weights", "weights of the feature groups"},
    {"rewards", "scaled rewards"},
};
static_assert(std::size(kNanTable) == kernels::kNanPlaces);

template <class Struct>
double word_of(const Struct& value, std::span<const TableEntry> table, int index) {
  std::uint32_t bits;
  std::memcpy(&bits, reinterpret_cast<const char*>(&value) + 4 * static_cast<std::size_t>(index), sizeof bits);
  if (table[index].type == WordType::u32) return bits;
  return kernels::bits_float(bits);
}

std::string range_text(const TableEntry& entry) {
  if (!entry.has_range()) return "";
  if (std::isnan(entry.high)) return fmt::format(">= {}", entry.low);
  if (std::isnan(entry.low)) return fmt::format("<= {}", entry.high);
  if (entry.low == entry.high) return fmt::format("{}", entry.low);
  return fmt::format("{} to {}", entry.low, entry.high);
}

// A bar would end the cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

bool TableEntry::healthy(double value) const {
  if (!std::isfinite(value)) return false;
  // A bound is a float: a value stored as that float is inside.
  return !(value < static_cast<double>(low)) && !(value > static_cast<double>(high));
}

bool TableEntry::has_range() const {
  return !std::isnan(low) || !std::isnan(high);
}

std::span<const TableEntry> step_table() {
  return kStepTable;
}
std::span<const TableEntry> signal_table() {
  return kSignalTable;
}
std::span<const TableEntry> health_table() {
  return kHealthTable;
}
std::span<const NanPlaceEntry> nan_places() {
  return kNanTable;
}

int find_entry(std::span<const TableEntry> table, std::string_view name) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

double word_value(const StepRecord& record, int index) {
  return word_of(record, kStepTable, index);
}
double word_value(const HealthDiag& health, int index) {
  return word_of(health, kHealthTable, index);
}

std::string nan_flag_names(std::uint32_t flags) {
  std::string names;
  for (std::size_t place = 0; place < std::size(kNanTable); ++place) {
    if (!(flags >> place & 1u)) continue;
    if (!names.empty()) names += ", ";
    names += kNanTable[place].name;
  }
  return names;
}

std::string health_markdown() {
  std::string text =
      "# HealthDiag\n\n"
      "A snapshot of 147 words of 32 bits, 588 bytes, taken every `telemetry.diag_interval` steps and at each epoch's\n"
      "end. Made from `kernels/health_diag.def`; edit the table, not this page. A healthy range includes its ends.\n";
  std::string_view group;
  for (std::size_t i = 0; i < std::size(kHealthTable); ++i) {
    const TableEntry& entry = kHealthTable[i];
    if (entry.group != group) {
      group = entry.group;
      text += fmt::format("\n## {}\n\n| word | name | type | unit | healthy | meaning |\n|---|---|---|---|---|---|\n",
                          group);
    }
    text +=
        fmt::format("| {} | `{}` | {} | {} | {} | {} |\n", i, entry.name, entry.type == WordType::u32 ? "u32" : "f32",
                    entry.unit, range_text(entry), cell(entry.meaning));
  }
  text += "\n## NaN flags\n\n| bit | name | where |\n|---|---|---|\n";
  for (std::size_t i = 0; i < std::size(kNanTable); ++i)
    text += fmt::format("| {} | `{}` | {} |\n", i, kNanTable[i].name, kNanTable[i].meaning);
  return text;
}

}  // namespace foxhunt::telemetry
