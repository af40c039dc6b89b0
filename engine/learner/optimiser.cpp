// Recording of the optimiser's children.
#include "engine/learner/optimiser.h"

#include "engine/learner/launches.h"
#include "kernels/optimiser.h"

namespace foxhunt {

AdamGrad::AdamGrad(StepContext& context, std::span<const telemetry::NanCheck> checks,
                   const telemetry::Telemetry* telemetry)
    : c_(context),
      scanner_(context.device, context.control.data(), checks, telemetry),
      side_(context.device.create_stream()),
      forked_(context.device.create_event()),
      joined_(context.device.create_event()) {}

void AdamGrad::record(device::Recorder& r) {
  const Arenas& a = c_.arenas;
  const auto tiles = static_cast<std::uint32_t>(a.tile_list.size());
  device::Recorder side = r.fork(*side_, *forked_);
  scanner_.record(side);
  r.launch({.grid_x = tiles, .threads = 256},
           kernels::GradientNormsArgs{.gradients = a.gradients.data(), .tiles = a.tiles.data(), .sums = a.sums.data()});
  r.launch(single_launch(1024), kernels::FinishNormArgs{.sums = a.sums.data(),
                                                        .control = c_.control.data(),
                                                        .norm = c_.buffers.gradient_norm.data(),
                                                        .tiles = static_cast<int>(tiles)});
  r.join(side, *joined_);
}

void Adam::record(device::Recorder& r) {
  const Arenas& a = c_.arenas;
  r.launch({.grid_x = static_cast<std::uint32_t>(a.tile_list.size()), .threads = 256},
           kernels::AdamUpdateArgs{.gradients = a.gradients.data(),
                                   .tiles = a.tiles.data(),
                                   .norm = c_.buffers.gradient_norm.data(),
                                   .control = c_.control.data(),
                                   .params = a.params.data(),
                                   .target = a.target.data(),
                                   .moment1 = a.moment1.data(),
                                   .moment2 = a.moment2.data(),
                                   .sums = a.sums.data()});
}

}  // namespace foxhunt
