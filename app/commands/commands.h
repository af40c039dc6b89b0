// One function a command: it does the work and returns the document; the text is made from the document.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/arguments.h"
#include "app/cli.h"
#include "engine/config/config.h"
#include "engine/device/device.h"

namespace foxhunt::app {

using Json = nlohmann::ordered_json;

struct Outcome {
  Json document;
  int exit_code = kDone;
};

// How much a command may print while it works.
struct Manner {
  bool json = false, quiet = false;
  bool progress() const { return !json && !quiet; }
};

struct CommandFunctions {
  std::string_view name;
  Outcome (*run)(const Arguments& arguments, const Manner& manner);
  std::string (*text)(const Json& document);
};
// The command of that name in the table of options.
const CommandFunctions& command_named(std::string_view name);

Outcome run_devices(const Arguments& arguments, const Manner& manner);
std::string devices_text(const Json& document);
Outcome run_simulate(const Arguments& arguments, const Manner& manner);
std::string simulate_text(const Json& document);
Outcome run_data(const Arguments& arguments, const Manner& manner);
std::string data_text(const Json& document);
Outcome run_train(const Arguments& arguments, const Manner& manner);
std::string train_text(const Json& document);
Outcome run_evaluate(const Arguments& arguments, const Manner& manner);
std::string evaluate_text(const Json& document);
Outcome run_inspect(const Arguments& arguments, const Manner& manner);
std::string inspect_text(const Json& document);
Outcome run_compare(const Arguments& arguments, const Manner& manner);
std::string compare_text(const Json& document);
Outcome run_verify_step(const Arguments& arguments, const Manner& manner);
std::string verify_step_text(const Json& document);
Outcome run_verify_environment(const Arguments& arguments, const Manner& manner);
std::string verify_environment_text(const Json& document);
Outcome run_bench(const Arguments& arguments, const Manner& manner);
std::string bench_text(const Json& document);
Outcome run_runs_list(const Arguments& arguments, const Manner& manner);
std::string runs_list_text(const Json& document);
Outcome run_runs_show(const Arguments& arguments, const Manner& manner);
std::string runs_show_text(const Json& document);
Outcome run_runs_export(const Arguments& arguments, const Manner& manner);
std::string runs_export_text(const Json& document);
Outcome run_runs_rule(const Arguments& arguments, const Manner& manner);
std::string runs_rule_text(const Json& document);
Outcome run_watch(const Arguments& arguments, const Manner& manner);
std::string watch_text(const Json& document);

// --device and --threads; the host device where nothing else is asked for and `fallback` is "cpu".
std::unique_ptr<device::Device> open_device(const Arguments& arguments, const std::string& fallback = "auto");
// --precision, or what a training session would use on that device.
device::Precision precision_of(const Arguments& arguments, const device::Device& device);
const char* precision_name(device::Precision precision);
// --config with --set, --device, --threads and `more` ("data.symbol=ESH4") on top. Without --config: the defaults.
Config configuration(const Arguments& arguments, std::vector<std::string> more = {});
// The same with a file that another option names.
Config probe_configuration(const Arguments& arguments, const std::string& file);
// Throws a usage error naming the operand when there is no such file.
std::filesystem::path existing_file(const std::string& path, const std::string& what);
std::filesystem::path runs_folder(const Arguments& arguments);

}  // namespace foxhunt::app
