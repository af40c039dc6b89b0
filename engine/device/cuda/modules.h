// The kernels' modules: one a family and module set, all loaded at construction, so that nothing is loaded while a
// capture is open.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "engine/device/cuda/context.h"

namespace foxhunt::device::cuda {

struct Kernel {
  CUfunction function = nullptr;
  const char* name = "";
  std::size_t argument_bytes = 0;
  int max_threads = 0;         // a block, given the registers that the kernel takes
  int max_dynamic_shared = 0;  // bytes
};

class Modules {
 public:
  explicit Modules(std::shared_ptr<Context> context);
  ~Modules();
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  const Kernel& kernel(ModuleSet set, kernels::KernelId id) const;
  // Validates, then launches. Errors: Error naming kernel, value and range.
  void launch(CUstream stream, ModuleSet set, kernels::KernelId id, const Launch& launch, const void* args,
              std::size_t bytes) const;

 private:
  static constexpr std::size_t kSets = 3;

  void load(std::size_t set);
  Kernel load_kernel(CUmodule module, const char* name, std::size_t argument_bytes) const;

  std::shared_ptr<Context> context_;
  std::vector<CUmodule> modules_;
  std::array<std::array<Kernel, kernels::kKernelCount>, kSets> kernels_;
};

}  // namespace foxhunt::device::cuda
