// The commands by name, and what several of them share.
#include "app/commands/commands.h"

#include <algorithm>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/config/load_config.h"
#include "engine/device/registry.h"

namespace foxhunt::app {
namespace {

constexpr CommandFunctions kCommands[] = {
    {"devices", run_devices, devices_text},
    {"simulate", run_simulate, simulate_text},
    {"data", run_data, data_text},
    {"train", run_train, train_text},
    {"evaluate", run_evaluate, evaluate_text},
    {"inspect", run_inspect, inspect_text},
    {"compare", run_compare, compare_text},
    {"verify-step", run_verify_step, verify_step_text},
    {"verify-environment", run_verify_environment, verify_environment_text},
    {"bench", run_bench, bench_text},
    {"runs list", run_runs_list, runs_list_text},
    {"runs show", run_runs_show, runs_show_text},
    {"runs export", run_runs_export, runs_export_text},
    {"runs rule", run_runs_rule, runs_rule_text},
    {"watch", run_watch, watch_text},
};

}  // namespace

const CommandFunctions& command_named(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kCommands), std::end(kCommands), [&](const auto& c) { return c.name == name; });
  FH_CHECK(found != std::end(kCommands), "the command {} has no function", name);
  return *found;
}

std::unique_ptr<device::Device> open_device(const Arguments& arguments, const std::string& fallback) {
  device::DeviceOptions options;
  options.threads = static_cast<int>(arguments.integer("threads", 0, 0, 1024));
  options.plan_cache = device::default_plan_cache();
  return device::open_device(arguments.text("device").value_or(fallback), options);
}

device::Precision precision_of(const Arguments& arguments, const device::Device& device) {
  const bool host = device.info().kind == device::DeviceKind::host;
  const std::string name = arguments.choice("precision", host ? "fp32" : "tf32", "fp32|tf32|bf16");
  if (host && name != "fp32") {
    throw usage_error(fmt::format("--precision is {}, but the device cpu has fp32 alone", name),
                      {.field = "--precision", .hint = "leave it out, or name a CUDA device with --device"});
  }
  return name == "fp32" ? device::Precision::fp32 : name == "tf32" ? device::Precision::tf32 : device::Precision::bf16;
}

const char* precision_name(device::Precision precision) {
  switch (precision) {
    case device::Precision::fp32:
      return "fp32";
    case device::Precision::tf32:
      return "tf32";
    case device::Precision::bf16:
      return "bf16";
  }
  return "";
}

namespace {

std::vector<std::string> overrides(const Arguments& arguments) {
  std::vector<std::string> sets = arguments.list("set");
  if (const auto device = arguments.text("device")) sets.push_back("device=" + *device);
  if (const auto threads = arguments.text("threads")) sets.push_back("threads=" + *threads);
  return sets;
}

}  // namespace

Config configuration(const Arguments& arguments, std::vector<std::string> more) {
  std::vector<std::string> sets = overrides(arguments);
  std::move(more.begin(), more.end(), std::back_inserter(sets));
  if (const auto file = arguments.text("config")) return load_config(existing_file(*file, "--config"), sets);
  return parse_config("{}", "", std::filesystem::current_path(), sets);
}

Config probe_configuration(const Arguments& arguments, const std::string& file) {
  return load_config(existing_file(file, "--probe"), overrides(arguments));
}

std::filesystem::path existing_file(const std::string& path, const std::string& what) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) return path;
  throw usage_error(std::filesystem::is_directory(status) ? "this is a folder, not a file" : "there is no such file",
                    {.file = path, .field = what, .hint = "check the path"});
}

std::filesystem::path runs_folder(const Arguments& arguments) {
  return arguments.text("runs").value_or("runs");
}

}  // namespace foxhunt::app
