// The small floats are decoded from their fields; sources: IEEE 754 binary16, bfloat16, OCP 8-bit (E5M2, E4M3) and
// microscaling (E8M0, E2M3, E3M2, E2M1) formats.
#include "engine/checkpoint/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace foxhunt {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian and read in place");

struct DTypeRow {
  DType dtype;
  const char* name;
  std::uint32_t bits;
};

constexpr std::array<DTypeRow, 20> kRows = {
    {{DType::boolean, "BOOL", 8},    {DType::f4, "F4", 4},           {DType::f6_e2m3, "F6_E2M3", 6},
     {DType::f6_e3m2, "F6_E3M2", 6}, {DType::u8, "U8", 8},           {DType::i8, "I8", 8},
     {DType::f8_e5m2, "F8_E5M2", 8}, {DType::f8_e4m3, "F8_E4M3", 8}, {DType::f8_e8m0, "F8_E8M0", 8},
     {DType::i16, "I16", 16},        {DType::u16, "U16", 16},        {DType::f16, "F16", 16},
     {DType::bf16, "BF16", 16},      {DType::i32, "I32", 32},        {DType::u32, "U32", 32},
     {DType::f32, "F32", 32},        {DType::c64, "C64", 64},        {DType::f64, "F64", 64},
     {DType::i64, "I64", 64},        {DType::u64, "U64", 64}}};

enum class Specials {
  ieee,      // largest exponent: infinity and NaN
  nan_only,  // all ones but the sign: NaN, no infinity (E4M3)
  none,
};

// sign, `exponent_bits`, `mantissa_bits`, bias 2^(e-1) - 1, gradual underflow.
double small_float(unsigned bits, int exponent_bits, int mantissa_bits, Specials specials) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned mantissa = bits & ((1U << mantissa_bits) - 1);
  const int exponent = static_cast<int>((bits >> mantissa_bits) & ((1U << exponent_bits) - 1));
  const double sign = (bits >> (exponent_bits + mantissa_bits)) & 1U ? -1.0 : 1.0;
  const bool top = exponent == (1 << exponent_bits) - 1;
  if (top && specials == Specials::ieee)
    return mantissa ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  if (top && specials == Specials::nan_only && mantissa == (1U << mantissa_bits) - 1) return std::nan("");
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1U << mantissa_bits), exponent - bias - mantissa_bits);
}

unsigned packed(const std::byte* bytes, std::uint64_t element, unsigned bits) {
  unsigned value = 0;
  for (unsigned b = 0; b < bits; ++b) {
    const std::uint64_t at = element * bits + b;
    value |= ((std::to_integer<unsigned>(bytes[at / 8]) >> (at % 8)) & 1U) << b;
  }
  return value;
}

template <class T, class Convert>
void each(const std::byte* bytes, std::uint64_t count, double* out, Convert convert) {
  for (std::uint64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    out[i] = convert(value);
  }
}

template <class T>
void plain(const std::byte* bytes, std::uint64_t count, double* out) {
  each<T>(bytes, count, out, [](T value) { return static_cast<double>(value); });
}

}  // namespace

const char* dtype_name(DType dtype) {
  return kRows[static_cast<std::size_t>(dtype)].name;
}

std::uint32_t dtype_bits(DType dtype) {
  return kRows[static_cast<std::size_t>(dtype)].bits;
}

std::optional<DType> dtype_of(std::string_view name) {
  for (const DTypeRow& row : kRows) {
    if (name == row.name) return row.dtype;
  }
  return std::nullopt;
}

const char* dtype_names() {
  return "BOOL, F4, F6_E2M3, F6_E3M2, U8, I8, F8_E5M2, F8_E4M3, F8_E8M0, I16, U16, F16, BF16, I32, U32, F32, C64, F64, "
         "I64, U64";
}

void decode_elements(DType dtype, const std::byte* bytes, std::uint64_t count, double* out) {
  switch (dtype) {
    case DType::boolean:
      return each<std::uint8_t>(bytes, count, out, [](std::uint8_t x) { return x ? 1.0 : 0.0; });
    case DType::u8:
      return plain<std::uint8_t>(bytes, count, out);
    case DType::i8:
      return plain<std::int8_t>(bytes, count, out);
    case DType::i16:
      return plain<std::int16_t>(bytes, count, out);
    case DType::u16:
      return plain<std::uint16_t>(bytes, count, out);
    case DType::i32:
      return plain<std::int32_t>(bytes, count, out);
    case DType::u32:
      return plain<std::uint32_t>(bytes, count, out);
    case DType::i64:
      return plain<std::int64_t>(bytes, count, out);
    case DType::u64:
      return plain<std::uint64_t>(bytes, count, out);
    case DType::f32:
      return plain<float>(bytes, count, out);
    case DType::c64:
      return plain<float>(bytes, 2 * count, out);
    case DType::f64:
      return plain<double>(bytes, count, out);
    case DType::f16:
      return each<std::uint16_t>(bytes, count, out,
                                 [](std::uint16_t x) { return small_float(x, 5, 10, Specials::ieee); });
    case DType::bf16:
      return each<std::uint16_t>(bytes, count, out, [](std::uint16_t x) {
        return static_cast<double>(std::bit_cast<float>(std::uint32_t{x} << 16));
      });
    case DType::f8_e5m2:
      return each<std::uint8_t>(bytes, count, out, [](std::uint8_t x) { return small_float(x, 5, 2, Specials::ieee); });
    case DType::f8_e4m3:
      return each<std::uint8_t>(bytes, count, out,
                                [](std::uint8_t x) { return small_float(x, 4, 3, Specials::nan_only); });
    case DType::f8_e8m0:
      return each<std::uint8_t>(bytes, count, out,
                                [](std::uint8_t x) { return x == 255 ? std::nan("") : std::ldexp(1.0, x - 127); });
    case DType::f6_e2m3:
    case DType::f6_e3m2:
    case DType::f4:
      for (std::uint64_t i = 0; i < count; ++i) {
        out[i] = dtype == DType::f4        ? small_float(packed(bytes, i, 4), 2, 1, Specials::none)
                 : dtype == DType::f6_e2m3 ? small_float(packed(bytes, i, 6), 2, 3, Specials::none)
                                           : small_float(packed(bytes, i, 6), 3, 2, Specials::none);
      }
      return;
  }
}

}  // namespace foxhunt
