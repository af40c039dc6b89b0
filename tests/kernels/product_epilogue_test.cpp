// The separate epilogues of products against plain double loops, at shapes that fill no tile evenly.
#include "kernels/product_epilogue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/families.h"
#include "kernels/host_table.h"

namespace foxhunt::kernels {
namespace {

// Runs a kernel over its grid as the host does: one thread a block.
template <class Args>
void run(std::uint32_t grid_x, std::uint32_t grid_y, const Args& args) {
  std::vector<float> scratch(kProductColumns);
  const HostEntry& entry = host_table()[static_cast<int>(KernelTraits<Args>::id)];
  for (std::uint32_t y = 0; y < grid_y; ++y) {
    for (std::uint32_t x = 0; x < grid_x; ++x) entry.function(Block{x, y, scratch.data()}, &args);
  }
}

std::vector<float> random_values(std::size_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(generator);
  return values;
}

struct Shape {
  std::int64_t rows, columns, padding;
};

class ProductEpilogue : public ::testing::TestWithParam<Shape> {};

bool mask_bit(const std::vector<std::uint8_t>& mask, std::int64_t columns, std::int64_t row, std::int64_t column) {
  const std::int64_t row_bytes = (columns + 127) / 128 * 16;
  return mask[static_cast<std::size_t>(row * row_bytes + column / 8)] >> (column % 8) & 1;
}

TEST_P(ProductEpilogue, BiasReluAndMask) {
  const auto [rows, columns, padding] = GetParam();
  const std::int64_t stride = columns + padding;
  const auto before = random_values(static_cast<std::size_t>(rows * stride), 11);
  const auto bias = random_values(static_cast<std::size_t>(columns), 12);
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(rows * ((columns + 127) / 128 * 16)), 0xaa);
  auto c = before;
  run(tiles(rows, kProductRows), 1,
      ProductBiasArgs{c.data(), bias.data(), mask.data(), rows, columns, 1, stride, 0, 0, 1});
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < stride; ++j) {
      const auto at = static_cast<std::size_t>(i * stride + j);
      if (j >= columns) {
        ASSERT_EQ(c[at], before[at]) << "padding " << i << " " << j;
        continue;
      }
      const double sum = static_cast<double>(before[at]) + bias[static_cast<std::size_t>(j)];
      ASSERT_NEAR(c[at], std::max(0.0, sum), 1e-6);
      ASSERT_EQ(mask_bit(mask, columns, i, j), c[at] > 0) << i << " " << j;
    }
  }
}

TEST_P(ProductEpilogue, MaskedGradientUndoesWhatReluStopped) {
  const auto [rows, columns, padding] = GetParam();
  const std::int64_t stride = columns + padding;
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(rows * ((columns + 127) / 128 * 16)));
  std::mt19937 generator(13);
  for (auto& byte : mask) byte = static_cast<std::uint8_t>(generator());
  const auto before = random_values(static_cast<std::size_t>(rows * stride), 14);
  auto c = before;
  run(tiles(rows, kProductRows), 1, ProductMaskArgs{c.data(), mask.data(), rows, columns, stride});
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < stride; ++j) {
      const auto at = static_cast<std::size_t>(i * stride + j);
      const bool kept = j >= columns || mask_bit(mask, columns, i, j);
      ASSERT_EQ(c[at], kept ? before[at] : 0.0f) << i << " " << j;
    }
  }
}

TEST_P(ProductEpilogue, SumsAlongBothDirections) {
  const auto [rows, columns, padding] = GetParam();
  const std::int64_t stride = columns + padding, batch = 2, matrix = rows * stride + 5;
  const auto a = random_values(static_cast<std::size_t>(batch * matrix), 15);
  const auto at = [&](std::int64_t b, std::int64_t i, std::int64_t j) -> double {
    return a[static_cast<std::size_t>(b * matrix + i * stride + j)];
  };
  std::vector<float> by_rows(static_cast<std::size_t>(batch * rows), 7),
      by_columns(static_cast<std::size_t>(batch * columns), 7);
  run(tiles(rows, kProductRows), 2, ProductRowSumsArgs{a.data(), by_rows.data(), rows, columns, stride, matrix, rows});
  run(tiles(columns, kProductColumns), 2,
      ProductColumnSumsArgs{a.data(), by_columns.data(), rows, columns, stride, matrix, columns});
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < columns; ++j) sum += at(b, i, j);
      ASSERT_NEAR(by_rows[static_cast<std::size_t>(b * rows + i)], sum, 1e-4) << b << " " << i;
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) sum += at(b, i, j);
      ASSERT_NEAR(by_columns[static_cast<std::size_t>(b * columns + j)], sum, 1e-4) << b << " " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ProductEpilogue,
                         ::testing::Values(Shape{1, 1, 0}, Shape{3, 7, 2}, Shape{8, 32, 0}, Shape{17, 130, 3},
                                           Shape{64, 257, 1}));

TEST(ProductBias, EachMatrixOfABatchHasItsOwnBias) {
  const std::int64_t rows = 3, columns = 5, batch = 4, stride = 6, matrix = rows * stride, bias_stride = 7;
  const auto before = random_values(static_cast<std::size_t>(batch * matrix), 21);
  const auto bias = random_values(static_cast<std::size_t>(batch * bias_stride), 22);
  auto c = before;
  run(tiles(rows * batch, kProductRows), 1,
      ProductBiasArgs{c.data(), bias.data(), nullptr, rows, columns, batch, stride, matrix, bias_stride, 0});
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto at = static_cast<std::size_t>(b * matrix + i * stride + j);
        ASSERT_EQ(c[at], before[at] + bias[static_cast<std::size_t>(b * bias_stride + j)]);
      }
    }
  }
}

TEST(ProductBias, ReluKeepsNaN) {
  float c[] = {std::numeric_limits<float>::quiet_NaN(), -1.0f};
  const float bias[] = {0.0f, 0.0f};
  std::vector<std::uint8_t> mask(16);
  run(1, 1, ProductBiasArgs{c, bias, mask.data(), 1, 2, 1, 2, 0, 0, 1});
  EXPECT_TRUE(std::isnan(c[0]));
  EXPECT_EQ(c[1], 0.0f);
  EXPECT_EQ(mask[0], 0);
}

}  // namespace
}  // namespace foxhunt::kernels
