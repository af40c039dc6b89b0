// From the configuration to what the environment's kernels take.
#pragma once

#include "engine/config/config.h"
#include "engine/market/contract.h"
#include "kernels/environment_types.h"

namespace foxhunt {

kernels::EnvironmentContract environment_contract(const market::Contract& contract);
// Throws usage_error when max_position is below one lot of the contract.
kernels::EnvironmentRules environment_rules(const EnvironmentConfig& config,
                                            const kernels::EnvironmentContract& contract);

}  // namespace foxhunt
