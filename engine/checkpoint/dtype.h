// Element types of safetensors files and their values as double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace foxhunt {

// In the format's own order of increasing alignment.
enum class DType {
  boolean,
  f4,
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,
  f64,
  i64,
  u64
};

const char* dtype_name(DType dtype);  // "F32"
std::optional<DType> dtype_of(std::string_view name);
std::uint32_t dtype_bits(DType dtype);  // of one element; 4 and 6 for the packed ones
const char* dtype_names();              // all, for sentences
inline std::uint32_t dtype_parts(DType dtype) {
  return dtype == DType::c64 ? 2 : 1;
}  // real and imaginary part

// Decodes `count` elements from the beginning of `bytes` (little-endian) into out[count * dtype_parts]. Packed types
// fill bytes from the low bits up. 64-bit integers beyond 2^53 round to the nearest double.
void decode_elements(DType dtype, const std::byte* bytes, std::uint64_t count, double* out);

}  // namespace foxhunt
