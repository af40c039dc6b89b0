// Any text as a configuration: refused by Error, or one whose own document reads back to the same.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/base/error.h"
#include "engine/config/load_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const foxhunt::Config config = foxhunt::parse_config(text, "fuzz.json", "/data");
    const foxhunt::Config again = foxhunt::parse_config(foxhunt::to_json(config).dump(), "again.json", "/data");
    if (foxhunt::config_hash(config) != foxhunt::config_hash(again)) __builtin_trap();
  } catch (const foxhunt::Error&) {
  }
  return 0;
}
