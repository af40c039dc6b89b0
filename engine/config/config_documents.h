// Documents made from the field table.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace foxhunt {

std::string config_help();               // of --help-config: plain text, one field a paragraph
std::string config_markdown();           // docs/configuration.md
nlohmann::ordered_json config_schema();  // resources/config.schema.json, JSON Schema 2020-12

}  // namespace foxhunt
