// Packing of full chunks and search inside one.
#include "ui/charts/sample_chunk.h"

#include <algorithm>
#include <cmath>

namespace foxhunt::ui {

void SampleChunk::append(double x, double y) {
  xs_.push_back(x);
  ys_.push_back(y);
  ++size_;
}

void SampleChunk::seal() {
  pack_x();
  pack_y();
}

void SampleChunk::pack_x() {
  if (size_ < 2 || form_ != XForm::plain) return;
  base_ = xs_.front();
  stride_ = xs_[1] - xs_[0];
  bool ramp = true, offsets = true;
  for (std::size_t i = 0; i < size_; ++i) {
    ramp = ramp && base_ + static_cast<double>(i) * stride_ == xs_[i];
    const double offset = xs_[i] - base_;
    offsets = offsets && offset < 4294967296.0 && offset == std::floor(offset) && base_ + offset == xs_[i];
  }
  if (ramp) {
    form_ = XForm::ramp;
  } else if (offsets) {
    form_ = XForm::offsets;
    offsets_.resize(size_);
    std::transform(xs_.begin(), xs_.end(), offsets_.begin(),
                   [this](double x) { return static_cast<std::uint32_t>(x - base_); });
  } else {
    xs_.shrink_to_fit();
    return;
  }
  std::vector<double>().swap(xs_);
}

void SampleChunk::pack_y() {
  const bool exact = std::all_of(ys_.begin(), ys_.end(), [](double y) {
    return std::isnan(y) || std::isinf(y) || (std::abs(y) <= 3.4e38 && static_cast<double>(static_cast<float>(y)) == y);
  });
  if (!exact || size_ == 0) {
    ys_.shrink_to_fit();
    return;
  }
  singles_.resize(size_);
  std::transform(ys_.begin(), ys_.end(), singles_.begin(), [](double y) { return static_cast<float>(y); });
  std::vector<double>().swap(ys_);
}

double SampleChunk::x(std::size_t i) const {
  switch (form_) {
    case XForm::ramp:
      return base_ + static_cast<double>(i) * stride_;
    case XForm::offsets:
      return base_ + static_cast<double>(offsets_[i]);
    case XForm::plain:
      break;
  }
  return xs_[i];
}

double SampleChunk::y(std::size_t i) const {
  return singles_.empty() ? ys_[i] : static_cast<double>(singles_[i]);
}

std::size_t SampleChunk::lower_bound(double value) const {
  if (form_ == XForm::plain) {
    return static_cast<std::size_t>(std::lower_bound(xs_.begin(), xs_.end(), value) - xs_.begin());
  }
  if (form_ == XForm::ramp && stride_ > 0) {
    const double guess = std::clamp((value - base_) / stride_, 0.0, static_cast<double>(size_));
    auto i = static_cast<std::size_t>(guess);
    while (i > 0 && x(i - 1) >= value) --i;
    while (i < size_ && x(i) < value) ++i;
    return i;
  }
  std::size_t low = 0, high = size_;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (x(middle) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::size_t SampleChunk::bytes() const {
  return (xs_.capacity() + ys_.capacity()) * sizeof(double) + offsets_.capacity() * sizeof(std::uint32_t) +
         singles_.capacity() * sizeof(float);
}

}  // namespace foxhunt::ui
