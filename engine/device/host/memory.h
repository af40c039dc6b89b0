// Memory of the host device: what is allocated, so that a bad address is refused where it is recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace foxhunt::device::host {

class MemoryTable {
 public:
  MemoryTable() = default;
  ~MemoryTable();  // frees what is left and warns about it
  MemoryTable(const MemoryTable&) = delete;
  MemoryTable& operator=(const MemoryTable&) = delete;

  // Zero-filled, 256-byte aligned. Errors: Error with the bytes asked for and those free.
  void* allocate(std::size_t bytes, bool mapped, const char* call);
  // Logs an error for an address that was not allocated here.
  void release(void* memory, bool mapped) noexcept;

  // Throws an Error naming `call` and `what` unless [address, address + bytes) lies in one allocation.
  void check(const char* call, const std::string& what, const void* address, std::size_t bytes,
             bool must_be_mapped = false) const;

 private:
  struct Entry {
    std::size_t bytes = 0;
    bool mapped = false;
  };
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Entry> entries_;  // by first address
};

// Bytes that the system says can still be used, and those it has.
std::uint64_t available_memory();
std::uint64_t total_memory();

}  // namespace foxhunt::device::host
