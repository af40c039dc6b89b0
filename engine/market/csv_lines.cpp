// Line and field splitting; see csv_lines.h.
#include "engine/market/csv_lines.h"

#include <fmt/format.h>

#include <cstring>

namespace foxhunt::market {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

LineReader::LineReader(ByteStream& stream) : stream_(stream) {
  const auto ahead = stream_.peek(3);
  if (ahead.size() >= 3 && ahead[0] == 0xEF && ahead[1] == 0xBB && ahead[2] == 0xBF) stream_.skip(3);
}

bool LineReader::next() {
  stream_.skip(bytes_);
  bytes_ = 0;
  const auto ahead = stream_.peek(kLongestLine);
  if (ahead.empty()) return false;
  ++line_;
  position_ = stream_.position();
  const auto fail = [this](const char* what) {
    ErrorPlace place = stream_.place(position_, {}, "give a text file with one record a line");
    place.line = line_;
    throw Error(what, place);
  };
  const std::size_t longest = std::min(ahead.size(), kLongestLine);
  const auto* end = static_cast<const std::uint8_t*>(std::memchr(ahead.data(), '\n', longest));
  if (end == nullptr && ahead.size() >= kLongestLine) fail("a line is longer than 65,536 bytes");
  terminated_ = end != nullptr;
  std::size_t length = end != nullptr ? static_cast<std::size_t>(end - ahead.data()) : ahead.size();
  bytes_ = length + (terminated_ ? 1 : 0);
  if (std::memchr(ahead.data(), 0, length) != nullptr) fail("the line holds a zero byte: this is not text");
  if (length > 0 && ahead[length - 1] == '\r') --length;
  text_ = {reinterpret_cast<const char*>(ahead.data()), length};
  return true;
}

bool split_fields(std::string_view line, char delimiter, std::vector<std::string_view>& fields) {
  fields.clear();
  std::size_t at = 0;
  while (true) {
    std::size_t start = at;
    while (start < line.size() && line[start] == ' ') ++start;
    if (start < line.size() && line[start] == '"') {
      std::size_t end = start + 1;
      while (end < line.size() && (line[end] != '"' || (end + 1 < line.size() && line[end + 1] == '"'))) {
        end += line[end] == '"' ? 2 : 1;
      }
      if (end >= line.size()) return false;
      fields.push_back(trimmed(line.substr(start + 1, end - start - 1)));
      at = line.find(delimiter, end + 1);
    } else {
      at = line.find(delimiter, start);
      const std::size_t end = at == std::string_view::npos ? line.size() : at;
      fields.push_back(trimmed(line.substr(start, end - start)));
    }
    if (at == std::string_view::npos) return true;
    ++at;
  }
}

}  // namespace foxhunt::market
