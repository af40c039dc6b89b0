// Words of the telemetry tables to columns of the run's tables.
#include "engine/run/run_sink.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/telemetry/tables.h"

namespace foxhunt {
namespace {

using telemetry::TableEntry;
using telemetry::WordType;

bool is_column(const TableEntry& entry) {
  return !entry.reserved() && entry.name != "step_last";
}

std::vector<RunColumn> columns_of(std::span<const TableEntry> table) {
  constexpr std::string_view kProgress = "progress.";
  std::vector<RunColumn> columns;
  for (const TableEntry& entry : table) {
    if (!is_column(entry)) continue;
    std::string name(entry.name.starts_with(kProgress) ? entry.name.substr(kProgress.size()) : entry.name);
    std::replace(name.begin(), name.end(), '.', '_');
    columns.push_back({std::move(name), std::string(entry.name), std::string(entry.unit), std::string(entry.group),
                       std::string(entry.meaning), entry.type == WordType::u32});
  }
  return columns;
}

// The words that are columns, in the order of columns_of().
template <class Word>
void pick(std::span<const TableEntry> table, std::vector<double>& values, Word word) {
  values.clear();
  for (std::size_t w = 0; w < table.size(); ++w) {
    if (is_column(table[w])) values.push_back(word(w));
  }
}

}  // namespace

TelemetryColumns telemetry_columns() {
  return {columns_of(telemetry::step_table()), columns_of(telemetry::health_table()),
          columns_of(telemetry::signal_table())};
}

void RunStoreSink::step_rows(std::span<const telemetry::StepRow> rows) {
  const auto table = telemetry::step_table();
  words_.resize(table.size());
  for (const telemetry::StepRow& row : rows) {
    telemetry::word_values(row.record, words_);
    pick(table, values_, [&](std::size_t w) { return words_[w]; });
    store_.append_step(row.wall, values_);
    step_ = row.record.step;
    fold_ = row.record.fold;
    epoch_ = row.record.epoch;
  }
}

void RunStoreSink::step_bucket(const telemetry::StepBucket& bucket) {
  const auto table = telemetry::step_table();
  RunStore::StepBucket out;
  out.count = bucket.count;
  pick(table, out.mean, [&](std::size_t w) { return table[w].type == WordType::u32 ? bucket.max[w] : bucket.mean[w]; });
  pick(table, out.min, [&](std::size_t w) { return bucket.min[w]; });
  pick(table, out.max, [&](std::size_t w) { return bucket.max[w]; });
  pick(table, out.not_finite, [&](std::size_t w) { return static_cast<double>(bucket.not_finite[w]); });
  store_.append_step_bucket(bucket.wall, out);
  step_ = bucket.last_step;
  fold_ = static_cast<std::uint32_t>(bucket.max[static_cast<std::size_t>(telemetry::find_entry(table, "fold"))]);
  epoch_ = static_cast<std::uint32_t>(bucket.max[static_cast<std::size_t>(telemetry::find_entry(table, "epoch"))]);
}

void RunStoreSink::signals_row(double wall, std::uint32_t step, std::span<const float> signals) {
  const auto table = telemetry::signal_table();
  FH_CHECK(signals.size() == table.size(), "{} signals", signals.size());
  pick(table, values_, [&](std::size_t w) { return static_cast<double>(signals[w]); });
  store_.append_signals(wall, step, fold_, epoch_, values_);
}

void RunStoreSink::health_row(double wall, const telemetry::HealthDiag& health) {
  const auto table = telemetry::health_table();
  words_.resize(table.size());
  telemetry::word_values(health, words_);
  pick(table, values_, [&](std::size_t w) { return words_[w]; });
  store_.append_health(wall, values_);
}

void RunStoreSink::missed_steps(double wall, std::uint64_t count) {
  RunEvent event;
  event.wall = wall;
  event.step = step_;
  event.fold = fold_;
  event.epoch = epoch_;
  event.kind = "warning";
  event.source = "recorder";
  event.severity = "warning";
  event.message = fmt::format("{} step records were overwritten before they were read", count);
  store_.append(event);
}

}  // namespace foxhunt
