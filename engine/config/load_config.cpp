// JSON text and overrides into a Config, through the field table alone; the rules between fields are in
// check_config.cpp.
#include "engine/config/load_config.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/strict_json.h"
#include "engine/config/config_fields.h"
#include "engine/telemetry/rule_monitor.h"

namespace foxhunt {
namespace {

constexpr std::uint64_t kMaxBytes = 16 << 20;

bool is_section(std::string_view path) {
  for (const Field& field : config_fields()) {
    if (field.path.size() > path.size() && field.path.starts_with(path) && field.path[path.size()] == '.') return true;
  }
  return false;
}

// The fields of an optional section, or none.
const Field* first_of_optional_section(std::string_view path) {
  for (const Field& field : config_fields()) {
    if (!path.empty() && field.optional_section == path) return &field;
  }
  return nullptr;
}

bool matches_date(const std::string& text) {
  int year = 0, month = 0, day = 0, used = 0;
  if (text.empty()) return true;
  if (text.size() != 10 || std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &used) != 3 || used != 10)
    return false;
  return std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

bool matches_device(std::string_view text) {
  if (text == "auto" || text == "cpu" || text == "cuda") return true;
  if (!text.starts_with("cuda:") || text.size() < 6 || text.size() > 8) return false;
  return text.find_first_not_of("0123456789", 5) == std::string_view::npos;
}

// Writes JSON values into fields and says what is wrong with them.
class FieldWriter {
 public:
  FieldWriter(Config& config, std::string file, bool lines) : config_(config), file_(std::move(file)), lines_(lines) {}

  // A whole document, a section or a field.
  void apply(const std::string& path, const JsonNode& node) {
    if (const Field* field = find_field(path)) return assign(*field, node);
    if (!path.empty() && !is_section(path)) unknown(path, node);
    if (const Field* first = first_of_optional_section(path)) {
      if (node.kind == JsonKind::null) return clear(path);
      if (node.kind == JsonKind::object) first->value(config_);
    }
    if (node.kind != JsonKind::object) {
      fail(node, path,
           fmt::format("{} is {}, but must be an object", path.empty() ? "the document" : path, node.shown()),
           "write { \"field\": value, ... }");
    }
    for (const JsonNode& member : node.children) apply(path.empty() ? member.name : path + "." + member.name, member);
  }

  void assign(const Field& field, const JsonNode& node) {
    std::visit([&](auto* value) { write(field, node, *value); }, field.value(config_));
  }

 private:
  [[noreturn]] void fail(const JsonNode& node, const std::string& field, const std::string& message,
                         const std::string& hint) const {
    std::optional<std::uint64_t> line;
    if (lines_) line = node.line;
    throw usage_error(message, {file_, {}, line, field, hint});
  }

  [[noreturn]] void unknown(const std::string& path, const JsonNode& node) const {
    const std::size_t dot = path.rfind('.');
    const std::string section = dot == std::string::npos ? "the configuration" : path.substr(0, dot);
    fail(node, path,
         fmt::format("there is no field \"{}\" in {}", dot == std::string::npos ? path : path.substr(dot + 1), section),
         fmt::format("did you mean {}?", nearest_field(path)));
  }

  [[noreturn]] void wrong_type(const Field& field, const JsonNode& node, const std::string& expected) const {
    fail(node, field.path, fmt::format("{} is {}, but must be {}", field.path, node.shown(), expected), hint(field));
  }

  [[noreturn]] void out_of_range(const Field& field, const JsonNode& node) const {
    fail(node, field.path, fmt::format("{} is {}; allowed: {}", field.path, node.shown(), field.range_text()),
         hint(field));
  }

  static std::string hint(const Field& field) {
    return fmt::format("{}{}; default {}", field.help, field.unit.empty() ? "" : fmt::format(" ({})", field.unit),
                       field.default_text);
  }

  void clear(const std::string& section) {
    FH_CHECK(section == "data.simulated", "the optional section {}", section);
    config_.data.simulated.reset();
  }

  double ranged(const Field& field, const JsonNode& node) const {
    if (!node.is_number()) wrong_type(field, node, "a number");
    const Constraint& c = field.constraint;
    const double x = node.number;
    const bool low = c.minimum_excluded ? x > c.minimum : x >= c.minimum;
    const bool high = c.maximum_excluded ? x < c.maximum : x <= c.maximum;
    if (!std::isfinite(x) || !low || !high) out_of_range(field, node);
    return x;
  }

  std::int64_t ranged_integer(const Field& field, const JsonNode& node, std::int64_t least, std::int64_t most) const {
    if (node.kind != JsonKind::integer && node.kind != JsonKind::large) wrong_type(field, node, "a whole number");
    ranged(field, node);
    if (node.kind == JsonKind::large || node.integer < least || node.integer > most) out_of_range(field, node);
    return node.integer;
  }

  void write(const Field& field, const JsonNode& node, int& value) const {
    value =
        static_cast<int>(ranged_integer(field, node, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
  }
  void write(const Field& field, const JsonNode& node, std::int64_t& value) const {
    value = ranged_integer(field, node, INT64_MIN, INT64_MAX);
  }
  void write(const Field& field, const JsonNode& node, std::uint64_t& value) const {
    if (node.kind != JsonKind::integer && node.kind != JsonKind::large) wrong_type(field, node, "a whole number");
    if (node.kind == JsonKind::integer && node.integer < 0) out_of_range(field, node);
    value = node.kind == JsonKind::large ? node.large : static_cast<std::uint64_t>(node.integer);
  }
  void write(const Field& field, const JsonNode& node, double& value) const {
    if (field.type == FieldType::optional_number && node.kind == JsonKind::null) {
      value = std::nan("");
      return;
    }
    value = ranged(field, node);
  }
  void write(const Field& field, const JsonNode& node, std::string& value) const {
    if (!node.is_text()) wrong_type(field, node, "a text");
    if (field.type == FieldType::choice) {
      const std::vector<std::string> names = field.choices();
      if (std::find(names.begin(), names.end(), node.text) == names.end()) out_of_range(field, node);
    }
    if (field.constraint.pattern == Pattern::date && !matches_date(node.text)) out_of_range(field, node);
    if (field.constraint.pattern == Pattern::device && !matches_device(node.text)) out_of_range(field, node);
    value = node.text;
  }
  void write(const Field& field, const JsonNode& node, std::vector<std::string>& value) const {
    const std::string list = fmt::format("a {}", field_type_name(field.type));
    if (node.kind != JsonKind::array) wrong_type(field, node, list);
    std::vector<std::string> read;
    for (const JsonNode& item : node.children) {
      if (!item.is_text() || item.text.empty()) wrong_type(field, item, list + ": each a text that is not empty");
      read.push_back(item.text);
      if (field.constraint.pattern == Pattern::rule) check_rules(read, item);
    }
    value = std::move(read);
  }
  // The newest of them: one that stands before was checked before.
  void check_rules(const std::vector<std::string>& rules, const JsonNode& node) const {
    try {
      telemetry::parse_rules(rules);
    } catch (const Error& error) {
      fail(node, error.place().field, error.what(), error.place().hint);
    }
  }
  void write(const Field& field, const JsonNode& node, std::vector<double>& value) const {
    if (node.kind != JsonKind::array) wrong_type(field, node, "a list of numbers");
    std::vector<double> read;
    for (const JsonNode& item : node.children) read.push_back(ranged(field, item));
    value = std::move(read);
  }
  void write(const Field& field, const JsonNode& node, NamedSizes& value) const {
    if (node.kind != JsonKind::array) wrong_type(field, node, "a list of [name, size] pairs");
    NamedSizes read;
    for (const JsonNode& item : node.children) {
      if (item.kind != JsonKind::array || item.children.size() != 2 || !item.children[0].is_text()) {
        wrong_type(field, item, "a list of [name, size] pairs");
      }
      read.emplace_back(item.children[0].text, static_cast<int>(ranged_integer(field, item.children[1], 0, 1 << 20)));
    }
    value = std::move(read);
  }

  Config& config_;
  std::string file_;
  bool lines_;
};

// The text after `=` as the JSON value that it stands for: plain words need no quotes.
JsonNode value_node(const Field* field, std::string_view text, const std::string& path, const std::string& origin) {
  JsonNode node;
  const bool is_word =
      field && (field->type == FieldType::text || field->type == FieldType::choice || field->type == FieldType::path);
  if (is_word && !text.starts_with('"')) {
    node.kind = JsonKind::text;
    node.text = text;
    return node;
  }
  const bool is_list = field && (field->type == FieldType::paths || field->type == FieldType::texts);
  if (is_list && !text.starts_with('[')) {
    node.kind = JsonKind::array;
    if (text.empty()) return node;
    node.children.emplace_back().kind = JsonKind::text;
    node.children.back().text = text;
    return node;
  }
  try {
    return parse_strict_json(text, {.file = origin, .max_depth = 8, .error_kind = ErrorKind::usage});
  } catch (const Error&) {
    throw usage_error(
        fmt::format("{} is {}, but must be {}", path, text.empty() ? "empty" : fmt::format("\"{}\"", text),
                    field ? fmt::format("a {}", field_type_name(field->type)) : "an object"),
        {origin,
         {},
         {},
         path,
         field ? fmt::format("{}; allowed: {}", field->help, field->range_text()) : "write it as JSON"});
  }
}

void set_from_text(Config& config, std::string_view path, std::string_view text, const std::string& origin) {
  const std::string name(path);
  FieldWriter writer(config, origin, false);
  const Field* field = find_field(name);
  if (!field && !is_section(name)) writer.apply(name.empty() ? "\"\"" : name, JsonNode{});  // says what is near
  writer.apply(name, value_node(field, text, name, origin));
}

void make_paths_absolute(Config& config, const std::filesystem::path& folder) {
  const auto absolute = [&](std::string& path) {
    if (!path.empty()) path = (std::filesystem::absolute(folder) / path).lexically_normal().string();
  };
  for (const Field& field : config_fields()) {
    if (field.constraint.pattern != Pattern::path) continue;
    const FieldValue value = field.value(config);
    if (auto* const* one = std::get_if<std::string*>(&value)) absolute(**one);
    if (auto* const* list = std::get_if<std::vector<std::string>*>(&value)) {
      for (std::string& path : **list) absolute(path);
    }
  }
}

struct JsonOf {
  template <class T>
  nlohmann::ordered_json operator()(const T* value) const {
    return *value;
  }
  nlohmann::ordered_json operator()(const double* value) const {
    return std::isnan(*value) ? nlohmann::ordered_json() : nlohmann::ordered_json(*value);
  }
};

}  // namespace

Config load_config(const std::filesystem::path& file, std::span<const std::string> sets) {
  return parse_config(read_text_file(file.string(), kMaxBytes, ErrorKind::usage), file.string(), file.parent_path(),
                      sets);
}

Config parse_config(std::string_view text, const std::string& file_name, const std::filesystem::path& base_folder,
                    std::span<const std::string> sets) {
  Config config;
  const JsonNode document = parse_strict_json(
      text,
      {.file = file_name, .comments = true, .max_depth = 16, .max_nodes = 100'000, .error_kind = ErrorKind::usage});
  FieldWriter(config, file_name, true).apply("", document);
  for (const std::string& set : sets) {
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos) {
      throw usage_error(fmt::format("\"{}\" has no =", set), {"--set", {}, {}, {}, "write --set learner.lr=3e-4"});
    }
    set_from_text(config, std::string_view(set).substr(0, equals), std::string_view(set).substr(equals + 1), "--set");
  }
  make_paths_absolute(config, base_folder.empty() ? "." : base_folder);
  check_config(config, file_name);
  return config;
}

void set_field(Config& config, std::string_view path, std::string_view value_text) {
  Config changed = config;
  set_from_text(changed, path, value_text, {});
  config = std::move(changed);
}

nlohmann::ordered_json to_json(const Config& config) {
  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  for (const Field& field : config_fields()) {
    const bool absent =
        std::visit([](auto* value) { return value == nullptr; }, field.value_if_any(const_cast<Config&>(config)));
    nlohmann::ordered_json* at = &document;
    std::string_view rest = absent ? std::string_view(field.optional_section) : std::string_view(field.path);
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      at = &(*at)[std::string(rest.substr(0, dot))];
      rest.remove_prefix(dot + 1);
    }
    (*at)[std::string(rest)] =
        absent ? nlohmann::ordered_json() : std::visit(JsonOf{}, field.value_if_any(const_cast<Config&>(config)));
  }
  return document;
}

std::string config_hash(const Config& config) {
  // FNV-1a, 64 bits: tells configurations apart, proves nothing.
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : to_json(config).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return fmt::format("{:016x}", hash);
}

LearnerConfig parse_learner_config(std::string_view text, const std::string& file_name) {
  Config config;
  const JsonNode document = parse_strict_json(
      text, {.file = file_name, .max_depth = 16, .max_nodes = 100'000, .error_kind = ErrorKind::usage});
  FieldWriter(config, file_name, true).apply("learner", document);
  check_config(config, file_name);
  return config.learner;
}

nlohmann::ordered_json to_json(const LearnerConfig& learner) {
  Config config;
  config.learner = learner;
  return to_json(config)["learner"];
}

}  // namespace foxhunt
