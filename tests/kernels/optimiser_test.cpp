// Gradient norm, AdamW with the target average, and the fold boundary's parameter rules against plain double loops.
#include "tests/kernels/kernel_rig.h"

namespace foxhunt::kernels::test {
namespace {

// Tiles of tensors of the given sizes, with gaps of 3 floats between them; every second one decays.
std::vector<ArenaTile> tiling(const std::vector<int>& sizes, int64_t& arena) {
  std::vector<ArenaTile> list;
  arena = 5;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    for (int done = 0; done < sizes[k]; done += kArenaTile)
      list.push_back({.offset = arena + done,
                      .count = std::min(kArenaTile, sizes[k] - done),
                      .tensor = static_cast<int16_t>(k),
                      .group = 0,
                      .decays = static_cast<uint8_t>(k % 2)});
    arena += sizes[k] + 3;
  }
  return list;
}

class OptimiserKernels : public ::testing::TestWithParam<std::vector<int>> {};
INSTANTIATE_TEST_SUITE_P(Sizes, OptimiserKernels,
                         ::testing::Values(std::vector<int>{1, 17, 2049}, std::vector<int>{4500, 2048, 33, 7}));

// Three updates, so that the moments accumulate; clipped in the second.
TEST_P(OptimiserKernels, NormClipAndAdamW) {
  int64_t arena = 0;
  const auto tiles = tiling(GetParam(), arena);
  const auto count = static_cast<std::size_t>(arena), blocks = tiles.size();
  Control control{};
  Settings& s = control.settings;
  s.beta1 = 0.9, s.beta2 = 0.999;
  s.lr = 1e-2f, s.adam_eps = 1e-8f, s.weight_decay = 0.1f;
  control.tau = 0.05f;
  Guarded<float> p(normals(count, 31)), t(normals(count, 32)), m(count), v(count);
  m.fill(0), v.fill(0);
  Guarded<TileSums> sums(blocks);
  Guarded<double> norm(2);
  std::vector<double> dp(p.data(), p.data() + count), dt(t.data(), t.data() + count), dm(count), dv(count);
  for (int turn = 1; turn <= 3; ++turn) {
    s.max_grad_norm = turn == 2 ? 0.5f : 1e6f;
    control.bias1 = static_cast<float>(1 - std::pow(0.9, turn)),
    control.bias2 = static_cast<float>(1 - std::pow(0.999, turn));
    const auto g = normals(count, static_cast<uint32_t>(40 + turn));
    run(GradientNormsArgs{g.data(), tiles.data(), sums}, static_cast<uint32_t>(blocks));
    run(FinishNormArgs{sums, &control, norm, static_cast<int32_t>(blocks)}, 1);
    run(AdamUpdateArgs{g.data(), tiles.data(), norm, &control, p, t, m, v, sums}, static_cast<uint32_t>(blocks));
    double square = 0;
    for (const ArenaTile& tile : tiles)
      for (int64_t i = tile.offset; i < tile.offset + tile.count; ++i)
        square += std::pow(g[static_cast<std::size_t>(i)], 2);
    const double clip = std::min(1.0, static_cast<double>(s.max_grad_norm) / std::sqrt(square));
    ASSERT_NEAR(norm[0], std::sqrt(square), 1e-6 * std::sqrt(square));
    ASSERT_NEAR(norm[1], clip, 1e-6 * clip);
    for (std::size_t k = 0; k < blocks; ++k) {
      const ArenaTile& tile = tiles[k];
      TileSums want{};
      for (int64_t at = tile.offset; at < tile.offset + tile.count; ++at) {
        const auto i = static_cast<std::size_t>(at);
        const double x = g[i] * clip;
        want.gradient += static_cast<double>(g[i]) * g[i];
        dm[i] = 0.9 * dm[i] + 0.1 * x;
        dv[i] = 0.999 * dv[i] + 0.001 * x * x;
        const double step =
            1e-2 * (dm[i] / (1 - std::pow(0.9, turn)) / (std::sqrt(dv[i] / (1 - std::pow(0.999, turn))) + 1e-8) +
                    (tile.decays ? 0.1 * dp[i] : 0.0));
        dp[i] -= step;
        dt[i] += 0.05 * (dp[i] - dt[i]);
        want.update += step * step;
        want.parameter += dp[i] * dp[i];
        want.target += dt[i] * dt[i];
        want.target_difference += (dp[i] - dt[i]) * (dp[i] - dt[i]);
        want.target_dot += dp[i] * dt[i];
      }
      const TileSums& got = sums[k];
      EXPECT_NEAR(got.gradient, want.gradient, 1e-5 * want.gradient);
      EXPECT_NEAR(got.update, want.update, 1e-4 * want.update);
      EXPECT_NEAR(got.parameter, want.parameter, 1e-5 * want.parameter);
      EXPECT_NEAR(got.target, want.target, 1e-5 * want.target);
      EXPECT_NEAR(got.target_difference, want.target_difference, 1e-5 * want.target_difference);
      EXPECT_NEAR(got.target_dot, want.target_dot, 1e-5 * (want.parameter + want.target));
    }
  }
  expect_near(p, dp, 2e-6, "parameters, and the gaps");
  expect_near(t, dt, 1e-6, "target");
  expect_near(m, dm, 1e-6, "first moment");
  expect_near(v, dv, 1e-6, "second moment");
}

TEST_P(OptimiserKernels, FrozenTargetAndHalt) {
  int64_t arena = 0;
  const auto tiles = tiling(GetParam(), arena);
  const auto count = static_cast<std::size_t>(arena);
  Control control{};
  control.settings.beta1 = 0.9, control.settings.beta2 = 0.999, control.settings.lr = 0.1f,
  control.settings.adam_eps = 1e-8f;
  control.settings.frozen_target = 1;
  control.tau = 0.5f, control.bias1 = 0.1f, control.bias2 = 0.001f;
  Guarded<float> p(normals(count, 51)), t(normals(count, 52)), m(normals(count, 53)), v(count);
  v.fill(0.5f);
  Guarded<TileSums> sums(tiles.size());
  Guarded<double> norm(std::vector<double>{1, 1});
  const auto g = normals(count, 54), target = t.copy();
  const AdamUpdateArgs args{g.data(), tiles.data(), norm, &control, p, t, m, v, sums};
  run(args, static_cast<uint32_t>(tiles.size()));
  EXPECT_EQ(t.copy(), target);
  const auto parameters = p.copy(), first = m.copy(), second = v.copy();
  control.halt = kHaltNan;
  control.settings.frozen_target = 0;
  run(args, static_cast<uint32_t>(tiles.size()));
  EXPECT_EQ(p.copy(), parameters);
  EXPECT_EQ(t.copy(), target);
  EXPECT_EQ(m.copy(), first);
  EXPECT_EQ(v.copy(), second);
}

TEST_P(OptimiserKernels, ShrinkAndPerturb) {
  int64_t arena = 0;
  const auto tiles = tiling(GetParam(), arena);
  const auto count = static_cast<std::size_t>(arena);
  for (const float noise : {0.0f, 0.01f}) {
    Guarded<float> p(normals(count, 61)), t(normals(count, 62)), m(normals(count, 63)), v(normals(count, 64));
    const auto before = p.copy();
    run(ShrinkPerturbArgs{tiles.data(), p, t, m, v, 9, 2, 0.8f, noise}, static_cast<uint32_t>(tiles.size()));
    double sum = 0, square = 0;
    int64_t n = 0;
    for (const ArenaTile& tile : tiles)
      for (int64_t at = tile.offset; at < tile.offset + tile.count; ++at) {
        const auto i = static_cast<std::size_t>(at);
        const double left = p[i] - 0.8 * before[i];
        sum += left, square += left * left, ++n;
        EXPECT_LE(std::abs(left), noise * 6 + 1e-6);
        EXPECT_EQ(t[i], p[i]);
        EXPECT_EQ(m[i], 0.0f);
        EXPECT_EQ(v[i], 0.0f);
      }
    if (noise == 0) continue;
    const double size = static_cast<double>(n);
    EXPECT_NEAR(sum / size, 0, 5 * noise / std::sqrt(size));
    EXPECT_NEAR(square / size, noise * noise, 5 * noise * noise * std::sqrt(2 / size));
  }
}

}  // namespace
}  // namespace foxhunt::kernels::test
