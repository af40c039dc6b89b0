// Rules between fields.
#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "engine/config/load_config.h"
#include "engine/telemetry/rule_monitor.h"

namespace foxhunt {
namespace {

class Checker {
 public:
  explicit Checker(const std::string& file) : file_(file) {}

  void require(bool condition, const char* field, const std::string& message, const std::string& hint) const {
    if (!condition) throw usage_error(message, {file_, {}, {}, field, hint});
  }

 private:
  const std::string& file_;
};

void check_names(const Checker& checker, const NamedSizes& sizes, const char* field) {
  checker.require(!sizes.empty() && sizes.size() <= 32, field,
                  fmt::format("{} has {} entries; allowed: 1 to 32", field, sizes.size()), "give [name, size] pairs");
  std::set<std::string> seen;
  for (const auto& [name, size] : sizes) {
    const bool plain =
        !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    checker.require(plain, field, fmt::format("{} has the name \"{}\"", field, name), "names are of a-z, 0-9 and _");
    checker.require(seen.insert(name).second, field, fmt::format("{} has \"{}\" twice", field, name),
                    "names must differ");
  }
}

void check_learner(const Checker& checker, const LearnerConfig& learner) {
  check_names(checker, learner.groups, "learner.groups");
  check_names(checker, learner.branches, "learner.branches");
  const auto length = [&](const std::vector<double>& list, const char* field) {
    checker.require(list.size() == learner.branches.size(), field,
                    fmt::format("{} has {} values for {} branches", field, list.size(), learner.branches.size()),
                    "give one value for each of learner.branches");
  };
  length(learner.v_min, "learner.v_min");
  length(learner.v_max, "learner.v_max");
  length(learner.gamma, "learner.gamma");
  for (std::size_t d = 0; d < learner.branches.size(); ++d) {
    checker.require(learner.v_min[d] < learner.v_max[d], "learner.v_min",
                    fmt::format("learner.v_min of {} is {}, not below its learner.v_max {}", learner.branches[d].first,
                                learner.v_min[d], learner.v_max[d]),
                    "v_min must be below v_max in each branch");
  }
  checker.require(learner.tau_final <= learner.tau_init, "learner.tau_final",
                  fmt::format("learner.tau_final {} is above learner.tau_init {}", learner.tau_final, learner.tau_init),
                  "tau is annealed downwards");
  checker.require(learner.expectile_low <= learner.expectile_high, "learner.expectile_low",
                  fmt::format("learner.expectile_low {} is above learner.expectile_high {}", learner.expectile_low,
                              learner.expectile_high),
                  "swap them");
}

void check_data(const Checker& checker, const DataConfig& data) {
  checker.require(data.decimal_sign.empty() || data.decimal_sign != data.thousands_sign, "data.thousands_sign",
                  fmt::format("data.thousands_sign and data.decimal_sign are both \"{}\"", data.decimal_sign),
                  "one sign cannot be both: change one of them, or leave one empty");
  if (!data.simulated) return;
  checker.require(data.ohlcv.empty() && data.mbp10.empty() && data.trades.empty(), "data.simulated",
                  "data.simulated is given beside data files",
                  "the simulator stands for all three inputs: keep one or the other");
  checker.require(data.order_flow == "required", "data.order_flow", "data.order_flow is \"absent\" with simulated data",
                  "the simulator always makes book and trades: leave it at \"required\"");
}

void check_rules(const std::vector<std::string>& rules, const std::string& file) {
  try {
    telemetry::parse_rules(rules);
  } catch (const Error& error) {
    throw usage_error(error.what(), {file, {}, {}, error.place().field, error.place().hint});
  }
}

}  // namespace

void check_config(const Config& config, const std::string& file_name) {
  const Checker checker(file_name);
  check_data(checker, config.data);
  check_learner(checker, config.learner);
  check_rules(config.rules, file_name);
  const EnvironmentConfig& environment = config.environment;
  checker.require(environment.n_step < environment.episode_bars, "environment.n_step",
                  fmt::format("environment.n_step {} does not fit into environment.episode_bars {}", environment.n_step,
                              environment.episode_bars),
                  "make episodes longer");
  checker.require(std::isnan(config.contract.lot) || environment.max_position >= config.contract.lot,
                  "environment.max_position",
                  fmt::format("environment.max_position {} is below one lot of contract.lot {}",
                              environment.max_position, config.contract.lot),
                  "the cap must hold at least one lot");
  checker.require(
      config.replay.beta_start <= config.replay.beta_end, "replay.beta_start",
      fmt::format("replay.beta_start {} is above replay.beta_end {}", config.replay.beta_start, config.replay.beta_end),
      "beta is annealed upwards");
  checker.require(
      config.replay.capacity == 0 || config.replay.capacity >= config.training.batch, "replay.capacity",
      fmt::format("replay.capacity {} is below training.batch {}", config.replay.capacity, config.training.batch),
      "the ring must hold at least one batch; 0 chooses a size");
  checker.require(config.evaluation.windows * 2 <= config.folds.validation_bars, "evaluation.windows",
                  fmt::format("evaluation.windows {} leaves fewer than 2 bars a window of folds.validation_bars {}",
                              config.evaluation.windows, config.folds.validation_bars),
                  "use fewer windows or a longer validation window");
}

void check_training_config(const Config& config, const std::string& file_name) {
  check_config(config, file_name);
  const Checker checker(file_name);
  const DataConfig& data = config.data;
  checker.require(data.simulated || !data.ohlcv.empty(), "data.ohlcv", "no bars are given",
                  "name files in data.ohlcv, or give data.simulated");
  const bool flow = data.simulated || data.order_flow == "absent";
  const char* opt_out = "give it, or set data.order_flow to \"absent\" to train on bars only";
  checker.require(flow || !data.mbp10.empty(), "data.mbp10",
                  "data.order_flow is \"required\", but no book file is given", opt_out);
  checker.require(flow || !data.trades.empty(), "data.trades",
                  "data.order_flow is \"required\", but no trades file is given", opt_out);
  const LearnerConfig standard;
  const char* why = "the features of the state and the telemetry have these sizes";
  checker.require(config.learner.groups == standard.groups, "learner.groups",
                  "learner.groups is not the standard list that a training session needs", why);
  checker.require(config.learner.branches == standard.branches, "learner.branches",
                  "learner.branches is not the standard list that a training session needs", why);
  checker.require(config.learner.experts <= 8, "learner.experts",
                  fmt::format("learner.experts is {}; allowed in a training session: 1 to 8", config.learner.experts),
                  why);
}

}  // namespace foxhunt
