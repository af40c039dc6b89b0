// First values: Xavier uniform weights, noisy sigmas, unit norms, from the seed alone; and the scalars that the host
// may set.
#pragma once

#include <vector>

#include "engine/learner/learner.h"

namespace foxhunt {

struct Initial {
  std::vector<float> params;    // an arena
  std::vector<float> spectral;  // unit left vectors in the spectral list's order
};

Initial initial_values(const TensorTable& table, const LearnerConfig& config, std::uint64_t seed);
kernels::Settings settings_from(const LearnerOptions& options);

}  // namespace foxhunt
