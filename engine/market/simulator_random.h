// Random numbers of the simulator: SplitMix64 (Steele, Lea, Flood 2014) and shapes made from it with exact arithmetic
// only, so that a seed gives the same market with every compiler and math library.
#pragma once

#include <cstdint>

namespace foxhunt::market {

class SimulatorRandom {
 public:
  explicit SimulatorRandom(std::uint64_t seed) : state_(seed * 0xD1342543DE82EF95ULL + 0x632BE59BD9B4E019ULL) {}

  std::uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  // [0, 1)
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

  // 0 .. n-1
  int below(int n) { return static_cast<int>(uniform() * n); }

  // Mean 0, variance 1: the sum of eight 16-bit uniforms, centred; bounded by 4.9.
  double normal() {
    double sum = 0;
    for (int word = 0; word < 2; ++word) {
      const std::uint64_t x = bits();
      for (int i = 0; i < 4; ++i) sum += static_cast<double>((x >> (16 * i)) & 0xFFFF) + 0.5;
    }
    constexpr double kScale = 1.2247448713915890491;  // sqrt(12 / 8)
    return (sum / 65536.0 - 4.0) * kScale;
  }

  // An order size: 1 and up, mean near 1 + `mean`, most orders small (product of two uniforms).
  std::uint32_t size(double mean) { return 1 + static_cast<std::uint32_t>(4 * mean * uniform() * uniform()); }

 private:
  std::uint64_t state_;
};

}  // namespace foxhunt::market
