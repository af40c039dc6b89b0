// Sentences of errors and failed checks.
#include "engine/base/error.h"

namespace foxhunt {

std::string Error::sentence() const {
  std::string out;
  if (!place_.file.empty()) {
    out += place_.file;
    if (place_.line) out += fmt::format(":{}", *place_.line);
    if (place_.offset) out += fmt::format(" at byte {}", *place_.offset);
    out += ": ";
  }
  out += what();
  if (!place_.field.empty()) out += fmt::format(" [{}]", place_.field);
  if (!place_.hint.empty()) out += fmt::format(" - {}", place_.hint);
  return out;
}

namespace detail {

void check_failed(const char* expression, const char* file, int line, const std::string& message) {
  throw Error(fmt::format("internal check failed: {} ({}) at {}:{}", message, expression, file, line));
}

}  // namespace detail
}  // namespace foxhunt
