// Each loss alone learns: on a small network, its distance to its analytic floor halves within 2,000 steps.
#include <iostream>

#include "tests/learner/learning_cases.h"

namespace foxhunt::test {
namespace {

class LearnsAlone : public ::testing::TestWithParam<int> {};

TEST_P(LearnsAlone, DistanceToItsFloorHalves) {
  const Loss& loss = losses_alone()[static_cast<std::size_t>(GetParam())];
  LearnerConfig config = small_config();
  config.lr = 1e-3;
  Rig rig(rig_options(config, 64));
  if (loss.term == kernels::loss_moe_balance) tilt_gates(rig);
  set_up_alone(rig, loss, false);
  const double floor = analytic_floor(loss);
  const Halving h = halve(rig, loss, floor, 2000);
  std::cout << loss.name << ": " << h.first << " -> " << h.last << " in " << h.steps << " steps, floor " << floor
            << "\n";
  EXPECT_GT(h.first, floor * 1.01) << "it begins at its floor: nothing is shown";
  EXPECT_LE(h.steps, 2000);
  EXPECT_EQ(rig.learner->halted(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Losses, LearnsAlone, ::testing::Range(0, 10), [](const auto& p) {
  return std::string(losses_alone()[static_cast<std::size_t>(p.param)].name);
});

// With the bootstrap of a frozen target: the squared error to it halves too.
TEST(LearnsAlone, MseWithBootstrap) {
  const Loss& loss = losses_alone()[1];
  LearnerConfig config = small_config();
  config.lr = 1e-3;
  Rig rig(rig_options(config, 64));
  set_up_alone(rig, loss, true);
  const auto target = rig.arena_of(rig.learner->target());
  const Halving h = halve(rig, loss, 0, 2000);
  EXPECT_LE(h.steps, 2000) << h.first << " -> " << h.last;
  EXPECT_TRUE(same_bits(rig.arena_of(rig.learner->target()), target));
}

}  // namespace
}  // namespace foxhunt::test
