// The JSON header of a safetensors file, checked while it is parsed, so that a hostile one is refused before it costs
// memory.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint/safetensors.h"

namespace foxhunt::detail {

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorInfo> tensors;  // sorted by offset; contiguous from 0 to data_bytes
};

// `text`: the header, which stands at byte 8 of file `path`; `data_bytes`: what follows it. Throws Error.
SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_bytes, const std::string& path);

}  // namespace foxhunt::detail
