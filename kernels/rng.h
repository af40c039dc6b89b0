// Counter-based random numbers: Philox 4x32-10 (Salmon et al. 2011), addressed by (seed, purpose, step, element), so
// that no order of execution and no number of threads changes what is drawn.
#pragma once

#include "kernels/block.h"

namespace foxhunt::kernels {

enum class Purpose : uint32_t {  // what a stream of numbers is for; a value is never reused
  sampling = 1,
  noise_online = 2,
  noise_target = 3,
  depth = 4,
  collector_noise = 5,
  epsilon = 6,
  episode_start = 7,
  initialise = 8,
  spectral = 9,
  shrink_perturb = 10,
  random_policy = 11,
};

struct Random4 {
  uint32_t v[4];
};

FH_FN Random4 philox(uint64_t seed, uint32_t purpose, uint64_t step, uint64_t element) {
  uint32_t c0 = static_cast<uint32_t>(element), c1 = static_cast<uint32_t>(element >> 32) ^ (purpose << 16);
  uint32_t c2 = static_cast<uint32_t>(step), c3 = static_cast<uint32_t>(step >> 32) ^ purpose;
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = 0xD2511F53ull * c0, p1 = 0xCD9E8D57ull * c2;
    const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0, n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(p1);
    c3 = static_cast<uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

// [0, 1) with 24 bits.
FH_FN float uniform(uint32_t bits) {
  return static_cast<float>(bits >> 8) * (1.0f / 16777216.0f);
}
// [0, 1) with 53 bits.
FH_FN double uniform53(uint32_t high, uint32_t low) {
  return static_cast<double>((static_cast<uint64_t>(high) << 32 | low) >> 11) * (1.0 / 9007199254740992.0);
}
// Standard normal by Box and Muller from two words; 1 - u keeps the logarithm finite.
FH_FN float normal(uint32_t a, uint32_t b) {
  const float radius = sqrtf(-2.0f * logf(1.0f - uniform(a)));
  return radius * cosf(6.283185307179586f * uniform(b));
}

}  // namespace foxhunt::kernels
