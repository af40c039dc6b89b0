// Philox against published answers, and the statistics of the numbers made from it.
#include "kernels/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace foxhunt::kernels {
namespace {

constexpr int kDraws = 200000;
constexpr uint64_t kSeed = 20240511;

std::vector<uint32_t> words(const Random4& r) {
  return {r.v[0], r.v[1], r.v[2], r.v[3]};
}

// Known answers of philox4x32-10 (kat_vectors of Random123): counter and key words of all zeros, all ones, digits of
// pi. Purpose 0 leaves the counter as element (low words) and step (high words).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(words(philox(0, 0, 0, 0)), (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint64_t ones = ~uint64_t{0};
  EXPECT_EQ(words(philox(ones, 0, ones, ones)),
            (std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words(philox(0x299f31d0a4093822, 0, 0x0370734413198a2e, 0x85a308d3243f6a88)),
            (std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, EveryPartOfTheAddressMatters) {
  std::set<std::vector<uint32_t>> seen;
  for (const uint64_t seed : {1ull, 2ull, 1ull << 40})
    for (uint32_t purpose = 1; purpose <= 11; ++purpose)
      for (const uint64_t step : {0ull, 1ull, 1ull << 33})
        for (const uint64_t element : {0ull, 1ull, 1ull << 33})
          seen.insert(words(philox(seed, purpose, step, element)));
  EXPECT_EQ(seen.size(), 3u * 11 * 3 * 3);
}

TEST(Random, UniformStaysInsideItsInterval) {
  EXPECT_EQ(uniform(0), 0.0f);
  EXPECT_EQ(uniform(0xffffffffu), 1.0f - 1.0f / 16777216.0f);
  EXPECT_EQ(uniform53(0, 0), 0.0);
  EXPECT_LT(uniform53(0xffffffffu, 0xffffffffu), 1.0);
}

// Moments of n draws lie within five standard errors.
TEST(Random, UniformMoments) {
  double sum = 0, square = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = uniform(philox(kSeed, 1, 7, static_cast<uint64_t>(i)).v[0]);
    sum += u, square += u * u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(square / kDraws, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kDraws));
}

TEST(Random, NormalMoments) {
  double sum[5] = {};
  for (int i = 0; i < kDraws; ++i) {
    const Random4 r = philox(kSeed, 2, 7, static_cast<uint64_t>(i));
    const double x = normal(r.v[0], r.v[1]);
    ASSERT_TRUE(std::isfinite(x));
    double power = 1;
    for (int p = 1; p <= 4; ++p) sum[p] += power *= x;
  }
  EXPECT_NEAR(sum[1] / kDraws, 0, 5 * std::sqrt(1.0 / kDraws));
  EXPECT_NEAR(sum[2] / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(sum[3] / kDraws, 0, 5 * std::sqrt(15.0 / kDraws));
  EXPECT_NEAR(sum[4] / kDraws, 3, 5 * std::sqrt(96.0 / kDraws));
}

TEST(Random, NormalOfTheExtremesIsFinite) {
  for (const uint32_t a : {0u, 0xffffffffu})
    for (const uint32_t b : {0u, 0xffffffffu}) EXPECT_TRUE(std::isfinite(normal(a, b))) << a << " " << b;
}

}  // namespace
}  // namespace foxhunt::kernels
