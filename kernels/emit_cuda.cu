// Compiled once a family (FH_FAMILY_<family> = 1 and FH_HEADER from the build) to a fatbin: one entry point a kernel of this family,
// <kernel>_entry, which takes the argument struct as its only parameter.
#include FH_HEADER
#include "kernels/kernel_ids.h"

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
