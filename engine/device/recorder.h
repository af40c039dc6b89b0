// What a recording function writes to: the same function serves eager launches and capture.
#pragma once

#include "engine/device/device.h"
#include "kernels/families.h"

namespace foxhunt::device {

class Recorder {
 public:
  Recorder(Device& device, Stream& stream, ModuleSet set) : device_(device), stream_(stream), set_(set) {}

  template <class Args>
  void launch(const Launch& shape, const Args& args) {
    device_.launch(stream_, set_, shape, args);
  }
  void multiply(const Product& product, const ProductOperands& operands) {
    device_.multiply(stream_, product, operands);
  }
  void copy(void* to, const void* from, std::size_t bytes) { device_.copy(stream_, to, from, bytes); }
  void fill(void* to, int byte, std::size_t bytes) { device_.fill(stream_, to, byte, bytes); }

  // Another stream of the same recording, ordered after what this one has recorded so far.
  Recorder fork(Stream& side, Event& event) {
    device_.record(event, stream_);
    device_.wait(side, event);
    return Recorder(device_, side, set_);
  }
  // Everything that `other` has recorded comes before what this one records next.
  void join(Recorder& other, Event& event) {
    device_.record(event, other.stream_);
    device_.wait(stream_, event);
  }

  Device& device() { return device_; }
  Stream& stream() { return stream_; }
  ModuleSet set() const { return set_; }

 private:
  Device& device_;
  Stream& stream_;
  ModuleSet set_;
};

}  // namespace foxhunt::device
