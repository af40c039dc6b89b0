// Every family of kernels, and which kernel takes which argument struct: what the engine launches through.
#pragma once

#include <type_traits>

#include "kernels/backward.h"
#include "kernels/basic.h"
#include "kernels/collector.h"
#include "kernels/distribution.h"
#include "kernels/environment.h"
#include "kernels/evaluation.h"
#include "kernels/kernel_ids.h"
#include "kernels/losses.h"
#include "kernels/network.h"
#include "kernels/optimiser.h"
#include "kernels/product_epilogue.h"
#include "kernels/sampling.h"
#include "kernels/schedule.h"
#include "kernels/spectral.h"
#include "kernels/telemetry.h"

namespace foxhunt::kernels {

template <class Args>
struct KernelTraits;  // id and name of the kernel that takes Args

#define FH_KERNEL(family, function, Args)              \
  template <>                                          \
  struct KernelTraits<Args> {                          \
    static constexpr KernelId id = KernelId::function; \
    static constexpr const char* name = #function;     \
  };                                                   \
  static_assert(std::is_trivially_copyable_v<Args> && sizeof(Args) <= kMaxArgumentBytes, #Args);
#include "kernels/kernels.def"
#undef FH_KERNEL

}  // namespace foxhunt::kernels
