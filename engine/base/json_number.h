// Numbers of JSON documents, which know no NaN: non-finite ones are the strings "nan", "inf", "-inf".
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace foxhunt {

inline nlohmann::ordered_json json_number(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return x;
}

}  // namespace foxhunt
