// Recorded rows as the samples of a rule.
#include "engine/run/rule_back_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace foxhunt {
namespace {

using telemetry::Rule;
using telemetry::RuleKind;
using telemetry::RuleSource;

constexpr std::int64_t kPage = 20'000;  // rows between two looks at the progress

RunTable table_of(RuleSource source) {
  switch (source) {
    case RuleSource::step:
      return RunTable::steps;
    case RuleSource::signal:
      return RunTable::signals;
    case RuleSource::health:
      return RunTable::health;
  }
  return RunTable::steps;
}

// Where the extreme that the condition looks at is kept, for rows that stand for several steps.
std::optional<RunTable> extreme_of(const Rule& rule) {
  if (rule.source != RuleSource::step || rule.kind == RuleKind::no_progress) return std::nullopt;
  return rule.kind == RuleKind::below ? RunTable::steps_min : RunTable::steps_max;
}

std::string column_of(const RunReader& run, RunTable table, const std::string& label) {
  for (const RunColumn& column : run.columns(table))
    if (column.label == label) return column.name;
  throw Error(fmt::format("the run has no column \"{}\" in its table \"{}\"", label, table_name(table)),
              {.file = run.folder().string(), .field = "column", .hint = "it was recorded by another version"});
}

// Values of the extreme's table under the ids (rising) of joined rows.
class Extremes {
 public:
  Extremes(const RunReader& run, RunTable table, std::string column)
      : run_(run), table_(table), column_(std::move(column)) {}
  double at(std::int64_t id) {
    while (place_ < page_.ids.size() || next_page()) {
      if (page_.ids[place_] >= id) break;
      ++place_;
    }
    FH_CHECK(place_ < page_.ids.size() && page_.ids[place_] == id, "row {} of {} is absent", id, table_name(table_));
    return page_.values[0][place_];
  }

 private:
  bool next_page() {
    page_ = run_.rows(table_, after_, kPage, {column_});
    place_ = 0;
    if (page_.ids.empty()) return false;
    after_ = page_.ids.back();
    return true;
  }

  const RunReader& run_;
  RunTable table_;
  std::string column_;
  RunRows page_;
  std::size_t place_ = 0;
  std::int64_t after_ = 0;
};

}  // namespace

std::string RuleBackTest::sentence() const {
  std::string text;
  if (events.empty()) {
    text = fmt::format("never fires in {} samples", samples);
  } else {
    text = fmt::format("fires {} time{} in {} samples, first at step {}", events.size(), events.size() == 1 ? "" : "s",
                       samples, events.front().step);
  }
  if (!whole) text += "; stopped before the last row";
  if (joined) text += fmt::format("; {} of them stand for several steps", joined);
  return text;
}

RuleBackTest back_test(const RunReader& run, const Rule& rule, const std::function<bool(double)>& progress) {
  telemetry::RuleState state(rule);
  RuleBackTest result;
  const RunTable table = table_of(rule.source);
  const auto last = static_cast<double>(run.last_id(table));
  if (last == 0) return result;
  const std::string column = column_of(run, table, rule.column);
  std::vector<std::string> wanted = {"wall", "step", column};
  const auto extreme = extreme_of(rule);
  std::optional<Extremes> extremes;
  if (extreme) {
    wanted.push_back("bucket");
    extremes.emplace(run, *extreme, column);
  }
  telemetry::RuleEvent event;
  for (std::int64_t after = 0;;) {
    const RunRows rows = run.rows(table, after, kPage, wanted);
    if (rows.ids.empty()) break;
    for (std::size_t i = 0; i < rows.ids.size(); ++i) {
      const bool joined = extremes && rows.values[3][i] > 1;
      const double value = joined ? extremes->at(rows.ids[i]) : rows.values[2][i];
      ++result.samples;
      result.joined += joined ? 1 : 0;
      if (state.observe({rows.values[0][i], static_cast<std::uint64_t>(rows.values[1][i]), value}, event))
        result.events.push_back(event);
    }
    after = rows.ids.back();
    if (progress && !progress(std::min(1.0, static_cast<double>(after) / last))) {
      result.whole = false;
      break;
    }
  }
  return result;
}

std::vector<RunBackTest> back_test(const std::vector<std::filesystem::path>& folders, const Rule& rule) {
  telemetry::check_rule(rule);
  std::vector<RunBackTest> results;
  for (const auto& folder : folders) {
    RunBackTest& one = results.emplace_back();
    one.folder = folder;
    try {
      one.result = back_test(RunReader::open(folder), rule);
    } catch (const Error& error) {
      one.problem = error.sentence();
    }
  }
  return results;
}

}  // namespace foxhunt
