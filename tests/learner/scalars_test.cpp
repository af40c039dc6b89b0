// Every scheduled or settable scalar lives on the device: each is changed after the step was captured, and the captured
// step's result changes as its formula says.
#include "tests/learner/learner_rig.h"

namespace foxhunt::test {
namespace {

constexpr int kBatch = 24;

double size_of(const std::vector<float>& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum);
}

// |x - factor y| / |factor y|, of the differences from `base`.
double off_by(const std::vector<float>& x, const std::vector<float>& y, const std::vector<float>& base, double factor) {
  double difference = 0, reference = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = static_cast<double>(x[i]) - base[i], b = factor * (static_cast<double>(y[i]) - base[i]);
    difference += (a - b) * (a - b), reference += b * b;
  }
  return std::sqrt(difference / reference);
}

class Scalars : public ::testing::Test {
 protected:
  struct Seen {
    Rig::State state;
    std::vector<double> losses, norm;
    std::vector<float> q, reward, discount, weight, priority, td, gradients, iql;
    std::vector<std::int32_t> index, action;
  };

  void SetUp() override {
    rig_ = std::make_unique<Rig>(rig_options(small_config(), kBatch));
    rig_->perturb(3, 0.03f);
    rig_->fill_replay(1200, 4);
    rig_->learner->edit_settings([](kernels::Settings& s) { s.spectral_max = 1e30f; });
    for (int i = 0; i < 4; ++i) rig_->step();  // captured after the first
    start_ = rig_->state();
    before_ = once();
  }

  // One captured step from the same state.
  Seen once() {
    rig_->restore(start_);
    rig_->step();
    const auto& r = rig_->learner->results();
    const std::size_t b = kBatch, a = static_cast<std::size_t>(r.actions);
    Seen s;
    s.state = rig_->state();
    s.losses = rig_->losses(), s.norm = rig_->get(r.gradient_norm, 2);
    s.q = rig_->get(r.q, b * a), s.reward = rig_->get(r.reward, b * 4), s.discount = rig_->get(r.discount, b * 4);
    s.weight = rig_->get(r.weight, b), s.priority = rig_->get(r.priority, b), s.td = rig_->get(r.td, b);
    s.index = rig_->get(r.index, b), s.action = rig_->get(r.action, b * 4), s.iql = rig_->get(r.iql, b * 2);
    s.gradients = rig_->arena_of(rig_->learner->gradients());
    return s;
  }
  Seen with(const std::function<void(kernels::Settings&)>& change) {
    rig_->learner->edit_settings(change);
    return once();
  }
  double total(const Seen& s) const {
    const auto& c = s.state.control;
    const auto& k = c.settings;
    const auto& l = s.losses;
    const double alpha = c.c51_alpha;
    return (1 - alpha) * l[kernels::loss_mse] + alpha * l[kernels::loss_c51] + k.weight_iqn * l[kernels::loss_iqn] +
           k.weight_iql * (l[kernels::loss_iql_high] + l[kernels::loss_iql_low]) + k.weight_cql * l[kernels::loss_cql] +
           k.weight_aux *
               (l[kernels::loss_aux_return] + l[kernels::loss_aux_direction] + l[kernels::loss_aux_volatility]) +
           c.moe_lambda_now * l[kernels::loss_moe_balance];
  }

  std::unique_ptr<Rig> rig_;
  Rig::State start_;
  Seen before_;
};

TEST_F(Scalars, TheSameStateGivesTheSameStep) {
  const Seen again = once();
  EXPECT_TRUE(same_bits(again.state.params, before_.state.params));
  EXPECT_NEAR(before_.losses[kernels::loss_total], total(before_), 1e-6 * total(before_));
}

TEST_F(Scalars, LearningRateAndDecay) {
  const Seen s = with([](auto& k) { k.lr *= 2; });
  EXPECT_LT(off_by(s.state.params, before_.state.params, start_.params, 2), 2e-3);
  EXPECT_TRUE(same_bits(s.state.moment1, before_.state.moment1));
  const float decay = 0.5f, lr = start_.control.settings.lr;
  const Seen d = with([&](auto& k) { k.lr = lr, k.weight_decay += decay; });
  for (const TensorSpec& t : rig_->learner->table().tensors()) {
    const auto i = static_cast<std::size_t>(t.offset);
    const double want = t.decays ? -lr * decay * start_.params[i] : 0.0;
    EXPECT_NEAR(d.state.params[i] - before_.state.params[i], want, 1e-3 * std::abs(want) + 3e-8) << t.name;
  }
}

TEST_F(Scalars, Tau) {
  const Seen s = with([](auto& k) { k.tau_scale = 2; });
  EXPECT_NEAR(s.state.control.tau, 2 * before_.state.control.tau, 1e-8);
  EXPECT_LT(off_by(s.state.target, before_.state.target, start_.target, 2), 1e-3);
  const Seen f = with([](auto& k) { k.tau_scale = 1, k.tau_init = k.tau_final = 0.5f; });
  EXPECT_NEAR(f.state.control.tau, 0.5, 1e-7);
  const Seen none = with([](auto& k) { k.frozen_target = 1; });
  EXPECT_TRUE(same_bits(none.state.target, start_.target));
}

TEST_F(Scalars, Beta) {
  const Seen s = with([](auto& k) { k.beta_start = k.beta_end = 0.9f; });
  const double ratio = 0.9 / before_.state.control.beta;
  EXPECT_GT(ratio, 1.5);
  for (std::size_t b = 0; b < kBatch; ++b)
    EXPECT_NEAR(s.weight[b], std::pow(static_cast<double>(before_.weight[b]), ratio), 1e-5);
}

TEST_F(Scalars, Gamma) {
  const float old[] = {0.99f, 0.98f, 0.95f, 0.95f}, fresh[] = {0.9f, 0.8f, 0.7f, 0.6f};
  const Seen s = with([&](auto& k) { std::copy(fresh, fresh + 4, k.gamma); });
  for (std::size_t i = 0; i < s.discount.size(); ++i) {
    if (before_.discount[i] == 0) {
      EXPECT_EQ(s.discount[i], 0.0f);
      continue;
    }
    const double steps = std::round(std::log(before_.discount[i]) / std::log(old[i % 4]));
    EXPECT_NEAR(s.discount[i], std::pow(fresh[i % 4], steps), 1e-5);
  }
}

TEST_F(Scalars, AlphaFloorAndDrop) {
  const Seen s = with([](auto& k) { k.c51_alpha_floor = 0.75f; });
  EXPECT_NEAR(s.state.control.c51_alpha, 0.75, 1e-3);
  EXPECT_NEAR(s.losses[kernels::loss_total], total(s), 1e-6 * total(s));
  EXPECT_GT(std::abs(s.losses[kernels::loss_total] - before_.losses[kernels::loss_total]), 1e-3);
  start_.control.c51_alpha = 0.9f;
  const Seen d = with([](auto& k) { k.c51_alpha_floor = 0, k.c51_alpha_drop = 0.1f; });
  EXPECT_NEAR(d.state.control.c51_alpha, 0.8, 1e-3);
}

TEST_F(Scalars, Lambda) {
  const Seen s = with([](auto& k) { k.moe_lambda *= 3; });
  EXPECT_NEAR(s.state.control.moe_lambda_now, 3 * before_.state.control.moe_lambda_now, 1e-6);
  EXPECT_NEAR(s.losses[kernels::loss_total] - before_.losses[kernels::loss_total],
              2 * before_.state.control.moe_lambda_now * before_.losses[kernels::loss_moe_balance],
              1e-6 * total(before_));
}

TEST_F(Scalars, Readiness) {
  EXPECT_EQ(before_.state.control.iqn_readiness, 0.0f) << "within the anchor's window";
  start_.control.since_reset = 900, start_.control.iqn_anchor = 4, start_.control.iqn_ema = 1,
  start_.control.iqn_steps = 900;
  const Seen s = once();
  EXPECT_NEAR(s.state.control.iqn_readiness, 0.75, 0.01);
  const auto change = [&](const char* name) {
    const TensorSpec& t = rig_->learner->table().at(name);
    double sum = 0, reference = 0;
    for (auto i = static_cast<std::size_t>(t.offset); i < static_cast<std::size_t>(t.offset + t.size); ++i)
      sum += std::pow(static_cast<double>(s.gradients[i]) - before_.gradients[i], 2),
          reference += std::pow(static_cast<double>(before_.gradients[i]), 2);
    return std::sqrt(sum / reference);
  };
  EXPECT_EQ(change("iqn.out.weight"), 0);
  EXPECT_GT(change("grn2.a.weight"), 1e-3);
}

// Far below kappa the loss is u^2 / (2 kappa).
TEST_F(Scalars, Kappa) {
  const Seen wide = with([](auto&k) { k.huber_kappa = 1e4f; }), wider = with([](auto&k) { k.huber_kappa = 2e4f; });
  EXPECT_NEAR(wider.losses[kernels::loss_iqn], 0.5 * wide.losses[kernels::loss_iqn],
              1e-5 * wide.losses[kernels::loss_iqn]);
  EXPECT_GT(before_.losses[kernels::loss_iqn], 100 * wide.losses[kernels::loss_iqn]);
}

TEST_F(Scalars, Support) {
  const Seen s = with([](auto& k) {
    for (int d = 0; d < 4; ++d) k.v_min[d] *= 2, k.v_max[d] *= 2;
  });
  for (std::size_t i = 0; i < s.q.size(); ++i) EXPECT_NEAR(s.q[i], 2 * before_.q[i], 1e-4);
}

TEST_F(Scalars, Clip) {
  const double norm = before_.norm[0];
  const Seen open = with([&](auto& k) { k.max_grad_norm = static_cast<float>(4 * norm); });
  const Seen s = with([&](auto& k) { k.max_grad_norm = static_cast<float>(norm / 4); });
  EXPECT_EQ(open.norm[1], 1.0);
  EXPECT_NEAR(s.norm[1], 0.25, 1e-6);
  std::vector<float> decayed = start_.moment1;
  for (float& x : decayed) x *= 0.9f;
  EXPECT_LT(off_by(s.state.moment1, open.state.moment1, decayed, 0.25), 1e-3);
}

TEST_F(Scalars, RewardScale) {
  const Seen s = with([](auto& k) { k.reward_scale = 4; });
  EXPECT_GT(size_of(s.reward), 0.1);
  for (std::size_t i = 0; i < s.reward.size(); ++i) EXPECT_NEAR(s.reward[i], before_.reward[i] / 4, 1e-6);
}

TEST_F(Scalars, DepthKeep) {
  const Seen all = with([](auto& k) { k.depth_keep = 1; });
  for (const float x : all.state.control.depth_scale) EXPECT_EQ(x, 1.0f);
  const Seen none = with([](auto& k) { k.depth_keep = 1e-6f; });
  for (const float x : none.state.control.depth_scale) EXPECT_EQ(x, 0.0f);
  const TensorSpec& t = rig_->learner->table().at("grn1.b.weight");
  double sum = 0;
  for (auto i = static_cast<std::size_t>(t.offset); i < static_cast<std::size_t>(t.offset + t.size); ++i)
    sum += std::abs(static_cast<double>(none.gradients[i]));
  EXPECT_EQ(sum, 0) << "a dropped block takes no gradient";
}

TEST_F(Scalars, PriorityExponentAndEpsilon) {
  const float epsilon = start_.control.settings.per_epsilon;
  const Seen one = with([](auto& k) { k.per_alpha = 1; });
  for (std::size_t b = 0; b < kBatch; ++b)
    EXPECT_NEAR(before_.priority[b], std::pow(static_cast<double>(one.priority[b]), 0.6), 1e-5);
  const Seen more = with([&](auto& k) { k.per_epsilon = epsilon + 0.5f; });
  for (std::size_t b = 0; b < kBatch; ++b) EXPECT_NEAR(more.priority[b] - one.priority[b], 0.5, 1e-5);
  for (std::size_t b = 0; b < kBatch; ++b)
    if (b + 1 == kBatch || more.index[b + 1] != more.index[b]) {
      EXPECT_EQ(more.state.priority[static_cast<std::size_t>(more.index[b])], more.priority[b]) << "written back";
    }
}

TEST_F(Scalars, ModulationStrength) {
  const Seen none = with([](auto& k) { k.iql_kappa = 0, k.per_alpha = 1, k.per_epsilon = 0; });
  const Seen some = with([](auto& k) { k.iql_kappa = 0.3f; });
  for (std::size_t b = 0; b < kBatch; ++b) {
    double q = 0;
    for (std::size_t d = 0; d < 4; ++d) {
      const std::size_t first[] = {0, 4, 7, 10};
      q += 0.25 * static_cast<double>(some.q[b * 13 + first[d] + static_cast<std::size_t>(some.action[b * 4 + d])]);
    }
    const double high = some.iql[2 * b], low = some.iql[2 * b + 1];
    const double m = std::clamp(std::exp(0.3 * (q - high) / (std::abs(high - low) + 1)), 0.5, 2.0);
    EXPECT_NEAR(some.priority[b], m * none.priority[b], 1e-4 * (1 + some.priority[b])) << b;
  }
}

TEST_F(Scalars, LossWeights) {
  const Seen s = with([](auto& k) { k.weight_iqn = 2, k.weight_iql = 3, k.weight_cql = 4, k.weight_aux = 5; });
  EXPECT_NEAR(s.losses[kernels::loss_total], total(s), 1e-6 * total(s));
  EXPECT_GT(s.losses[kernels::loss_total], before_.losses[kernels::loss_total] + 1);
  EXPECT_NEAR(s.losses[kernels::loss_cql], before_.losses[kernels::loss_cql], 1e-6);
}

// At equal expectiles of one half both losses are half a squared error.
TEST_F(Scalars, Expectiles) {
  const Seen s = with([](auto& k) { k.expectile_high = 0.9f, k.expectile_low = 0.5f; });
  double half = 0, high = 0;
  const std::size_t first[] = {0, 4, 7, 10};
  for (std::size_t b = 0; b < kBatch; ++b) {
    double q = 0;
    for (std::size_t d = 0; d < 4; ++d)
      q += 0.25 * static_cast<double>(s.q[b * 13 + first[d] + static_cast<std::size_t>(s.action[b * 4 + d])]);
    const double u = q - s.iql[2 * b], v = q - s.iql[2 * b + 1];
    high += (u < 0 ? 0.1 : 0.9) * u * u / kBatch, half += 0.5 * v * v / kBatch;
  }
  EXPECT_NEAR(s.losses[kernels::loss_iql_high], high, 1e-4 * high);
  EXPECT_NEAR(s.losses[kernels::loss_iql_low], half, 1e-4 * half);
}

// Mean weights everywhere: the target's and the online Q no longer depend on the step's draw.
TEST_F(Scalars, NoisySwitch) {
  const auto steps = [&](std::uint32_t noisy) {
    rig_->learner->edit_settings([&](auto& k) { k.noisy = noisy, k.depth_keep = 1; });
    const Seen a = once();
    start_.control.step += 1000;  // other draws; the same batch would be needed to compare Q, so compare noise itself
    const Seen b = once();
    start_.control.step -= 1000;
    return std::pair(a, b);
  };
  const TensorSpec& sigma = rig_->learner->table().at("value.out.weight_sigma");
  const auto gradient_of_sigma = [&](const Seen& s) {
    double sum = 0;
    for (auto i = static_cast<std::size_t>(sigma.offset); i < static_cast<std::size_t>(sigma.offset + sigma.size); ++i)
      sum += std::abs(static_cast<double>(s.gradients[i]));
    return sum;
  };
  const auto [loud, louder] = steps(1);
  const auto [silent, still] = steps(0);
  EXPECT_GT(gradient_of_sigma(loud), 0);
  EXPECT_GT(gradient_of_sigma(louder), 0);
  EXPECT_EQ(gradient_of_sigma(silent), 0) << "without noise the sigmas take no gradient";
  EXPECT_EQ(gradient_of_sigma(still), 0);
}

}  // namespace
}  // namespace foxhunt::test
