// Parsing by the table of options.
#include "app/arguments.h"

#include <charconv>
#include <cmath>

#include "engine/base/error.h"

namespace foxhunt::app {
namespace {

std::string allowed_names(const CommandInfo& command) {
  std::string out;
  for (const std::string_view name : command.options) out += fmt::format("--{} ", name);
  for (const std::string_view name : common_options()) out += fmt::format("--{} ", name);
  out.pop_back();
  return out;
}

[[noreturn]] void unknown_command(const std::string& word) {
  std::vector<std::string> known;
  for (const CommandInfo& command : commands()) known.emplace_back(command.name);
  throw usage_error(fmt::format("there is no command \"{}\"", word),
                    {.field = word, .hint = fmt::format("did you mean {}? --help lists all", nearest(word, known))});
}

[[noreturn]] void unknown_option(const CommandInfo& command, const std::string& name) {
  std::vector<std::string> known;
  for (const std::string_view option : command.options) known.emplace_back(option);
  for (const std::string_view option : common_options()) known.emplace_back(option);
  throw usage_error(
      fmt::format("{} takes no option --{}", command.name, name),
      {.field = "--" + name,
       .hint = fmt::format("did you mean --{}? allowed: {}", nearest(name, known), allowed_names(command))});
}

bool is_option(const std::string& word) {
  return word.size() > 2 && word.starts_with("--");
}

template <class T>
T parsed(std::string_view option, const std::string& text, T least, T most, const char* what) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || text.empty() || !(value >= least) || !(value <= most)) {
    throw usage_error(fmt::format("--{} is \"{}\"; it must be {} from {} to {}", option, text, what, least, most),
                      {.field = fmt::format("--{}", option)});
  }
  return value;
}

}  // namespace

Arguments Arguments::parse(const std::vector<std::string>& words) {
  FH_CHECK(!words.empty(), "no command");
  Arguments out;
  std::size_t at = 1;
  out.command_ = words.size() > 1 ? find_command(words[0] + " " + words[1]) : nullptr;
  if (out.command_) {
    at = 2;
  } else {
    out.command_ = find_command(words[0]);
  }
  if (!out.command_) unknown_command(words.size() > 1 && words[0] == "runs" ? words[0] + " " + words[1] : words[0]);
  bool all_operands = false;
  for (; at < words.size(); ++at) {
    if (!all_operands && words[at] == "--") {
      all_operands = true;
    } else if (!all_operands && (is_option(words[at]) || words[at] == "-h")) {
      out.add_option(words, at);
    } else {
      out.operands_.push_back(words[at]);
    }
  }
  if (!out.has("help")) out.check_operands();
  return out;
}

void Arguments::add_option(const std::vector<std::string>& words, std::size_t& at) {
  std::string name = words[at] == "-h" ? "help" : words[at].substr(2);
  std::optional<std::string> given;
  if (const std::size_t equals = name.find('='); equals != std::string::npos) {
    given = name.substr(equals + 1);
    name.resize(equals);
  }
  const OptionInfo* option = find_option(name);
  if (!option || !takes(*command_, name)) unknown_option(*command_, name);
  const std::string field = "--" + name;
  if (has(name) && option->values == Values::one)
    throw usage_error(fmt::format("{} is given twice", field), {.field = field, .hint = "give it once"});
  std::vector<std::string>& values = values_[name];
  if (option->values == Values::none) {
    if (given) throw usage_error(fmt::format("{} takes no value, but has \"{}\"", field, *given), {.field = field});
    return;
  }
  if (given) {
    values.push_back(*given);
    return;
  }
  const std::size_t before = values.size();
  while (at + 1 < words.size() && !is_option(words[at + 1]) &&
         (option->values == Values::many || values.size() == before))
    values.push_back(words[++at]);
  if (values.size() == before) {
    throw usage_error(fmt::format("{} needs a value: {}", field, option->value_name),
                      {.field = field, .hint = std::string(option->help)});
  }
}

void Arguments::check_operands() const {
  const std::vector<std::string> names = operand_names(*command_);
  if (operands_.size() < names.size()) {
    const std::string& missing = names[operands_.size()];
    throw usage_error(fmt::format("{} needs {}", command_->name, missing),
                      {.field = missing, .hint = fmt::format("foxhunt-cli {} {}", command_->name, command_->operands)});
  }
  if (operands_.size() > names.size()) {
    const std::string& extra = operands_[names.size()];
    throw usage_error(
        fmt::format("{} takes no further word, but has \"{}\"", command_->name, extra),
        {.field = extra, .hint = fmt::format("`foxhunt-cli {} --help` lists what it takes", command_->name)});
  }
}

std::optional<std::string> Arguments::text(std::string_view option) const {
  const auto found = values_.find(option);
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second.back();
}

const std::vector<std::string>& Arguments::list(std::string_view option) const {
  static const std::vector<std::string> none;
  const auto found = values_.find(option);
  return found == values_.end() ? none : found->second;
}

std::string Arguments::needed(std::string_view option) const {
  if (auto value = text(option)) return *value;
  const OptionInfo& info = *find_option(option);
  throw usage_error(fmt::format("{} needs --{} {}", command_->name, option, info.value_name),
                    {.field = fmt::format("--{}", option), .hint = std::string(info.help)});
}

std::int64_t Arguments::integer(std::string_view option, std::int64_t fallback, std::int64_t least,
                                std::int64_t most) const {
  const auto value = text(option);
  return value ? parsed(option, *value, least, most, "a whole number") : fallback;
}

std::uint64_t Arguments::seed(std::string_view option, std::uint64_t fallback) const {
  const auto value = text(option);
  return value ? parsed<std::uint64_t>(option, *value, 0, UINT64_MAX, "a whole number") : fallback;
}

double Arguments::number(std::string_view option, double fallback, double least, double most) const {
  const auto value = text(option);
  return value ? parsed(option, *value, least, most, "a number") : fallback;
}

std::vector<std::int64_t> Arguments::integers(std::string_view option, std::int64_t least, std::int64_t most) const {
  std::vector<std::int64_t> out;
  for (const std::string& value : list(option)) out.push_back(parsed(option, value, least, most, "a whole number"));
  return out;
}

std::string Arguments::choice(std::string_view option, const std::string& fallback, std::string_view allowed) const {
  const auto value = text(option);
  if (!value) return fallback;
  std::vector<std::string> names;
  std::string shown;
  for (std::string_view rest = allowed; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    names.emplace_back(rest.substr(0, bar));
    shown += (shown.empty() ? "" : ", ") + names.back();
    if (names.back() == *value) return *value;
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  throw usage_error(
      fmt::format("--{} is \"{}\"; allowed: {}", option, *value, shown),
      {.field = fmt::format("--{}", option), .hint = fmt::format("did you mean {}?", nearest(*value, names))});
}

}  // namespace foxhunt::app
