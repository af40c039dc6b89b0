// Prioritised sampling: sums, frequencies against theory by chi-squared over 10^6 draws, importance weights, gather,
// and priorities written back, at ring sizes that fill no tile.
#include "tests/kernels/kernel_rig.h"

namespace foxhunt::kernels::test {
namespace {

std::size_t at(int64_t i) {
  return static_cast<std::size_t>(i);
}

constexpr uint64_t kSeed = 20240519;

// Upper tail of chi-squared by Wilson and Hilferty's cube root, good to three digits for many degrees of freedom.
double p_value(double chi_squared, double degrees) {
  const double v = 2 / (9 * degrees), z = (std::cbrt(chi_squared / degrees) - (1 - v)) / std::sqrt(v);
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

// A ring of priorities and everything the children around it need.
struct Ring {
  explicit Ring(std::vector<float> values, int batch, int64_t capacity = 0)
      : priority(padded(values, capacity)),
        count(static_cast<int>(tiles(static_cast<int64_t>(priority.size()), kPriorityTile))),
        sums(at(count)),
        chunks(at(int64_t{count} * (kPriorityTile / kPriorityChunk))),
        prefix(at(count + 1)),
        largest(1),
        index(at(batch)),
        probability(at(batch)) {
    control.seed = kSeed;
    control.replay_size = static_cast<uint32_t>(values.size());
    control.max_priority = 1;
  }
  static std::vector<float> padded(std::vector<float> values, int64_t capacity) {
    if (capacity > static_cast<int64_t>(values.size()))
      values.resize(at(capacity), 1e9f);  // not yet filled: must not count
    return values;
  }
  void sum() {
    run(SumPrioritiesArgs{priority, &control, sums, chunks}, static_cast<uint32_t>(count));
    run(ScanTilesArgs{sums, prefix, largest, count}, 1);
  }
  void draw() {
    const auto batch = static_cast<int32_t>(index.size());
    run(DrawSamplesArgs{priority, &control, prefix, chunks, index, probability, batch, count}, tiles(batch, 32));
  }
  double total() const {
    double sum = 0;
    for (uint32_t i = 0; i < control.replay_size; ++i) sum += static_cast<double>(const_cast<Ring*>(this)->priority[i]);
    return sum;
  }

  Guarded<float> priority;
  int count;
  Guarded<PriorityTile> sums;
  Guarded<double> chunks, prefix;
  Guarded<float> largest;
  Guarded<int32_t> index;
  Guarded<float> probability;
  Control control{};
};

std::vector<float> priorities(std::size_t count, uint32_t seed) {
  auto values = normals(count, seed);
  for (float& x : values) x = 0.05f + x * x;
  return values;
}

TEST(PrioritySums, AgainstPlainSums) {
  for (const int64_t size : {1, 31, 1024, 1025, 3333})
    for (const int64_t capacity : {size, size + 2000}) {
      Ring ring(priorities(at(size), 1), 4, capacity);
      ring.sum();
      double sum = 0, largest = 0;
      for (int64_t i = 0; i < size; ++i) {
        if (i % kPriorityTile == 0) {
          ASSERT_NEAR(ring.prefix[at(i / kPriorityTile)], sum, 1e-12 * (1 + sum)) << i;
        }
        sum += static_cast<double>(ring.priority[at(i)]);
        largest = std::max(largest, static_cast<double>(ring.priority[at(i)]));
      }
      ASSERT_NEAR(ring.prefix[at(ring.count)], sum, 1e-12 * sum) << size << " of " << capacity;
      ASSERT_EQ(ring.largest[0], static_cast<float>(largest));
    }
}

// Batches of one: independent draws, so that chi-squared follows its distribution on both sides.
TEST(Frequencies, SingleDrawsMatchTheory) {
  const int64_t size = 1500;
  constexpr int draws = 1'000'000;
  Ring ring(priorities(at(size), 2), 1, 2048);
  ring.sum();
  std::vector<double> seen(at(size));
  for (int i = 0; i < draws; ++i) {
    ring.control.step = static_cast<uint64_t>(i) + 1;
    ring.draw();
    ASSERT_TRUE(ring.index[0] >= 0 && ring.index[0] < size);
    seen[at(ring.index[0])] += 1;
  }
  double chi = 0;
  for (int64_t i = 0; i < size; ++i) {
    const double want = draws * static_cast<double>(ring.priority[at(i)]) / ring.total();
    chi += std::pow(seen[at(i)] - want, 2) / want;
  }
  const double p = p_value(chi, static_cast<double>(size) - 1);
  EXPECT_GT(p, 0.001) << "chi-squared " << chi;
  EXPECT_LT(p, 0.999) << "chi-squared " << chi;
}

// Batches of 64: stratified, ascending, each sample in its own stratum; frequencies at least as even.
TEST(Frequencies, StratifiedBatchesMatchTheory) {
  const int64_t size = 2500;
  constexpr int batch = 64, batches = 15'625;
  Ring ring(priorities(at(size), 3), batch, 4096);
  ring.sum();
  std::vector<double> seen(at(size)), upto(at(size + 1));
  for (int64_t i = 0; i < size; ++i) upto[at(i + 1)] = upto[at(i)] + static_cast<double>(ring.priority[at(i)]);
  const double total = upto.back();
  for (int k = 0; k < batches; ++k) {
    ring.control.step = static_cast<uint64_t>(k) + 1;
    ring.draw();
    for (int b = 0; b < batch; ++b) {
      const int64_t i = ring.index[at(b)];
      ASSERT_TRUE(i >= 0 && i < size && (b == 0 || ring.index[at(b - 1)] <= i));
      ASSERT_LE(upto[at(i)], total * (b + 1) / batch + 1e-9);
      ASSERT_GE(upto[at(i + 1)], total * b / batch - 1e-9);
      ASSERT_EQ(ring.probability[at(b)], ring.priority[at(i)]);
      seen[at(i)] += 1;
    }
  }
  double chi = 0;
  for (int64_t i = 0; i < size; ++i) {
    const double want = 1e6 * static_cast<double>(ring.priority[at(i)]) / total;
    chi += std::pow(seen[at(i)] - want, 2) / want;
  }
  EXPECT_GT(p_value(chi, static_cast<double>(size) - 1), 0.001) << "chi-squared " << chi;
}

TEST(Frequencies, AllEqualIsUniform) {
  const int64_t size = 1100;
  Ring ring(std::vector<float>(at(size), 0.125f), 50);
  ring.sum();
  std::vector<double> seen(at(size));
  for (int k = 0; k < 2000; ++k) {
    ring.control.step = static_cast<uint64_t>(k);
    ring.draw();
    for (int b = 0; b < 50; ++b) seen[at(ring.index[at(b)])] += 1;
  }
  double chi = 0;
  for (const double n : seen)
    chi += std::pow(n - 1e5 / static_cast<double>(size), 2) / (1e5 / static_cast<double>(size));
  EXPECT_GT(p_value(chi, static_cast<double>(size) - 1), 0.001);
}

TEST(Extremes, OneHotTakesEverySample) {
  for (const int64_t hot : {0, 31, 32, 1023, 1024, 1499}) {
    std::vector<float> values(1500, 0.0f);
    values[at(hot)] = 0.3f;
    Ring ring(values, 33);
    ring.sum();
    for (uint64_t step = 0; step < 50; ++step) {
      ring.control.step = step;
      ring.draw();
      for (int b = 0; b < 33; ++b) ASSERT_EQ(ring.index[at(b)], hot);
    }
  }
}

TEST(Extremes, ZerosAreNeverDrawn) {
  auto values = priorities(3000, 4);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i % 3 != 1 || i > 2900) values[i] = 0;
  Ring ring(values, 64);
  ring.sum();
  for (uint64_t step = 0; step < 2000; ++step) {
    ring.control.step = step;
    ring.draw();
    for (int b = 0; b < 64; ++b) ASSERT_GT(values[at(ring.index[at(b)])], 0.0f);
  }
}

// Without any mass, every entry is as likely as another.
TEST(Extremes, NoMassIsUniform) {
  Ring ring(std::vector<float>(200, 0.0f), 100);
  ring.sum();
  std::vector<double> seen(200);
  for (uint64_t step = 0; step < 1000; ++step) {
    ring.control.step = step;
    ring.draw();
    for (int b = 0; b < 100; ++b) seen[at(ring.index[at(b)])] += 1;
  }
  for (const double n : seen) EXPECT_NEAR(n, 500, 150);
}

// A million times smaller, and beside a giant: what an fp32 sum would lose still has its share.
TEST(Extremes, TinyAndHuge) {
  std::vector<float> values(4096, 1e-4f);
  values[77] = 1e4f;
  Ring ring(values, 1);
  ring.sum();
  EXPECT_NEAR(ring.prefix[at(ring.count)], 1e4 + 4095 * static_cast<double>(1e-4f), 1e-9);
  int others = 0;
  constexpr int draws = 400'000;
  for (int k = 0; k < draws; ++k) {
    ring.control.step = static_cast<uint64_t>(k);
    ring.draw();
    others += ring.index[0] != 77;
  }
  const double want = draws * 4095e-4 / (1e4 + 0.4095);
  EXPECT_NEAR(others, want, 5 * std::sqrt(want));
  Ring small(std::vector<float>(3000, 1e-30f), 64);
  small.sum();
  small.control.step = 5;
  small.draw();
  EXPECT_GT(small.index[63], 2900);
  EXPECT_LT(small.index[0], 60);
}

// A sample of one entry, a batch larger than the ring, a ring of one.
TEST(Extremes, SmallRings) {
  for (const std::size_t size : {1, 2, 5}) {
    Ring ring(priorities(size, 5), 64, 1024);
    ring.sum();
    ring.control.step = 3;
    ring.draw();
    for (int b = 0; b < 64; ++b) ASSERT_LT(at(ring.index[at(b)]), size);
    EXPECT_EQ(ring.index[63], static_cast<int>(size) - 1);
  }
}

// Writes of duplicates, halted, injected; the largest ever stored.
TEST(WriteBack, TwinsKeepTheLastValue) {
  Ring ring(priorities(40, 6), 6);
  ring.sum();
  const std::vector<int32_t> index{3, 7, 7, 7, 12, 39};
  const std::vector<float> fresh{0.5f, 9, 1, 2, 0, 30};
  auto want = ring.priority.copy();
  want[3] = 0.5f, want[7] = 2, want[12] = 0, want[39] = 30;
  const WritePrioritiesArgs args{index.data(), fresh.data(), ring.largest, ring.priority, &ring.control, 6};
  const auto before = ring.priority.copy();
  ring.control.halt = kHaltNan;
  run(args, 1);
  EXPECT_EQ(ring.priority.copy(), before);
  ring.control.halt = 0, ring.control.settings.injected = 1;
  run(args, 1);
  EXPECT_EQ(ring.priority.copy(), before);
  ring.control.settings.injected = 0;
  run(args, 1);
  EXPECT_EQ(ring.priority.copy(), want);
  EXPECT_EQ(ring.control.max_priority, 30.0f);
}

// 10^6 updates: the sums stay those of the values stored.
TEST(WriteBack, AMillionUpdatesCauseNoDrift) {
  constexpr int batch = 1000;
  Ring ring(priorities(1500, 7), batch);
  const auto fresh = priorities(64'000, 8);
  ring.sum();
  for (int k = 0; k < 1000; ++k) {
    ring.control.step = static_cast<uint64_t>(k);
    ring.draw();
    const float scale = std::pow(10.0f, static_cast<float>(k % 7) - 3);
    std::vector<float> values(batch);
    for (int b = 0; b < batch; ++b) values[at(b)] = scale * fresh[at((k * 64 + b) % 64'000)];
    run(WritePrioritiesArgs{ring.index, values.data(), ring.largest, ring.priority, &ring.control, batch}, 1);
    ring.sum();
    ASSERT_NEAR(ring.prefix[at(ring.count)], ring.total(), 1e-12 * ring.total()) << "after " << (k + 1) * batch;
  }
}

// Gather: states, actions, rewards over the scale, discounts over the steps really taken, weights against theory.
TEST(Gather, AgainstPlainLoops) {
  for (const int batch : {5, 37}) {
    constexpr int bars = 60, size = 200, D = 4, width = kMarketWidth + kOwnWidth, stride = width + 4;
    std::mt19937 generator(9);
    std::vector<Transition> ring(size);
    const auto own = normals(size * 2 * kOwnWidth, 10), raw = normals(size * D, 11),
               features = normals(bars * kMarketWidth, 12), labels = normals(bars * 4, 13);
    for (int i = 0; i < size; ++i) {
      Transition& t = ring[at(i)];
      t.bar = static_cast<int>(generator() % bars), t.next_bar = static_cast<int>(generator() % bars);
      std::copy_n(own.begin() + i * 2 * kOwnWidth, kOwnWidth, t.own);
      std::copy_n(own.begin() + (i * 2 + 1) * kOwnWidth, kOwnWidth, t.next_own);
      for (int d = 0; d < D; ++d) t.reward[d] = raw[at(i * D + d)], t.action[d] = static_cast<uint8_t>(generator() % 3);
      t.steps = static_cast<uint8_t>(1 + generator() % 5), t.done = i % 7 == 0;
    }
    Ring priority(priorities(size, 14), batch);
    Settings& s = priority.control.settings;
    s.reward_scale = 2.5f;
    for (int d = 0; d < D; ++d) s.gamma[d] = 0.99f - 0.02f * static_cast<float>(d);
    priority.control.beta = 0.7f;
    priority.control.step = 11;
    priority.sum();
    priority.draw();
    BarTable table{};
    table.features = features.data(), table.labels = labels.data(), table.rows = bars;
    Guarded<float> state(at(2 * batch * stride)), reward(at(batch * D)), discount(at(batch * D)), weight(at(batch)),
        regime(at(batch)), aux(at(batch * 4));
    Guarded<int32_t> action(at(batch * D));
    state.fill(0);
    GatherBatchArgs a{};
    a.ring = ring.data(), a.control = &priority.control, a.bars = table, a.index = priority.index,
    a.probability = priority.probability;
    a.state = state, a.action = action, a.reward = reward, a.discount = discount, a.weight = weight, a.regime = regime,
    a.aux = aux;
    a.batch = batch, a.width = width, a.stride = stride, a.branches = D;
    run(a, tiles(batch, kRowTile));
    double most = 0;
    const double total = priority.total();
    const auto theory = [&](int b) {
      return std::pow(size * static_cast<double>(priority.priority[at(priority.index[at(b)])]) / total, -0.7);
    };
    for (int b = 0; b < batch; ++b) most = std::max(most, theory(b));
    for (int b = 0; b < batch; ++b) {
      const Transition& t = ring[at(priority.index[at(b)])];
      for (int k = 0; k < stride; ++k) {
        const bool market = k < kMarketWidth, inside = k < width;
        ASSERT_EQ(state[at(b * stride + k)], !inside  ? 0.0f
                                             : market ? features[at(t.bar * kMarketWidth + k)]
                                                      : t.own[k - kMarketWidth]);
        ASSERT_EQ(state[at((batch + b) * stride + k)], !inside  ? 0.0f
                                                       : market ? features[at(t.next_bar * kMarketWidth + k)]
                                                                : t.next_own[k - kMarketWidth]);
      }
      for (int d = 0; d < D; ++d) {
        ASSERT_EQ(action[at(b * D + d)], t.action[d]);
        ASSERT_NEAR(reward[at(b * D + d)], t.reward[d] / 2.5, 1e-6);
        ASSERT_NEAR(discount[at(b * D + d)], t.done ? 0.0 : std::pow(static_cast<double>(s.gamma[d]), t.steps), 1e-6);
      }
      for (int k = 0; k < 3; ++k) ASSERT_EQ(aux[at(b * 4 + k)], labels[at(t.bar * 4 + k)]);
      ASSERT_EQ(regime[at(b)], labels[at(t.bar * 4 + 3)]);
      ASSERT_NEAR(weight[at(b)], theory(b) / most, 1e-5);
      ASSERT_LE(weight[at(b)], 1.0f);
    }
  }
}

TEST(Gather, InjectedBatchReplacesTheRing) {
  for (const int B : {3, 19}) {
    constexpr int D = 3, width = 11, stride = 12;
    const auto s = normals(at(B * width), 20), s2 = normals(at(B * width), 21), r = normals(at(B * D), 22),
               g = normals(at(B * D), 23), w = normals(at(B), 24), m = normals(at(B), 25), x = normals(at(B * 4), 26);
    std::vector<int32_t> act;
    for (int i = 0; i < B * D; ++i) act.push_back(i % 4);
    Control control{};
    control.settings.injected = 1;
    Guarded<float> state(at(2 * B * stride)), reward(r.size()), discount(g.size()), weight(w.size()), regime(m.size()),
        aux(x.size());
    Guarded<int32_t> action(act.size());
    state.fill(0);
    GatherBatchArgs a{};
    a.control = &control,
    a.injected = {s.data(), s2.data(), act.data(), r.data(), g.data(), w.data(), m.data(), x.data()};
    a.state = state, a.action = action, a.reward = reward, a.discount = discount, a.weight = weight, a.regime = regime,
    a.aux = aux;
    a.batch = B, a.width = width, a.stride = stride, a.branches = D;
    run(a, tiles(B, kRowTile));
    for (int b = 0; b < B; ++b)
      for (int k = 0; k < stride; ++k) {
        ASSERT_EQ(state[at(b * stride + k)], k < width ? s[at(b * width + k)] : 0.0f);
        ASSERT_EQ(state[at((B + b) * stride + k)], k < width ? s2[at(b * width + k)] : 0.0f);
      }
    EXPECT_EQ(reward.copy(), r);
    EXPECT_EQ(discount.copy(), g);
    EXPECT_EQ(weight.copy(), w);
    EXPECT_EQ(regime.copy(), m);
    EXPECT_EQ(aux.copy(), x);
    EXPECT_EQ(action.copy(), act);
  }
}

}  // namespace
}  // namespace foxhunt::kernels::test
