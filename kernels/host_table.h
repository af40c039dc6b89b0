// The host's table of kernels: one function pointer a kernel, from the best instruction set that this processor has.
#pragma once

#include "kernels/block.h"
#include "kernels/kernel_ids.h"

namespace foxhunt::kernels {

using HostKernel = void (*)(const Block&, const void* args);

struct HostEntry {
  const char* family;
  const char* name;
  std::size_t argument_bytes;
  HostKernel function;
};

// Indexed by KernelId. `isa` out: "x86-64", "x86-64-v3" or "x86-64-v4".
const HostEntry* host_table(const char** isa = nullptr);

}  // namespace foxhunt::kernels
