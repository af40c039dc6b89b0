// 2,048 consecutive samples of one series. Once full it is packed without loss: x as a ramp or as 32-bit
// offsets where that is exact, y as single precision where every value is representable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace foxhunt::ui {

class SampleChunk {
 public:
  static constexpr std::size_t capacity = 2048;

  // x must not fall below the last x (the owner checks); at most `capacity` samples.
  void append(double x, double y);
  // Packs a chunk that will not grow any more.
  void seal();

  std::size_t size() const { return size_; }
  double x(std::size_t i) const;
  double y(std::size_t i) const;
  // First index whose x >= value, size() if none.
  std::size_t lower_bound(double value) const;
  // Heap bytes held.
  std::size_t bytes() const;

  // Calls visit(y) for samples [begin, end) in order.
  template <class Visit>
  void each_y(std::size_t begin, std::size_t end, Visit&& visit) const {
    if (!singles_.empty()) {
      for (std::size_t i = begin; i < end; ++i) visit(static_cast<double>(singles_[i]));
    } else {
      for (std::size_t i = begin; i < end; ++i) visit(ys_[i]);
    }
  }

 private:
  enum class XForm : std::uint8_t { plain, offsets, ramp };

  void pack_x();
  void pack_y();

  std::size_t size_ = 0;
  XForm form_ = XForm::plain;
  double base_ = 0, stride_ = 0;        // ramp: base + i * stride; offsets: base + offsets[i]
  std::vector<double> xs_, ys_;         // plain forms
  std::vector<std::uint32_t> offsets_;  // x minus base
  std::vector<float> singles_;
};

}  // namespace foxhunt::ui
