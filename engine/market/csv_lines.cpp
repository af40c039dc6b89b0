// Line and field splitting; see csv_lines.h.
#include "engine/market/csv_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace foxhunt::market {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '$' && text[1] >= '0' && text[1] <= '9')
    text.remove_prefix(1);  // a price's currency
  return text;
}

struct Sign {
  std::string_view written;
  char plain;  // 0: none
};
// No-break, narrow, thin and figure spaces, the apostrophe that groups, the minus sign, euro and pound, a byte order
// mark inside.
constexpr Sign kSigns[] = {{"\xC2\xA0", ' '},     {"\xE2\x80\xAF", ' '},  {"\xE2\x80\x89", ' '},
                           {"\xE2\x80\x87", ' '}, {"\xE2\x80\x99", '\''}, {"\xE2\x88\x92", '-'},
                           {"\xE2\x82\xAC", 0},   {"\xC2\xA3", 0},        {"\xEF\xBB\xBF", 0}};

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string with_plain_signs(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Sign* sign = std::find_if(std::begin(kSigns), std::end(kSigns),
                                    [&](const Sign& s) { return text.substr(i).starts_with(s.written); });
    if (sign != std::end(kSigns)) {
      if (sign->plain != 0) out += sign->plain;
      i += sign->written.size();
      continue;
    }
    // A no-break space of an 8-bit code page: never after a byte of a longer UTF-8 character.
    const bool alone = i == 0 || static_cast<unsigned char>(text[i - 1]) < 0x80;
    out += alone && text[i] == '\xA0' ? ' ' : text[i];
    ++i;
  }
  return out;
}

}  // namespace

LineReader::LineReader(ByteStream& stream) : stream_(stream) {
  const auto ahead = stream_.peek(kLongestLine);
  const auto has = [&ahead](char c) { return std::memchr(ahead.data(), c, ahead.size()) != nullptr; };
  if (!ahead.empty() && !has('\n') && has('\r')) line_end_ = '\r';
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
  const auto* end = static_cast<const std::uint8_t*>(std::memchr(ahead.data(), line_end_, longest));
  if (end == nullptr && ahead.size() >= kLongestLine) fail("a line is longer than 65,536 bytes");
  terminated_ = end != nullptr;
  std::size_t length = end != nullptr ? static_cast<std::size_t>(end - ahead.data()) : ahead.size();
  bytes_ = length + (terminated_ ? 1 : 0);
  if (std::memchr(ahead.data(), 0, length) != nullptr) fail("the line holds a zero byte: this is not text");
  if (length > 0 && ahead[length - 1] == '\r') --length;
  text_ = {reinterpret_cast<const char*>(ahead.data()), length};
  if (!is_ascii(text_)) text_ = plain_ = with_plain_signs(text_);
  return true;
}

bool split_fields(std::string_view line, char delimiter, std::vector<std::string_view>& fields) {
  fields.clear();
  if (delimiter == ' ') line = trimmed(line);
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
    while (delimiter == ' ' && at < line.size() && line[at] == ' ') ++at;
  }
}

}  // namespace foxhunt::market
