// Addresses of what a step leaves behind, for telemetry and the NaN search.
#pragma once

#include <memory>
#include <vector>

#include "engine/learner/aux_heads.h"
#include "engine/learner/network.h"
#include "engine/learner/step_context.h"
#include "engine/telemetry/telemetry.h"

namespace foxhunt {

kernels::StepResults step_results(StepContext& c, Network& online, AuxHeads& aux);
std::vector<telemetry::NanCheck> nan_checks(StepContext& c, Network& online, AuxHeads& aux);
// Null when the sizes are not those that telemetry shows.
std::unique_ptr<telemetry::Telemetry> make_telemetry(StepContext& c, const kernels::StepResults& results);

}  // namespace foxhunt
