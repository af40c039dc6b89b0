// The enumeration of all kernels, without their headers: a family is compiled knowing only itself.
#pragma once

#include <cstddef>
#include <cstdint>

namespace foxhunt::kernels {

enum class KernelId : std::uint16_t {
#define FH_KERNEL(family, function, Args) function,
#include "kernels/kernels.def"
#undef FH_KERNEL
  count
};

inline constexpr int kKernelCount = static_cast<int>(KernelId::count);
inline constexpr std::size_t kMaxArgumentBytes = 4096;  // what every CUDA device accepts

}  // namespace foxhunt::kernels

// 1 where the build defined `flag` as 1, else 0, at preprocessing time: FH_FAMILY_<family> says which family a unit
// emits.
#define FH_SECOND(ignored, value, ...) value
#define FH_PLACE_1 0,
#define FH_ON3(place) FH_SECOND(place 1, 0, 0)
#define FH_ON2(value) FH_ON3(FH_PLACE_##value)
#define FH_ON(flag) FH_ON2(flag)
#define FH_JOIN2(a, b) a##b
#define FH_JOIN(a, b) FH_JOIN2(a, b)
