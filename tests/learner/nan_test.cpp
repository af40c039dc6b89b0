// A value that is not finite in each of the 16 places, put there for real: training halts within that launch, names the
// place, and the arena stays what it was after `spectral` of that step.
#include "engine/telemetry/tables.h"
#include "engine/telemetry/telemetry.h"
#include "tests/learner/learner_rig.h"
#include "tests/support/log_watch.h"

namespace foxhunt::test {
namespace {

using kernels::NanPlace;

constexpr int kBatch = 16;
constexpr float kHuge = 3e38f;

struct Fault {
  const char* name;
  NanPlace place;
  std::function<void(Rig&)> make;
  std::vector<NanPlace> clean;  // earlier stages, which must not be named
};

// Fills a tensor of the online arena.
void fill_tensor(Rig& rig, const std::string& name, float value) {
  auto p = rig.arena_of(rig.learner->params());
  const TensorSpec& t = rig.learner->table().at(name);
  std::fill(p.begin() + t.offset, p.begin() + t.offset + t.size, value);
  rig.set_arena(rig.learner->params(), p);
}

void one_element(Rig& rig, float* arena, const std::string& name, float value) {
  auto p = rig.arena_of(arena);
  p[static_cast<std::size_t>(rig.learner->table().at(name).offset)] = value;
  rig.set_arena(arena, p);
}

const float kNan = std::nanf("");

const std::vector<Fault>& faults() {
  using P = NanPlace;
  static const std::vector<P> inputs{P::states, P::parameters, P::target_parameters, P::rewards};
  static const auto with = [](std::vector<P> more) {
    more.insert(more.end(), inputs.begin(), inputs.end());
    return more;
  };
  static const std::vector<Fault> list = {
      {"states",
       P::states,
       [](Rig& r) { r.learner->injection().state.host()[5] = kNan; },
       {P::parameters, P::target_parameters, P::rewards}},
      {"next_states",
       P::states,
       [](Rig& r) { r.learner->injection().next_state.host()[7] = INFINITY; },
       {P::parameters, P::target_parameters}},
      {"value_logits", P::value_logits, [](Rig& r) { fill_tensor(r, "value.out.weight", kHuge); },
       with({P::trunk_output, P::gates, P::vsn_weights, P::branch_logits})},
      {"branch_logits", P::branch_logits, [](Rig& r) { fill_tensor(r, "order.out.weight", kHuge); },
       with({P::trunk_output, P::gates, P::value_logits})},
      {"loss", P::loss, [](Rig& r) { r.learner->injection().aux.host()[0] = kHuge; },
       with({P::trunk_output, P::value_logits, P::branch_logits, P::td_errors, P::projected_target})},
      {"parameters",
       P::parameters,
       [](Rig& r) { one_element(r, r.learner->params(), "aux.return.bias", kNan); },
       {P::states, P::target_parameters, P::trunk_output, P::rewards}},
      {"target_parameters",
       P::target_parameters,
       [](Rig& r) { one_element(r, r.learner->target(), "value.out.bias", kNan); },
       {P::states, P::parameters, P::trunk_output, P::rewards}},
      {"gradients", P::gradients,
       [](Rig& r) {
         for (int b = 0; b < kBatch; ++b) r.learner->injection().aux.host()[4 * b] = kHuge;
       },
       with({P::trunk_output, P::td_errors})},
      {"log_probabilities", P::log_probabilities, [](Rig& r) { fill_tensor(r, "value.out.weight", kHuge); },
       with({P::trunk_output})},
      {"projected_target", P::projected_target, [](Rig& r) { r.learner->injection().discount.host()[2] = kNan; },
       with({P::trunk_output, P::value_logits, P::log_probabilities})},
      {"iqn", P::iqn, [](Rig& r) { fill_tensor(r, "iqn.out.weight", kHuge); },
       with({P::trunk_output, P::value_logits, P::td_errors})},
      {"td_errors",
       P::td_errors,
       [](Rig& r) { r.learner->injection().reward.host()[4] = kNan; },
       {P::states, P::parameters, P::trunk_output, P::value_logits}},
      {"priorities", P::priorities, [](Rig& r) { r.learner->injection().regime.host()[3] = kNan; },
       with({P::trunk_output, P::td_errors, P::loss, P::gradients})},
      {"trunk_output", P::trunk_output, [](Rig& r) { fill_tensor(r, "moe.norm.weight", kHuge); },
       with({P::gates, P::vsn_weights})},
      {"gates", P::gates, [](Rig& r) { fill_tensor(r, "moe.gate.weight", kHuge); }, with({P::vsn_weights})},
      {"vsn_weights", P::vsn_weights, [](Rig& r) { fill_tensor(r, "vsn.order_flow.2.weight", kHuge); }, inputs},
      {"rewards",
       P::rewards,
       [](Rig& r) { r.learner->injection().reward.host()[1] = INFINITY; },
       {P::states, P::parameters, P::trunk_output}},
  };
  return list;
}

class NanFault : public ::testing::TestWithParam<int> {};

TEST_P(NanFault, HaltsWithinOneLaunchAndLeavesTheArena) {
  const Fault& fault = faults()[static_cast<std::size_t>(GetParam())];
  SCOPED_TRACE(fault.name);
  const auto set_up = [](Rig& rig) {
    rig.perturb(11, 0.02f);
    rig.inject(12);
    for (int i = 0; i < 3; ++i) rig.step();  // captured by now
    rig.learner->edit_settings(
        [](kernels::Settings& s) { s.spectral_max = 0.9f; });  // so that spectral changes weights
  };
  Rig rig(rig_options(small_config(), kBatch)), twin(rig_options(small_config(), kBatch));
  set_up(rig);
  set_up(twin);
  ASSERT_EQ(rig.learner->halted(), 0u);
  fault.make(rig);
  const auto before = rig.state();
  // The twin has the faulty arenas but no update: its parameters are those after `spectral`.
  twin.set_arena(twin.learner->params(), before.params);
  twin.learner->edit_settings([](kernels::Settings& s) { s.lr = 0; });
  twin.step();
  rig.step();

  EXPECT_EQ(rig.learner->halted(), kernels::kHaltNan);
  const std::uint32_t flags = rig.learner->nan_flags();
  EXPECT_TRUE(flags >> static_cast<int>(fault.place) & 1u) << telemetry::nan_flag_names(flags);
  for (const NanPlace place : fault.clean)
    EXPECT_FALSE(flags >> static_cast<int>(place) & 1u)
        << "place " << static_cast<int>(place) << " of " << telemetry::nan_flag_names(flags);
  const auto after = rig.state(), spectral = twin.state();
  EXPECT_TRUE(same_bits(after.params, spectral.params));
  EXPECT_FALSE(same_bits(after.params, before.params)) << "spectral did nothing: the test shows less than it should";
  EXPECT_TRUE(same_bits(after.spectral, spectral.spectral));
  EXPECT_TRUE(same_bits(after.target, before.target));
  EXPECT_TRUE(same_bits(after.moment1, before.moment1));
  EXPECT_TRUE(same_bits(after.moment2, before.moment2));

  // Launches already queued change nothing.
  for (int i = 0; i < 2; ++i) rig.learner->step();
  rig.learner->drain();
  const auto later = rig.state();
  EXPECT_TRUE(same_bits(later.params, after.params));
  EXPECT_TRUE(same_bits(later.spectral, after.spectral));
  EXPECT_EQ(later.control.step, after.control.step);
  EXPECT_EQ(rig.learner->nan_flags(), flags);
}

INSTANTIATE_TEST_SUITE_P(Places, NanFault, ::testing::Range(0, 17),
                         [](const auto& p) { return std::string(faults()[static_cast<std::size_t>(p.param)].name); });

TEST(NanFaults, CoverAllPlaces) {
  std::vector<bool> covered(kernels::kNanPlaces, false);
  for (const Fault& fault : faults()) covered[static_cast<std::size_t>(fault.place)] = true;
  for (std::size_t i = 0; i < covered.size(); ++i) EXPECT_TRUE(covered[i]) << i;
}

// From the replay: priorities and their maximum stay, and after the fault is mended and the halt cleared training goes
// on.
TEST(NanFaults, PrioritiesStayAndTrainingGoesOnAfterMending) {
  Rig rig(rig_options(small_config(), kBatch));
  rig.fill_replay(700, 13);
  for (int i = 0; i < 4; ++i) rig.step();
  const auto good = rig.get(rig.labels.data(), rig.labels.size());
  auto bad = good;
  for (std::size_t i = 3; i < bad.size(); i += 4) bad[i] = kNan;  // the regime multiplier of every bar
  upload(*rig.device, rig.labels.data(), bad.data(), bad.size());
  const auto before = rig.state();
  rig.step();
  EXPECT_EQ(rig.learner->nan_flags(), 1u << static_cast<int>(NanPlace::priorities));
  const auto after = rig.state();
  EXPECT_TRUE(same_bits(after.priority, before.priority));
  EXPECT_EQ(after.control.max_priority, before.control.max_priority);
  upload(*rig.device, rig.labels.data(), good.data(), good.size());
  rig.learner->clear_halt();
  rig.step();
  EXPECT_EQ(rig.learner->halted(), 0u);
  const auto mended = rig.state();
  EXPECT_FALSE(same_bits(mended.params, before.params));
  EXPECT_FALSE(same_bits(mended.priority, before.priority));
  for (const float x : mended.params) ASSERT_TRUE(std::isfinite(x));
}

// The host's guards stop it in the same way.
TEST(Halt, RequestedByTheHost) {
  Rig rig(rig_options(small_config(), kBatch));
  rig.inject(14);
  for (int i = 0; i < 3; ++i) rig.step();
  const auto before = rig.state();
  rig.learner->request_halt();
  rig.step();
  EXPECT_EQ(rig.learner->halted(), kernels::kHaltHost);
  const auto after = rig.state();
  EXPECT_TRUE(same_bits(after.params, before.params));
  EXPECT_TRUE(same_bits(after.spectral, before.spectral));
  EXPECT_TRUE(same_bits(after.moment1, before.moment1));
  EXPECT_EQ(after.control.step, before.control.step);
  rig.learner->clear_halt();
  rig.step();
  EXPECT_EQ(rig.control().step, before.control.step + 1);
}

}  // namespace
}  // namespace foxhunt::test
