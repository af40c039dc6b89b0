// One piece of device work (a kernel, a product, a copy, a fill): immutable once recorded, shared by streams and
// graphs.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/device/device.h"
#include "engine/device/host/host_product.h"
#include "kernels/host_table.h"

namespace foxhunt::device::host {

class ThreadPool;

struct KernelWork {
  const kernels::HostEntry* entry = nullptr;
  ModuleSet set = ModuleSet::eager;
  std::uint32_t grid_x = 1, grid_y = 1;
  std::vector<std::max_align_t> args;  // copied when recorded: a scalar baked into a graph stays baked
};
struct ProductWork {
  std::shared_ptr<const ProductPlan> plan;
  ProductOperands operands;
};
struct CopyWork {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t bytes = 0;
};
struct FillWork {
  std::byte* to = nullptr;
  int byte = 0;
  std::size_t bytes = 0;
};

using Work = std::variant<KernelWork, ProductWork, CopyWork, FillWork>;

// Errors of the three: Error naming the kernel or the call, the value and the allowed range.
KernelWork make_kernel(ModuleSet set, kernels::KernelId kernel, const Launch& launch, const void* args,
                       std::size_t bytes);
CopyWork make_copy(const char* call, void* to, const void* from, std::size_t bytes, const MemoryTable& memory,
                   bool from_mapped);
FillWork make_fill(void* to, int byte, std::size_t bytes, const MemoryTable& memory);

// Independent parts: blocks of a kernel, pieces of a product, stretches of a copy.
std::int64_t work_parts(const Work& work);
// Parts [first, last), one after the other.
void run_parts(const Work& work, std::int64_t first, std::int64_t last, std::byte* scratch);

// A range of parts that one thread runs.
struct WorkItem {
  const Work* work = nullptr;
  std::int64_t first = 0, last = 0;
};
// Cuts `work` for `threads` threads. What is computed does not depend on the cut.
void append_items(const Work& work, int threads, std::vector<WorkItem>& items);
// A body for ThreadPool::run; context: the first WorkItem of the loop.
void run_item(const void* context, int item, std::byte* scratch);

// Runs it all, over the pool where it has more than one part.
void run_work(const Work& work, ThreadPool& pool, std::byte* scratch);

}  // namespace foxhunt::device::host
