// From the configuration to the options of device, learner, collector and evaluator: the one place where "0: the
// device's default" is resolved.
#pragma once

#include <memory>

#include "engine/config/config.h"
#include "engine/device/device.h"
#include "engine/environment/collector.h"
#include "engine/environment/evaluator.h"
#include "engine/learner/learner.h"
#include "engine/market/folds.h"

namespace foxhunt {

std::unique_ptr<device::Device> open_configured_device(const Config& config);
device::Precision configured_precision(const Config& config, const device::Device& device);
// Fills what depends on the device: environments, replay capacity.
void resolve_defaults(Config& config, const device::Device& device);
// Timesteps of the collector that one epoch needs: each transition is drawn about four times.
std::int64_t collection_timesteps(const Config& config);
LearnerOptions learner_options(const Config& config, const device::Device& device, int folds);
CollectorOptions collector_options(const Config& config);
// Windows of an evaluation: as configured, fewer where they would have less than two bars.
int evaluation_windows(const Config& config, market::Range window);
EvaluatorOptions evaluator_options(const Config& config, market::Range window);

}  // namespace foxhunt
