// The fold boundary: every state is poisoned, the boundary crossed, and each registry row's policy checked.
#include "engine/telemetry/telemetry.h"
#include "tests/learner/learner_rig.h"

namespace foxhunt::test {
namespace {

constexpr int kFold = 3;

class FoldBoundary : public ::testing::Test {
 protected:
  static LearnerOptions options() { return rig_options(small_config(), 16); }

  // Different values in every float of every tensor; padding stays zero.
  static std::vector<float> poison(Rig& rig, std::uint32_t seed, float size) {
    std::vector<float> values(rig.arena, 0.0f);
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> uniform(size, 2 * size);
    for (const TensorSpec& t : rig.learner->table().tensors())
      for (std::int64_t i = t.offset; i < t.offset + t.size; ++i)
        values[static_cast<std::size_t>(i)] = uniform(generator);
    return values;
  }
  static void poison_all(Rig& rig) {
    rig.set_arena(rig.learner->params(), poison(rig, 1, 1));
    rig.set_arena(rig.learner->target(), poison(rig, 2, 5));
    rig.set_arena(rig.learner->moment1(), poison(rig, 3, 1));
    rig.set_arena(rig.learner->moment2(), poison(rig, 4, 1));
    rig.set_control([](kernels::Control& c) {
      c.step = 777, c.collect_step = 555, c.adam_t = 99, c.since_reset = 98;
      c.tau = c.beta = c.c51_alpha = c.iqn_readiness = c.moe_lambda_now = 0.77f;
      c.mse_fast = c.mse_slow = c.iqn_ema = c.iqn_anchor = c.gate_entropy_ema = 0.66f;
      c.mse_steps = c.iqn_steps = c.entropy_steps = 44;
      c.last_mse = c.last_iqn = c.last_entropy = 0.55f;
      c.inserted = 4321, c.max_priority = 9;
    });
  }
};

TEST_F(FoldBoundary, ParametersShrinkAndPerturbEveryTensor) {
  Rig rig(options());
  poison_all(rig);
  const auto before = rig.arena_of(rig.learner->params());
  rig.learner->begin_fold(kFold);
  const auto after = rig.arena_of(rig.learner->params());
  double square = 0, count = 0;
  std::vector<bool> inside(rig.arena, false);
  for (const TensorSpec& t : rig.learner->table().tensors()) {
    double moved = 0;
    for (std::int64_t i = t.offset; i < t.offset + t.size; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double left = static_cast<double>(after[k]) - 0.8 * static_cast<double>(before[k]);
      ASSERT_LE(std::abs(left), 0.001 * 6) << t.name;
      moved += std::abs(left), square += left * left, count += 1, inside[k] = true;
    }
    EXPECT_GT(moved, 0) << t.name << " was not perturbed";
  }
  EXPECT_NEAR(std::sqrt(square / count), 0.001, 0.0001);
  for (std::size_t i = 0; i < rig.arena; ++i)
    if (!inside[i]) {
      ASSERT_EQ(after[i], 0.0f) << "padding " << i;
    }
}

TEST_F(FoldBoundary, TargetIsOnlineBitForBitAndMomentsAreZero) {
  Rig rig(options());
  poison_all(rig);
  rig.learner->begin_fold(kFold);
  const auto params = rig.arena_of(rig.learner->params()), target = rig.arena_of(rig.learner->target());
  EXPECT_TRUE(same_bits(params, target));
  const TensorSpec& head = rig.learner->table().at("iqn.out.weight");
  EXPECT_NE(target[static_cast<std::size_t>(head.offset)], 0.0f) << "the IQN head is part of the arena";
  const std::vector<float> zeros(rig.arena, 0.0f);
  EXPECT_TRUE(same_bits(rig.arena_of(rig.learner->moment1()), zeros));
  EXPECT_TRUE(same_bits(rig.arena_of(rig.learner->moment2()), zeros));
}

TEST_F(FoldBoundary, CountersAndSchedules) {
  Rig rig(options());
  poison_all(rig);
  const auto before = rig.control();
  rig.learner->begin_fold(kFold);
  const auto c = rig.control();
  EXPECT_EQ(c.seed, before.seed);
  EXPECT_EQ(c.step, 777u) << "the global step never resets";
  EXPECT_EQ(c.collect_step, 555u);
  EXPECT_EQ(c.adam_t, 0u);
  EXPECT_EQ(c.since_reset, 0u);
  for (const float x : {c.iqn_readiness, c.iqn_anchor, c.iqn_ema, c.mse_fast, c.mse_slow, c.gate_entropy_ema,
                        c.last_mse, c.last_iqn, c.last_entropy})
    EXPECT_EQ(x, 0.0f);
  for (const std::uint32_t x : {c.mse_steps, c.iqn_steps, c.entropy_steps, c.replay_size}) EXPECT_EQ(x, 0u);
  EXPECT_EQ(c.inserted, 0u);
  EXPECT_EQ(c.max_priority, 1.0f);
  EXPECT_EQ(c.c51_alpha, 0.5f);
  EXPECT_EQ(c.settings.c51_alpha_floor, 0.5f);
  EXPECT_EQ(c.settings.fold, static_cast<std::uint32_t>(kFold));
  EXPECT_EQ(c.settings.reward_scale, before.settings.reward_scale);
}

TEST_F(FoldBoundary, ReplayIsEmptyAndSignalsBeginAnew) {
  Rig rig(options());
  rig.fill_replay(900, 6);
  auto* state = rig.learner->telemetry()->state();
  kernels::TelemetryState poisoned = rig.get(state, 1)[0];
  for (float& x : poisoned.signals) x = 3;
  poisoned.ema_steps = poisoned.collector_steps = poisoned.time_steps = 7;
  poisoned.reference_updates = 5, poisoned.q_previous = 0.8f, poisoned.has_previous = 1;
  upload(*rig.device, state, &poisoned, 1);
  rig.learner->begin_fold(kFold);
  for (const float x : rig.priorities()) ASSERT_EQ(x, 0.0f);
  const auto after = rig.get(state, 1)[0];
  for (int slot = 0; slot < kernels::kSignals; ++slot)
    EXPECT_EQ(after.signals[slot], slot >= 16 && slot <= 21 ? 3.0f : 0.0f) << "slot " << slot;
  EXPECT_EQ(after.ema_steps + after.collector_steps + after.time_steps, 0u);
  EXPECT_EQ(after.reference_updates, 5u);
  EXPECT_EQ(after.q_previous, 0.8f);
  EXPECT_EQ(after.has_previous, 1u);
}

// The perturbation is addressed by (seed, fold): the same again, another in another fold.
TEST_F(FoldBoundary, IsReproducible) {
  std::vector<std::vector<float>> results;
  for (const int fold : {kFold, kFold, kFold + 1}) {
    Rig rig(options(), fold == kFold ? 1 : 3);
    poison_all(rig);
    rig.learner->begin_fold(fold);
    results.push_back(rig.arena_of(rig.learner->params()));
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
  EXPECT_FALSE(same_bits(results[0], results[2]));
}

// Steps still queued belong to the fold before: they run with its settings, whether or not anybody waited for them.
TEST_F(FoldBoundary, QueuedStepsBelongToTheFoldBefore) {
  std::vector<Rig::State> states;
  for (const bool waited : {true, false}) {
    Rig rig(options());
    rig.fill_replay(900, 8);
    for (int i = 0; i < 6; ++i) rig.learner->step();
    if (waited) rig.learner->drain();
    rig.learner->begin_fold(1);
    states.push_back(rig.state());
  }
  EXPECT_TRUE(same_bits(states[0].params, states[1].params));
  EXPECT_EQ(std::memcmp(&states[0].control, &states[1].control, sizeof states[0].control), 0);
}

// The captured graph goes on across the boundary, without an allocation, as an eager learner does.
TEST_F(FoldBoundary, TheGraphPersists) {
  std::vector<Rig::State> states;
  for (const bool eager : {true, false}) {
    LearnerOptions o = options();
    o.eager = eager;
    Rig rig(o);
    rig.inject(7);
    for (int i = 0; i < 4; ++i) rig.step();
    rig.learner->begin_fold(1);
    rig.learner->drain();
    const auto allocations = rig.device->counters().allocations;
    for (int i = 0; i < 3; ++i) rig.step();
    EXPECT_EQ(rig.device->counters().allocations, allocations);
    states.push_back(rig.state());
  }
  EXPECT_TRUE(same_bits(states[0].params, states[1].params));
  EXPECT_TRUE(same_bits(states[0].moment2, states[1].moment2));
  EXPECT_EQ(states[0].control.adam_t, 3u);
}

}  // namespace
}  // namespace foxhunt::test
