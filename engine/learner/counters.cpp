// Recording of `counters`.
#include "engine/learner/counters.h"

#include <cmath>

#include "engine/learner/launches.h"

namespace foxhunt {

void Counters::record(device::Recorder& r) {
  const NetworkLayout& n = c_.layout;
  r.launch(single_launch(1), kernels::BeginStepArgs{.control = c_.control.data(),
                                                    .command = c_.command.device(),
                                                    .injected = c_.injection.scalars.device(),
                                                    .log_experts = std::log(static_cast<float>(n.experts))});
  r.launch(tile_launch(2ll * n.noise_floats() + static_cast<std::int64_t>(n.taus) * n.cosines, 256),
           kernels::DrawNoiseArgs{.control = c_.control.data(),
                                  .injected = c_.injection.noise.device(),
                                  .noise = c_.buffers.noise.data(),
                                  .taus = c_.buffers.taus.data(),
                                  .cosines = c_.buffers.cosines.data(),
                                  .layers = n.noisy.count,
                                  .hidden = n.noisy.hidden,
                                  .wide = n.noisy.wide,
                                  .draws = 2,
                                  .tau_count = n.taus,
                                  .cosine_count = n.cosines,
                                  .purpose = {static_cast<std::uint32_t>(kernels::Purpose::noise_online),
                                              static_cast<std::uint32_t>(kernels::Purpose::noise_target)},
                                  .per_collect_step = 0});
}

}  // namespace foxhunt
