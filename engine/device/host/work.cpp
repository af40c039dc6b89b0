// Recording and execution of kernels, products, copies and fills on the host.
#include "engine/device/host/work.h"

#include <algorithm>
#include <cstring>

#include "engine/base/error.h"
#include "engine/device/host/thread_pool.h"

namespace foxhunt::device::host {
namespace {

constexpr std::size_t kStretch = std::size_t{1} << 20;  // bytes of a copy or fill that one thread does
constexpr int kItemsPerThread = 4;                      // evens out blocks of unequal length
constexpr std::uint32_t kMostThreads = 1024;            // CUDA's limits, checked here too
constexpr std::uint32_t kMostGridX = 0x7fffffffu;
constexpr std::uint32_t kMostGridY = 65535;

void check_launch(const char* name, const Launch& launch) {
  if (launch.grid_x == 0 || launch.grid_y == 0 || launch.grid_x > kMostGridX || launch.grid_y > kMostGridY)
    throw Error(fmt::format("launch of kernel {}: the grid is {} x {}; allowed: 1 to {} x 1 to {}", name, launch.grid_x,
                            launch.grid_y, kMostGridX, kMostGridY));
  if (launch.threads == 0 || launch.threads > kMostThreads)
    throw Error(
        fmt::format("launch of kernel {}: {} threads a block; allowed: 1 to {}", name, launch.threads, kMostThreads));
  const std::uint32_t scratch = std::max(launch.team_scratch, launch.block_scratch);
  if (scratch > Scratch::kBytes)
    throw Error(
        fmt::format("launch of kernel {}: {} bytes of scratch; allowed: up to {}", name, scratch, Scratch::kBytes));
}

void run_blocks(const KernelWork& kernel, std::int64_t first, std::int64_t last, std::byte* scratch) {
  for (std::int64_t i = first; i < last; ++i) {
    kernels::Block block{};
    block.x = static_cast<std::uint32_t>(i % kernel.grid_x);
    block.y = static_cast<std::uint32_t>(i / kernel.grid_x);
    block.memory = scratch;
    kernel.entry->function(block, kernel.args.data());
  }
}

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

std::int64_t stretches(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + kStretch - 1) / kStretch);
}

}  // namespace

KernelWork make_kernel(ModuleSet set, kernels::KernelId kernel, const Launch& launch, const void* args,
                       std::size_t bytes) {
  const int index = static_cast<int>(kernel);
  if (index < 0 || index >= kernels::kKernelCount)
    throw Error(fmt::format("launch: kernel number {}; allowed: 0 to {}", index, kernels::kKernelCount - 1));
  const kernels::HostEntry& entry = kernels::host_table()[index];
  FH_CHECK(entry.function != nullptr, "kernel number {} was built for no instruction set", index);
  check_launch(entry.name, launch);
  if (!args || bytes != entry.argument_bytes)
    throw Error(fmt::format("launch of kernel {}: {} bytes of arguments; it takes {}", entry.name, args ? bytes : 0,
                            entry.argument_bytes));
  KernelWork work{&entry, set, launch.grid_x, launch.grid_y, {}};
  work.args.resize((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  std::memcpy(work.args.data(), args, bytes);
  return work;
}

CopyWork make_copy(const char* call, void* to, const void* from, std::size_t bytes, const MemoryTable& memory,
                   bool from_mapped) {
  if (bytes == 0) throw Error(fmt::format("{}: 0 bytes; at least 1 is copied", call));
  memory.check(call, "the destination", to, bytes);
  memory.check(call, "the source", from, bytes, from_mapped);
  const auto a = reinterpret_cast<std::uintptr_t>(to), b = reinterpret_cast<std::uintptr_t>(from);
  if (a < b + bytes && b < a + bytes)
    throw Error(fmt::format("{}: source and destination of {} bytes overlap", call, bytes));
  return {static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes};
}

FillWork make_fill(void* to, int byte, std::size_t bytes, const MemoryTable& memory) {
  if (bytes == 0) throw Error("fill: 0 bytes; at least 1 is filled");
  if (byte < 0 || byte > 255) throw Error(fmt::format("fill: byte value {}; allowed: 0 to 255", byte));
  memory.check("fill", "the destination", to, bytes);
  return {static_cast<std::byte*>(to), byte, bytes};
}

std::int64_t work_parts(const Work& work) {
  return std::visit(Overloaded{[](const KernelWork& w) { return static_cast<std::int64_t>(w.grid_x) * w.grid_y; },
                               [](const ProductWork& w) { return static_cast<std::int64_t>(w.plan->pieces.size()); },
                               [](const CopyWork& w) { return stretches(w.bytes); },
                               [](const FillWork& w) { return stretches(w.bytes); }},
                    work);
}

void run_parts(const Work& work, std::int64_t first, std::int64_t last, std::byte* scratch) {
  const auto range = [&](std::size_t bytes) {
    const std::size_t begin = static_cast<std::size_t>(first) * kStretch;
    return std::pair(begin, std::min(static_cast<std::size_t>(last) * kStretch, bytes) - begin);
  };
  std::visit(Overloaded{[&](const KernelWork& w) { run_blocks(w, first, last, scratch); },
                        [&](const ProductWork& w) {
                          for (std::int64_t i = first; i < last; ++i)
                            run_piece(*w.plan, w.operands, static_cast<int>(i));
                        },
                        [&](const CopyWork& w) {
                          const auto [begin, bytes] = range(w.bytes);
                          std::memcpy(w.to + begin, w.from + begin, bytes);
                        },
                        [&](const FillWork& w) {
                          const auto [begin, bytes] = range(w.bytes);
                          std::memset(w.to + begin, w.byte, bytes);
                        }},
             work);
}

void append_items(const Work& work, int threads, std::vector<WorkItem>& items) {
  const std::int64_t parts = work_parts(work);
  const bool product = std::holds_alternative<ProductWork>(work);  // its pieces are large: each its own item
  const std::int64_t cuts =
      threads == 1 ? 1 : (product ? parts : std::min<std::int64_t>(parts, std::int64_t{threads} * kItemsPerThread));
  for (std::int64_t i = 0; i < cuts; ++i) items.push_back({&work, parts * i / cuts, parts * (i + 1) / cuts});
}

void run_item(const void* context, int item, std::byte* scratch) {
  const WorkItem& it = static_cast<const WorkItem*>(context)[item];
  run_parts(*it.work, it.first, it.last, scratch);
}

void run_work(const Work& work, ThreadPool& pool, std::byte* scratch) {
  const std::int64_t parts = work_parts(work);
  if (parts == 1 || pool.threads() == 1) return run_parts(work, 0, parts, scratch);
  struct Cut {
    const Work* work;
    std::int64_t parts, cuts;
  };
  const Cut cut{&work, parts, std::min<std::int64_t>(parts, std::int64_t{pool.threads()} * kItemsPerThread)};
  pool.run(
      static_cast<int>(cut.cuts),
      [](const void* context, int item, std::byte* memory) {
        const Cut& c = *static_cast<const Cut*>(context);
        run_parts(*c.work, c.parts * item / c.cuts, c.parts * (item + 1) / c.cuts, memory);
      },
      &cut, scratch);
}

}  // namespace foxhunt::device::host
