// Runs one kernel over its grid as the host does, on arrays with guard words at both ends.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/families.h"
#include "kernels/host_table.h"

namespace foxhunt::kernels::test {

// Every block, last one first: blocks may not depend on each other. Scratch of 64 KB, filled with NaN before each
// block.
template <class Args>
void run(const Args& args, uint32_t grid_x, uint32_t grid_y = 1) {
  static std::vector<double> scratch(8192);
  const HostEntry& entry = host_table()[static_cast<int>(KernelTraits<Args>::id)];
  for (uint32_t y = grid_y; y-- > 0;)
    for (uint32_t x = grid_x; x-- > 0;) {
      std::memset(static_cast<void*>(scratch.data()), 0xff, scratch.size() * sizeof(double));
      entry.function(Block{x, y, scratch.data()}, &args);
    }
}

// [count] elements between guards; outputs begin as garbage, so that what is not overwritten shows.
template <class T>
class Guarded {
 public:
  explicit Guarded(std::size_t count) : bytes_((count + 2 * kGuard) * sizeof(T), 0x5a), count_(count) {}
  explicit Guarded(const std::vector<T>& values) : Guarded(values.size()) {
    T* to = data();
    for (const T& value : values) *to++ = value;
  }
  ~Guarded() { check(); }
  Guarded(Guarded&&) = default;

  T* data() { return reinterpret_cast<T*>(bytes_.data()) + kGuard; }
  operator T*() { return data(); }
  T& operator[](std::size_t i) { return data()[i]; }
  std::size_t size() const { return count_; }
  std::vector<T> copy() { return {data(), data() + count_}; }
  void fill(T value) { std::fill(data(), data() + count_, value); }
  void check() const {
    if (bytes_.empty()) return;
    for (std::size_t i = 0; i < kGuard * sizeof(T); ++i) {
      ASSERT_EQ(bytes_[i], 0x5a) << "written before the array, byte " << i;
      ASSERT_EQ(bytes_[bytes_.size() - 1 - i], 0x5a) << "written past the array, byte " << i;
    }
  }

 private:
  static constexpr std::size_t kGuard = 16;
  std::vector<unsigned char> bytes_;
  std::size_t count_;
};

inline std::vector<float> normals(std::size_t count, uint32_t seed, float size = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, size);
  std::vector<float> values(count);
  for (float& x : values) x = normal(generator);
  return values;
}

// |got - want| <= tolerance (1 + |want|), element by element.
template <class Got>
void expect_near(Got& got, const std::vector<double>& want, double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[i]), want[i], tolerance * (1 + std::abs(want[i]))) << what << " " << i;
}

inline double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

inline std::vector<double> softmax(std::vector<double> x) {
  double largest = x[0], sum = 0;
  for (const double v : x) largest = std::max(largest, v);
  for (double& v : x) sum += v = std::exp(v - largest);
  for (double& v : x) v /= sum;
  return x;
}

}  // namespace foxhunt::kernels::test
