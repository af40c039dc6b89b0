// Exact decimals; see decimal.h.
#include "engine/market/decimal.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace foxhunt::market {
namespace {

__extension__ typedef __int128 Wide;  // products of two 64-bit mantissas

constexpr int kPriceDecimals = 9;  // of Price

bool digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Takes "[+-]digits" at the end of a number; false when it is something else.
bool take_exponent(std::string_view text, int& exponent) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  if (text.empty() || text.size() > 4) return false;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  exponent += value;
  return true;
}

}  // namespace

std::optional<Decimal> parse_decimal(std::string_view text, NumberStyle style) {
  text = trimmed(text);
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  std::int64_t mantissa = 0;
  int exponent = 0, digits = 0;
  int group = -1;  // digits since the last thousands separator; -1: none yet
  bool fraction = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (digit(c)) {
      ++digits;
      if (group >= 0 && !fraction) ++group;
      std::int64_t longer = 0;
      if (__builtin_mul_overflow(mantissa, 10, &longer) || __builtin_add_overflow(longer, c - '0', &longer)) {
        if (!fraction || c != '0') return std::nullopt;  // zeros at the end of a fraction add nothing
        continue;
      }
      mantissa = longer;
      if (fraction) --exponent;
    } else if (c == style.decimal && !fraction) {
      if (group >= 0 && group != 3) return std::nullopt;
      fraction = true;
    } else if (style.thousands != 0 && c == style.thousands && !fraction) {
      if (digits == 0 || (group < 0 ? digits > 3 : group != 3)) return std::nullopt;
      group = 0;
    } else {
      break;
    }
  }
  if (digits == 0 || (group >= 0 && !fraction && group != 3)) return std::nullopt;
  if (i < text.size()) {
    if ((text[i] != 'e' && text[i] != 'E') || !take_exponent(text.substr(i + 1), exponent)) return std::nullopt;
  }
  return Decimal{negative ? -mantissa : mantissa, exponent};
}

std::optional<Price> to_price(Decimal number, Decimal scale, bool& rounded) {
  Wide value = static_cast<Wide>(number.mantissa) * scale.mantissa;
  int exponent = number.exponent + scale.exponent + kPriceDecimals;
  if (value == 0) return 0;
  const Wide limit = std::numeric_limits<Price>::max();
  for (; exponent > 0; --exponent) {
    value *= 10;
    if (value >= limit || value <= -limit) return std::nullopt;
  }
  if (exponent < -38) {
    rounded = true;
    return 0;
  }
  bool dropped = false;
  int last = 0;        // the digit dropped last
  bool below = false;  // anything dropped under it
  for (; exponent < 0; ++exponent) {
    below = below || last != 0;
    last = static_cast<int>(value % 10);
    value /= 10;
    dropped = dropped || last != 0;
  }
  if (dropped) {
    rounded = true;
    const int magnitude = last < 0 ? -last : last;
    if (magnitude > 5 || (magnitude == 5 && (below || value % 2 != 0))) {
      value += number.mantissa < 0 ? -1 : 1;
    }
  }
  if (value >= limit || value <= -limit) return std::nullopt;
  return static_cast<Price>(value);
}

double to_double(Decimal number) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  // Both operands exact: one correctly rounded operation.
  if (number.mantissa <= kExact && number.mantissa >= -kExact && number.exponent >= -22 && number.exponent <= 22) {
    const auto mantissa = static_cast<double>(number.mantissa);
    return number.exponent < 0 ? mantissa / kPowers[-number.exponent] : mantissa * kPowers[number.exponent];
  }
  const std::string text = fmt::format("{}e{}", number.mantissa, number.exponent);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<Decimal> exact_scale(double scale) {
  if (!std::isfinite(scale) || scale <= 0) return std::nullopt;
  return parse_decimal(fmt::format("{}", scale));
}

}  // namespace foxhunt::market
