// At sizes that no fixture has: each loss term alone changes along its gradient as the gradient predicts. The loss is
// measured by further steps with a learning rate of 0 and a frozen target; the slope is a central difference.
#include <algorithm>
#include <iostream>

#include "tests/learner/learner_rig.h"

namespace foxhunt::test {
namespace {

using kernels::LossTerm;

constexpr std::uint32_t kSeed = 20240518;
constexpr int kBatch = 13;

// How the term is left alone: importance weight, settings' weights, injected scalars.
struct Term {
  const char* name;
  LossTerm loss;
  float weight, alpha, iqn, iql, cql, aux, lambda;
  std::vector<const char*> touches;  // prefixes of the tensors that take a gradient, empty: trunk and the term's heads
};

const std::vector<Term>& terms() {
  static const std::vector<Term> list = {
      {"c51", kernels::loss_c51, 1, 1, 0, 0, 0, 0, 0, {}},
      {"mse", kernels::loss_mse, 1, 0, 0, 0, 0, 0, 0, {}},
      {"iqn", kernels::loss_iqn, 1, 0, 1, 0, 0, 0, 0, {}},  // less the gradient of mse
      {"iql_high", kernels::loss_iql_high, 0, 0, 0, 1, 0, 0, 0, {"iql_high."}},
      {"iql_low", kernels::loss_iql_low, 0, 0, 0, 1, 0, 0, 0, {"iql_low."}},
      {"cql", kernels::loss_cql, 0, 0, 0, 0, 1, 0, 0, {}},
      {"aux_return", kernels::loss_aux_return, 0, 0, 0, 0, 0, 1, 0, {}},
      {"aux_direction", kernels::loss_aux_direction, 0, 0, 0, 0, 0, 1, 0, {}},
      {"aux_volatility", kernels::loss_aux_volatility, 0, 0, 0, 0, 0, 1, 0, {}},
      {"moe_balance", kernels::loss_moe_balance, 0, 0, 0, 0, 0, 0, 1, {}},
  };
  return list;
}

bool is_aux(const Term& t) {
  return std::string(t.name).starts_with("aux_");
}

class Directional : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    rig_ = std::make_unique<Rig>(rig_options(odd_config(), kBatch));
    rig_->perturb(kSeed, 0.05f);
    rig_->inject(kSeed + 1);
    *rig_->learner->injection().scalars.host() = {
        .depth_scale = {1.1f, 0.7f, 1.3f}, .c51_alpha = 0, .iqn_readiness = 1, .moe_lambda = 0};
    rig_->learner->edit_settings([](kernels::Settings& s) {
      s.lr = 0;
      s.frozen_target = 1;
      s.spectral_max = 1e30f;
      s.max_grad_norm = 1e30f;
    });
    params_ = rig_->arena_of(rig_->learner->params());
  }

  void isolate(const Term& t, float weight_iqn) {
    Injection& in = rig_->learner->injection();
    std::mt19937 generator(kSeed + 2);
    std::uniform_real_distribution<float> uniform(0.3f, 1);
    for (int b = 0; b < kBatch; ++b) in.weight.host()[b] = t.weight * uniform(generator);
    in.scalars.host()->c51_alpha = t.alpha;
    in.scalars.host()->moe_lambda = t.lambda;
    rig_->learner->edit_settings([&](kernels::Settings& s) {
      s.weight_iqn = weight_iqn;
      s.weight_iql = t.iql;
      s.weight_cql = t.cql;
      s.weight_aux = t.aux;
    });
  }

  // The gradient of the term alone. IQN and MSE share the importance weights: IQN's is the difference of two steps. The
  // auxiliary terms share a weight: the other two are left out by labels equal to what the network says (see below).
  std::vector<double> gradient_of(const Term& t) {
    isolate(t, t.iqn);
    rig_->step();
    const auto with = rig_->arena_of(rig_->learner->gradients());
    std::vector<double> g(with.begin(), with.end());
    if (t.iqn > 0) {
      isolate(t, 0);
      rig_->step();
      const auto without = rig_->arena_of(rig_->learner->gradients());
      for (std::size_t i = 0; i < g.size(); ++i) g[i] -= static_cast<double>(without[i]);
    }
    return g;
  }

  double loss_at(const std::vector<float>& params, LossTerm term) {
    rig_->set_arena(rig_->learner->params(), params);
    rig_->step();
    return rig_->losses()[static_cast<std::size_t>(term)];
  }

  // Central difference over params -+ h direction against sum g (p+ - p-), with the rounded parameters.
  struct Slope {
    double predicted, measured;
  };
  Slope slope(const std::vector<double>& g, const std::vector<double>& direction, double h, LossTerm term) {
    auto ahead = params_, behind = params_;
    double predicted = 0;
    for (std::size_t i = 0; i < params_.size(); ++i) {
      if (direction[i] == 0) continue;
      ahead[i] = static_cast<float>(static_cast<double>(params_[i]) + h * direction[i]);
      behind[i] = static_cast<float>(static_cast<double>(params_[i]) - h * direction[i]);
      predicted += g[i] * (static_cast<double>(ahead[i]) - static_cast<double>(behind[i]));
    }
    const double up = loss_at(ahead, term);
    const auto greedy = this->greedy();
    const double down = loss_at(behind, term);
    const bool has_target = term == kernels::loss_c51 || term == kernels::loss_mse || term == kernels::loss_iqn;
    if (has_target) {
      EXPECT_EQ(greedy, this->greedy()) << "a greedy action changed: the target is not the same on both sides";
    }
    return {predicted, up - down};
  }

  std::vector<std::int32_t> greedy() {
    return rig_->get(rig_->learner->results().greedy_next, static_cast<std::size_t>(kBatch) * rig_->layout->branches);
  }

  std::unique_ptr<Rig> rig_;
  std::vector<float> params_;
};

double norm_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}

TEST_P(Directional, AlongTheWholeGradient) {
  const Term& t = terms()[static_cast<std::size_t>(GetParam())];
  SCOPED_TRACE(t.name);
  auto g = gradient_of(t);
  const TensorTable& table = rig_->learner->table();
  if (is_aux(t)) {
    // The three auxiliary terms share one weight and the trunk: here each moves along its own head alone.
    for (const TensorSpec& s : table.tensors())
      if (!s.name.starts_with("aux." + std::string(t.name + 4) + "."))
        std::fill(g.begin() + s.offset, g.begin() + s.offset + s.size, 0.0);
  }
  for (const TensorSpec& s : table.tensors()) {
    if (t.touches.empty()) continue;
    bool touched = false;
    for (const char* prefix : t.touches) touched |= s.name.starts_with(prefix);
    if (!touched) std::fill(g.begin() + s.offset, g.begin() + s.offset + s.size, 0.0);
  }
  const double size = norm_of(g);
  ASSERT_GT(size, 0);
  std::vector<double> direction(g.size());
  for (std::size_t i = 0; i < g.size(); ++i) direction[i] = g[i] / size;
  const double loss = loss_at(params_, t.loss);
  ASSERT_GT(loss, 0);
  // Two central differences and Richardson's combination: what is left is of fourth order.
  const double h = std::min(0.003, 0.001 * loss / size);
  const Slope wide = slope(g, direction, h, t.loss), narrow = slope(g, direction, h / 2, t.loss);
  const double measured = (4 * narrow.measured / narrow.predicted - wide.measured / wide.predicted) / 3;
  std::cout << t.name << ": loss " << loss << " gradient " << size << " ratio " << measured << "\n";
  EXPECT_NEAR(measured, 1, 1e-3);
}

TEST_P(Directional, AlongTheGradientOfEachTensor) {
  const Term& t = terms()[static_cast<std::size_t>(GetParam())];
  SCOPED_TRACE(t.name);
  const auto g = gradient_of(t);
  const double loss = loss_at(params_, t.loss), whole = norm_of(g);
  int moved = 0;
  for (const TensorSpec& s : rig_->learner->table().tensors()) {
    if (is_aux(t) && !s.name.starts_with("aux.")) continue;  // shared with the other two auxiliary terms
    if (is_aux(t) && !s.name.starts_with("aux." + std::string(t.name + 4))) continue;
    bool touched = t.touches.empty();
    for (const char* prefix : t.touches) touched |= s.name.starts_with(prefix);
    if (!touched) continue;
    std::vector<double> direction(g.size(), 0.0);
    double size = 0, weight = 0;
    for (std::int64_t i = s.offset; i < s.offset + s.size; ++i) {
      const auto k = static_cast<std::size_t>(i);
      size += g[k] * g[k];
      weight += static_cast<double>(params_[k]) * static_cast<double>(params_[k]);
    }
    size = std::sqrt(size);
    if (size < 1e-7 * whole) continue;
    for (std::int64_t i = s.offset; i < s.offset + s.size; ++i)
      direction[static_cast<std::size_t>(i)] = g[static_cast<std::size_t>(i)] / size;
    const double h = std::min(3e-4 * std::sqrt(weight), 1e-4 * loss / size);
    const Slope along = slope(g, direction, h, t.loss);
    // 1e-6 of the loss: rounding of its two evaluations.
    EXPECT_NEAR(along.measured, along.predicted, 1e-2 * std::abs(along.predicted) + 1e-6 * loss) << s.name;
    ++moved;
  }
  EXPECT_GE(moved, is_aux(t) ? 2 : 4);
}

INSTANTIATE_TEST_SUITE_P(Terms, Directional, ::testing::Range(0, 10),
                         [](const auto& p) { return std::string(terms()[static_cast<std::size_t>(p.param)].name); });

// What must take no gradient: the target's arena and, with each term alone, every tensor that the term does not reach.
class Untouched : public Directional {};

TEST_F(Untouched, TermsReachTheirOwnTensorsOnly) {
  const auto touched = [&](const Term& t) {
    const auto g = gradient_of(t);
    std::map<std::string, bool> groups;
    for (const TensorSpec& s : rig_->learner->table().tensors()) {
      bool any = false;
      for (std::int64_t i = s.offset; i < s.offset + s.size; ++i) any |= std::abs(g[static_cast<std::size_t>(i)]) > 0;
      const std::string head = s.name.substr(0, s.name.find('.'));
      groups[head] = groups[head] || any;
    }
    std::string out;
    for (const auto& [name, any] : groups)
      if (any) out += name + " ";
    return out;
  };
  EXPECT_EQ(touched(terms()[0]), "direction grn1 grn2 magnitude moe order urgency value vsn ");
  EXPECT_EQ(touched(terms()[1]), "direction grn1 grn2 magnitude moe order urgency value vsn ");
  EXPECT_EQ(touched(terms()[2]), "grn1 grn2 iqn moe vsn ");
  EXPECT_EQ(touched(terms()[3]), "iql_high iql_low ");
  EXPECT_EQ(touched(terms()[5]), "direction grn1 grn2 magnitude moe order urgency value vsn ");
  EXPECT_EQ(touched(terms()[6]), "aux grn1 grn2 moe vsn ");
  EXPECT_EQ(touched(terms()[9]), "grn1 grn2 moe vsn ");
}

// IQN lets `readiness` of its gradient into the trunk, none of its head's is scaled.
TEST_F(Untouched, ReadinessScalesTheQuantileGradientOfTheTrunk) {
  const auto whole = gradient_of(terms()[2]);
  rig_->learner->injection().scalars.host()->iqn_readiness = 0.25f;
  const auto part = gradient_of(terms()[2]);
  rig_->learner->injection().scalars.host()->iqn_readiness = 0;
  const auto none = gradient_of(terms()[2]);
  for (const TensorSpec& s : rig_->learner->table().tensors()) {
    double size = 0, quarter = 0, zero = 0;
    const double share = s.name.starts_with("iqn.") ? 1.0 : 0.25, least = s.name.starts_with("iqn.") ? 1.0 : 0.0;
    for (std::int64_t i = s.offset; i < s.offset + s.size; ++i) {
      const auto k = static_cast<std::size_t>(i);
      size += whole[k] * whole[k];
      quarter += std::pow(part[k] - share * whole[k], 2);
      zero += std::pow(none[k] - least * whole[k], 2);
    }
    EXPECT_LE(std::sqrt(quarter), 1e-3 * std::sqrt(size) + 1e-6) << s.name;
    EXPECT_LE(std::sqrt(zero), 1e-3 * std::sqrt(size) + 1e-6) << s.name;
  }
}

// A step with a learning rate of 0 and a frozen target leaves both arenas bit for bit.
TEST_F(Untouched, NothingMovesAtLearningRateZero) {
  const auto target = rig_->arena_of(rig_->learner->target());
  isolate(terms()[0], 0);
  for (int i = 0; i < 3; ++i) rig_->step();
  EXPECT_EQ(rig_->arena_of(rig_->learner->params()), params_);
  EXPECT_EQ(rig_->arena_of(rig_->learner->target()), target);
}

}  // namespace
}  // namespace foxhunt::test
