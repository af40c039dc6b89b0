// Lines of a text file and their fields, without copying.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/market/byte_stream.h"

namespace foxhunt::market {

inline constexpr std::size_t kLongestLine = std::size_t{1} << 16;  // bytes; ten levels in Databento's style take 900

// LF, CRLF, or CR alone (where the file's start has no LF); a UTF-8 byte order mark is skipped. Typographic spaces,
// apostrophes and minus signs become the plain ones. A line that is too long, or holds a zero byte, throws Error.
class LineReader {
 public:
  explicit LineReader(ByteStream& stream);

  // The next line; false at the end. Its text is valid until the next call.
  bool next();
  std::string_view text() const { return text_; }
  std::uint64_t line() const { return line_; }          // 1-based
  std::uint64_t position() const { return position_; }  // of its first byte, in the data
  std::uint64_t bytes() const { return bytes_; }        // with its line end
  bool terminated() const { return terminated_; }       // false only for a last line without line end

 private:
  ByteStream& stream_;
  std::string_view text_;
  std::string plain_;  // of a line with other than ASCII characters
  std::uint64_t line_ = 0, position_ = 0, bytes_ = 0;
  bool terminated_ = true;
  char line_end_ = '\n';
};

// Splits at `delimiter` outside double quotes; quotes around a field are taken off, spaces around it too. A delimiter
// of a space takes runs of them as one. False when a quote is left open. The views point into `line`.
bool split_fields(std::string_view line, char delimiter, std::vector<std::string_view>& fields);

}  // namespace foxhunt::market
