// Device and mapped memory. cuMemAlloc only: memory of stream-ordered pools may be refused by cuBLASLt on another
// stream.
#include "engine/device/cuda/memory.h"

#include <cstring>

namespace foxhunt::device::cuda {

Memory::~Memory() {
  if (entries_.empty()) return;
  std::size_t bytes = 0;
  for (const auto& [address, entry] : entries_) {
    bytes += entry.bytes;
    void* memory = reinterpret_cast<void*>(address);
    entry.mapped ? context_->free_mapped(memory) : context_->free_device(memory);
  }
  context_->log->warn("{}: {} allocations ({} bytes) were still held when the device was closed", context_->info.name,
                      entries_.size(), bytes);
}

void Memory::refuse(const char* call, std::size_t bytes, CUresult status) const {
  std::size_t free = 0, total = 0;
  FH_CU(*context_, cuMemGetInfo, &free, &total);  // says so where the context is dead
  // A size that no GPU has is an invalid value to some drivers.
  if (status != CUDA_ERROR_OUT_OF_MEMORY && status != CUDA_ERROR_INVALID_VALUE) context_->check(status, call);
  throw Error(fmt::format("{}: {} bytes asked for, {} of {} bytes are free on {}", call, bytes, free, total,
                          context_->info.name),
              {.hint = "a smaller replay capacity, batch or number of environments needs less"});
}

void* Memory::allocate(std::size_t bytes) {
  if (bytes == 0) throw Error("allocate: 0 bytes asked for; a device allocates at least 1");
  CUdeviceptr memory = 0;
  if (const CUresult status = context_->api.cuMemAlloc(&memory, bytes); status != CUDA_SUCCESS) {
    refuse("allocate", bytes, status);
  }
  try {
    FH_CU(*context_, cuMemsetD8Async, memory, 0, bytes, context_->setup);
    FH_CU(*context_, cuStreamSynchronize, context_->setup);
    entries_[memory] = {bytes, false};
  } catch (...) {
    context_->free_device(reinterpret_cast<void*>(memory));
    throw;
  }
  return reinterpret_cast<void*>(memory);
}

Mapped Memory::allocate_mapped(std::size_t bytes) {
  if (bytes == 0) throw Error("allocate_mapped: 0 bytes asked for; a device allocates at least 1");
  void* host = nullptr;
  const unsigned flags = CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE;
  if (const CUresult status = context_->api.cuMemHostAlloc(&host, bytes, flags); status != CUDA_SUCCESS) {
    refuse("allocate_mapped", bytes, status);
  }
  try {
    std::memset(host, 0, bytes);
    CUdeviceptr device = 0;
    FH_CU(*context_, cuMemHostGetDevicePointer, &device, host, 0);
    // One address space for both sides on every system that the driver supports; `check` relies on it.
    FH_CHECK(device == reinterpret_cast<CUdeviceptr>(host), "mapped memory at {} is seen by the GPU at {:#x}", host,
             device);
    entries_[device] = {bytes, true};
  } catch (...) {
    context_->free_mapped(host);
    throw;
  }
  return {host, host};
}

void Memory::forget(void* memory, bool mapped, bool* known) noexcept {
  const auto at = entries_.find(reinterpret_cast<std::uintptr_t>(memory));
  *known = at != entries_.end() && at->second.mapped == mapped;
  if (*known) {
    entries_.erase(at);
  } else {
    context_->log->error("{}: release of {}: not the address of {} allocation of this device", context_->info.name,
                         memory, mapped ? "a mapped" : "an");
  }
}

void Memory::release(void* memory) noexcept {
  if (!memory) return;
  bool known = false;
  forget(memory, false, &known);
  if (known) context_->free_device(memory);
}

void Memory::release_mapped(void* host) noexcept {
  if (!host) return;
  bool known = false;
  forget(host, true, &known);
  if (known) context_->free_mapped(host);
}

void Memory::check(const char* call, const std::string& what, const void* address, std::size_t bytes,
                   bool must_be_mapped) const {
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  auto at = entries_.upper_bound(first);
  if (at == entries_.begin() || first >= std::prev(at)->first + std::prev(at)->second.bytes) {
    throw Error(fmt::format("{}: {} ({}) is not memory of this device", call, what, address));
  }
  --at;
  const std::uintptr_t end = at->first + at->second.bytes;
  if (bytes > end - first) {
    throw Error(fmt::format("{}: {} needs {} bytes, but its allocation ends after {}", call, what, bytes, end - first));
  }
  if (must_be_mapped && !at->second.mapped) {
    throw Error(fmt::format("{}: {} must lie in mapped memory", call, what), {.hint = "use allocate_mapped"});
  }
}

}  // namespace foxhunt::device::cuda
