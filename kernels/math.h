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

#if FH_DEVICE
// One warp's loop waits for a load before it asks for the next one, unless all stand in straight code without a branch or a store
// between them. So `depth` columns a lane are taken at a time, and those past the end read the last column once more.
template <int depth, class F, class Use>
FH_FN void lanes_in_depth(const Team& team, int n, F f, Use use) {
  for (int base = team.lane; base < n; base += depth * team.lanes) {
    decltype(f(0)) held[depth];
    FH_UNROLL
    for (int j = 0; j < depth; ++j) held[j] = f(minimum(base + j * team.lanes, n - 1));
    FH_UNROLL
    for (int j = 0; j < depth; ++j)
      if (base + j * team.lanes < n) use(base + j * team.lanes, held[j]);
  }
}
template <class F, class Use>
FH_FN void lanes_over(const Team& team, int n, F f, Use use) {
  if (n <= team.lanes) {
    lanes_in_depth<1>(team, n, f, use);
  } else if (n <= 2 * team.lanes) {
    lanes_in_depth<2>(team, n, f, use);
  } else if (n <= 4 * team.lanes) {
    lanes_in_depth<4>(team, n, f, use);
  } else {
    lanes_in_depth<8>(team, n, f, use);
  }
}
#endif

// Sum over i in [0, n) of f(i), by the lanes of a team; every lane gets it.
template <class F>
FH_FN float team_sum(const Team& team, int n, F f) {
#if FH_DEVICE
  float sum = 0;
  lanes_over(team, n, f, [&](int, float x) { sum += x; });
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

// The sums of two functions at once.
struct PairSum {
  float first, second;
};
#if FH_DEVICE
FH_FN PairSum operator+(PairSum a, PairSum b) { return {a.first + b.first, a.second + b.second}; }
FH_FN PairSum shuffle_xor(PairSum x, int offset) { return {shuffle_xor(x.first, offset), shuffle_xor(x.second, offset)}; }
#endif
template <class F, class G>
FH_FN PairSum team_sum_pair(const Team& team, int n, F f, G g) {
#if FH_DEVICE
  PairSum sum{0, 0};
  lanes_over(team, n, [&](int i) { return PairSum{f(i), g(i)}; }, [&](int, PairSum x) { sum = sum + x; });
  return team.sum(sum);
#else
  return {team_sum(team, n, f), team_sum(team, n, g)};
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

// store(i, f(i)) for every i in [0, n): f only loads, store only stores.
template <class F, class Store>
FH_FN void team_map(const Team& team, int n, F f, Store store) {
#if FH_DEVICE
  lanes_over(team, n, f, store);
#else
  (void)team;
  for (int i = 0; i < n; ++i) store(i, f(i));
#endif
}

// store(g, i, f(g, i, of(g))) for every i in [0, width) of every group g in [0, groups): of(g) is what a group's columns share.
template <class Of, class F, class Store>
FH_FN void team_map_groups(const Team& team, int groups, int width, Of of, F f, Store store) {
#if FH_DEVICE
  lanes_over(team, groups * width, [&](int k) { return f(k / width, k % width, of(k / width)); },
             [&](int k, decltype(f(0, 0, of(0))) x) { store(k / width, k % width, x); });
#else
  (void)team;
  for (int g = 0; g < groups; ++g) {
    const auto shared = of(g);
    for (int i = 0; i < width; ++i) store(g, i, f(g, i, shared));
  }
#endif
}

// out[g] = sum over i in [0, width(g)) of f(g, i) for every g in [0, count): the device adds up eight groups side by side. Of a warp,
// not of a whole block.
template <class Width, class F>
FH_FN void team_sums(const Team& team, int count, Width width, F f, float* out) {
#if FH_DEVICE
  constexpr int kTogether = 8;
  for (int first = 0; first < count; first += kTogether) {
    int widest = 0;
    for (int g = first; g < minimum(count, first + kTogether); ++g) widest = maximum(widest, width(g));
    float sum[kTogether] = {};
    for (int i = team.lane; i < widest; i += team.lanes) {
      FH_UNROLL
      for (int g = 0; g < kTogether; ++g) {
        const int k = minimum(first + g, count - 1), n = width(k);
        const float x = f(k, minimum(i, n - 1));
        sum[g] += i < n ? x : 0.0f;
      }
    }
    for (int offset = minimum(team.lanes, 32) / 2; offset > 0; offset /= 2) {
      FH_UNROLL
      for (int g = 0; g < kTogether; ++g) sum[g] += shuffle_xor(sum[g], offset);
    }
    FH_UNROLL
    for (int g = 0; g < kTogether; ++g)
      if (first + g < count) out[first + g] = sum[g];
  }
#else
  for (int g = 0; g < count; ++g) out[g] = team_sum(team, width(g), [&](int i) { return f(g, i); });
#endif
}

// f(i) for every i in [begin, end), spread over the threads of a block.
template <class F>
FH_FN void block_each(const Block& block, int64_t begin, int64_t end, F f) {
  for (int64_t i = begin + block.thread(); i < end; i += block.threads()) f(i);
}

inline constexpr int kRowTile = 8;          // rows a block of row kernels owns
inline constexpr int kLongRowTile = 1;      // as an argument: a row gets a whole block

// Who shares a row in kernels that are told how many rows a block owns.
FH_FN Team row_team(const Block& block, int tile) { return tile == kLongRowTile ? block.row_team() : block.team(); }
inline constexpr int kElementTile = 4096;   // elements a block of element-wise kernels owns

}  // namespace foxhunt::kernels
