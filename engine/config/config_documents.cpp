// Help, Markdown page and JSON Schema, written from the field table.
#include "engine/config/config_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/config/config_fields.h"
#include "engine/config/load_config.h"

namespace foxhunt {
namespace {

std::string section_of(const std::string& path) {
  const std::size_t dot = path.find('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::string shown_default(const Field& field) {
  return field.default_text.empty() ? "\"\"" : field.default_text;
}

std::string escaped_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

nlohmann::ordered_json number_schema(const Field& field) {
  nlohmann::ordered_json schema;
  schema["type"] = field.type == FieldType::integer || field.type == FieldType::sizes ? "integer" : "number";
  const Constraint& c = field.constraint;
  const auto bound = [&](const char* name, double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15) {
      schema[name] = static_cast<std::int64_t>(value);
    } else {
      schema[name] = value;
    }
  };
  if (field.is_unsigned) schema["minimum"] = 0;
  if (std::isfinite(c.minimum)) bound(c.minimum_excluded ? "exclusiveMinimum" : "minimum", c.minimum);
  if (std::isfinite(c.maximum)) bound(c.maximum_excluded ? "exclusiveMaximum" : "maximum", c.maximum);
  return schema;
}

nlohmann::ordered_json value_schema(const Field& field) {
  nlohmann::ordered_json schema;
  switch (field.type) {
    case FieldType::integer:
    case FieldType::number:
      schema = number_schema(field);
      break;
    case FieldType::optional_number:
      schema = number_schema(field);
      schema["type"] = {"number", "null"};
      break;
    case FieldType::choice:
      schema["type"] = "string";
      schema["enum"] = field.choices();
      break;
    case FieldType::text:
    case FieldType::path:
      schema["type"] = "string";
      if (field.constraint.pattern == Pattern::date) schema["pattern"] = "^([0-9]{4}-[0-9]{2}-[0-9]{2})?$";
      if (field.constraint.pattern == Pattern::device) schema["pattern"] = "^(auto|cpu|cuda(:[0-9]{1,3})?)$";
      break;
    case FieldType::paths:
    case FieldType::texts:
      schema["type"] = "array";
      schema["items"] = {{"type", "string"}, {"minLength", 1}};
      break;
    case FieldType::numbers:
      schema["type"] = "array";
      schema["items"] = number_schema(field);
      break;
    case FieldType::sizes:
      schema["type"] = "array";
      schema["items"] = {{"type", "array"},
                         {"prefixItems", {{{"type", "string"}}, number_schema(field)}},
                         {"minItems", 2},
                         {"maxItems", 2}};
      break;
  }
  return schema;
}

}  // namespace

std::string config_help() {
  std::string out =
      "The configuration is one JSON document; // comments are allowed. Unknown fields are errors.\n"
      "Each field can be overridden: --set learner.lr=3e-4\n";
  std::string section = "-";
  for (const Field& field : config_fields()) {
    if (section_of(field.path) != section) out += "\n";
    section = section_of(field.path);
    out += fmt::format("{} = {}{}\n    {}\n    {}{}{}\n", field.path, shown_default(field),
                       field.unit.empty() ? "" : "  [" + field.unit + "]", field.help, field_type_name(field.type),
                       field.range_text().empty() ? "" : ": ", field.range_text());
  }
  return out;
}

std::string config_markdown() {
  std::string out =
      "# Configuration\n\n"
      "Made from `engine/config/fields.def`, which validation, the editor, `--help-config` and "
      "`resources/config.schema.json` read too.\n\n"
      "One JSON document; `//` comments are allowed. A field that is left out has its default. An unknown field, a key "
      "given twice, a wrong type\n"
      "and a value out of range are errors that name file, line, field, value and what is allowed. `--set "
      "learner.lr=3e-4` overrides a field;\n"
      "texts need no quotes there, lists are JSON. Relative paths, also those of `--set`, are relative to the folder "
      "of the file.\n"
      "`data.simulated` is absent unless given: `\"data\": { \"simulated\": { \"bars\": 20000, \"seed\": 1 } }` stands "
      "for the three inputs.\n";
  std::string section = "-";
  for (const Field& field : config_fields()) {
    if (section_of(field.path) != section) {
      section = section_of(field.path);
      out +=
          fmt::format("\n## {}\n\n| field | type | default | unit | allowed | meaning |\n|---|---|---|---|---|---|\n",
                      section.empty() ? field.path : section);
    }
    out += fmt::format("| `{}` | {} | `{}` | {} | {} | {} |\n", field.path, field_type_name(field.type),
                       escaped_cell(shown_default(field)), escaped_cell(field.unit), escaped_cell(field.range_text()),
                       escaped_cell(field.help));
  }
  return out;
}

nlohmann::ordered_json config_schema() {
  const auto object = [] {
    nlohmann::ordered_json made;
    made["type"] = "object";
    made["additionalProperties"] = false;
    made["properties"] = nlohmann::ordered_json::object();
    return made;
  };
  nlohmann::ordered_json root;
  root["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  root["title"] = "Foxhunt configuration";
  root.update(object());
  for (const Field& field : config_fields()) {
    nlohmann::ordered_json* at = &root;
    std::string_view rest = field.path;
    std::string walked;
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      const std::string part(rest.substr(0, dot));
      walked += (walked.empty() ? "" : ".") + part;
      nlohmann::ordered_json& next = (*at)["properties"][part];
      if (next.is_null()) {
        next = object();
        if (walked == field.optional_section) next["type"] = {"object", "null"};
      }
      at = &next;
      rest.remove_prefix(dot + 1);
    }
    nlohmann::ordered_json schema = value_schema(field);
    schema["description"] = field.unit.empty() ? field.help : fmt::format("{} ({})", field.help, field.unit);
    Config filled;
    field.value(filled);  // makes an optional section, so that its defaults show
    std::string pointer = "/" + field.path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    schema["default"] = to_json(filled).at(nlohmann::ordered_json::json_pointer(pointer));
    (*at)["properties"][std::string(rest)] = std::move(schema);
  }
  return root;
}

}  // namespace foxhunt
