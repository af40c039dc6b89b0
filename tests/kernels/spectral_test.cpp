// The batched power iteration against a plain one, on matrices that fill no tile evenly; several iterations find the
// largest singular value.
#include "tests/kernels/kernel_rig.h"

namespace foxhunt::kernels::test {
namespace {

struct Shape {
  int rows, columns;
};

// The kernels' argument of the first `count` matrices.
SpectralList argument(const std::vector<SpectralMatrix>& list) {
  SpectralList out{};
  out.count = static_cast<int32_t>(list.size()) - 1;
  std::copy(list.begin(), list.end() - 1, out.matrix);
  return out;
}

// Matrices laid out as the learner does; the last entry is the end.
std::vector<SpectralMatrix> layout(const std::vector<Shape>& shapes) {
  std::vector<SpectralMatrix> list;
  SpectralMatrix m{};
  m.weight = 3;
  for (const Shape& s : shapes) {
    m.rows = s.rows, m.columns = s.columns;
    list.push_back(m);
    m.weight += static_cast<int64_t>(s.rows) * s.columns + 5;
    m.u += s.rows, m.v += s.columns;
    m.column_tile += (s.columns + kSpectralColumns - 1) / kSpectralColumns;
    m.row_tile += (s.rows + kSpectralRows - 1) / kSpectralRows;
    m.element_tile += (s.rows * s.columns + kSpectralElements - 1) / kSpectralElements;
  }
  list.push_back(m);  // the end: sizes of vectors and grids
  return list;
}

class SpectralKernels : public ::testing::TestWithParam<std::vector<Shape>> {};

INSTANTIATE_TEST_SUITE_P(Lists, SpectralKernels,
                         ::testing::Values(std::vector<Shape>{{5, 3}, {17, 65}, {1, 7}},
                                           std::vector<Shape>{{131, 129}, {64, 16}, {33, 200}, {2, 1}}));

TEST_P(SpectralKernels, IterationAndScaleDown) {
  const auto list = layout(GetParam());
  const int count = static_cast<int>(list.size()) - 1;
  const SpectralMatrix& end = list.back();
  const float limit = 4;
  Control control{};
  control.settings.spectral_max = limit;
  Guarded<float> params(normals(static_cast<std::size_t>(end.weight), 21)),
      u(normals(static_cast<std::size_t>(end.u), 22)), v(static_cast<std::size_t>(end.v)),
      product(static_cast<std::size_t>(end.u)), sigma(static_cast<std::size_t>(count));
  std::vector<double> w(params.data(), params.data() + params.size()), want_u(u.data(), u.data() + u.size());
  for (int turn = 0; turn < 3; ++turn) {
    const SpectralColumnsArgs columns{params, argument(list), u, v};
    run(columns, static_cast<uint32_t>(end.column_tile));
    run(SpectralRowsArgs{params, argument(list), v, product}, static_cast<uint32_t>(end.row_tile));
    run(SpectralScaleArgs{params, argument(list), product, u, sigma, &control},
        static_cast<uint32_t>(end.element_tile));
    for (int k = 0; k < count; ++k) {
      const SpectralMatrix& m = list[static_cast<std::size_t>(k)];
      double* a = w.data() + m.weight;
      double* left = want_u.data() + m.u;
      std::vector<double> right(static_cast<std::size_t>(m.columns)), wv(static_cast<std::size_t>(m.rows));
      double norm = 0, s = 0;
      for (int j = 0; j < m.columns; ++j) {
        for (int i = 0; i < m.rows; ++i) right[static_cast<std::size_t>(j)] += a[i * m.columns + j] * left[i];
        norm += right[static_cast<std::size_t>(j)] * right[static_cast<std::size_t>(j)];
      }
      for (double& x : right) x /= std::max(std::sqrt(norm), 1e-12);
      norm = 0;
      for (int i = 0; i < m.rows; ++i) {
        for (int j = 0; j < m.columns; ++j)
          wv[static_cast<std::size_t>(i)] += a[i * m.columns + j] * right[static_cast<std::size_t>(j)];
        norm += wv[static_cast<std::size_t>(i)] * wv[static_cast<std::size_t>(i)];
      }
      norm = std::max(std::sqrt(norm), 1e-12);
      for (int i = 0; i < m.rows; ++i) {
        left[i] = wv[static_cast<std::size_t>(i)] / norm;
        s += left[i] * wv[static_cast<std::size_t>(i)];
      }
      const double scale = std::min(1.0, limit / std::max(s, 1e-12));
      for (int i = 0; i < m.rows * m.columns; ++i) a[i] *= scale;
      ASSERT_NEAR(sigma[static_cast<std::size_t>(k)], s, 1e-5 * s) << "matrix " << k << " turn " << turn;
    }
    expect_near(u, want_u, 2e-5, "u");
    expect_near(params, w, 1e-5, "weights, and what lies between the matrices");
  }
}

TEST_P(SpectralKernels, HaltedChangesNothing) {
  const auto list = layout(GetParam());
  const int count = static_cast<int>(list.size()) - 1;
  const SpectralMatrix& end = list.back();
  Control control{};
  control.settings.spectral_max = 0.1f;
  control.halt = kHaltHost;
  Guarded<float> params(normals(static_cast<std::size_t>(end.weight), 23)),
      u(normals(static_cast<std::size_t>(end.u), 24)), product(normals(static_cast<std::size_t>(end.u), 25)),
      sigma(static_cast<std::size_t>(count));
  sigma.fill(7);
  const auto before = params.copy(), vectors = u.copy();
  run(SpectralScaleArgs{params, argument(list), product, u, sigma, &control}, static_cast<uint32_t>(end.element_tile));
  EXPECT_EQ(params.copy(), before);
  EXPECT_EQ(u.copy(), vectors);
}

// A diagonal matrix: the iteration converges to its largest entry.
TEST(SpectralIteration, FindsTheLargestSingularValue) {
  const auto list = layout({{4, 4}});
  Control control{};
  control.settings.spectral_max = 1e30f;
  Guarded<float> params(static_cast<std::size_t>(list[1].weight)), u(std::vector<float>(4, 0.5f)), v(4), product(4),
      sigma(1);
  params.fill(0);
  const float diagonal[] = {1, -3, 2, 0.5f};
  for (std::size_t i = 0; i < 4; ++i) params[3 + 5 * i] = diagonal[i];
  for (int turn = 0; turn < 40; ++turn) {
    run(SpectralColumnsArgs{params, argument(list), u, v}, 1);
    run(SpectralRowsArgs{params, argument(list), v, product}, 1);
    run(SpectralScaleArgs{params, argument(list), product, u, sigma, &control}, 1);
  }
  EXPECT_NEAR(sigma[0], 3, 1e-5);
}

// A matrix of zeros stays so, without a NaN.
TEST(SpectralIteration, ZeroMatrix) {
  const auto list = layout({{3, 5}});
  Control control{};
  control.settings.spectral_max = 4;
  Guarded<float> params(static_cast<std::size_t>(list[1].weight)), u(std::vector<float>(3, 0.6f)), v(5), product(3),
      sigma(1);
  params.fill(0);
  run(SpectralColumnsArgs{params, argument(list), u, v}, 1);
  run(SpectralRowsArgs{params, argument(list), v, product}, 1);
  run(SpectralScaleArgs{params, argument(list), product, u, sigma, &control}, 1);
  EXPECT_EQ(sigma[0], 0.0f);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(u[i], 0.0f);
  for (std::size_t i = 0; i < params.size(); ++i) EXPECT_EQ(params[i], 0.0f);
}

}  // namespace
}  // namespace foxhunt::kernels::test
