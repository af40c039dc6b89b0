// Recording of the replay's two children.
#include "engine/learner/per_sample.h"

#include "engine/learner/launches.h"

namespace foxhunt {

PerSample::PerSample(StepContext& context)
    : c_(context),
      tiles_(static_cast<int>(kernels::tiles(context.options.capacity, kernels::kPriorityTile))),
      sums_(context.device, static_cast<std::size_t>(tiles_)),
      chunks_(context.device, static_cast<std::size_t>(tiles_) * (kernels::kPriorityTile / kernels::kPriorityChunk)),
      prefix_(context.device, static_cast<std::size_t>(tiles_) + 1),
      largest_(context.device, 1) {}

void PerSample::record_scan(device::Recorder& r) {
  r.launch({.grid_x = static_cast<std::uint32_t>(tiles_), .threads = 256},
           kernels::SumPrioritiesArgs{.priority = c_.ring_priority.data(),
                                      .control = c_.control.data(),
                                      .tiles = sums_.data(),
                                      .chunks = chunks_.data()});
  r.launch({.grid_x = 1, .threads = 1024, .block_scratch = kernels::scan_scratch(tiles_)},
           kernels::ScanTilesArgs{
               .tiles = sums_.data(), .prefix = prefix_.data(), .largest = largest_.data(), .count = tiles_});
}

void PerSample::record(device::Recorder& r) {
  StepBuffers& b = c_.buffers;
  r.launch(tile_launch(c_.batch, 32, 512), kernels::DrawSamplesArgs{.priority = c_.ring_priority.data(),
                                                                    .control = c_.control.data(),
                                                                    .prefix = prefix_.data(),
                                                                    .chunks = chunks_.data(),
                                                                    .index = b.index.data(),
                                                                    .probability = b.probability.data(),
                                                                    .batch = c_.batch,
                                                                    .tiles = tiles_});
  r.launch(row_launch(c_.batch), kernels::GatherBatchArgs{.ring = c_.ring.data(),
                                                          .control = c_.control.data(),
                                                          .bars = c_.bars,
                                                          .injected = c_.injection.view(),
                                                          .index = b.index.data(),
                                                          .probability = b.probability.data(),
                                                          .state = b.state.data(),
                                                          .action = b.action.data(),
                                                          .reward = b.reward.data(),
                                                          .discount = b.discount.data(),
                                                          .weight = b.weight.data(),
                                                          .regime = b.regime.data(),
                                                          .aux = b.aux_label.data(),
                                                          .batch = c_.batch,
                                                          .width = c_.layout.state,
                                                          .stride = c_.layout.stride,
                                                          .branches = c_.layout.branches});
}

void PerPriority::record(device::Recorder& r) {
  r.launch(single_launch(1024), kernels::WritePrioritiesArgs{.index = c_.buffers.index.data(),
                                                             .fresh = c_.buffers.priority.data(),
                                                             .largest = largest_,
                                                             .priority = c_.ring_priority.data(),
                                                             .control = c_.control.data(),
                                                             .batch = c_.batch});
}

}  // namespace foxhunt
