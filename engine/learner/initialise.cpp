// Drawn on the host with the kernels' own generator, so that every device starts from the same bits.
#include "engine/learner/initialise.h"

#include <cmath>

#include "engine/base/error.h"
#include "kernels/rng.h"

namespace foxhunt {

using kernels::Purpose;

Initial initial_values(const TensorTable& table, const LearnerConfig& config, std::uint64_t seed) {
  Initial out;
  out.params.assign(static_cast<std::size_t>(table.arena_size()), 0.0f);
  for (std::size_t i = 0; i < table.tensors().size(); ++i) {
    const TensorSpec& t = table.tensors()[i];
    float* to = out.params.data() + t.offset;
    for (std::int64_t k = 0; k < t.size; ++k) {
      switch (t.initialiser) {
        case Initialiser::zeros:
          break;
        case Initialiser::ones:
          to[k] = 1.0f;
          break;
        case Initialiser::noisy_sigma:
          to[k] = static_cast<float>(config.noisy_sigma0 / std::sqrt(static_cast<double>(t.fan_in)));
          break;
        case Initialiser::xavier_uniform: {
          const double bound = std::sqrt(6.0 / (t.shape[0] + t.shape[1]));
          const auto r =
              kernels::philox(seed, static_cast<std::uint32_t>(Purpose::initialise), i, static_cast<std::uint64_t>(k));
          to[k] = static_cast<float>((kernels::uniform53(r.v[0], r.v[1]) * 2.0 - 1.0) * bound);
          break;
        }
      }
    }
  }
  for (const int i : table.spectral()) {
    const int rows = table.tensors()[i].shape[0];
    std::vector<float> u(rows);
    double sum = 0;
    for (int k = 0; k < rows; ++k) {
      const auto r = kernels::philox(seed, static_cast<std::uint32_t>(Purpose::spectral), static_cast<std::uint64_t>(i),
                                     static_cast<std::uint64_t>(k));
      u[k] = kernels::normal(r.v[0], r.v[1]);
      sum += static_cast<double>(u[k]) * u[k];
    }
    for (float& x : u) x = static_cast<float>(x / std::sqrt(sum));
    out.spectral.insert(out.spectral.end(), u.begin(), u.end());
  }
  return out;
}

kernels::Settings settings_from(const LearnerOptions& o) {
  const LearnerConfig& c = o.config;
  const auto f = [](double x) { return static_cast<float>(x); };
  kernels::Settings s{};
  s.beta1 = c.beta1;
  s.beta2 = c.beta2;
  s.lr = f(c.lr);
  s.adam_eps = f(c.adam_eps);
  s.weight_decay = f(c.weight_decay);
  s.max_grad_norm = f(c.max_grad_norm);
  s.spectral_max = f(c.spectral_max);
  s.tau_init = f(c.tau_init);
  s.tau_final = f(c.tau_final);
  s.tau_anneal_steps = static_cast<float>(c.tau_anneal_steps);
  s.tau_scale = 1;
  s.expectile_high = f(c.expectile_high);
  s.expectile_low = f(c.expectile_low);
  s.huber_kappa = f(c.huber_kappa);
  s.weight_iqn = f(c.weight_iqn);
  s.weight_iql = f(c.weight_iql);
  s.weight_cql = f(c.weight_cql);
  s.weight_aux = f(c.weight_aux);
  s.iql_kappa = f(c.iql_kappa);
  s.per_alpha = f(c.per_alpha);
  s.per_epsilon = f(c.per_epsilon);
  s.beta_start = f(o.beta_start);
  s.beta_end = f(o.beta_end);
  s.beta_steps = f(o.beta_steps);
  s.depth_keep = f(o.depth_keep);
  s.moe_lambda = f(o.moe_lambda);
  s.epsilon = f(o.epsilon);
  s.reward_scale = 1;
  for (std::size_t d = 0; d < c.branches.size(); ++d) {
    s.gamma[d] = f(c.gamma.at(d));
    s.v_min[d] = f(c.v_min.at(d));
    s.v_max[d] = f(c.v_max.at(d));
  }
  s.noisy = 1;
  s.diag_interval = static_cast<std::uint32_t>(o.diag_interval);
  return s;
}

}  // namespace foxhunt
