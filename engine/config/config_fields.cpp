// Expands fields.def into the table: path, type and default of a field come from the member it names.
#include "engine/config/config_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace foxhunt {
namespace {

// The third column of the table.
constexpr Constraint any() {
  return {};
}
constexpr Constraint from(double minimum) {
  return {.minimum = minimum};
}
constexpr Constraint above(double minimum) {
  return {.minimum = minimum, .minimum_excluded = true};
}
constexpr Constraint between(double minimum, double maximum) {
  return {.minimum = minimum, .maximum = maximum};
}
constexpr Constraint above_to(double minimum, double maximum) {
  return {.minimum = minimum, .maximum = maximum, .minimum_excluded = true};
}
constexpr Constraint from_below(double minimum, double maximum) {
  return {.minimum = minimum, .maximum = maximum, .maximum_excluded = true};
}
constexpr Constraint inside(double minimum, double maximum) {
  return {.minimum = minimum, .maximum = maximum, .minimum_excluded = true, .maximum_excluded = true};
}
constexpr Constraint sizes(double minimum, double maximum) {
  return between(minimum, maximum);
}
constexpr Constraint one_of(std::string_view names) {
  return {.allowed = names};
}
constexpr Constraint paths() {
  return {.pattern = Pattern::path};
}
constexpr Constraint a_path() {
  return {.pattern = Pattern::path};
}
constexpr Constraint a_date() {
  return {.pattern = Pattern::date};
}
constexpr Constraint a_device() {
  return {.pattern = Pattern::device};
}

constexpr Constraint rule_texts() {
  return {.pattern = Pattern::rule};
}

struct TypeOf {
  const Constraint& constraint;
  bool is_optional;
  FieldType operator()(const int*) const { return FieldType::integer; }
  FieldType operator()(const std::int64_t*) const { return FieldType::integer; }
  FieldType operator()(const std::uint64_t*) const { return FieldType::integer; }
  FieldType operator()(const double*) const { return is_optional ? FieldType::optional_number : FieldType::number; }
  FieldType operator()(const std::string*) const {
    if (!constraint.allowed.empty()) return FieldType::choice;
    return constraint.pattern == Pattern::path ? FieldType::path : FieldType::text;
  }
  FieldType operator()(const std::vector<std::string>*) const {
    return constraint.pattern == Pattern::path ? FieldType::paths : FieldType::texts;
  }
  FieldType operator()(const std::vector<double>*) const { return FieldType::numbers; }
  FieldType operator()(const NamedSizes*) const { return FieldType::sizes; }
};

Field make_field(std::string path, const char* unit, const Constraint& constraint, const char* help,
                 FieldValue (*value)(Config&), FieldValue (*value_if_any)(Config&), std::string optional_section) {
  Field field{std::move(path),
              FieldType::text,
              unit,
              constraint,
              help,
              {},
              value,
              value_if_any,
              /*is_unsigned=*/false,
              std::move(optional_section)};
  Config defaults;
  const FieldValue at = value(defaults);
  const auto* number = std::get_if<double*>(&at);
  field.type = std::visit(TypeOf{constraint, number != nullptr && std::isnan(**number)}, at);
  field.is_unsigned = std::holds_alternative<std::uint64_t*>(at);
  field.default_text = field_text(defaults, field);
  return field;
}

std::vector<Field> make_fields() {
  std::vector<Field> fields;
#define FH_FIELD(member, unit, constraint, help)                                          \
  fields.push_back(make_field(                                                            \
      #member, unit, constraint, help, [](Config& c) -> FieldValue { return &c.member; }, \
      [](Config& c) -> FieldValue { return &c.member; }, ""));
#define FH_OPTIONAL_FIELD(section, member, unit, constraint, help)                                  \
  fields.push_back(make_field(                                                                      \
      #section "." #member, unit, constraint, help,                                                 \
      [](Config& c) -> FieldValue {                                                                 \
        if (!c.section) c.section.emplace();                                                        \
        return &c.section->member;                                                                  \
      },                                                                                            \
      [](Config& c) -> FieldValue {                                                                 \
        return c.section ? &c.section->member : static_cast<decltype(&c.section->member)>(nullptr); \
      },                                                                                            \
      #section));
#include "engine/config/fields.def"
#undef FH_FIELD
#undef FH_OPTIONAL_FIELD
  return fields;
}

// Letters to insert, delete, replace or swap.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before = row;
    row = next;
  }
  return row[b.size()];
}

std::string_view leaf(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

struct TextOf {
  std::string operator()(const int* value) const { return value ? fmt::format("{}", *value) : "null"; }
  std::string operator()(const std::int64_t* value) const { return value ? fmt::format("{}", *value) : "null"; }
  std::string operator()(const std::uint64_t* value) const { return value ? fmt::format("{}", *value) : "null"; }
  std::string operator()(const double* value) const {
    return value && !std::isnan(*value) ? fmt::format("{}", *value) : "null";
  }
  std::string operator()(const std::string* value) const { return value ? *value : "null"; }
  template <class T>
  std::string operator()(const std::vector<T>* value) const {
    return value ? nlohmann::json(*value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) : "null";
  }
};

}  // namespace

// NaN: as in the contract table.
ContractConfig::ContractConfig()
    : tick(std::nan("")),
      tick_value(std::nan("")),
      commission(std::nan("")),
      slippage_ticks(std::nan("")),
      lot(std::nan("")),
      margin(std::nan("")) {}

const char* field_type_name(FieldType type) {
  switch (type) {
    case FieldType::integer:
      return "whole number";
    case FieldType::number:
      return "number";
    case FieldType::optional_number:
      return "number or null";
    case FieldType::text:
      return "text";
    case FieldType::choice:
      return "one of a list of texts";
    case FieldType::path:
      return "path";
    case FieldType::paths:
      return "list of paths";
    case FieldType::texts:
      return "list of texts";
    case FieldType::numbers:
      return "list of numbers";
    case FieldType::sizes:
      return "list of [name, size]";
  }
  return "value";
}

std::string Field::range_text() const {
  if (type == FieldType::choice) {
    std::string out;
    for (const std::string& name : choices())
      out += (out.empty() ? "" : ", ") + (name.empty() ? std::string("\"\"") : name);
    return out;
  }
  if (constraint.pattern == Pattern::date) return "YYYY-MM-DD or empty";
  if (constraint.pattern == Pattern::device) return "auto, cpu, cuda, cuda:N";
  if (constraint.pattern == Pattern::rule) return "source column condition, options";
  if (is_unsigned) return "0 to 18446744073709551615";
  const bool low = std::isfinite(constraint.minimum), high = std::isfinite(constraint.maximum);
  const auto text = [](double x) { return fmt::format("{:.15g}", x); };
  if (low && high && !constraint.minimum_excluded && !constraint.maximum_excluded) {
    return fmt::format("{} to {}", text(constraint.minimum), text(constraint.maximum));
  }
  std::string out;
  if (low) out = fmt::format("{} {}", constraint.minimum_excluded ? "above" : "at least", text(constraint.minimum));
  if (high) {
    out += fmt::format("{}{} {}", low ? ", " : "", constraint.maximum_excluded ? "below" : "at most",
                       text(constraint.maximum));
  }
  return out;
}

std::vector<std::string> Field::choices() const {
  std::vector<std::string> names;
  std::string_view rest = constraint.allowed;
  for (;;) {
    const std::size_t bar = rest.find('|');
    names.emplace_back(rest.substr(0, bar));
    if (bar == std::string_view::npos) return names;
    rest.remove_prefix(bar + 1);
  }
}

std::span<const Field> config_fields() {
  static const std::vector<Field> fields = make_fields();
  return fields;
}

const Field* find_field(std::string_view path) {
  for (const Field& field : config_fields()) {
    if (field.path == path) return &field;
  }
  return nullptr;
}

std::string nearest_field(std::string_view path) {
  // The right name in the wrong section counts as near; else the whole path decides.
  std::string best;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  const auto consider = [&](std::string_view known, std::size_t distance) {
    if (distance >= least) return;
    least = distance;
    best = known;
  };
  for (const Field& field : config_fields()) {
    const std::size_t dot = field.path.rfind('.');
    if (dot != std::string::npos) consider(field.path.substr(0, dot), edit_distance(path, field.path.substr(0, dot)));
    consider(field.path,
             std::min(edit_distance(path, field.path), 1 + 2 * edit_distance(leaf(path), leaf(field.path))));
  }
  return best;
}

std::string field_text(const Config& config, const Field& field) {
  return std::visit(TextOf{}, field.value_if_any(const_cast<Config&>(config)));  // read only
}

bool is_default(const Config& config, const Field& field) {
  static const Config defaults;
  return field_text(config, field) == field_text(defaults, field);
}

}  // namespace foxhunt
