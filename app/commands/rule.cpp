// foxhunt-cli runs rule: when a rule of the user would have fired over recorded runs.
#include <cmath>

#include "app/commands/commands.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "engine/base/error.h"
#include "engine/base/json_number.h"
#include "engine/run/rule_back_test.h"
#include "engine/run/run_list.h"
#include "engine/telemetry/rule_text.h"

namespace foxhunt::app {
namespace {

constexpr std::size_t kMostEvents = 1000;  // of a run in the document; all are counted

std::vector<std::filesystem::path> chosen_runs(const Arguments& arguments) {
  const auto folder = runs_folder(arguments);
  std::vector<std::filesystem::path> runs;
  for (const std::string& name : arguments.list("in")) runs.push_back(find_run(folder, name));
  if (!runs.empty()) return runs;
  for (const RunSummary& run : list_runs(folder))
    if (run.info) runs.push_back(run.folder);
  if (runs.empty())
    throw usage_error("there are no runs in the folder",
                      {.file = folder.string(), .field = "--runs", .hint = "name runs with --in"});
  return runs;
}

Json event_json(const telemetry::RuleEvent& event) {
  return {{"wall", event.wall}, {"step", event.step}, {"value", json_number(event.value)}, {"reason", event.reason}};
}

}  // namespace

Outcome run_runs_rule(const Arguments& arguments, const Manner&) {
  const telemetry::Rule rule = telemetry::parse_rule(arguments.operands()[0]);
  Json rows = Json::array();
  for (const auto& folder : chosen_runs(arguments)) {
    Json row{{"run", folder.filename().string()}, {"folder", folder.string()}, {"problem", nullptr}};
    try {
      const auto result = back_test(RunReader::open(folder), rule, [](double) { return !interrupted(); });
      if (!result.whole) throw Error("interrupted");
      row["samples"] = result.samples;
      row["joined"] = result.joined;
      row["fired"] = result.events.size();
      row["first"] = result.events.empty() ? Json(nullptr) : event_json(result.events.front());
      row["sentence"] = result.sentence();
      row["events"] = Json::array();
      for (std::size_t i = 0; i < std::min(kMostEvents, result.events.size()); ++i)
        row["events"].push_back(event_json(result.events[i]));
    } catch (const Error& error) {
      if (interrupted()) throw;
      row["problem"] = error.sentence();
    }
    rows.push_back(std::move(row));
  }
  return {{{"rule", telemetry::rule_text(rule)}, {"runs", std::move(rows)}}};
}

std::string runs_rule_text(const Json& document) {
  TextTable table({"run", "fired", "first step", "at", "samples"});
  std::string problems;
  for (const Json& run : document.at("runs")) {
    const std::string name = run.at("run").get<std::string>();
    if (!run.at("problem").is_null()) {
      problems += fmt::format("{}: {}\n", name, run.at("problem").get<std::string>());
      continue;
    }
    const Json& first = run.at("first");
    const auto at = [&] {
      const double wall = first.at("wall").get<double>();
      return time_text(static_cast<std::int64_t>(std::floor(wall)) * 1'000'000'000);
    };
    table.add({name, run.at("fired").dump(), first.is_null() ? "never" : first.at("step").dump(),
               first.is_null() ? "" : at(), run.at("samples").dump()});
  }
  return fmt::format("{}\n\n{}{}", document.at("rule").get<std::string>(), table.text(), problems);
}

}  // namespace foxhunt::app
