// What is allocated on a GPU, so that a bad address is refused where it is recorded and not by a kernel that dies.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "engine/device/cuda/context.h"

namespace foxhunt::device::cuda {

class Memory {
 public:
  explicit Memory(std::shared_ptr<Context> context) : context_(std::move(context)) {}
  ~Memory();  // frees what is left and warns about it
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Zero-filled. Errors: Error naming the bytes asked for and those free.
  void* allocate(std::size_t bytes);
  Mapped allocate_mapped(std::size_t bytes);
  void release(void* memory) noexcept;
  void release_mapped(void* host) noexcept;

  // Throws an Error naming `call` and `what` unless [address, address + bytes) lies in one allocation.
  void check(const char* call, const std::string& what, const void* address, std::size_t bytes,
             bool must_be_mapped = false) const;

 private:
  struct Entry {
    std::size_t bytes = 0;
    bool mapped = false;
  };
  [[noreturn]] void refuse(const char* call, std::size_t bytes, CUresult status) const;
  void forget(void* memory, bool mapped, bool* known) noexcept;

  std::shared_ptr<Context> context_;
  std::map<std::uintptr_t, Entry> entries_;  // by first address
};

}  // namespace foxhunt::device::cuda
