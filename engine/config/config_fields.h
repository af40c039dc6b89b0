// The field table: what validation, the editor, --help-config, docs/configuration.md and the JSON Schema read about
// every field.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/config/config.h"

namespace foxhunt {

enum class FieldType {
  integer,
  number,
  optional_number,  // null (NaN in the struct) stands for "not set"
  text,
  choice,   // one of Constraint::allowed
  path,     // made absolute against the configuration file's folder
  paths,    // a list of them
  texts,    // a list of texts
  numbers,  // a list, each within the range
  sizes,    // a list of [name, size], each size within the range
};

// "integer", "list of [name, size]": as help and errors say it.
const char* field_type_name(FieldType type);

enum class Pattern { none, path, date, device, rule };

// Allowed values. The constructors below read as the table's third column.
struct Constraint {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool minimum_excluded = false;
  bool maximum_excluded = false;
  std::string_view allowed = {};  // names separated by '|'; the empty name may be one
  Pattern pattern = Pattern::none;
};

// Where a field's value lives; a null pointer when its optional section is absent.
using FieldValue = std::variant<int*, std::int64_t*, std::uint64_t*, double*, std::string*, std::vector<std::string>*,
                                std::vector<double>*, NamedSizes*>;

struct Field {
  std::string path;  // "learner.lr"
  FieldType type;
  std::string unit;  // may be empty
  Constraint constraint;
  std::string help;
  std::string default_text;             // as --set takes it; "null" where nothing is set
  FieldValue (*value)(Config&);         // makes an absent optional section
  FieldValue (*value_if_any)(Config&);  // null pointer inside when its optional section is absent
  bool is_unsigned;                     // a seed: any whole number from 0 to 2^64 - 1
  std::string optional_section;         // "data.simulated", or empty

  std::string range_text() const;            // "above 0, at most 1"; "rolling, anchored"; may be empty
  std::vector<std::string> choices() const;  // of a choice
};

// All fields in the order of the document; made once.
std::span<const Field> config_fields();
const Field* find_field(std::string_view path);    // null when unknown
std::string nearest_field(std::string_view path);  // the known field or section closest to a misspelt one
std::string field_text(const Config& config, const Field& field);  // as --set takes it
bool is_default(const Config& config, const Field& field);

}  // namespace foxhunt
