// Elementary functions and row reductions that vectorise on the host and use lanes on the device.
#pragma once

#include "kernels/block.h"

namespace foxhunt::kernels {

#if FH_DEVICE
FH_FN float exponential(float x) { return expf(x); }
#else
// exp by Cephes' expf: range reduction by ln 2 in two parts, a polynomial of degree 5, error below 2 ulp; without branches, so that loops over
// atoms vectorise. NaN stays NaN; below -87.3 the result is 0 or the smallest normal number's neighbourhood.
FH_FN float exponential(float x) {
  const float bounded = x < -87.3f ? -87.3f : (x > 88.3f ? 88.3f : x);
  const float shifted = bounded * 1.44269504088896341f + 12582912.0f;  // 1.5 x 2^23: rounds to an integer in the low bits
  const float n = shifted - 12582912.0f;
  const float r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const float scale = bits_float((float_bits(shifted) - 0x4b400000u + 127u) << 23);
  return x < -87.3f ? 0.0f : p * scale;
}
#endif

#if FH_DEVICE
// Four neighbouring floats at a multiple of 16 bytes, moved at once.
struct alignas(16) Float4 {
  float v[4];
};
FH_FN Float4 load4(const float* x) { return *reinterpret_cast<const Float4*>(x); }
FH_FN void store4(float* x, const Float4& value) { *reinterpret_cast<Float4*>(x) = value; }
#endif

FH_FN float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }

// Sum over i in [0, n) of f(i), by the lanes of a team; every lane gets it.
template <class F>
FH_FN float team_sum(const Team& team, int n, F f) {
#if FH_DEVICE
  float sum = 0;
  for (int i = team.lane; i < n; i += team.lanes) sum += f(i);
  return team.sum(sum);
#else
  (void)team;
  float part[16] = {};
  int i = 0;
  for (; i + 16 <= n; i += 16)
    for (int k = 0; k < 16; ++k) part[k] += f(i + k);
  for (int k = 0; i < n; ++i, ++k) part[k] += f(i);
  for (int half = 8; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) part[k] += part[k + half];
  return part[0];
#endif
}

// Largest f(i); NaN is passed over unless all are.
template <class F>
FH_FN float team_max(const Team& team, int n, F f) {
#if FH_DEVICE
  float best = -3.402823466e38f;
  for (int i = team.lane; i < n; i += team.lanes) best = maximum(best, f(i));
  return team.max(best);
#else
  (void)team;
  float part[16];
  for (float& x : part) x = -3.402823466e38f;
  int i = 0;
  for (; i + 16 <= n; i += 16)
    for (int k = 0; k < 16; ++k) part[k] = maximum(f(i + k), part[k]);
  for (int k = 0; i < n; ++i, ++k) part[k] = maximum(f(i), part[k]);
  for (int half = 8; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) part[k] = maximum(part[k], part[k + half]);
  return part[0];
#endif
}

// f(i) for every i in [0, n), spread over the lanes.
template <class F>
FH_FN void team_each(const Team& team, int n, F f) {
  for (int i = team.lane; i < n; i += team.lanes) f(i);
}

// The same over the threads of a block, from `begin` to `end`.
template <class F>
FH_FN void block_each(const Block& block, int64_t begin, int64_t end, F f) {
  for (int64_t i = begin + block.thread(); i < end; i += block.threads()) f(i);
}

inline constexpr int kRowTile = 8;          // rows a block of row kernels owns
inline constexpr int kElementTile = 4096;   // elements a block of element-wise kernels owns

}  // namespace foxhunt::kernels
