// Tiles, the host's execution context, the table of kernels and the basic family.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "kernels/families.h"
#include "kernels/host_table.h"

namespace foxhunt::kernels {
namespace {

// Runs every block of one kernel through the table, last block first: blocks may not depend on each other.
template <class Args>
void run(const Args& args, uint32_t grid) {
  for (uint32_t i = grid; i-- > 0;) {
    Block block{};
    block.x = i;
    host_table()[static_cast<int>(KernelTraits<Args>::id)].function(block, &args);
  }
}

TEST(Tiles, CoverEveryElementOnce) {
  for (const int64_t count : {0, 1, 31, 32, 33, 1000})
    for (const int64_t size : {1, 7, 32}) {
      int64_t next = 0;
      for (uint32_t i = 0; i < tiles(count, size); ++i) {
        const Tile tile = tile_of(i, count, size);
        EXPECT_EQ(tile.begin, next);
        EXPECT_GT(tile.end, tile.begin);
        EXPECT_LE(tile.end - tile.begin, size);
        next = tile.end;
      }
      EXPECT_EQ(next, count);
      const Tile beyond = tile_of(tiles(count, size) + 3, count, size);
      EXPECT_EQ(beyond.begin, beyond.end);
    }
}

TEST(Block, IsOneThreadOnTheHost) {
  alignas(64) std::byte scratch[64];
  Block block{};
  block.memory = scratch;
  EXPECT_EQ(block.thread(), 0);
  EXPECT_EQ(block.threads(), 1);
  EXPECT_EQ(block.sum(2.5f), 2.5f);
  EXPECT_EQ(block.max(-1), -1);
  EXPECT_EQ(block.scratch<float>(), static_cast<void*>(scratch));
  const Team team = block.team();
  EXPECT_EQ(team.lanes, 1);
  EXPECT_EQ(team.teams, 1);
  EXPECT_EQ(team.min(7), 7);
  EXPECT_EQ(team.broadcast(3.0, 0), 3.0);
}

TEST(Block, FindsWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {infinity, -infinity, std::nanf(""), -std::nanf("1")}) EXPECT_TRUE(not_finite(x));
  for (const float x : {0.0f, -0.0f, std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()})
    EXPECT_FALSE(not_finite(x));
}

TEST(Block, ReinterpretsBits) {
  EXPECT_EQ(float_bits(1.0f), 0x3f800000u);
  EXPECT_EQ(bits_float(0xc0000000u), -2.0f);
}

TEST(HostTable, HoldsEveryKernelOnce) {
  const char* isa = nullptr;
  const HostEntry* table = host_table(&isa);
  EXPECT_TRUE(std::string(isa).starts_with("x86-64")) << isa;
  std::set<std::string> names;
  for (int i = 0; i < kKernelCount; ++i) {
    ASSERT_NE(table[i].function, nullptr) << "kernel " << i << " belongs to no family of the build";
    EXPECT_GT(table[i].argument_bytes, 0u);
    EXPECT_TRUE(names.insert(table[i].name).second) << table[i].name;
  }
  EXPECT_EQ(table[static_cast<int>(KernelId::scaled_add)].name, std::string("scaled_add"));
  EXPECT_EQ(table[static_cast<int>(KernelId::scaled_add)].argument_bytes, sizeof(ScaledAddArgs));
}

TEST(Basic, FillWordsTouchesItsRangeOnly) {
  for (const int64_t count : {1, 4095, 4096, 4097, 20000}) {
    std::vector<uint32_t> words(static_cast<std::size_t>(count) + 2, 0xdeadu);
    run(FillWordsArgs{words.data() + 1, count, 9}, tiles(count, kBasicTile));
    EXPECT_EQ(words.front(), 0xdeadu);
    EXPECT_EQ(words.back(), 0xdeadu);
    for (int64_t i = 1; i <= count; ++i) ASSERT_EQ(words[static_cast<std::size_t>(i)], 9u) << i;
  }
}

TEST(Basic, ScaledAddAccumulates) {
  const std::size_t count = 9001;
  std::vector<float> x(count), y(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 100) * 0.25f, y[i] = static_cast<float>(i % 7);
  const float scale = -1.5f;
  for (int turn = 0; turn < 2; ++turn)
    run(ScaledAddArgs{x.data(), &scale, y.data(), static_cast<int64_t>(count)}, tiles(count, kBasicTile));
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(y[i], static_cast<float>(static_cast<double>(i % 7) - 3.0 * 0.25 * static_cast<double>(i % 100))) << i;
}

TEST(Basic, CountDownSetsItsCondition) {
  uint32_t left = 3, word = 99;
  const CountDownArgs args{&left, reinterpret_cast<uint64_t>(&word)};
  for (const uint32_t expected : {2u, 1u, 0u}) {
    run(args, 1);
    EXPECT_EQ(left, expected);
    EXPECT_EQ(word, expected);
  }
}

}  // namespace
}  // namespace foxhunt::kernels
