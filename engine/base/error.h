// The one exception of the engine: a sentence a user can act on, with place, value and hint kept apart for --json.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace foxhunt {

// Decides the exit code of the command line: usage 2, failed 1.
enum class ErrorKind { failed, usage };

// Everything a report may show besides the sentence. Unset members are omitted from reports.
struct ErrorPlace {
  std::string file{};                     // path as the user gave it
  std::optional<std::uint64_t> offset{};  // bytes from the start of the file as it lies on disk
  std::optional<std::uint64_t> line{};    // 1-based
  std::string field{};                    // configuration path, column or record member
  std::string hint{};                     // what to do
};

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ErrorPlace place = {}, ErrorKind kind = ErrorKind::failed)
      : std::runtime_error(message), place_(std::move(place)), kind_(kind) {}

  const ErrorPlace& place() const { return place_; }
  ErrorKind kind() const { return kind_; }
  // One line: "file:line: message (field x; hint)".
  std::string sentence() const;

 private:
  ErrorPlace place_;
  ErrorKind kind_;
};

// A wrong configuration or command line: exit code 2.
inline Error usage_error(const std::string& message, ErrorPlace place = {}) {
  return Error(message, std::move(place), ErrorKind::usage);
}

namespace detail {
[[noreturn]] void check_failed(const char* expression, const char* file, int line, const std::string& message);
}  // namespace detail

}  // namespace foxhunt

// An invariant of the program; never compiled out. The condition must have no side effect.
// FH_CHECK(size > 0, "a batch of {} rows", size)
#define FH_CHECK(condition, ...)                                                                                   \
  do {                                                                                                             \
    if (!(condition)) ::foxhunt::detail::check_failed(#condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
  } while (false)
