// Compiled once a family (FH_FAMILY_<family> = 1 from the build) to a fatbin: one entry point a kernel of this family,
// <kernel>_entry, which takes the argument struct as its only parameter.
#include "kernels/families.h"

// 1 where the build defined `flag` as 1, else 0, at preprocessing time: entry points cannot stand in `if constexpr`.
#define FH_SECOND(ignored, value, ...) value
#define FH_PLACE_1 0,
#define FH_ON3(place) FH_SECOND(place 1, 0, 0)
#define FH_ON2(value) FH_ON3(FH_PLACE_##value)
#define FH_ON(flag) FH_ON2(flag)

#define FH_JOIN2(a, b) a##b
#define FH_JOIN(a, b) FH_JOIN2(a, b)

#define FH_EMIT_0(function, Args)
#define FH_EMIT_1(function, Args)                                                          \
  extern "C" __global__ void function##_entry(const __grid_constant__ Args args) {         \
    function(Block{blockIdx.x, blockIdx.y}, args);                                         \
  }

namespace foxhunt::kernels {

#define FH_KERNEL(family, function, Args) FH_JOIN(FH_EMIT_, FH_ON(FH_FAMILY_##family))(function, Args)
#include "kernels/kernels.def"
#undef FH_KERNEL

}  // namespace foxhunt::kernels
