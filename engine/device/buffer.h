// Owners of device memory and of mapped memory.
#pragma once

#include <utility>

#include "engine/base/error.h"
#include "engine/device/device.h"

namespace foxhunt::device {

// [count] elements of T on the device, zero-filled at construction.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, std::size_t count)
      : device_(&device), data_(count ? static_cast<T*>(device.allocate(count * sizeof(T))) : nullptr), count_(count) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (data_) device_->release(data_);
  }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
  }
  Device* device_ = nullptr;
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

// [count] elements of T that both sides see.
template <class T>
class MappedBuffer {
 public:
  MappedBuffer() = default;
  MappedBuffer(Device& device, std::size_t count)
      : device_(&device), memory_(device.allocate_mapped(count * sizeof(T))), count_(count) {}
  MappedBuffer(MappedBuffer&& other) noexcept { swap(other); }
  MappedBuffer& operator=(MappedBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~MappedBuffer() {
    if (memory_.host) device_->release(memory_);
  }

  T* host() const { return static_cast<T*>(memory_.host); }
  T* device() const { return static_cast<T*>(memory_.device); }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  void swap(MappedBuffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(memory_, other.memory_);
    std::swap(count_, other.count_);
  }
  Device* device_ = nullptr;
  Mapped memory_;
  std::size_t count_ = 0;
};

}  // namespace foxhunt::device
