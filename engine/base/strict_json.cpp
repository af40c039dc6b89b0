// A tree built from SAX events: the library's own tree keeps the last of two equal keys and knows no lines.
#include "engine/base/strict_json.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace foxhunt {
namespace {

class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, const JsonRules& rules) : text_(text), rules_(rules) {}

  JsonNode build() {
    // The lexer takes a NUL byte for the end of its input.
    if (const std::size_t nul = text_.find('\0'); nul != std::string_view::npos) {
      advance_line(nul);
      fail("there is a NUL byte in the text", "save it as plain UTF-8 text");
    }
    const char* begin = text_.data();
    const char* end = begin + text_.size();
    nlohmann::json::sax_parse(detail::CountingIterator(begin, begin, &taken_),
                              detail::CountingIterator(end, begin, &taken_), this, nlohmann::json::input_format_t::json,
                              true, rules_.comments);
    return std::move(root_);
  }

  // The events of the SAX interface.
  bool null() { return scalar(JsonKind::null, 0) != nullptr; }
  bool boolean(bool value) {
    scalar(JsonKind::boolean, 0)->boolean = value;
    return true;
  }
  bool number_integer(std::int64_t value) {
    JsonNode* node = scalar(JsonKind::integer, 1);
    node->integer = value;
    node->number = static_cast<double>(value);
    return true;
  }
  bool number_unsigned(std::uint64_t value) {
    JsonNode* node = scalar(value > INT64_MAX ? JsonKind::large : JsonKind::integer, 1);
    node->integer = value > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(value);
    node->large = value;
    node->number = static_cast<double>(value);
    return true;
  }
  bool number_float(double value, const std::string& written) {
    JsonNode* node = scalar(JsonKind::number, 1);
    node->number = value;
    node->text = written;
    return true;
  }
  bool string(std::string& value) {
    scalar(JsonKind::text, 0)->text = std::move(value);
    return true;
  }
  bool binary(std::vector<std::uint8_t>&) { return false; }
  bool start_object(std::size_t) { return open(JsonKind::object); }
  bool start_array(std::size_t) { return open(JsonKind::array); }
  bool key(std::string& name) {
    advance_line(taken_);
    if (!keys_.back().insert(name).second)
      fail(fmt::format("the key \"{}\" is given twice", name), "keep one of them", name);
    key_ = std::move(name);
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    advance_line(taken_);
    std::string what = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 3: syntax error while ...": place and class are
    // said by us.
    if (const std::size_t bracket = what.find("] "); bracket != std::string::npos) what.erase(0, bracket + 2);
    if (what.rfind("parse error at line", 0) == 0) what.erase(0, what.find(": ") + 2);
    fail("not valid JSON: " + what, rules_.comments ? "JSON with // comments is expected" : "JSON is expected");
  }

 private:
  [[noreturn]] void fail(const std::string& message, const std::string& hint, const std::string& field = {}) const {
    throw Error(message, {rules_.file, {}, line_, field, hint}, rules_.error_kind);
  }

  void advance_line(std::size_t position) {
    if (position <= counted_) return;
    line_ += static_cast<std::uint64_t>(std::count(text_.begin() + counted_, text_.begin() + position, '\n'));
    counted_ = position;
  }

  // `ahead`: bytes that the lexer has taken beyond the token (one after a number).
  JsonNode* add(JsonKind kind, std::size_t ahead) {
    advance_line(taken_ > ahead ? taken_ - ahead : 0);
    if (++nodes_ > rules_.max_nodes)
      fail(fmt::format("more than {} values", rules_.max_nodes), "the document is too large");
    JsonNode* node = &root_;
    if (!stack_.empty()) {
      node = &stack_.back()->children.emplace_back();
      if (stack_.back()->kind == JsonKind::object) node->name = std::move(key_);
    }
    node->kind = kind;
    node->line = line_;
    return node;
  }
  JsonNode* scalar(JsonKind kind, std::size_t ahead) { return add(kind, ahead); }

  bool open(JsonKind kind) {
    JsonNode* node = add(kind, 0);
    if (stack_.size() >= rules_.max_depth)
      fail(fmt::format("nested more than {} deep", rules_.max_depth), "flatten the document");
    stack_.push_back(node);
    keys_.emplace_back();
    return true;
  }
  bool close() {
    stack_.pop_back();
    keys_.pop_back();
    return true;
  }

  std::string_view text_;
  const JsonRules& rules_;
  JsonNode root_;
  std::vector<JsonNode*> stack_;  // only the innermost one grows, so the pointers stay good
  std::vector<std::unordered_set<std::string>> keys_;
  std::string key_;
  std::size_t taken_ = 0, counted_ = 0, nodes_ = 0;
  std::uint64_t line_ = 1;
};

}  // namespace

const char* json_kind_name(JsonKind kind) {
  switch (kind) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
      return "a boolean";
    case JsonKind::integer:
    case JsonKind::large:
      return "a whole number";
    case JsonKind::number:
      return "a number";
    case JsonKind::text:
      return "a text";
    case JsonKind::array:
      return "a list";
    case JsonKind::object:
      return "an object";
  }
  return "a value";
}

const JsonNode* JsonNode::find(std::string_view key) const {
  for (const JsonNode& child : children) {
    if (child.name == key) return &child;
  }
  return nullptr;
}

std::string JsonNode::shown() const {
  std::string out;
  switch (kind) {
    case JsonKind::boolean:
      return boolean ? "true" : "false";
    case JsonKind::integer:
      return fmt::format("{}", integer);
    case JsonKind::large:
      return fmt::format("{}", large);
    case JsonKind::number:
      out = text;
      break;
    case JsonKind::text:
      out = '"' + text + '"';
      break;
    default:
      return json_kind_name(kind);
  }
  if (out.size() > 60) {
    std::size_t cut = 57;
    while (cut > 0 && (static_cast<unsigned char>(out[cut]) & 0xC0) == 0x80) --cut;  // not inside a UTF-8 character
    out = out.substr(0, cut) + "...";
  }
  return out;
}

JsonNode parse_strict_json(std::string_view text, const JsonRules& rules) {
  return TreeBuilder(text, rules).build();
}

std::string read_text_file(const std::string& path, std::uint64_t max_bytes, ErrorKind error_kind) {
  const auto refuse = [&](const std::string& message, const std::string& hint) {
    throw Error(message, {path, {}, {}, {}, hint}, error_kind);
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) refuse(fmt::format("cannot be opened: {}", std::strerror(errno)), "check the path and its permissions");
  struct Closer {
    int file;
    ~Closer() { ::close(file); }
  } closer{file};
  struct stat info {};
  if (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) refuse("not a regular file", "name a file");
  std::string text;
  char block[65536];
  for (;;) {
    const ssize_t got = ::read(file, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(fmt::format("cannot be read: {}", std::strerror(errno)), "check the disk");
    if (got == 0) return text;
    text.append(block, static_cast<std::size_t>(got));
    if (text.size() > max_bytes)
      refuse(fmt::format("larger than {} bytes, the most allowed here", max_bytes), "is this the right file?");
  }
}

}  // namespace foxhunt
