// Allocation of everything a step needs; nothing is allocated later.
#include "engine/learner/step_context.h"

#include <algorithm>
#include <cstring>

#include "engine/learner/transfer.h"
#include "kernels/losses.h"
#include "kernels/optimiser.h"

namespace foxhunt {

Arenas::Arenas(device::Device& device, const TensorTable& table) {
  const auto n = static_cast<std::size_t>(table.arena_size());
  params = {device, n};
  target = {device, n};
  gradients = {device, n};
  moment1 = {device, n};
  moment2 = {device, n};
  const auto groups = table.groups();
  for (std::size_t i = 0; i < table.tensors().size(); ++i) {
    const TensorSpec& t = table.tensors()[i];
    const auto group = std::find(groups.begin(), groups.end(), t.group) - groups.begin();
    for (std::int64_t done = 0; done < t.size; done += kernels::kArenaTile) {
      tile_list.push_back(
          {.offset = t.offset + done,
           .count = static_cast<std::int32_t>(std::min<std::int64_t>(kernels::kArenaTile, t.size - done)),
           .tensor = static_cast<std::int16_t>(i),
           .group = static_cast<std::uint8_t>(group),
           .decays = static_cast<std::uint8_t>(t.decays)});
    }
  }
  tiles = {device, tile_list.size()};
  sums = {device, tile_list.size()};
  upload(device, tiles.data(), tile_list.data(), tile_list.size());
}

Injection::Injection(device::Device& device, const NetworkLayout& n, int batch) {
  const auto b = static_cast<std::size_t>(batch);
  state = {device, b * n.state};
  next_state = {device, b * n.state};
  reward = {device, b * n.branches};
  discount = {device, b * n.branches};
  weight = {device, b};
  regime = {device, b};
  aux = {device, b * 4};
  action = {device, b * n.branches};
  noise = {device, 2 * static_cast<std::size_t>(n.noise_floats())};
  scalars = {device, 1};
}

kernels::InjectedBatch Injection::view() const {
  return {.state = state.device(),
          .next_state = next_state.device(),
          .action = action.device(),
          .reward = reward.device(),
          .discount = discount.device(),
          .weight = weight.device(),
          .regime = regime.device(),
          .aux = aux.device()};
}

StepBuffers::StepBuffers(device::Device& device, const NetworkLayout& n, int batch) {
  const auto b = static_cast<std::size_t>(batch);
  state = {device, 2 * b * n.stride};
  reward = {device, b * n.branches};
  discount = {device, b * n.branches};
  weight = {device, b};
  regime = {device, b};
  aux_label = {device, b * 4};
  probability = {device, b};
  action = {device, b * n.branches};
  index = {device, b};
  greedy = {device, b * n.branches};
  noise = {device, 2 * static_cast<std::size_t>(n.noise_floats())};
  taus = {device, static_cast<std::size_t>(n.taus)};
  cosines = {device, static_cast<std::size_t>(n.taus) * n.cosines};
  q = {device, b * n.actions};
  q_variance = {device, b * n.actions};
  q_next = {device, b * n.actions};
  probabilities = {device, b * n.branches * n.atoms};
  projected = {device, b * n.branches * n.atoms};
  td = {device, b};
  priority = {device, b};
  q_taken = {device, b};
  iql = {device, b * 2};
  row_terms = {device, b * kernels::kRowLosses};
  importance = {device, static_cast<std::size_t>(n.experts)};
  losses = {device, kernels::kLossTerms};
  gate_entropy = {device, 1};
  gradient_norm = {device, 2};
  sigma = {device, static_cast<std::size_t>(n.branches) + 9};
  std::vector<float> midpoints(n.taus);
  for (int t = 0; t < n.taus; ++t) midpoints[t] = (static_cast<float>(t) + 0.5f) / static_cast<float>(n.taus);
  upload(device, taus.data(), midpoints.data(), midpoints.size());
}

StepContext::StepContext(device::Device& dev, const LearnerOptions& o)
    : device(dev),
      options(o),
      table(o.config),
      layout(o.config, table),
      batch(o.batch),
      arenas(dev, table),
      injection(dev, layout, o.batch),
      buffers(dev, layout, o.batch),
      control(dev, 1),
      command(dev, 1),
      ring(dev, static_cast<std::size_t>(o.capacity)),
      ring_priority(dev, static_cast<std::size_t>(o.capacity)) {}

}  // namespace foxhunt
