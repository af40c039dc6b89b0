// Loading the fatbins and launching their kernels.
#include "engine/device/cuda/modules.h"

#include <cstring>

#include "engine/device/cuda/fatbins.h"
#include "kernels/families.h"

namespace foxhunt::device::cuda {
namespace {

struct Listed {
  const char* family;
  const char* name;
  std::size_t argument_bytes;
};

constexpr Listed kListed[] = {
#define FH_KERNEL(family, function, Args) {#family, #function, sizeof(kernels::Args)},
#include "kernels/kernels.def"
#undef FH_KERNEL
};

constexpr std::uint32_t kMaxGridX = 0x7fffffffu, kMaxGridY = 65535u;

}  // namespace

Modules::Modules(std::shared_ptr<Context> context) : context_(std::move(context)) {
  for (std::size_t set = 0; set < kSets; ++set) load(set);
}

Modules::~Modules() {
  if (!context_->enter_quietly()) return;
  for (CUmodule module : modules_) FH_CU_QUIET(*context_, cuModuleUnload, module);
}

void Modules::load(std::size_t set) {
  for (const Fatbin& fatbin : fatbins()) {
    CUmodule module = nullptr;
    FH_CU(*context_, cuModuleLoadData, &module, fatbin.begin);
    modules_.push_back(module);
    for (std::size_t i = 0; i < std::size(kListed); ++i) {
      if (std::strcmp(kListed[i].family, fatbin.family) != 0) continue;
      kernels_[set][i] = load_kernel(module, kListed[i].name, kListed[i].argument_bytes);
    }
  }
  for (std::size_t i = 0; i < std::size(kListed); ++i) {
    FH_CHECK(kernels_[set][i].function, "no fatbin of family {} holds kernel {}", kListed[i].family, kListed[i].name);
  }
}

Kernel Modules::load_kernel(CUmodule module, const char* name, std::size_t argument_bytes) const {
  Kernel kernel;
  kernel.name = name;
  kernel.argument_bytes = argument_bytes;
  const std::string entry = std::string(name) + "_entry";
  FH_CU(*context_, cuModuleGetFunction, &kernel.function, module, entry.c_str());
  FH_CU(*context_, cuFuncLoad, kernel.function);  // whatever CUDA_MODULE_LOADING says
  FH_CU(*context_, cuFuncGetAttribute, &kernel.max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel.function);
  int fixed = 0;
  FH_CU(*context_, cuFuncGetAttribute, &fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel.function);
  kernel.max_dynamic_shared = context_->max_shared - fixed;
  FH_CU(*context_, cuFuncSetAttribute, kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        kernel.max_dynamic_shared);
  return kernel;
}

const Kernel& Modules::kernel(ModuleSet set, kernels::KernelId id) const {
  const auto index = static_cast<std::size_t>(id);
  FH_CHECK(index < kernels_[0].size() && static_cast<std::size_t>(set) < kSets, "kernel {} of module set {}", index,
           static_cast<int>(set));
  return kernels_[static_cast<std::size_t>(set)][index];
}

void Modules::launch(CUstream stream, ModuleSet set, kernels::KernelId id, const Launch& launch, const void* args,
                     std::size_t bytes) const {
  const Kernel& entry = kernel(set, id);
  const auto refuse = [&](const std::string& what) {
    throw Error(fmt::format("launch of {} on {}: {}", entry.name, context_->info.name, what));
  };
  if (bytes != entry.argument_bytes) {
    refuse(fmt::format("{} bytes of arguments, the kernel takes {}", bytes, entry.argument_bytes));
  }
  if (launch.grid_x < 1 || launch.grid_x > kMaxGridX || launch.grid_y < 1 || launch.grid_y > kMaxGridY) {
    refuse(fmt::format("a grid of {} x {}; allowed are 1 to {} x 1 to {}", launch.grid_x, launch.grid_y, kMaxGridX,
                       kMaxGridY));
  }
  if (launch.threads < 1 || launch.threads > static_cast<std::uint32_t>(entry.max_threads)) {
    refuse(fmt::format("{} threads a block; allowed are 1 to {}", launch.threads, entry.max_threads));
  }
  // As Block::team() has it: the lanes of a warp where the block is made of whole warps, else single threads.
  const auto warp = static_cast<std::uint32_t>(context_->warp);
  const std::uint64_t teams = launch.threads % warp == 0 ? launch.threads / warp : launch.threads;
  const std::uint64_t shared = launch.block_scratch ? launch.block_scratch : launch.team_scratch * teams;
  if (shared > static_cast<std::uint64_t>(entry.max_dynamic_shared)) {
    refuse(fmt::format("{} bytes of scratch a block; at most {} are there", shared, entry.max_dynamic_shared));
  }
  void* parameters[] = {const_cast<void*>(args)};  // the driver copies the struct before it returns
  FH_CU(*context_, cuLaunchKernel, entry.function, launch.grid_x, launch.grid_y, 1, launch.threads, 1, 1,
        static_cast<unsigned>(shared), stream, parameters, nullptr);
}

}  // namespace foxhunt::device::cuda
