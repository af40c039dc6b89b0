// Decimal numbers of text files, exact and independent of the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/market/records.h"

namespace foxhunt::market {

// How a file writes numbers. `thousands` 0: digits are not grouped.
struct NumberStyle {
  char decimal = '.';
  char thousands = 0;  // , . ' or space
};

// mantissa x 10^exponent
struct Decimal {
  std::int64_t mantissa = 0;
  int exponent = 0;
};

// [+-]digits[decimal digits][e[+-]digits], with spaces around. Nothing for anything else, for a mantissa of more than
// 63 bits, and for a group of other than three digits.
std::optional<Decimal> parse_decimal(std::string_view text, NumberStyle style = {});

// The number as a multiple of 10^-9. `rounded` is set when it had more decimals (half to even). Nothing when 64 bits do
// not hold it; the largest 64-bit value stands for an undefined price and is not made either.
std::optional<Price> to_price(Decimal number, Decimal scale, bool& rounded);

// Correctly rounded.
double to_double(Decimal number);

// The shortest decimal that is this double: a scale of 0.0001 becomes 1 x 10^-4. Finite and positive only.
std::optional<Decimal> exact_scale(double scale);

}  // namespace foxhunt::market
