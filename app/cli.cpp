// Dispatch, and the one place where errors end.
#include "app/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "app/arguments.h"
#include "app/commands/commands.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "engine/base/error.h"
#include "engine/config/config_documents.h"

namespace foxhunt::app {
namespace {

int report(const Error& error, bool json) {
  const bool stopped = interrupts() > 0 && error.kind() == ErrorKind::failed;
  try {
    if (json) print_document({{"error", error_json(error)}});
  } catch (const Error&) {
    // Standard output is gone; standard error says why below.
  }
  if (!json) std::fprintf(stderr, "foxhunt-cli: %s\n", error.sentence().c_str());
  return stopped ? kInterrupted : error.kind() == ErrorKind::usage ? kUsage : kFailed;
}

Json help_document() {
  Json rows = Json::array();
  for (const CommandInfo& command : commands()) {
    Json row{{"name", command.name}, {"operands", operand_names(command)}, {"help", command.help}};
    row["options"] = Json::array();
    for (const std::string_view name : command.options) row["options"].push_back(name);
    for (const std::string_view name : common_options()) row["options"].push_back(name);
    rows.push_back(std::move(row));
  }
  Json all = Json::array();
  for (const OptionInfo& option : options())
    all.push_back({{"name", option.name}, {"value", option.value_name}, {"help", option.help}});
  return {{"commands", std::move(rows)}, {"options", std::move(all)}};
}

// --help, --help-config, --version; false when it is something else.
bool answered(const std::vector<std::string>& words, bool json) {
  std::vector<std::string> rest = words;
  std::erase(rest, "--json");
  std::erase(rest, "--quiet");
  if (rest.size() != 1) return false;
  if (rest[0] == "--help" || rest[0] == "-h" || rest[0] == "help") {
    json ? print_document(help_document()) : print(program_help());
  } else if (rest[0] == "--help-config") {
    json ? print_document(config_schema()) : print(config_help());
  } else if (rest[0] == "--version") {
    json ? print_document({{"version", FOXHUNT_VERSION}}) : print(fmt::format("foxhunt-cli {}\n", FOXHUNT_VERSION));
  } else {
    return false;
  }
  return true;
}

int run_words(const std::vector<std::string>& words, bool json) {
  if (answered(words, json)) return kDone;
  if (words.empty() || (words.size() == 1 && json)) {
    throw usage_error("no command is given", {.field = "COMMAND", .hint = "foxhunt-cli --help lists the commands"});
  }
  if (words[0].starts_with("-")) {
    throw usage_error(fmt::format("the first word is {}, but must be a command", words[0]),
                      {.field = words[0], .hint = "foxhunt-cli --help lists the commands"});
  }
  const Arguments arguments = Arguments::parse(words);
  if (arguments.has("help")) {
    print(command_help(arguments.command()));
    return kDone;
  }
  const Manner manner{.json = json, .quiet = arguments.has("quiet")};
  limit_log(manner.quiet ? LogLevel::warnings : LogLevel::everything);
  const CommandFunctions& command = command_named(arguments.command().name);
  const Outcome outcome = command.run(arguments, manner);
  json ? print_document(outcome.document) : print(command.text(outcome.document));
  return outcome.exit_code;
}

}  // namespace

int run_cli(const std::vector<std::string>& words) {
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  watch_interrupts();
  try {
    return run_words(words, json);
  } catch (const Error& error) {
    return report(error, json);
  } catch (const std::bad_alloc&) {
    return report(Error("there is not enough memory", {.hint = "use smaller inputs or a smaller replay.capacity"}),
                  json);
  } catch (const std::exception& error) {
    return report(Error(error.what()), json);
  }
}

}  // namespace foxhunt::app
