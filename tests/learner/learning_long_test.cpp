// Each loss alone at the default sizes and learning rate, with bootstrapped targets: the floors of C51 and IQN are what
// 20,000 steps reach, the others' are analytic.
#include <algorithm>
#include <iostream>

#include "tests/learner/learning_cases.h"

namespace foxhunt::test {
namespace {

class LearnsAtDefaultSizes : public ::testing::TestWithParam<int> {};

TEST_P(LearnsAtDefaultSizes, DistanceToItsFloorHalves) {
  const Loss& loss = losses_alone()[static_cast<std::size_t>(GetParam())];
  const auto make = [&] {
    auto rig = std::make_unique<Rig>(rig_options(LearnerConfig{}, 64));
    if (loss.term == kernels::loss_moe_balance) tilt_gates(*rig);
    set_up_alone(*rig, loss, true);
    return rig;
  };
  double floor = analytic_floor(loss);
  if (loss.term == kernels::loss_c51 || loss.term == kernels::loss_iqn) {
    const auto rig = make();
    for (int i = 0; i < 20'000; ++i) {
      rig->step();
      const double value = rig->losses()[static_cast<std::size_t>(loss.term)];
      floor = i == 0 ? value : std::min(floor, value);
    }
  }
  const auto rig = make();
  const Halving h = halve(*rig, loss, floor, 2000);
  std::cout << loss.name << ": " << h.first << " -> " << h.last << " in " << h.steps << " steps, floor " << floor
            << "\n";
  EXPECT_GT(h.first, floor * 1.01);
  EXPECT_LE(h.steps, 2000);
}

INSTANTIATE_TEST_SUITE_P(Losses, LearnsAtDefaultSizes, ::testing::Range(0, 10), [](const auto& p) {
  return std::string(losses_alone()[static_cast<std::size_t>(p.param)].name);
});

}  // namespace
}  // namespace foxhunt::test
