// Compiled once a family and instruction set (FH_FAMILY, FH_FAMILY_<family> = 1, FH_HEADER, FH_ISA from the build):
// puts this family's kernels into a table of its own. Kernels are static functions, so no instruction set's code can be
// merged into another's.
#include FH_HEADER
#include "kernels/host_table.h"

#define FH_NAME2(family, isa) emit_##family##_##isa
#define FH_NAME(family, isa) FH_NAME2(family, isa)
#define FH_TEXT2(x) #x
#define FH_TEXT(x) FH_TEXT2(x)

#define FH_EMIT_0(function, Args)
#define FH_EMIT_1(function, Args)                  \
  table[static_cast<int>(KernelId::function)] = {  \
      FH_TEXT(FH_FAMILY), #function, sizeof(Args), \
      [](const Block& block, const void* args) { function(block, *static_cast<const Args*>(args)); }};

namespace foxhunt::kernels {

// Fills the entries of this family; leaves the others.
void FH_NAME(FH_FAMILY, FH_ISA)(HostEntry* table) {
#define FH_KERNEL(family, function, Args) FH_JOIN(FH_EMIT_, FH_ON(FH_FAMILY_##family))(function, Args)
#include "kernels/kernels.def"
#undef FH_KERNEL
}

}  // namespace foxhunt::kernels
