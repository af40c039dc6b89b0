// The one table of commands and options: parsing, help and their tests read it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace foxhunt::app {

enum class Values {
  none,      // a flag
  one,       // --seed 7
  repeated,  // --set a=1 --set b=2
  many,      // --batch 64 256: all words up to the next option
};

struct OptionInfo {
  std::string_view name;  // "max-steps"
  Values values;
  std::string_view value_name;  // "N"; empty for flags
  std::string_view help;
};

struct CommandInfo {
  std::string_view name;      // "train", "runs list"
  std::string_view operands;  // "FIXTURE", "A B": one word each, all needed
  std::string_view help;
  std::vector<std::string_view> options;  // beside the common ones
};

std::span<const OptionInfo> options();
std::span<const CommandInfo> commands();
// Options that every command takes.
std::span<const std::string_view> common_options();

const OptionInfo* find_option(std::string_view name);    // null when unknown
const CommandInfo* find_command(std::string_view name);  // null when unknown
bool takes(const CommandInfo& command, std::string_view option);
std::vector<std::string> operand_names(const CommandInfo& command);

// The closest of `known` by edit distance.
std::string nearest(std::string_view word, std::span<const std::string> known);

std::string program_help();
std::string command_help(const CommandInfo& command);

}  // namespace foxhunt::app
