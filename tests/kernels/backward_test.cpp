// The backward pass's kernels against plain double loops, at odd sizes, with one row, four and eight a block and, where
// something accumulates, over two batches.
#include "tests/kernels/kernel_rig.h"

namespace foxhunt::kernels::test {
namespace {

std::size_t at(int64_t i) {
  return static_cast<std::size_t>(i);
}

struct Sizes {
  int rows, width, groups, hidden, experts, expert_hidden, taus, tile;  // tile: rows a block owns
};

class BackwardKernels : public ::testing::TestWithParam<Sizes> {};
INSTANTIATE_TEST_SUITE_P(Sizes, BackwardKernels,
                         ::testing::Values(Sizes{13, 37, 3, 7, 3, 5, 3, 1}, Sizes{141, 70, 6, 19, 5, 17, 7, 4},
                                           Sizes{11, 300, 6, 33, 9, 31, 5, 1}, Sizes{10, 290, 11, 40, 8, 34, 2, 8}));

TEST_P(BackwardKernels, ReluGate) {
  const Sizes s = GetParam();
  const int hs = s.width + 3, ds = s.width + 5;
  const auto h = normals(at(s.rows * hs), 1), d = normals(at(s.rows * ds), 2);
  Guarded<float> out(d);
  run(ReluGateArgs{h.data(), out, s.rows, s.width, hs, ds, s.tile}, tiles(s.rows, s.tile));
  for (int r = 0; r < s.rows; ++r)
    for (int i = 0; i < ds; ++i)
      ASSERT_EQ(out[at(r * ds + i)], i >= s.width || h[at(r * hs + i)] > 0 ? d[at(r * ds + i)] : 0.0f) << r << " " << i;
}

TEST_P(BackwardKernels, NoisyGradients) {
  const Sizes s = GetParam();
  NoisyLayers n{};
  n.count = 2, n.hidden = s.width, n.wide = 12;
  int64_t place = 1;
  for (int l = 0; l < 2; ++l) {
    n.outputs[l] = l == 0 ? 7 : 12;
    n.weight[l] = place, n.weight_sigma[l] = place + n.outputs[l] * n.hidden;
    n.bias[l] = n.weight_sigma[l] + n.outputs[l] * n.hidden, n.bias_sigma[l] = n.bias[l] + n.outputs[l];
    place = n.bias_sigma[l] + n.outputs[l] + 2;
  }
  const auto weight = normals(at(n.count * n.wide * n.hidden), 3), bias = normals(at(n.count * n.wide), 4),
             noise = normals(at(n.count * (n.hidden + n.wide)), 5);
  Guarded<float> gradients(at(place));
  gradients.fill(3);
  for (int turn = 0; turn < 2; ++turn)  // overwritten, not accumulated
    run(NoisyGradientsArgs{weight.data(), bias.data(), noise.data(), gradients, n}, tiles(n.count * n.wide, 8));
  std::vector<double> want(gradients.size(), 3.0);
  for (int l = 0; l < 2; ++l)
    for (int o = 0; o < n.outputs[l]; ++o) {
      const double e = noise[at(n.count * n.hidden + l * n.wide + o)], b = bias[at(l * n.wide + o)];
      for (int i = 0; i < n.hidden; ++i) {
        const double g = weight[at((l * n.wide + o) * n.hidden + i)];
        want[at(n.weight[l] + o * n.hidden + i)] = g;
        want[at(n.weight_sigma[l] + o * n.hidden + i)] = g * e * noise[at(l * n.hidden + i)];
      }
      want[at(n.bias[l] + o)] = b;
      want[at(n.bias_sigma[l] + o)] = b * e;
    }
  expect_near(gradients, want, 1e-6, "gradients");
}

// By finite differences of LayerNorm itself: d/dx sum_i g_i (gamma_i xhat_i).
std::vector<double> norm_backward(const std::vector<double>& x, const std::vector<double>& g, const float* gamma) {
  const auto value = [&](const std::vector<double>& y) {
    double mean = 0, variance = 0, sum = 0;
    for (const double v : y) mean += v / static_cast<double>(y.size());
    for (const double v : y) variance += (v - mean) * (v - mean) / static_cast<double>(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) sum += g[i] * gamma[i] * (y[i] - mean) / std::sqrt(variance + 1e-5);
    return sum;
  };
  std::vector<double> out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto y = x;
    y[i] = x[i] + 1e-5;
    const double up = value(y);
    y[i] = x[i] - 1e-5;
    out.push_back((up - value(y)) / 2e-5);
  }
  return out;
}

// Pre-activations, and what the forward pass keeps of them.
struct Norm {
  std::vector<double> x;
  std::vector<float> xhat, inverse;
  Norm(int rows, int width, uint32_t seed) {
    const auto values = normals(at(rows * width), seed);
    x.assign(values.begin(), values.end());
    for (int r = 0; r < rows; ++r) {
      double mean = 0, variance = 0;
      for (int i = 0; i < width; ++i) mean += x[at(r * width + i)] / width;
      for (int i = 0; i < width; ++i) variance += std::pow(x[at(r * width + i)] - mean, 2) / width;
      inverse.push_back(static_cast<float>(1 / std::sqrt(variance + 1e-5)));
      for (int i = 0; i < width; ++i)
        xhat.push_back(static_cast<float>((x[at(r * width + i)] - mean) / std::sqrt(variance + 1e-5)));
    }
  }
};

TEST_P(BackwardKernels, MixtureNorm) {
  const Sizes s = GetParam();
  const int w = s.width;
  const Norm norm(s.rows, w, 6);
  const auto params = normals(at(w + 4), 7), dz = normals(at(s.rows * s.taus * w), 8), phi = normals(at(s.taus * w), 9),
             heads = normals(at(s.rows * w), 10);
  Control control{};
  control.iqn_readiness = 0.4f, control.depth_scale[2] = 1.25f;
  Guarded<float> d_h(heads), d_in(heads.size()), d_y(heads.size());
  run(MixtureNormBackwardArgs{params.data(), &control, dz.data(), phi.data(), norm.xhat.data(), norm.inverse.data(),
                              d_h, d_in, d_y, 2, s.rows, w, s.taus, s.tile},
      tiles(s.rows, s.tile));
  for (int r = 0; r < s.rows; ++r) {
    std::vector<double> g;
    for (int i = 0; i < w; ++i) {
      double sum = heads[at(r * w + i)];
      for (int t = 0; t < s.taus; ++t)
        sum += 0.4f * static_cast<double>(dz[at((r * s.taus + t) * w + i)]) * phi[at(t * w + i)];
      g.push_back(sum);
      ASSERT_NEAR(d_h[at(r * w + i)], sum, 1e-5);
    }
    const auto want = norm_backward({norm.x.begin() + r * w, norm.x.begin() + (r + 1) * w}, g, params.data() + 2);
    for (int i = 0; i < w; ++i) {
      ASSERT_NEAR(d_in[at(r * w + i)], want[at(i)], 2e-5) << r << " " << i;
      ASSERT_NEAR(d_y[at(r * w + i)], 1.25 * want[at(i)], 2e-5);
    }
  }
}

TEST_P(BackwardKernels, GatedNorm) {
  const Sizes s = GetParam();
  const int w = s.width, stride = 2 * w;
  const Norm norm(s.rows, w, 11);
  const auto params = normals(at(w + 4), 12), vg = normals(at(s.rows * 2 * w), 13), d_out = normals(at(s.rows * w), 14);
  Control control{};
  control.depth_scale[1] = 0.8f;
  Guarded<float> d_vg(vg.size()), wide(at(s.rows * stride));
  wide.fill(5);
  run(GatedNormBackwardArgs{params.data(), &control, vg.data(), norm.xhat.data(), norm.inverse.data(), d_out.data(),
                            d_vg, wide.data() + w, 3, s.rows, w, 1, stride, s.tile},
      tiles(s.rows, s.tile));
  for (int r = 0; r < s.rows; ++r) {
    const auto want = norm_backward({norm.x.begin() + r * w, norm.x.begin() + (r + 1) * w},
                                    {d_out.begin() + r * w, d_out.begin() + (r + 1) * w}, params.data() + 3);
    for (int i = 0; i < w; ++i) {
      const double value = vg[at(r * 2 * w + i)], g = logistic(vg[at(r * 2 * w + w + i)]), d = 0.8 * want[at(i)];
      ASSERT_NEAR(wide[at(r * stride + w + i)], want[at(i)], 2e-5) << r << " " << i;
      ASSERT_EQ(wide[at(r * stride + i)], 5.0f) << "layer a's columns belong to another";
      ASSERT_NEAR(d_vg[at(r * 2 * w + i)], d * g, 2e-5);
      ASSERT_NEAR(d_vg[at(r * 2 * w + w + i)], d * value * g * (1 - g), 2e-5);
    }
  }
}

TEST_P(BackwardKernels, MixtureGate) {
  const Sizes s = GetParam();
  const int e = s.experts, x = s.expert_hidden, wide = e + e * x;
  const auto in = normals(at(s.rows * wide), 15), d = normals(at(s.rows * e * x), 16),
             importance = normals(at(e), 17, 0.2f);
  std::vector<float> gates;
  for (int r = 0; r < s.rows; ++r)
    for (const double p : softmax({in.begin() + r * wide, in.begin() + r * wide + e}))
      gates.push_back(static_cast<float>(p));
  Control control{};
  control.moe_lambda_now = 3;
  Guarded<float> out(in.size());
  run(MixtureGateBackwardArgs{&control, in.data(), gates.data(), d.data(), importance.data(), out, s.rows, e, x,
                              s.tile},
      tiles(s.rows, s.tile));
  std::vector<double> want;
  for (int r = 0; r < s.rows; ++r) {
    std::vector<double> pull;
    double mean = 0;
    for (int k = 0; k < e; ++k) {
      double sum = 2.0 * 3 * e * importance[at(k)] / s.rows;
      for (int i = 0; i < x; ++i)
        sum += static_cast<double>(d[at((r * e + k) * x + i)]) *
               std::max(0.0, static_cast<double>(in[at(r * wide + e + k * x + i)]));
      pull.push_back(sum);
      mean += sum * gates[at(r * e + k)];
    }
    for (int k = 0; k < e; ++k) want.push_back(gates[at(r * e + k)] * (pull[at(k)] - mean));
    for (int k = 0; k < e; ++k)
      for (int i = 0; i < x; ++i)
        want.push_back(in[at(r * wide + e + k * x + i)] > 0
                           ? d[at((r * e + k) * x + i)] * static_cast<double>(gates[at(r * e + k)])
                           : 0);
  }
  expect_near(out, want, 5e-6, "d input");
}

TEST_P(BackwardKernels, Selection) {
  const Sizes s = GetParam();
  SelectionLayers l{};
  l.groups = s.groups, l.hidden = s.hidden;
  for (int g = 0; g < s.groups; ++g) l.first[g] = l.state, l.width[g] = 2 + g, l.state += 2 + g;
  const int stride = (l.state + 3) / 4 * 4, hidden = s.groups * s.hidden;
  const auto params = normals(at(hidden + 6), 18), x = normals(at(s.rows * stride), 19),
             d = normals(at(s.rows * l.state), 20), h = normals(at(s.rows * hidden), 21),
             logits = normals(at(s.rows * s.groups), 22);
  std::vector<float> weights;
  for (int r = 0; r < s.rows; ++r)
    for (const double p : softmax({logits.begin() + r * s.groups, logits.begin() + (r + 1) * s.groups}))
      weights.push_back(static_cast<float>(p));
  Guarded<float> score(weights.size()), out(h.size());
  run(SelectionBackwardArgs{params.data(), x.data(), d.data(), weights.data(), h.data(), score, out, 4, l, s.rows,
                            stride, s.tile},
      tiles(s.rows, s.tile));
  std::vector<double> want_score, want;
  for (int r = 0; r < s.rows; ++r) {
    std::vector<double> pull(at(s.groups));
    double mean = 0;
    for (int g = 0; g < s.groups; ++g) {
      for (int i = l.first[g]; i < l.first[g] + l.width[g]; ++i)
        pull[at(g)] += static_cast<double>(d[at(r * l.state + i)]) * x[at(r * stride + i)] * s.groups;
      mean += pull[at(g)] * weights[at(r * s.groups + g)];
    }
    for (int g = 0; g < s.groups; ++g) {
      want_score.push_back(weights[at(r * s.groups + g)] * (pull[at(g)] - mean));
      for (int i = 0; i < s.hidden; ++i)
        want.push_back(h[at(r * hidden + g * s.hidden + i)] > 0 ? want_score.back() * params[at(4 + g * s.hidden + i)]
                                                                : 0);
    }
  }
  expect_near(score, want_score, 1e-5, "d score");
  expect_near(out, want, 1e-5, "d hidden");
}

TEST_P(BackwardKernels, Expectile) {
  const Sizes s = GetParam();
  const auto params = normals(at(2 * s.width + 3), 23), h = normals(at(s.rows * 2 * s.width), 24),
             d = normals(at(s.rows * 2), 25);
  Guarded<float> out(h.size());
  run(ExpectileBackwardArgs{params.data(), h.data(), d.data(), out, 3, s.rows, s.width}, tiles(s.rows, kRowTile));
  std::vector<double> want;
  for (int r = 0; r < s.rows; ++r)
    for (int i = 0; i < 2 * s.width; ++i)
      want.push_back(
          h[at(r * 2 * s.width + i)] > 0 ? static_cast<double>(d[at(r * 2 + i / s.width)]) * params[at(3 + i)] : 0);
  expect_near(out, want, 1e-6, "d hidden");
}

// Plain sums, products, products with a shared column, and a gated one, over more rows than one chunk; two batches: the
// second must not see the first.
TEST_P(BackwardKernels, ColumnSums) {
  const Sizes s = GetParam();
  const int wide = 3 * s.width;
  Guarded<float> plain(at(s.width)), product(at(s.width)), shared(at(wide)), gated(at(wide));
  const auto gate = normals(at(wide), 26);
  ColumnSumsArgs a{};
  a.rows = s.rows;
  const auto add = [&](ColumnJob job) {
    job.first_tile = a.tiles;
    a.tiles += static_cast<int>(tiles(job.columns, kColumnTile));
    a.job[a.jobs++] = job;
  };
  for (int turn = 0; turn < 2; ++turn) {
    a.jobs = a.tiles = 0;
    const auto x = normals(at(s.rows * wide), static_cast<uint32_t>(27 + turn)),
               y = normals(at(s.rows * s.width), static_cast<uint32_t>(29 + turn));
    add({x.data(), nullptr, plain, nullptr, s.width, wide, 0, 1, 1, 0});
    add({x.data(), y.data(), product, nullptr, s.width, wide, s.width, 1, s.width, 0});
    add({x.data(), y.data(), shared, nullptr, wide, wide, s.width, s.width, wide, 0});  // column j meets y[j / width]
    add({x.data(), y.data(), gated, gate.data(), wide, wide, s.width, 1, s.width, 0});  // column j meets y[j % width]
    const uint32_t chunks = tiles(s.rows, kColumnRows);
    Guarded<float> partial(at(static_cast<int64_t>(chunks) * a.tiles * kColumnTile));
    a.partial = partial;
    run(a, static_cast<uint32_t>(a.tiles), chunks);
    ColumnFinishArgs finish{};
    std::copy(std::begin(a.job), std::end(a.job), std::begin(finish.job));
    finish.partial = partial, finish.jobs = a.jobs, finish.chunks = static_cast<int>(chunks), finish.tiles = a.tiles;
    run(finish, static_cast<uint32_t>(a.tiles));
    std::vector<double> want[4] = {std::vector<double>(at(s.width)), std::vector<double>(at(s.width)),
                                   std::vector<double>(at(wide)), std::vector<double>(at(wide))};
    for (int b = 0; b < s.rows; ++b)
      for (int j = 0; j < wide; ++j) {
        const double v = x[at(b * wide + j)];
        if (j < s.width) want[0][at(j)] += v, want[1][at(j)] += v * y[at(b * s.width + j)];
        want[2][at(j)] += v * y[at(b * s.width + j / s.width)];
        if (gate[at(j)] > 0) want[3][at(j)] += v * y[at(b * s.width + j % s.width)];
      }
    expect_near(plain, want[0], 3e-5, "plain");
    expect_near(product, want[1], 3e-5, "product");
    expect_near(shared, want[2], 3e-5, "shared");
    expect_near(gated, want[3], 3e-5, "gated");
  }
}

TEST_P(BackwardKernels, ScatterGradients) {
  const Sizes s = GetParam();
  SelectionLayers l{};
  l.groups = s.groups, l.hidden = s.hidden;
  int64_t place = 2;
  for (int g = 0; g < s.groups; ++g) {
    l.first[g] = l.state, l.width[g] = 2 + g, l.state += 2 + g;
    l.weight[g] = place, place += s.hidden * l.width[g] + 1;
  }
  const auto selection = normals(at(s.groups * s.hidden * l.state), 33), b0 = normals(at(2 * s.width), 34),
             b1 = normals(at(2 * s.width), 35);
  Guarded<float> gradients(at(place + 2 * s.width + 3));
  gradients.fill(9);
  run(
      ScatterGradientsArgs{
          selection.data(), {b0.data(), b1.data()}, gradients, {place, place + s.width + 1}, l, s.width},
      tiles(s.groups * s.hidden + 2, 16));
  std::vector<double> want(gradients.size(), 9.0);
  for (int g = 0; g < s.groups; ++g)
    for (int h = 0; h < s.hidden; ++h)
      for (int i = 0; i < l.width[g]; ++i)
        want[at(l.weight[g] + h * l.width[g] + i)] = selection[at((g * s.hidden + h) * l.state + l.first[g] + i)];
  for (int i = 0; i < s.width; ++i) want[at(place + i)] = b0[at(i)], want[at(place + s.width + 1 + i)] = b1[at(i)];
  expect_near(gradients, want, 0, "gradients");
}

}  // namespace
}  // namespace foxhunt::kernels::test
