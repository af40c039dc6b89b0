// Compiled once a family and instruction set (FH_FAMILY, FH_ISA from the build): puts this family's kernels into a
// table of its own. Kernels are static functions, so no instruction set's code can be merged into another's.
#include "kernels/families.h"
#include "kernels/host_table.h"

#define FH_JOIN2(a, b) a##_##b
#define FH_JOIN(a, b) FH_JOIN2(a, b)
#define FH_TEXT2(x) #x
#define FH_TEXT(x) FH_TEXT2(x)

namespace foxhunt::kernels {
namespace {

constexpr bool same(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

}  // namespace

// Fills the entries of this family; leaves the others.
void FH_JOIN(FH_JOIN(emit, FH_FAMILY), FH_ISA)(HostEntry* table) {
#define FH_KERNEL(family, function, Args)           \
  if constexpr (same(#family, FH_TEXT(FH_FAMILY)))  \
    table[static_cast<int>(KernelId::function)] = { \
        #family, #function, sizeof(Args),           \
        [](const Block& block, const void* args) { function(block, *static_cast<const Args*>(args)); }};
#include "kernels/kernels.def"
#undef FH_KERNEL
}

}  // namespace foxhunt::kernels
