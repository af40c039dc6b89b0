// Rows of the table, and the texts made from it.
#include "app/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace foxhunt::app {
namespace {

constexpr OptionInfo kOptions[] = {
    {"json", Values::none, "", "one JSON document on standard output; logs go to standard error"},
    {"device", Values::one, "NAME", "cpu, cuda, cuda:N or auto (the first CUDA device, else cpu)"},
    {"threads", Values::one, "N", "threads of the cpu device; 0: all cores"},
    {"quiet", Values::none, "", "no progress and no log lines below a warning"},
    {"help", Values::none, "", "what the program or a command takes"},
    {"out", Values::one, "DIR", "folder to write to; made when absent"},
    {"bars", Values::one, "N", "length of the simulated market (20000)"},
    {"seed", Values::one, "S", "seed of the simulated market (1)"},
    {"edge", Values::one, "E", "strength with which order flow moves price (1); 0 leaves nothing to learn"},
    {"ohlcv", Values::many, "F...", "files of bars: DBN or CSV, plain or zstd"},
    {"mbp10", Values::many, "F...", "files of ten-level book updates"},
    {"trades", Values::many, "F...", "files of trades"},
    {"symbol", Values::one, "S", "instrument to read where the files hold several"},
    {"timezone", Values::one, "ZONE", "zone of naive CSV times: UTC or an IANA name"},
    {"order-flow", Values::one, "WORD", "required, or absent to use bars only"},
    {"config", Values::one, "F", "configuration file; --help-config lists its fields"},
    {"set", Values::repeated, "FIELD=VALUE", "overrides a field of the configuration; may be repeated"},
    {"run-dir", Values::one, "D", "the run folder itself, absent or empty; else one is made under --runs"},
    {"runs", Values::one, "DIR", "folder of all runs (runs)"},
    {"folds", Values::one, "A-B", "first and last fold to train, or one fold; the first is 0"},
    {"max-steps", Values::one, "N", "stop and save after so many updates"},
    {"resume", Values::one, "CKPT", "go on from a full checkpoint"},
    {"accept-rejected", Values::none, "", "allow resuming a checkpoint that a guard rejected"},
    {"tensorboard", Values::none, "", "TensorBoard files in the run folder while it trains, folds as sub-runs"},
    {"probe", Values::one, "F", "configuration whose data both checkpoints act on: agreement, Q differences, actions"},
    {"tensor", Values::one, "NAME", "one tensor alone"},
    {"batch", Values::many, "N...", "batch sizes (cpu: 64; cuda: 256 1024 8192)"},
    {"children", Values::none, "", "time each named child of the step too"},
    {"steps", Values::one, "N", "steps to time for each batch (cpu: 60; cuda: 600)"},
    {"precision", Values::one, "P", "fp32, tf32 or bf16 (cpu: always fp32; cuda: tf32)"},
    {"format", Values::one, "FORMAT", "csv, json or tensorboard"},
    {"in", Values::many, "RUN...", "the runs to look at; else all of the folder"},
};

constexpr std::string_view kCommon[] = {"json", "device", "threads", "quiet", "help"};

const std::vector<CommandInfo>& table() {
  static const std::vector<CommandInfo> rows = {
      {"devices", "", "lists the devices, and why one is unavailable", {}},
      {"simulate", "", "writes a simulated market as the three inputs", {"out", "bars", "seed", "edge"}},
      {"data",
       "",
       "says what was inferred about the inputs, rows, span, anomalies, features, folds",
       {"ohlcv", "mbp10", "trades", "symbol", "timezone", "order-flow", "config", "set"}},
      {"train",
       "",
       "a training session; a live dashboard on a terminal, lines otherwise",
       {"config", "set", "run-dir", "runs", "folds", "max-steps", "resume", "accept-rejected", "tensorboard"}},
      {"evaluate", "CKPT", "metrics of a checkpoint on the validation window of its fold", {"config", "set"}},
      {"inspect", "FILE", "metadata and tensor statistics of a safetensors file", {"tensor"}},
      {"compare", "A B", "two safetensors files, tensor by tensor", {"probe", "set"}},
      {"verify-step", "FIXTURE", "replays an oracle fixture of the training step", {"precision"}},
      {"verify-environment", "FIXTURE", "replays a scripted trading session", {}},
      {"bench",
       "",
       "microseconds, launches, copies and synchronisations a step",
       {"batch", "children", "steps", "precision"}},
      {"runs list", "", "all runs of a folder", {"runs"}},
      {"runs show", "RUN", "configuration, status and results of a run", {"runs"}},
      {"runs export", "RUN", "a run's history in files that other tools read", {"runs", "format", "out"}},
      {"runs rule", "RULE", "when a rule of the user would have fired over recorded runs", {"runs", "in"}},
      {"watch", "RUN", "follows a running run", {"runs"}},
  };
  return rows;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string option_line(const OptionInfo& option) {
  const std::string left = option.values == Values::none ? fmt::format("--{}", option.name)
                                                         : fmt::format("--{} {}", option.name, option.value_name);
  return fmt::format("  {:<22} {}\n", left, option.help);
}

}  // namespace

std::span<const OptionInfo> options() {
  return kOptions;
}
std::span<const CommandInfo> commands() {
  return table();
}
std::span<const std::string_view> common_options() {
  return kCommon;
}

const OptionInfo* find_option(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kOptions), std::end(kOptions), [&](const auto& o) { return o.name == name; });
  return found == std::end(kOptions) ? nullptr : &*found;
}

const CommandInfo* find_command(std::string_view name) {
  const auto found = std::find_if(table().begin(), table().end(), [&](const auto& c) { return c.name == name; });
  return found == table().end() ? nullptr : &*found;
}

bool takes(const CommandInfo& command, std::string_view option) {
  const auto has = [&](const auto& list) {
    return std::find(std::begin(list), std::end(list), option) != std::end(list);
  };
  return has(kCommon) || has(command.options);
}

std::vector<std::string> operand_names(const CommandInfo& command) {
  std::vector<std::string> out;
  std::string_view rest = command.operands;
  while (!rest.empty()) {
    const std::size_t space = std::min(rest.find(' '), rest.size());
    out.emplace_back(rest.substr(0, space));
    rest.remove_prefix(std::min(space + 1, rest.size()));
  }
  return out;
}

std::string nearest(std::string_view word, std::span<const std::string> known) {
  std::string best;
  std::size_t least = std::string::npos;
  for (const std::string& candidate : known) {
    const std::size_t d = distance(word, candidate);
    if (d < least) least = d, best = candidate;
  }
  return best;
}

std::string program_help() {
  std::string out = "foxhunt-cli COMMAND [OPTION...]\n\nCommands:\n";
  for (const CommandInfo& command : commands()) {
    out += fmt::format("  {:<22} {}\n", fmt::format("{} {}", command.name, command.operands), command.help);
  }
  out += "\nOptions of every command:\n";
  for (const std::string_view name : common_options()) out += option_line(*find_option(name));
  out += "\nOf the program:\n";
  out += fmt::format("  {:<22} {}\n", "--help-config", "every field of the configuration (--json: its JSON Schema)");
  out += fmt::format("  {:<22} {}\n", "--version", "the program's version");
  out += "\nExit codes: 0 done, 1 failed, 2 usage or configuration, 3 halted by a guard, 130 interrupted.\n";
  return out;
}

std::string command_help(const CommandInfo& command) {
  std::string out = fmt::format("foxhunt-cli {}{}{} [OPTION...]\n{}\n\n", command.name,
                                command.operands.empty() ? "" : " ", command.operands, command.help);
  for (const std::string_view name : command.options) out += option_line(*find_option(name));
  for (const std::string_view name : common_options()) out += option_line(*find_option(name));
  return out;
}

}  // namespace foxhunt::app
