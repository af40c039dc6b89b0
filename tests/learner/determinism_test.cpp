// Eager equals captured, and any number of threads equals one, bit for bit, over steps from a filled replay.
#include "tests/learner/learner_rig.h"

namespace foxhunt::test {
namespace {

constexpr int kSteps = 12;

Rig::State after_steps(bool eager, int threads) {
  LearnerOptions options = rig_options(small_config(), 24);
  options.eager = eager;
  Rig rig(options, threads);
  rig.fill_replay(1500, 20240520);
  for (int i = 0; i < kSteps; ++i) rig.learner->step();
  rig.learner->drain();
  EXPECT_EQ(rig.learner->halted(), 0u);
  EXPECT_EQ(rig.control().step, static_cast<std::uint64_t>(kSteps));
  return rig.state();
}

void expect_same(const Rig::State& a, const Rig::State& b) {
  EXPECT_TRUE(same_bits(a.params, b.params)) << "parameters";
  EXPECT_TRUE(same_bits(a.target, b.target)) << "target";
  EXPECT_TRUE(same_bits(a.moment1, b.moment1)) << "first moment";
  EXPECT_TRUE(same_bits(a.moment2, b.moment2)) << "second moment";
  EXPECT_TRUE(same_bits(a.spectral, b.spectral)) << "spectral vectors";
  EXPECT_TRUE(same_bits(a.priority, b.priority)) << "priorities";
  EXPECT_EQ(std::memcmp(&a.control, &b.control, sizeof a.control), 0) << "control block";
}

TEST(Determinism, EagerEqualsCaptured) {
  const auto eager = after_steps(true, 2), captured = after_steps(false, 2);
  expect_same(eager, captured);
  EXPECT_FALSE(same_bits(eager.params, eager.target)) << "nothing was learned";
}

TEST(Determinism, ThreadCountsOneToFour) {
  const auto one = after_steps(false, 1);
  for (const int threads : {2, 3, 4}) {
    SCOPED_TRACE(threads);
    expect_same(one, after_steps(false, threads));
  }
}

// At a size that no session has: through the injection buffers.
TEST(Determinism, OddSizesEagerEqualsCaptured) {
  std::vector<Rig::State> states;
  for (const bool eager : {true, false}) {
    LearnerOptions options = rig_options(odd_config(), 13);
    options.eager = eager;
    Rig rig(options, eager ? 1 : 3);
    rig.inject(5);
    for (int i = 0; i < kSteps; ++i) rig.step();
    states.push_back(rig.state());
  }
  expect_same(states[0], states[1]);
}

}  // namespace
}  // namespace foxhunt::test
