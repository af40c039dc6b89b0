// Global gradient norm and clip, AdamW with the target average over the whole arena, and the fold boundary's parameter
// rules. Loshchilov and Hutter 2019. A tile never straddles two tensors. Family `optimiser`.
#pragma once

#include "kernels/control.h"
#include "kernels/math.h"
#include "kernels/rng.h"
#include "kernels/step_results.h"
#include "kernels/tile.h"

namespace foxhunt::kernels {

inline constexpr int kArenaTile = 2048;

// Sum of f(i) over a tile, in double over 16 float lanes of at most 128 values each: error far below a tile's own
// rounding.
template <class F>
FH_FN double tile_sum(const Block& block, int n, F f) {
#if FH_DEVICE
  float sum = 0;
  for (int i = block.thread(); i < n; i += block.threads()) sum += f(i);
  return block.sum(static_cast<double>(sum));
#else
  (void)block;
  float part[16] = {};
  int i = 0;
  for (; i + 16 <= n; i += 16)
    for (int k = 0; k < 16; ++k) part[k] += f(i + k);
  for (int k = 0; i < n; ++i, ++k) part[k] += f(i);
  double sum = 0;
  for (float x : part) sum += static_cast<double>(x);
  return sum;
#endif
}

#if FH_DEVICE
// Sums of N floats a thread over the block, in double: lanes, then warps in order. Thread 0 gets them. Holds a barrier.
template <int N>
FH_FN void block_sums(const Block& block, const float (&x)[N], double* total) {
  __shared__ double part[1024 * N / 32];
  const Team team = block.team();
  if (team.lanes == 1) {
    for (int k = 0; k < N; ++k) total[k] = block.sum(static_cast<double>(x[k]));
    return;
  }
  FH_UNROLL
  for (int k = 0; k < N; ++k) {
    const double sum = team.sum(static_cast<double>(x[k]));
    if (team.lane == 0) part[team.index * N + k] = sum;
  }
  block.sync();
  if (block.thread() != 0) return;
  FH_UNROLL
  for (int k = 0; k < N; ++k) {
    total[k] = 0;
    for (int i = 0; i < team.teams; ++i) total[k] += part[i * N + k];
  }
}
#endif

struct GradientNormsArgs {
  const float* gradients;
  const ArenaTile* tiles;
  TileSums* sums;  // [tiles] `gradient` overwritten
};

FH_FN void gradient_norms(const Block& block, const GradientNormsArgs& a) {
  const ArenaTile t = a.tiles[block.x];
  const float* g = a.gradients + t.offset;
  const double sum = tile_sum(block, t.count, [&](int i) { return g[i] * g[i]; });
  if (block.thread() == 0) a.sums[block.x].gradient = sum;
}

// One block: norm[0] = |g|, norm[1] = min(1, max_grad_norm / |g|).
struct FinishNormArgs {
  const TileSums* sums;
  Control* control;
  double* norm;  // [2] overwritten
  int32_t tiles;
};

FH_FN void finish_norm(const Block& block, const FinishNormArgs& a) {
  double sum = 0;
  for (int i = block.thread(); i < a.tiles; i += block.threads()) sum += a.sums[i].gradient;
  sum = block.sum(sum);
  if (block.thread() != 0) return;
  const double norm = sqrt(sum),
               clip = static_cast<double>(a.control->settings.max_grad_norm) / (norm > 1e-12 ? norm : 1e-12);
  a.norm[0] = norm;
  a.norm[1] = clip < 1.0 ? clip : 1.0;
}

struct AdamUpdateArgs {
  const float* gradients;
  const ArenaTile* tiles;
  const double* norm;  // [2]
  const Control* control;
  float* params;
  float* target;
  float* moment1;
  float* moment2;
  TileSums* sums;  // all but `gradient` overwritten
};

FH_FN void adam_update(const Block& block, const AdamUpdateArgs& a) {
  const Control& c = *a.control;
  if (c.halt) return;  // the same for every thread
  const Settings& s = c.settings;
  const ArenaTile t = a.tiles[block.x];
  const float clip = static_cast<float>(a.norm[1]), b1 = static_cast<float>(s.beta1), b2 = static_cast<float>(s.beta2);
  const float c1 = static_cast<float>(1.0 - s.beta1), c2 = static_cast<float>(1.0 - s.beta2), lr = s.lr,
              eps = s.adam_eps;
  const float decay = t.decays ? s.weight_decay : 0.0f, tau = s.frozen_target ? 0.0f : c.tau, bias1 = c.bias1,
              bias2 = c.bias2;
  const float* g = a.gradients + t.offset;
  float *p = a.params + t.offset, *q = a.target + t.offset, *m = a.moment1 + t.offset, *v = a.moment2 + t.offset;
#if FH_DEVICE
  float sums[5] = {};
  const auto one = [&](float gi, float& mi, float& vi, float& pi, float& qi) {
    const float x = gi * clip;
    mi = mi * b1 + x * c1;
    vi = vi * b2 + x * x * c2;
    const float step = lr * ((mi / bias1) / (sqrtf(vi / bias2) + eps) + decay * pi);
    pi -= step;
    qi += tau * (pi - qi);
    sums[0] += step * step;
    sums[1] += pi * pi;
    sums[2] += qi * qi;
    sums[3] += (pi - qi) * (pi - qi);
    sums[4] += pi * qi;
  };
  int done = 0;
  if (t.offset % 4 == 0) {  // sixteen bytes a thread
    for (int i = block.thread(); i < t.count / 4; i += block.threads()) {
      const Float4 gi = load4(g + 4 * i);
      Float4 mi = load4(m + 4 * i), vi = load4(v + 4 * i), pi = load4(p + 4 * i), qi = load4(q + 4 * i);
      FH_UNROLL
      for (int k = 0; k < 4; ++k) one(gi.v[k], mi.v[k], vi.v[k], pi.v[k], qi.v[k]);
      store4(m + 4 * i, mi);
      store4(v + 4 * i, vi);
      store4(p + 4 * i, pi);
      store4(q + 4 * i, qi);
    }
    done = t.count / 4 * 4;
  }
  for (int i = done + block.thread(); i < t.count; i += block.threads()) one(g[i], m[i], v[i], p[i], q[i]);
  double total[5];
  block_sums(block, sums, total);
#else
  // Several loops: each vectorises, and the tile stays in cache between them.
  for (int i = 0; i < t.count; ++i) {
    const float x = g[i] * clip;
    m[i] = m[i] * b1 + x * c1;
    v[i] = v[i] * b2 + x * x * c2;
  }
  const double total[5] = {tile_sum(block, t.count,
                                    [&](int i) {
                                      const float step =
                                          lr * ((m[i] / bias1) / (sqrtf(v[i] / bias2) + eps) + decay * p[i]);
                                      p[i] -= step;
                                      q[i] += tau * (p[i] - q[i]);
                                      return step * step;
                                    }),
                           tile_sum(block, t.count, [&](int i) { return p[i] * p[i]; }),
                           tile_sum(block, t.count, [&](int i) { return q[i] * q[i]; }),
                           tile_sum(block, t.count, [&](int i) { return (p[i] - q[i]) * (p[i] - q[i]); }),
                           tile_sum(block, t.count, [&](int i) { return p[i] * q[i]; })};
#endif
  if (block.thread() == 0) {
    TileSums& out = a.sums[block.x];
    out.update = total[0];
    out.parameter = total[1];
    out.target = total[2];
    out.target_difference = total[3];
    out.target_dot = total[4];
  }
}

// Shrink and perturb (Ash and Adams 2020) with hard target sync and cleared moments: the fold boundary. p = shrink p +
// scale n.
struct ShrinkPerturbArgs {
  const ArenaTile* tiles;
  float* params;
  float* target;
  float* moment1;
  float* moment2;
  uint64_t seed, fold;
  float shrink, noise;
};

FH_FN void shrink_perturb(const Block& block, const ShrinkPerturbArgs& a) {
  const ArenaTile t = a.tiles[block.x];
  block_each(block, t.offset, t.offset + t.count, [&](int64_t i) {
    const Random4 r = philox(a.seed, static_cast<uint32_t>(Purpose::shrink_perturb), a.fold, i);
    const float p = a.noise > 0 ? a.shrink * a.params[i] + a.noise * normal(r.v[0], r.v[1]) : a.shrink * a.params[i];
    a.params[i] = p;
    a.target[i] = p;
    a.moment1[i] = 0;
    a.moment2[i] = 0;
  });
}

}  // namespace foxhunt::kernels
