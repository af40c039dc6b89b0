// The three tables of telemetry as data: what labels, tooltips, exports, rules and documents are made of.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernels/telemetry_types.h"

namespace foxhunt::telemetry {

using kernels::HealthDiag;
using kernels::SignalKind;
using kernels::StepRecord;

enum class WordType { f32, u32 };

struct TableEntry {
  std::string_view name;     // dotted, unique in its table: "q.mean.direction"
  std::string_view unit;     // may be empty
  std::string_view group;    // "by magnitude"
  std::string_view meaning;  // one sentence without a full stop
  float low, high;           // healthy range, ends included; NaN: no bound
  WordType type;
  SignalKind kind;  // of signals; ema for words of the other tables
  int mirror;       // HealthDiag: the signal it copies, or -1

  // False for NaN and infinities, and outside the range.
  bool healthy(double value) const;
  bool has_range() const;
  bool reserved() const { return group == "reserved"; }
};

std::span<const TableEntry> step_table();    // [40], index: kernels::StepWord
std::span<const TableEntry> signal_table();  // [160], index: kernels::Signal
std::span<const TableEntry> health_table();  // [147], index: kernels::HealthWord

// Index in a table, or -1.
int find_entry(std::span<const TableEntry> table, std::string_view name);

// Word `index` of a record or snapshot as a number.
double word_value(const StepRecord& record, int index);
double word_value(const HealthDiag& health, int index);

struct NanPlaceEntry {
  std::string_view name;  // "branch_logits"
  std::string_view meaning;
};
std::span<const NanPlaceEntry> nan_places();  // [16], index: kernels::NanPlace

// "states, trunk_output", first stage first; empty for 0.
std::string nan_flag_names(std::uint32_t flags);

// docs/health_diag.md.
std::string health_markdown();

}  // namespace foxhunt::telemetry
