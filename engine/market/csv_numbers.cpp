// Number style inference; see csv_numbers.h.
#include "engine/market/csv_numbers.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"

namespace foxhunt::market {

void NumberEvidence::add(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (const std::size_t exponent = text.find_first_of("eE"); exponent != std::string_view::npos)
    text = text.substr(0, exponent);
  if (text.empty() || text.find_first_not_of("0123456789.,' ") != std::string_view::npos) return;
  const std::size_t spaced = text.find_first_of("' ");
  if (spaced != std::string_view::npos) other_thousands_ = text[spaced];
  const std::size_t last = text.find_last_of(".,");
  if (last == std::string_view::npos) {
    long_plain_ = long_plain_ || (spaced == std::string_view::npos && text.size() > 3);
    return;
  }
  const std::size_t after = text.size() - last - 1;
  Mark& mark = text[last] == '.' ? point_ : comma_;
  Mark& other = text[last] == '.' ? comma_ : point_;
  ++mark.used;
  if (mark.example.empty()) mark.example = text;
  if (std::count(text.begin(), text.end(), text[last]) > 1) {
    mark.thousands = true;
    return;
  }
  const std::size_t first = text.find_first_of(".,");
  if (first != last) {  // both: the last one is the decimal sign
    ++other.used;
    other.thousands = true;
    mark.decimal = true;
  }
  const std::size_t before = first == last ? last : 0;
  mark.decimal = mark.decimal || after != 3 || before > 3 || (before > 0 && text.front() == '0') || before == 0;
}

// One sign stated settles the other: the mark that is left groups, or where grouping is by a mark, the other is
// decimal.
NumberStyle NumberEvidence::with(const Stated& stated) const {
  NumberStyle style;
  if (stated.decimal) {
    style.decimal = *stated.decimal;
    const Mark& other = style.decimal == '.' ? comma_ : point_;
    style.thousands = other.used > 0 ? (style.decimal == '.' ? ',' : '.') : other_thousands_;
  } else if (*stated.thousands == ',' || *stated.thousands == '.') {
    style.decimal = *stated.thousands == ',' ? '.' : ',';
  } else {
    style.decimal = comma_.used > 0 && point_.used == 0 ? ',' : '.';
  }
  if (stated.thousands) style.thousands = *stated.thousands;
  return style;
}

NumberStyle NumberEvidence::style(const std::string& file, const Stated& stated) const {
  if (stated.decimal || stated.thousands) return with(stated);
  NumberStyle style;
  style.thousands = other_thousands_;
  const auto refuse = [&](const std::string& message) {
    throw usage_error(
        message,
        ErrorPlace{.file = file, .field = "data.decimal_sign", .hint = "set data.decimal_sign or data.thousands_sign"});
  };
  if ((point_.decimal && comma_.decimal) || (point_.decimal && point_.thousands) ||
      (comma_.decimal && comma_.thousands)) {
    refuse(fmt::format("numbers are written in two ways: '{}' and '{}'", point_.example, comma_.example));
  }
  if (comma_.used == 0) {
    if (point_.thousands) {
      style.decimal = ',';
      style.thousands = '.';
    }
    return style;  // "86.655" throughout: a point is a decimal sign unless it groups several times
  }
  if (comma_.thousands || (point_.decimal && !comma_.decimal)) {
    style.thousands = ',';
    return style;
  }
  if (comma_.decimal || point_.thousands || long_plain_) {
    style.decimal = ',';
    if (point_.used > 0) style.thousands = '.';
    return style;
  }
  refuse(
      fmt::format("'{}' can be a decimal comma or grouped thousands, and no number in the file tells", comma_.example));
  return style;
}

}  // namespace foxhunt::market
