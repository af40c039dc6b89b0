// Moving plain arrays to and from the device through mapped memory: set-up, checkpoints and tests; never in a step.
#pragma once

#include <cstring>
#include <vector>

#include "engine/device/buffer.h"

namespace foxhunt {

// Waits until done. Counted as staging.
template <class T>
void upload(device::Device& device, T* to, const T* from, std::size_t count) {
  if (count == 0) return;
  device::MappedBuffer<T> staging(device, count);
  std::memcpy(static_cast<void*>(staging.host()), from, count * sizeof(T));
  const auto stream = device.create_stream();
  device.stage(*stream, to, staging.device(), count * sizeof(T));
  device.synchronise(*stream);
}

// In `stream`'s order, then waits.
template <class T>
std::vector<T> download(device::Device& device, device::Stream& stream, const T* from, std::size_t count) {
  if (count == 0) return {};
  device::MappedBuffer<T> staging(device, count);
  device.copy(stream, staging.device(), from, count * sizeof(T));
  device.synchronise(stream);
  return {staging.host(), staging.host() + count};
}

}  // namespace foxhunt
