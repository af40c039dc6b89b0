// Collection: n-step windows against a plain reference, ring order and wrap-around, episodes, determinism, halt,
// statistics.
#include "engine/environment/collector.h"

#include <cmath>
#include <map>

#include "engine/base/error.h"
#include "tests/environment/test_market.h"

namespace foxhunt {
namespace {

using kernels::Transition;

constexpr kernels::EnvironmentContract kContract = {0.25, 50, 2.0, 0, 1};
constexpr kernels::EnvironmentRules kRules = {16, 1e6, 0.5, 3.0, 0.25, {1, 1, 0.01, 0.1, 0.1, 0.02}};
constexpr int kSlots[16] = {8,  9,  10, 11, 12, 13, 14, 15,
                            16, 21, 22, 49, 50, 51, 81, 84};  // of the signal bus, in the state
constexpr std::array<float, 4> kGamma = {0.99f, 0.98f, 0.95f, 0.9f};

struct Situation {
  int environments = 20, episode_bars = 30, n_step = 1, threads = 2;
  std::int64_t capacity = 100'000;
  float epsilon = 0.3f, variance = 40.0f;
  bool eager = false;
  kernels::EnvironmentRules rules = kRules;
};

// A collector whose learner is mapped memory that the test reads and writes.
struct Rig {
  Situation setup;
  const market::MarketTable& table;
  std::unique_ptr<device::Device> device;
  std::unique_ptr<device::Stream> stream;
  std::unique_ptr<DeviceMarket> market;
  device::MappedBuffer<kernels::Control> control;
  device::MappedBuffer<float> signals;
  device::MappedBuffer<Transition> ring;
  device::MappedBuffer<float> priority;
  device::MappedBuffer<kernels::CollectorSignals> summary;
  std::unique_ptr<test::FeatureActor> actor;
  std::unique_ptr<Collector> collector;

  Rig(const market::MarketTable& t, const Situation& s) : setup(s), table(t), device(test::cpu(s.threads)) {
    stream = device->create_stream();
    market = std::make_unique<DeviceMarket>(*device, *stream, table);
    market->load_fold(*stream, FoldModel::fit(table, {0, table.rows()}));
    control = {*device, 1};
    signals = {*device, 160};
    summary = {*device, 1};
    ring = {*device, static_cast<std::size_t>(s.capacity)};
    priority = {*device, static_cast<std::size_t>(s.capacity)};
    for (int i = 0; i < 160; ++i) signals.host()[i] = static_cast<float>(i) / 10 - 6;
    signals.host()[12] = std::nanf("");
    control.host()->seed = 11;
    control.host()->settings.epsilon = s.epsilon;
    std::copy(kGamma.begin(), kGamma.end(), control.host()->settings.gamma);
    actor = std::make_unique<test::FeatureActor>(*device, s.environments, s.variance);
    CollectorOptions options;
    options.environments = s.environments;
    options.episode_bars = s.episode_bars;
    options.n_step = s.n_step;
    options.max_timesteps = 400;
    options.contract = kContract;
    options.rules = s.rules;
    options.eager = s.eager;
    const CollectorTarget target = {stream.get(),     control.device(), nullptr,
                                    signals.device(), summary.device(), {ring.device(), priority.device(), s.capacity}};
    collector = std::make_unique<Collector>(*device, target, actor->actor, *market, options);
  }
  std::vector<Transition> inserted() const { return {ring.host(), ring.host() + control.host()->inserted}; }
};

const market::MarketTable& market_500() {
  static const market::MarketTable table = test::make_market(500, 3);
  return table;
}

bool same(const Transition& a, const Transition& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

TEST(Collector, OneStepTransitionsInOrder) {
  Rig rig(market_500(), {});
  rig.collector->begin_fold({50, 450});
  ASSERT_EQ(rig.collector->collect(100), 100);
  const auto ring = rig.inserted();
  const RewardLog log = rig.collector->rewards();
  const int n = rig.setup.environments;
  ASSERT_EQ(ring.size(), 100u * n);
  EXPECT_EQ(rig.control.host()->collect_step, 100u);
  EXPECT_EQ(rig.control.host()->replay_size, 100u * n);
  ASSERT_EQ(log.timesteps, 100);
  for (int t = 0; t < 100; ++t) {
    for (int e = 0; e < n; ++e) {
      const std::size_t i = static_cast<std::size_t>(t * n + e);
      const Transition& x = ring[i];
      EXPECT_EQ(x.next_bar, x.bar + 1);
      EXPECT_EQ(x.steps, 1);
      EXPECT_EQ(x.collected, static_cast<std::uint32_t>(t));
      EXPECT_EQ(x.done, log.ends[i] == 2);
      for (int d = 0; d < 4; ++d) EXPECT_EQ(x.reward[d], log.rewards[i]);
      EXPECT_EQ(rig.priority.host()[i], 1.0f);
      ASSERT_GE(x.bar, 50);
      ASSERT_LT(x.next_bar, 450);
      if (t + 1 < 100) {
        const Transition& next = ring[i + static_cast<std::size_t>(n)];
        if (log.ends[i] == 0) {
          EXPECT_EQ(next.bar, x.next_bar);
          for (int k = 0; k < kernels::kOwnWidth; ++k) EXPECT_NEAR(x.next_own[k], next.own[k], 1e-6) << k;
        } else {  // flat at the start of a new episode
          for (int k : {0, 1, 2, 3, 4, 5, 7}) EXPECT_EQ(next.own[k], 0.0f) << k;
          EXPECT_EQ(next.own[6], 0.25f);
        }
      }
      for (int k = 0; k < kernels::kSignalWidth; ++k) {
        const float raw = rig.signals.host()[kSlots[k]];
        EXPECT_EQ(x.own[8 + k], std::isnan(raw) ? 0.0f : std::clamp(raw, -5.0f, 5.0f));
      }
    }
  }
}

TEST(Collector, EpisodesAreTruncatedAtTheirLengthAndStartAtRandom) {
  Rig rig(market_500(), {});
  rig.collector->begin_fold({50, 450});
  rig.collector->collect(120);
  const auto ring = rig.inserted();
  const RewardLog log = rig.collector->rewards();
  const int n = rig.setup.environments;
  std::map<int, int> starts;
  for (int e = 0; e < n; ++e) {
    int begun = 0;
    for (int t = 0; t < 120; ++t) {
      const std::size_t i = static_cast<std::size_t>(t * n + e);
      if (begun == t) ++starts[ring[i].bar];
      if (log.ends[i] == 0) continue;
      if (log.ends[i] == 1) {
        EXPECT_EQ(t + 1 - begun, 30);
      }
      EXPECT_EQ(ring[i].done, log.ends[i] == 2);
      begun = t + 1;
    }
  }
  // 80 starts over 370 places.
  EXPECT_GT(starts.size(), 60u);
  EXPECT_LT(starts.begin()->first, 100);
  EXPECT_GT(starts.rbegin()->first, 370);
}

TEST(Collector, ShortWindowsTruncateAtTheirEnd) {
  Rig rig(market_500(), {.environments = 3});
  rig.collector->begin_fold({100, 110});  // 9 decisions at most
  rig.collector->collect(40);
  for (const Transition& x : rig.inserted()) {
    EXPECT_GE(x.bar, 100);
    EXPECT_LE(x.next_bar, 109);
    EXPECT_EQ(x.done, 0);
  }
  const RewardLog log = rig.collector->rewards();
  for (int t = 0; t < 36; ++t) EXPECT_EQ(log.ends[static_cast<std::size_t>(t * 3)], t % 9 == 8 ? 1 : 0);
}

// Plain reference: from one-step experience to windows of n, in the order in which they must be inserted.
std::vector<Transition> windows_of(const std::vector<Transition>& single, const std::vector<std::uint8_t>& ends,
                                   int n_step, int n) {
  std::vector<Transition> out;
  const int timesteps = static_cast<int>(single.size()) / n;
  std::vector<int> begun(static_cast<std::size_t>(n), 0);
  const auto at = [&](int t, int e) -> const Transition& { return single[static_cast<std::size_t>(t * n + e)]; };
  for (int t = 0; t < timesteps; ++t) {
    for (int e = 0; e < n; ++e) {
      const bool ended = ends[static_cast<std::size_t>(t * n + e)] != 0;
      int& first = begun[static_cast<std::size_t>(e)];  // oldest decision whose window is open
      while (first <= t && (ended || t - first + 1 == n_step)) {
        Transition x = at(first, e);
        x.next_bar = at(t, e).next_bar;
        std::memcpy(x.next_own, at(t, e).next_own, sizeof x.next_own);
        x.steps = static_cast<std::uint8_t>(t - first + 1);
        x.done = at(t, e).done;
        x.collected = static_cast<std::uint32_t>(t);
        for (int d = 0; d < 4; ++d) {
          double sum = 0, discount = 1;
          for (int k = first; k <= t; ++k, discount *= kGamma[static_cast<std::size_t>(d)])
            sum += discount * at(k, e).reward[0];
          x.reward[d] = static_cast<float>(sum);
        }
        out.push_back(x);
        ++first;
      }
    }
  }
  return out;
}

void expect_transition(const Transition& got, const Transition& want, std::size_t i) {
  EXPECT_EQ(got.bar, want.bar) << i;
  EXPECT_EQ(got.next_bar, want.next_bar) << i;
  EXPECT_EQ(got.steps, want.steps) << i;
  EXPECT_EQ(got.done, want.done) << i;
  EXPECT_EQ(got.collected, want.collected) << i;
  EXPECT_EQ(std::memcmp(got.own, want.own, sizeof got.own), 0) << i;
  EXPECT_EQ(std::memcmp(got.next_own, want.next_own, sizeof got.next_own), 0) << i;
  EXPECT_EQ(std::memcmp(got.action, want.action, sizeof got.action), 0) << i;
  for (int d = 0; d < 4; ++d) EXPECT_NEAR(got.reward[d], want.reward[d], 1e-5 * (1 + std::abs(want.reward[d]))) << i;
}

TEST(Collector, WindowsOfSeveralStepsAgainstAPlainReference) {
  Situation setup;
  setup.rules.capital = 4'000;  // some ruins
  setup.variance = 0.05f;       // at full size
  Rig single(market_500(), setup);
  single.collector->begin_fold({0, 500});
  single.collector->collect(110);
  const RewardLog log = single.collector->rewards();
  const std::vector<std::uint8_t> ends(log.ends.begin(), log.ends.end());
  ASSERT_GT(std::count(ends.begin(), ends.end(), 1), 5);
  ASSERT_GT(std::count(ends.begin(), ends.end(), 2), 5);
  for (int n_step = 2; n_step <= 5; ++n_step) {
    Situation several = setup;
    several.n_step = n_step;
    Rig rig(market_500(), several);
    rig.collector->begin_fold({0, 500});
    rig.collector->collect(60);
    rig.collector->collect(50);  // windows stay open between collections
    const auto want = windows_of(single.inserted(), ends, n_step, setup.environments);
    const auto got = rig.inserted();
    ASSERT_EQ(got.size(), want.size()) << n_step;
    for (std::size_t i = 0; i < got.size() && !HasFailure(); ++i) expect_transition(got[i], want[i], i);
  }
}

TEST(Collector, RingWrapsAround) {
  Situation small, large;
  small.n_step = large.n_step = 3;
  small.capacity = 137;
  Rig a(market_500(), small), b(market_500(), large);
  for (Rig* rig : {&a, &b}) {
    rig->control.host()->max_priority = 2.5f;
    rig->collector->begin_fold({0, 500});
    rig->collector->collect(70);
  }
  const auto all = b.inserted();
  ASSERT_EQ(a.control.host()->inserted, all.size());
  ASSERT_GT(all.size(), 137u * 5);
  EXPECT_EQ(a.control.host()->replay_size, 137u);
  for (std::size_t i = all.size() - 137; i < all.size(); ++i) {
    EXPECT_TRUE(same(a.ring.host()[i % 137], all[i])) << i;
    EXPECT_EQ(a.priority.host()[i % 137], 2.5f);
  }
}

TEST(Collector, SameForAnyThreadsEagerOrCaptured) {
  std::vector<std::vector<Transition>> runs;
  for (int variant = 0; variant < 3; ++variant) {
    Situation setup;
    setup.environments = 70;
    setup.n_step = 4;
    setup.threads = variant == 1 ? 4 : 1;
    setup.eager = variant == 2;
    Rig rig(market_500(), setup);
    rig.collector->begin_fold({0, 500});
    rig.collector->collect(25);
    rig.collector->collect(20);
    runs.push_back(rig.inserted());
  }
  for (std::size_t v = 1; v < runs.size(); ++v) {
    ASSERT_EQ(runs[v].size(), runs[0].size());
    EXPECT_EQ(std::memcmp(runs[v].data(), runs[0].data(), runs[0].size() * sizeof(Transition)), 0) << v;
  }
}

TEST(Collector, ActsGreedilyAboveTheEpsilonFloor) {
  Situation setup;
  setup.epsilon = 0.25f;
  setup.environments = 40;
  Rig rig(market_500(), setup);
  rig.collector->begin_fold({0, 500});
  rig.collector->collect(200);
  const auto features = test::read_back(*rig.device, rig.market->bars().features, 500 * 72);
  const int first[4] = {0, 4, 7, 10}, count[4] = {4, 3, 3, 3};
  double other[4] = {};
  std::array<double, 13> frequency{};
  const auto ring = rig.inserted();
  for (const Transition& x : ring) {
    for (int b = 0; b < 4; ++b) {
      const float* q = features.data() + x.bar * 72 + first[b];
      other[b] += x.action[b] != std::max_element(q, q + count[b]) - q;
      frequency[static_cast<std::size_t>(first[b] + x.action[b])] += 1.0 / static_cast<double>(ring.size());
    }
  }
  // A random draw differs from the greedy action with probability eps (1 - 1/A); five standard deviations of 8,000.
  for (int b = 0; b < 4; ++b) {
    const double p = 0.25 * (1 - 1.0 / count[b]), n = static_cast<double>(ring.size());
    EXPECT_NEAR(other[b] / n, p, 5 * std::sqrt(p * (1 - p) / n)) << b;
  }
  const CollectorStatistics s = rig.collector->statistics();
  EXPECT_EQ(s.steps, static_cast<std::int64_t>(ring.size()));
  for (std::size_t k = 0; k < 13; ++k) EXPECT_NEAR(s.action_frequency[k], frequency[k], 1e-9);
  EXPECT_NEAR(s.explored_share, 0.25, 0.02);
  const kernels::CollectorSignals& signals = *rig.summary.host();
  EXPECT_EQ(signals.filled, 1u);
  for (std::size_t k = 0; k < 13; ++k) EXPECT_NEAR(signals.action[k], frequency[k], 1e-6);
  EXPECT_NEAR(signals.regime[0] + signals.regime[1] + signals.regime[2], 1, 1e-5);
  EXPECT_NEAR(signals.exploration_share, s.explored_share, 1e-6);
  EXPECT_NEAR(signals.exposure, s.position, 1e-6);
  EXPECT_NEAR(signals.kelly_cap, s.kelly, 1e-6);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(signals.win_rate[k], s.win_rate[k], 1e-6);
    EXPECT_NEAR(signals.reward_variance[k], s.sample_variance[k], 1e-4 * s.sample_variance[k]);
  }
}

TEST(Collector, KellyFollowsGapOverVariance) {
  for (const float variance : {40.0f, 0.05f, std::nanf("")}) {
    Situation setup;
    setup.epsilon = 0;
    setup.variance = variance;
    Rig rig(market_500(), setup);
    rig.collector->begin_fold({0, 500});
    rig.collector->collect(20);
    const auto features = test::read_back(*rig.device, rig.market->bars().features, 500 * 72);
    for (const Transition& x : rig.inserted()) {
      std::vector<double> q(features.data() + x.bar * 72, features.data() + x.bar * 72 + 4);
      std::sort(q.begin(), q.end());
      double kelly = (q[3] - q[2]) / static_cast<double>(variance);
      kelly = std::isnan(kelly) ? 0.25 : std::clamp(kelly, 0.25, 1.0);
      ASSERT_NEAR(x.next_own[6], kelly, 1e-6) << variance;
    }
  }
}

TEST(Collector, HaltFreezesEverything) {
  Rig rig(market_500(), {.n_step = 2});
  rig.collector->begin_fold({0, 500});
  rig.collector->collect(10);
  const auto before = *rig.control.host();
  const auto ring = rig.inserted();
  const auto states = rig.collector->state_blocks();
  const auto state = test::read_back(*rig.device, static_cast<const std::byte*>(states[0].data), states[0].bytes);
  rig.control.host()->halt = kernels::kHaltHost;
  EXPECT_EQ(rig.collector->collect(7), 0);
  EXPECT_EQ(rig.control.host()->inserted, before.inserted);
  EXPECT_EQ(rig.control.host()->collect_step, before.collect_step);
  EXPECT_EQ(test::read_back(*rig.device, static_cast<const std::byte*>(states[0].data), states[0].bytes), state);
  rig.control.host()->halt = 0;
  EXPECT_EQ(rig.collector->collect(7), 7);

  // As if it had never been halted.
  Rig other(market_500(), {.n_step = 2});
  other.collector->begin_fold({0, 500});
  other.collector->collect(10);
  other.collector->collect(7);
  const auto a = rig.inserted(), b = other.inserted();
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(Transition)), 0);
}

TEST(Collector, StopsWhenAsked) {
  Rig rig(market_500(), {});
  rig.collector->begin_fold({0, 500});
  std::atomic<bool> stop{true};
  EXPECT_EQ(rig.collector->collect(50, &stop), 0);
  EXPECT_EQ(rig.control.host()->inserted, 0u);
  EXPECT_EQ(rig.collector->rewards().timesteps, 0);
}

TEST(Collector, ResumesBitForBitFromItsStateBlocks) {
  Situation setup;
  setup.n_step = 5;
  Rig a(market_500(), setup), b(market_500(), setup);
  a.collector->begin_fold({20, 480});
  a.collector->collect(33);
  const auto from = a.collector->state_blocks(), to = b.collector->state_blocks();
  for (std::size_t i = 0; i < from.size(); ++i) {
    ASSERT_EQ(from[i].bytes, to[i].bytes);
    device::MappedBuffer<std::byte> saved(*b.device, from[i].bytes);
    const auto bytes = test::read_back(*a.device, static_cast<const std::byte*>(from[i].data), from[i].bytes);
    std::copy(bytes.begin(), bytes.end(), saved.host());
    b.device->stage(*b.stream, to[i].data, saved.device(), saved.bytes());
    b.device->synchronise(*b.stream);
  }
  *b.control.host() = *a.control.host();
  std::copy(a.ring.host(), a.ring.host() + a.ring.size(), b.ring.host());
  b.collector->resumed();
  a.collector->collect(40);
  b.collector->collect(40);
  const auto x = a.inserted(), y = b.inserted();
  ASSERT_EQ(x.size(), y.size());
  EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(Transition)), 0);
}

TEST(Collector, OptionsOutOfRangeAreRefused) {
  EXPECT_THROW(Rig(market_500(), {.n_step = 6}), Error);
  EXPECT_THROW(Rig(market_500(), {.n_step = 0}), Error);
  EXPECT_THROW(Rig(market_500(), {.capacity = 99}), Error);  // 20 environments may insert 100 at once
  Rig rig(market_500(), {});
  EXPECT_THROW(rig.collector->begin_fold({490, 501}), Error);
  EXPECT_THROW(rig.collector->begin_fold({490, 491}), Error);
}

}  // namespace
}  // namespace foxhunt
