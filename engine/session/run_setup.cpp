// Resolution of defaults.
#include "engine/session/run_setup.h"

#include <algorithm>

#include "engine/device/registry.h"
#include "engine/environment/rules.h"
#include "engine/market/contract.h"

namespace foxhunt {

std::unique_ptr<device::Device> open_configured_device(const Config& config) {
  device::DeviceOptions options;
  options.threads = config.threads;
  options.plan_cache = device::default_plan_cache();
  return device::open_device(config.device, options);
}

device::Precision configured_precision(const Config& config, const device::Device& device) {
  if (device.info().kind == device::DeviceKind::host || config.training.precision == "fp32")
    return device::Precision::fp32;
  return config.training.precision == "bf16" ? device::Precision::bf16 : device::Precision::tf32;
}

void resolve_defaults(Config& config, const device::Device& device) {
  const bool host = device.info().kind == device::DeviceKind::host;
  if (config.environment.environments == 0) config.environment.environments = host ? 64 : 1024;
  if (config.replay.capacity == 0) config.replay.capacity = host ? 65'536 : 1'048'576;
}

std::int64_t collection_timesteps(const Config& config) {
  const std::int64_t draws = static_cast<std::int64_t>(config.training.steps_per_epoch) * config.training.batch;
  const std::int64_t each = 4ll * config.environment.environments;
  return std::max<std::int64_t>((draws + each - 1) / each, config.environment.n_step + 1);
}

LearnerOptions learner_options(const Config& config, const device::Device& device, int folds) {
  LearnerOptions o;
  o.config = config.learner;
  o.batch = config.training.batch;
  o.capacity = config.replay.capacity;
  o.beta_start = config.replay.beta_start;
  o.beta_end = config.replay.beta_end;
  o.beta_steps = static_cast<double>(config.training.epochs) * config.training.steps_per_epoch * std::max(folds, 1);
  o.depth_keep = config.training.depth_keep;
  o.moe_lambda = config.training.moe_lambda;
  o.epsilon = config.environment.epsilon;
  o.diag_interval = config.telemetry.diag_interval;
  o.precision = configured_precision(config, device);
  o.seed = config.seed;
  return o;
}

CollectorOptions collector_options(const Config& config) {
  CollectorOptions o;
  o.environments = config.environment.environments;
  o.episode_bars = config.environment.episode_bars;
  o.n_step = config.environment.n_step;
  o.max_timesteps = collection_timesteps(config);
  o.contract = environment_contract(market::contract_for(config.instrument, config.contract));
  o.rules = environment_rules(config.environment, o.contract);
  return o;
}

int evaluation_windows(const Config& config, market::Range window) {
  return static_cast<int>(std::clamp<std::int64_t>(window.size() / 2, 1, config.evaluation.windows));
}

EvaluatorOptions evaluator_options(const Config& config, market::Range window) {
  EvaluatorOptions o;
  o.windows = evaluation_windows(config, window);
  o.max_bars = window.size();
  o.seed = config.seed;
  const CollectorOptions shared = collector_options(config);
  o.contract = shared.contract;
  o.rules = shared.rules;
  return o;
}

}  // namespace foxhunt
