// Each loss alone on one fixed batch of 64 with a frozen target and no noise: after how many steps its distance to its
// floor has halved.
#pragma once

#include "tests/learner/learner_rig.h"

namespace foxhunt::test {

struct Loss {
  const char* name;
  kernels::LossTerm term;
  float weight, alpha, iqn, iql, cql, aux, lambda;  // importance weight, then the loss weights
};

// IQN is alone up to 1e-4: its importance weights are small and its own weight large, so that MSE's share is not seen.
inline const std::vector<Loss>& losses_alone() {
  static const std::vector<Loss> list = {
      {"c51", kernels::loss_c51, 1, 1, 0, 0, 0, 0, 0},
      {"mse", kernels::loss_mse, 1, 0, 0, 0, 0, 0, 0},
      {"iqn", kernels::loss_iqn, 1e-2f, 0, 100, 0, 0, 0, 0},
      {"iql_high", kernels::loss_iql_high, 0, 0, 0, 1, 0, 0, 0},
      {"iql_low", kernels::loss_iql_low, 0, 0, 0, 1, 0, 0, 0},
      {"cql", kernels::loss_cql, 0, 0, 0, 0, 1, 0, 0},
      {"aux_return", kernels::loss_aux_return, 0, 0, 0, 0, 0, 1, 0},
      {"aux_direction", kernels::loss_aux_direction, 0, 0, 0, 0, 0, 1, 0},
      {"aux_volatility", kernels::loss_aux_volatility, 0, 0, 0, 0, 0, 1, 0},
      {"moe_balance", kernels::loss_moe_balance, 0, 0, 0, 0, 0, 0, 1},
  };
  return list;
}

// The batch, without noise. `bootstrap` false: every transition ends and pays an atom's value, so that the target is
// one atom and the floors of C51, MSE and IQN are 0.
inline void set_up_alone(Rig& rig, const Loss& loss, bool bootstrap) {
  const NetworkLayout& n = *rig.layout;
  rig.inject(20240521, 0);
  Injection& in = rig.learner->injection();
  for (int b = 0; b < rig.learner->options().batch; ++b) {
    in.weight.host()[b] = loss.weight;
    for (int d = 0; d < n.branches && !bootstrap; ++d) {
      in.discount.host()[b * n.branches + d] = 0;
      const int atom = n.atoms / 2 + (b * 7 + d * 3) % 9 - 4;
      in.reward.host()[b * n.branches + d] = -10 + 20 * static_cast<float>(atom) / static_cast<float>(n.atoms - 1);
    }
  }
  in.scalars.host()->c51_alpha = loss.alpha;
  in.scalars.host()->moe_lambda = loss.lambda;
  rig.learner->edit_settings([&](kernels::Settings& s) {
    s.frozen_target = 1, s.noisy = 0;
    s.weight_iqn = loss.iqn, s.weight_iql = loss.iql, s.weight_cql = loss.cql, s.weight_aux = loss.aux;
  });
}

// The least value that any outputs could give. q_taken of the expectiles takes no gradient, so 0 can be reached.
inline double analytic_floor(const Loss& loss) {
  return loss.term == kernels::loss_moe_balance ? 1 : 0;
}

struct Halving {
  double first = 0, last = 0;
  int steps = 0;  // until the distance had halved, or all
};

// Stops at the half, or after `most` steps.
inline Halving halve(Rig& rig, const Loss& loss, double floor, int most) {
  Halving h;
  for (h.steps = 1; h.steps <= most; ++h.steps) {
    rig.step();
    h.last = rig.losses()[static_cast<std::size_t>(loss.term)];
    if (h.steps == 1) h.first = h.last;
    if (h.last - floor <= 0.5 * (h.first - floor)) break;
  }
  return h;
}

// Uneven gates: a balance loss that has something to do.
inline void tilt_gates(Rig& rig) {
  auto p = rig.arena_of(rig.learner->params());
  const TensorSpec& t = rig.learner->table().at("moe.gate.bias");
  for (std::int64_t i = 0; i < t.size; ++i) p[static_cast<std::size_t>(t.offset + i)] = 0.5f * static_cast<float>(i);
  rig.set_arena(rig.learner->params(), p);
}

}  // namespace foxhunt::test
