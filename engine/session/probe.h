// Two checkpoints before the same market: how far they would act and value alike.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/market/folds.h"

namespace foxhunt {

// One branch, means over the probe states.
struct BranchBehaviour {
  std::string name;
  double agreement = 0;                      // share of states in which both choose the same action
  double q_mean_abs = 0, q_max_abs = 0;      // of Q(b) - Q(a) over states and actions, scaled reward
  double q_mean_a = 0, q_mean_b = 0;         // over states and actions
  std::vector<double> actions_a, actions_b;  // shares of the greedy actions
};

struct Behaviour {
  int fold = 0;          // of the first checkpoint; its validation window gives the states
  market::Range window;  // bars
  std::int64_t states = 0;
  double agreement = 0;  // share of states in which all branches agree
  std::vector<BranchBehaviour> branches;
};

inline constexpr std::int64_t kProbeStates = 4096;

// Greedy actions and Q-values with mean weights at up to kProbeStates bars spread evenly over the validation window,
// for a flat account. Each checkpoint sees the bars through its own scaler and with its own frozen signals. Throws
// Error where a file cannot be evaluated, usage_error when the fold is not in the configuration.
Behaviour compare_behaviour(const std::filesystem::path& a, const std::filesystem::path& b, const Config& config);

// {fold, window [first, after the last], states, agreement, branches [{name, agreement, q_mean_abs, q_max_abs,
// q_mean_a, q_mean_b, actions_a [share], actions_b [share]}]}
nlohmann::ordered_json to_json(const Behaviour& behaviour);

}  // namespace foxhunt
