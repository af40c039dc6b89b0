// Reading, checking and writing the configuration. All errors are usage errors with file, line, field, value and what
// is allowed.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "engine/config/config.h"

namespace foxhunt {

// `sets`: overrides "learner.lr=3e-4", applied in order after the file. Relative data paths, those of overrides
// included, are made absolute against the folder of the file.
Config load_config(const std::filesystem::path& file, std::span<const std::string> sets = {});
Config parse_config(std::string_view text, const std::string& file_name, const std::filesystem::path& base_folder,
                    std::span<const std::string> sets = {});

// Sets one field from its text (lists and [name, size] pairs as JSON); the range is checked, the other fields are not
// looked at. The path of an optional section with "null" takes it away.
void set_field(Config& config, std::string_view path, std::string_view value_text);

// Rules between fields, checked by the functions that read; for configurations changed field by field.
void check_config(const Config& config, const std::string& file_name = {});
// What a training session needs beside: data, the standard groups and branches, at most 8 experts (the sizes of the
// telemetry).
void check_training_config(const Config& config, const std::string& file_name = {});

// Every field in the order of the table; read back, it gives the same configuration.
nlohmann::ordered_json to_json(const Config& config);
// 16 hexadecimal digits over to_json(): equal when all fields are.
std::string config_hash(const Config& config);

// The `config` document of an oracle fixture: the fields of the learner alone, any sizes.
LearnerConfig parse_learner_config(std::string_view text, const std::string& file_name);
nlohmann::ordered_json to_json(const LearnerConfig& config);

}  // namespace foxhunt
