// Strict JSON that remembers lines: a duplicate key, invalid UTF-8, a NUL byte, anything after the document, too deep
// or too large a document are errors with file and line. For documents that people write or that come from elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace foxhunt {

enum class JsonKind { null, boolean, integer, large, number, text, array, object };

// "an object", "a number": for sentences.
const char* json_kind_name(JsonKind kind);

struct JsonNode {
  JsonKind kind = JsonKind::null;
  std::uint64_t line = 0;  // 1-based, where the value begins
  std::string name;        // key, when it is a member of an object
  bool boolean = false;
  std::int64_t integer = 0;        // kind integer: a whole number without fraction or exponent that fits
  std::uint64_t large = 0;         // kind integer when not negative, and kind large: a whole number above INT64_MAX
  double number = 0;               // every kind of number, as double
  std::string text;                // kind text: the string; kind number: as written
  std::vector<JsonNode> children;  // items of an array, members of an object in their order

  // Member of an object, or null.
  const JsonNode* find(std::string_view key) const;
  bool is_number() const { return kind == JsonKind::integer || kind == JsonKind::large || kind == JsonKind::number; }
  bool is_text() const { return kind == JsonKind::text; }
  // The value as a sentence shows it, cut at 60 characters.
  std::string shown() const;
};

struct JsonRules {
  std::string file;       // named in errors
  bool comments = false;  // allow // and /* */
  std::size_t max_depth = 64;
  std::size_t max_nodes = 4'000'000;
  ErrorKind error_kind = ErrorKind::failed;
};

// Throws Error with file, line and what was expected.
JsonNode parse_strict_json(std::string_view text, const JsonRules& rules);

// A whole file of at most `max_bytes`; throws Error when it cannot be read or is larger.
std::string read_text_file(const std::string& path, std::uint64_t max_bytes, ErrorKind error_kind = ErrorKind::failed);

namespace detail {

// Feeds a SAX parser byte by byte and says how many bytes it has taken, since SAX events carry no position.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char* begin, std::size_t* taken) : at_(at), begin_(begin), taken_(taken) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    *taken_ = static_cast<std::size_t>(at_ - begin_);
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char* begin_;
  std::size_t* taken_;
};

}  // namespace detail
}  // namespace foxhunt
