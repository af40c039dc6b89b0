// Sizes and constants of the learner: the names and defaults of the reference's Config.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace foxhunt {

using NamedSizes = std::vector<std::pair<std::string, int>>;

struct LearnerConfig {
  NamedSizes groups = {{"price", 16},      {"volume", 16},   {"technical", 8},
                       {"order_flow", 32}, {"portfolio", 8}, {"signals", 16}};
  NamedSizes branches = {{"direction", 4}, {"magnitude", 3}, {"order", 3}, {"urgency", 3}};
  int hidden = 256;
  int vsn_hidden = 32;
  int head_hidden = 128;
  int experts = 8;
  int expert_hidden = 64;
  int atoms = 51;
  int iqn_cosines = 64;
  int iqn_taus = 8;
  int iql_hidden = 128;
  std::vector<double> v_min = {-10, -10, -10, -10};  // support of each branch, scaled reward
  std::vector<double> v_max = {10, 10, 10, 10};
  std::vector<double> gamma = {0.99, 0.98, 0.95, 0.95};
  double expectile_high = 0.8;
  double expectile_low = 0.2;
  double huber_kappa = 1.0;
  double weight_iqn = 0.5;
  double weight_iql = 1.0;
  double weight_cql = 0.05;
  double weight_aux = 0.1;
  double iql_kappa = 0.5;  // strength of the TD modulation
  double lr = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double adam_eps = 1e-8;
  double weight_decay = 1e-4;  // on 2-D tensors only, noisy sigmas included
  double max_grad_norm = 10.0;
  double spectral_max = 4.0;
  double tau_init = 0.01;
  double tau_final = 0.001;
  int tau_anneal_steps = 10'000;
  double per_alpha = 0.6;
  double per_epsilon = 1e-3;
  double noisy_sigma0 = 0.5;

  int state() const { return sum(groups); }
  int actions() const { return sum(branches); }

 private:
  static int sum(const NamedSizes& sizes) {
    int total = 0;
    for (const auto& [name, n] : sizes) total += n;
    return total;
  }
};

}  // namespace foxhunt
