// The forward pass's kernels against plain double loops, at odd sizes, with one row, four and eight a block.
#include "tests/kernels/kernel_rig.h"

namespace foxhunt::kernels::test {
namespace {

struct Sizes {
  int rows, scaled, width, groups, hidden, experts, expert_hidden, taus, tile;
};

class NetworkKernels : public ::testing::TestWithParam<Sizes> {
 protected:
  // Groups of widths 3, 4, 5, ...; the weights of group g lie at a gap after those before.
  static SelectionLayers selection(const Sizes& s, int64_t from = 5) {
    SelectionLayers l{};
    l.groups = s.groups;
    l.hidden = s.hidden;
    for (int g = 0; g < s.groups; ++g) {
      l.first[g] = l.state;
      l.width[g] = 3 + g;
      l.weight[g] = from;
      from += static_cast<int64_t>(s.hidden) * l.width[g] + 2;
      l.state += l.width[g];
    }
    return l;
  }
};

INSTANTIATE_TEST_SUITE_P(Sizes, NetworkKernels,
                         ::testing::Values(Sizes{13, 6, 37, 3, 7, 3, 5, 3, 1}, Sizes{21, 21, 50, 6, 19, 5, 17, 7, 4},
                                           Sizes{19, 9, 300, 6, 33, 9, 31, 5, 1},
                                           Sizes{9, 4, 290, 11, 40, 8, 34, 2, 8}));

TEST_P(NetworkKernels, EffectiveWeights) {
  const Sizes s = GetParam();
  NoisyLayers n{};
  n.count = 3;
  n.hidden = s.hidden;
  n.wide = 20;
  const int outputs[] = {9, 20, 13};
  int64_t place = 3;
  for (int l = 0; l < n.count; ++l) {
    n.outputs[l] = outputs[l];
    const int64_t size = static_cast<int64_t>(outputs[l]) * s.hidden;
    n.weight[l] = place, n.bias[l] = place + size, n.weight_sigma[l] = n.bias[l] + outputs[l] + 1;
    n.bias_sigma[l] = n.weight_sigma[l] + size;
    place = n.bias_sigma[l] + outputs[l];
  }
  const SelectionLayers groups = selection(s, place);
  const auto params = normals(static_cast<std::size_t>(place) + 5000, 1);
  const auto noise = normals(static_cast<std::size_t>(n.count * (n.hidden + n.wide)), 2);
  for (const bool noisy : {true, false}) {
    Guarded<float> weight(static_cast<std::size_t>(n.count * n.wide * n.hidden));
    Guarded<float> bias(static_cast<std::size_t>(n.count * n.wide));
    Guarded<float> dense(static_cast<std::size_t>(s.groups * s.hidden * groups.state));
    weight.fill(0), bias.fill(0), dense.fill(0);
    run(EffectiveWeightsArgs{params.data(), noisy ? noise.data() : nullptr, weight, bias, dense, n, groups},
        effective_blocks(n, groups));
    std::vector<double> want_weight(weight.size()), want_bias(bias.size()), want_dense(dense.size());
    for (int l = 0; l < n.count; ++l)
      for (int o = 0; o < outputs[l]; ++o) {
        const double e = noisy ? noise[static_cast<std::size_t>(n.count * n.hidden + l * n.wide + o)] : 0.0;
        for (int i = 0; i < s.hidden; ++i) {
          const auto at = static_cast<std::size_t>(o * s.hidden + i);
          const double in = noise[static_cast<std::size_t>(l * n.hidden + i)];
          want_weight[static_cast<std::size_t>((l * n.wide + o) * s.hidden + i)] =
              params[static_cast<std::size_t>(n.weight[l]) + at] +
              params[static_cast<std::size_t>(n.weight_sigma[l]) + at] * e * in;
        }
        want_bias[static_cast<std::size_t>(l * n.wide + o)] =
            params[static_cast<std::size_t>(n.bias[l] + o)] + params[static_cast<std::size_t>(n.bias_sigma[l] + o)] * e;
      }
    for (int g = 0; g < s.groups; ++g)
      for (int h = 0; h < s.hidden; ++h)
        for (int i = 0; i < groups.width[g]; ++i)
          want_dense[static_cast<std::size_t>((g * s.hidden + h) * groups.state + groups.first[g] + i)] =
              params[static_cast<std::size_t>(groups.weight[g] + h * groups.width[g] + i)];
    expect_near(weight, want_weight, 1e-6, "weight");
    expect_near(bias, want_bias, 1e-6, "bias");
    expect_near(dense, want_dense, 0, "selection");
  }
}

TEST_P(NetworkKernels, SelectionGate) {
  const Sizes s = GetParam();
  const SelectionLayers l = selection(s);
  const int stride = (l.state + 3) / 4 * 4, hidden = s.groups * s.hidden;
  const auto params = normals(400, 3), x = normals(static_cast<std::size_t>(s.rows * stride), 4),
             h = normals(static_cast<std::size_t>(s.rows * hidden), 5);
  Guarded<float> weights(static_cast<std::size_t>(s.rows * s.groups)), gated(x.size());
  gated.fill(0);
  run(SelectionGateArgs{params.data(), x.data(), h.data(), weights, gated, 11, 7, l, s.rows, stride, s.tile},
      tiles(s.rows, s.tile));
  std::vector<double> want_weights, want(x.size());
  for (int r = 0; r < s.rows; ++r) {
    std::vector<double> score;
    for (int g = 0; g < s.groups; ++g) {
      double sum = params[static_cast<std::size_t>(7 + g)];
      for (int i = 0; i < s.hidden; ++i)
        sum += static_cast<double>(h[static_cast<std::size_t>(r * hidden + g * s.hidden + i)]) *
               params[static_cast<std::size_t>(11 + g * s.hidden + i)];
      score.push_back(sum);
    }
    const auto p = softmax(score);
    want_weights.insert(want_weights.end(), p.begin(), p.end());
    for (int g = 0; g < s.groups; ++g)
      for (int i = l.first[g]; i < l.first[g] + l.width[g]; ++i) {
        const auto at = static_cast<std::size_t>(r * stride + i);
        want[at] = x[at] * p[static_cast<std::size_t>(g)] * s.groups;
      }
  }
  expect_near(weights, want_weights, 3e-6, "weights");
  expect_near(gated, want, 2e-5, "gated");
}

// LayerNorm of y; normalised, output and 1 / deviation.
struct Normalised {
  std::vector<double> xhat, out;
  double inverse;
};

Normalised layer_norm(const std::vector<double>& y, const float* gamma, const float* beta) {
  double mean = 0, variance = 0;
  for (const double v : y) mean += v / static_cast<double>(y.size());
  for (const double v : y) variance += (v - mean) * (v - mean) / static_cast<double>(y.size());
  Normalised n{{}, {}, 1 / std::sqrt(variance + 1e-5)};
  for (std::size_t i = 0; i < y.size(); ++i) {
    n.xhat.push_back((y[i] - mean) * n.inverse);
    n.out.push_back(n.xhat[i] * gamma[i] + beta[i]);
  }
  return n;
}

TEST_P(NetworkKernels, GatedAndMixtureNorm) {
  const Sizes s = GetParam();
  const auto count = static_cast<std::size_t>(s.rows * s.width), w = static_cast<std::size_t>(s.width);
  const auto params = normals(2 * w + 9, 6), vg = normals(2 * count, 7), base = normals(count, 8),
             skip = normals(count, 9);
  Control control{};
  control.depth_scale[1] = 0.7f, control.depth_scale[2] = 1.3f;
  for (const bool mixture : {false, true}) {
    Guarded<float> y(base), out(count), inverse(static_cast<std::size_t>(s.rows));
    if (mixture)
      run(MixtureNormArgs{params.data(), skip.data(), y, out, inverse, 2, static_cast<int64_t>(w) + 4, &control, s.rows,
                          s.scaled, s.width, s.tile},
          tiles(s.rows, s.tile));
    else
      run(GatedNormArgs{params.data(), vg.data(), y, out, inverse, 2, static_cast<int64_t>(w) + 4, &control, s.rows,
                        s.scaled, s.width, 1, s.tile},
          tiles(s.rows, s.tile));
    for (int r = 0; r < s.rows; ++r) {
      std::vector<double> row;
      const double depth = r < s.scaled ? (mixture ? 1.3f : 0.7f) : 1.0;
      for (std::size_t i = 0; i < w; ++i) {
        const auto at = static_cast<std::size_t>(r) * w + i;
        const double value = vg[2 * static_cast<std::size_t>(r) * w + i],
                     gate = vg[(2 * static_cast<std::size_t>(r) + 1) * w + i];
        row.push_back(mixture ? skip[at] + depth * base[at] : base[at] + depth * value * logistic(gate));
      }
      const auto n = layer_norm(row, params.data() + 2, params.data() + w + 4);
      ASSERT_NEAR(inverse[static_cast<std::size_t>(r)], n.inverse, 3e-6 * n.inverse);
      for (std::size_t i = 0; i < w; ++i) {
        const auto at = static_cast<std::size_t>(r) * w + i;
        ASSERT_NEAR(y[at], n.xhat[i], 1e-5) << r << " " << i;
        ASSERT_NEAR(out[at], n.out[i], 2e-5) << r << " " << i;
      }
    }
  }
}

TEST_P(NetworkKernels, MixtureGate) {
  const Sizes s = GetParam();
  const int wide = s.experts * (1 + s.expert_hidden);
  const auto in = normals(static_cast<std::size_t>(s.rows * wide), 10, 2);
  Guarded<float> gates(static_cast<std::size_t>(s.rows * s.experts)),
      out(static_cast<std::size_t>(s.rows * s.experts * s.expert_hidden));
  run(MixtureGateArgs{in.data(), gates, out, s.rows, s.experts, s.expert_hidden, s.tile}, tiles(s.rows, s.tile));
  std::vector<double> want_gates, want;
  for (int r = 0; r < s.rows; ++r) {
    const float* row = in.data() + r * wide;
    const auto p = softmax({row, row + s.experts});
    want_gates.insert(want_gates.end(), p.begin(), p.end());
    for (int e = 0; e < s.experts; ++e)
      for (int i = 0; i < s.expert_hidden; ++i)
        want.push_back(std::max(0.0, static_cast<double>(row[s.experts + e * s.expert_hidden + i])) *
                       p[static_cast<std::size_t>(e)]);
  }
  expect_near(gates, want_gates, 2e-6, "gates");
  expect_near(out, want, 3e-6, "hidden");
}

TEST_P(NetworkKernels, QuantileInput) {
  const Sizes s = GetParam();
  const auto h = normals(static_cast<std::size_t>(s.rows * s.width), 11),
             phi = normals(static_cast<std::size_t>(s.taus * s.width), 12);
  Guarded<float> z(static_cast<std::size_t>(s.rows * s.taus * s.width));
  run(QuantileInputArgs{h.data(), phi.data(), z, s.rows, s.taus, s.width, s.tile},
      tiles(static_cast<int64_t>(s.rows) * s.taus, s.tile));
  std::vector<double> want;
  for (int b = 0; b < s.rows; ++b)
    for (int t = 0; t < s.taus; ++t)
      for (int i = 0; i < s.width; ++i)
        want.push_back(static_cast<double>(h[static_cast<std::size_t>(b * s.width + i)]) *
                       phi[static_cast<std::size_t>(t * s.width + i)]);
  expect_near(z, want, 2e-7, "z");
}

}  // namespace
}  // namespace foxhunt::kernels::test
