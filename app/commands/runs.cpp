// foxhunt-cli runs list, runs show, runs export: the history of all sessions.
#include <cmath>

#include "app/commands/commands.h"
#include "app/output.h"
#include "engine/base/error.h"
#include "engine/base/json_number.h"
#include "engine/run/export.h"
#include "engine/run/run_list.h"
#include "engine/run/run_reader.h"

namespace foxhunt::app {
namespace {

Json summary_json(const RunSummary& run) {
  Json out{{"id", run.id}, {"folder", run.folder.string()}, {"status", run.status}, {"running", run.running}};
  out["problem"] = run.problem.empty() ? Json(nullptr) : Json(run.problem);
  out["tags"] = run.notes.tags;
  out["starred"] = run.notes.starred;
  if (!run.info) return out;
  out["created"] = run.info->created;
  out["reason"] = run.info->reason;
  out["device"] = run.info->device;
  out["seed"] = run.info->seed;
  out["simulated"] = run.info->simulated;
  out["steps"] = run.info->steps;
  out["fold"] = run.info->fold;
  out["epoch"] = run.info->epoch;
  out["best"] = Json::object();
  for (const auto& [name, value] : run.info->best) out["best"][name] = json_number(value);
  return out;
}

struct CellJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(double value) const { return json_number(value); }
  Json operator()(const std::string& value) const { return value; }
};

Json records_json(const RunReader& reader, RunTable table) {
  Json out = Json::array();
  reader.visit(table, 0, [&](std::int64_t, const RunRecord& record) {
    Json row = Json::object();
    for (const auto& [name, value] : record) row[name] = std::visit(CellJson{}, value);
    out.push_back(std::move(row));
    return true;
  });
  return out;
}

Json checkpoints_json(const RunReader& reader) {
  Json out = Json::array();
  for (const RunReader::Checkpoint& checkpoint : reader.checkpoints()) {
    out.push_back({{"file", checkpoint.file.string()},
                   {"step", checkpoint.step},
                   {"fold", checkpoint.fold},
                   {"epoch", checkpoint.epoch},
                   {"reason", checkpoint.reason},
                   {"kind", checkpoint.kind},
                   {"bytes", checkpoint.bytes},
                   {"rejected", checkpoint.rejected},
                   {"problem", checkpoint.problem}});
  }
  return out;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : number_text(value);
}

}  // namespace

Outcome run_runs_list(const Arguments& arguments, const Manner&) {
  const auto folder = runs_folder(arguments);
  if (arguments.has("runs") && !std::filesystem::is_directory(folder))
    throw usage_error("there is no such folder",
                      {.file = folder.string(), .field = "--runs", .hint = "check the path"});
  mark_interrupted_runs(folder);
  Json rows = Json::array();
  for (const RunSummary& run : list_runs(folder)) rows.push_back(summary_json(run));
  return {{{"folder", folder.string()}, {"runs", std::move(rows)}}};
}

std::string runs_list_text(const Json& document) {
  if (document.at("runs").empty()) return fmt::format("no runs in {}\n", document.at("folder").get<std::string>());
  TextTable table({"run", "status", "steps", "net", "sharpe", "device"});
  for (const Json& run : document.at("runs")) {
    const Json best = run.value("best", Json::object());
    table.add({run.at("id").get<std::string>(), run.at("status").get<std::string>(),
               number_text(run.value("steps", Json())), number_text(best.value("net", Json())),
               number_text(best.value("sharpe", Json())), run.value("device", "")});
  }
  return table.text();
}

Outcome run_runs_show(const Arguments& arguments, const Manner&) {
  const auto folder = find_run(runs_folder(arguments), arguments.operands()[0]);
  const RunReader reader = RunReader::open(folder);
  Json out = summary_json(summarize_run(folder));
  const RunInfo info = reader.info();
  out["configuration"] = info.configuration;
  out["configuration_hash"] = info.configuration_hash;
  out["data_fingerprint"] = info.data_fingerprint;
  out["versions"] = info.versions;
  out["notes"] = read_run_notes(folder).notes;
  if (!reader.problem().empty()) out["problem"] = reader.problem();
  out["checkpoints"] = checkpoints_json(reader);
  out["evaluations"] = records_json(reader, RunTable::evaluations);
  out["events"] = records_json(reader, RunTable::events);
  return {std::move(out)};
}

std::string runs_show_text(const Json& document) {
  std::string out;
  for (const char* name : {"id", "status", "reason", "problem", "created", "device", "seed", "steps"}) {
    if (!document.contains(name) || document.at(name).is_null() || document.at(name) == "") continue;
    out += fmt::format("{:<10} {}\n", name, text_of(document.at(name)));
  }
  for (const char* name : {"fold", "epoch"})  // people count from 1
    if (document.contains(name)) out += fmt::format("{:<10} {}\n", name, document.at(name).get<std::int64_t>() + 1);
  const Json best = document.value("best", Json::object());
  for (const auto& [name, value] : best.items()) out += fmt::format("best {:<16} {}\n", name, number_text(value));
  out += "\ncheckpoints\n";
  for (const Json& c : document.at("checkpoints")) {
    out += fmt::format("  step {} {} {}{} {}\n", c.at("step").dump(), c.at("reason").get<std::string>(),
                       c.at("kind").get<std::string>(), c.at("rejected").get<bool>() ? " REJECTED" : "",
                       c.at("file").get<std::string>());
  }
  out += "\nevents\n";
  for (const Json& event : document.at("events"))
    out += fmt::format("  step {} {}: {}\n", text_of(event.value("step", Json())),
                       text_of(event.value("kind", Json(""))), text_of(event.value("message", Json(""))));
  return out;
}

Outcome run_runs_export(const Arguments& arguments, const Manner&) {
  const std::string format = arguments.choice("format", "csv", "csv|json|tensorboard");
  const std::filesystem::path out = arguments.needed("out");
  const auto folder = find_run(runs_folder(arguments), arguments.operands()[0]);
  const RunReader reader = RunReader::open(folder);
  Json files = Json::array();
  for (const auto& file : export_run(reader, export_format_of(format), out)) files.push_back(file.string());
  return {{{"run", folder.string()}, {"format", format}, {"files", std::move(files)}}};
}

std::string runs_export_text(const Json& document) {
  std::string out;
  for (const Json& file : document.at("files")) out += file.get<std::string>() + "\n";
  return out;
}

}  // namespace foxhunt::app
