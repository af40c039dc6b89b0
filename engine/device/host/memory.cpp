// Allocation table of the host device.
#include "engine/device/host/memory.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "engine/base/error.h"
#include "engine/base/log.h"

namespace foxhunt::device::host {
namespace {

constexpr std::size_t kAlignment = 256;  // that of cuMemAlloc

}  // namespace

std::uint64_t total_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : 0;
}

std::uint64_t available_memory() {
  std::ifstream in("/proc/meminfo");
  for (std::string key; in >> key;) {
    std::uint64_t kilobytes = 0;
    if (key == "MemAvailable:" && in >> kilobytes) return kilobytes * 1024;
    in.ignore(1 << 10, '\n');
  }
  return total_memory();
}

MemoryTable::~MemoryTable() {
  if (entries_.empty()) return;
  std::size_t bytes = 0;
  for (const auto& [address, entry] : entries_) {
    bytes += entry.bytes;
    std::free(reinterpret_cast<void*>(address));
  }
  log_warning("cpu: {} allocations ({} bytes) were still held when the device was closed", entries_.size(), bytes);
}

void* MemoryTable::allocate(std::size_t bytes, bool mapped, const char* call) {
  if (bytes == 0) throw Error(fmt::format("{}: 0 bytes asked for; a device allocates at least 1", call));
  const std::uint64_t free = available_memory();
  void* memory = nullptr;
  if (bytes > free || posix_memalign(&memory, kAlignment, bytes) != 0)
    throw Error(fmt::format("{}: {} bytes asked for, {} bytes are free on the cpu device", call, bytes, free),
                {.hint = "a smaller replay capacity, batch or number of environments needs less"});
  std::memset(memory, 0, bytes);
  const std::lock_guard lock(mutex_);
  entries_[reinterpret_cast<std::uintptr_t>(memory)] = {bytes, mapped};
  return memory;
}

void MemoryTable::release(void* memory, bool mapped) noexcept {
  if (!memory) return;
  try {
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(reinterpret_cast<std::uintptr_t>(memory));
    if (at == entries_.end() || at->second.mapped != mapped) {
      log_error("cpu: release of {}: not the address of {} allocation of this device", memory,
                mapped ? "a mapped" : "an");
      return;
    }
    entries_.erase(at);
    std::free(memory);
  } catch (...) {  // a full disk under the log must not end the program
  }
}

void MemoryTable::check(const char* call, const std::string& what, const void* address, std::size_t bytes,
                        bool must_be_mapped) const {
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  auto at = entries_.upper_bound(first);
  if (at == entries_.begin()) throw Error(fmt::format("{}: {} ({}) is not memory of this device", call, what, address));
  --at;
  const std::uintptr_t end = at->first + at->second.bytes;
  if (first >= end) throw Error(fmt::format("{}: {} ({}) is not memory of this device", call, what, address));
  if (bytes > end - first)
    throw Error(fmt::format("{}: {} needs {} bytes, but its allocation ends after {}", call, what, bytes, end - first));
  if (must_be_mapped && !at->second.mapped)
    throw Error(fmt::format("{}: {} must lie in mapped memory", call, what), {.hint = "use allocate_mapped"});
}

}  // namespace foxhunt::device::host
