// Fills the address tables.
#include "engine/learner/step_results.h"

namespace foxhunt {

kernels::StepResults step_results(StepContext& c, Network& online, AuxHeads& aux) {
  const NetworkLayout& n = c.layout;
  StepBuffers& b = c.buffers;
  kernels::StepResults r{};
  r.batch = c.batch;
  r.branches = n.branches;
  r.actions = n.actions;
  r.atoms = n.atoms;
  r.taus = n.taus;
  r.experts = n.experts;
  r.groups = n.groups;
  r.state_width = n.state;
  r.state_stride = n.stride;
  r.tiles = static_cast<int>(c.arenas.tile_list.size());
  r.tensor_groups = static_cast<int>(c.table.groups().size());
  r.spectral = static_cast<int>(c.table.spectral().size());
  for (int d = 0; d < n.branches; ++d) {
    r.branch_actions[d] = n.sizes.count[d];
    r.branch_first[d] = n.sizes.first[d];
  }
  r.state = b.state.data();
  r.action = b.action.data();
  r.reward = b.reward.data();
  r.discount = b.discount.data();
  r.weight = b.weight.data();
  r.regime = b.regime.data();
  r.aux = b.aux_label.data();
  r.index = b.index.data();
  r.losses = b.losses.data();
  r.q = b.q.data();
  r.q_variance = b.q_variance.data();
  r.q_next = b.q_next.data();
  r.greedy_next = b.greedy.data();
  r.probabilities = b.probabilities.data();
  r.quantiles = aux.online_q.out.data();
  r.td = b.td.data();
  r.priority = b.priority.data();
  r.iql = b.iql.data();
  r.aux_output = aux.aux_output.data();
  r.aux_stride = AuxHeads::kAuxStride;
  r.vsn_weights = online.selection_weights.data();
  r.gates = online.gates.data();
  r.gradient_norm = b.gradient_norm.data();
  r.sigma = b.sigma.data();
  r.tile_sums = c.arenas.sums.data();
  r.tile_table = c.arenas.tiles.data();
  r.params = c.arenas.params.data();
  r.target = c.arenas.target.data();
  r.gradients = c.arenas.gradients.data();
  r.control = c.control.data();
  return r;
}

std::vector<telemetry::NanCheck> nan_checks(StepContext& c, Network& online, AuxHeads& aux) {
  using kernels::NanPlace;
  const NetworkLayout& n = c.layout;
  StepBuffers& b = c.buffers;
  const std::int64_t rows = c.batch, arena = c.table.arena_size(), value = 2 * rows * n.wide;
  const auto all = [](NanPlace place, const device::Buffer<float>& buffer) {
    return telemetry::NanCheck{
        .place = place, .data = buffer.data(), .count = static_cast<std::int64_t>(buffer.size())};
  };
  return {all(NanPlace::states, b.state),
          {.place = NanPlace::value_logits, .data = online.heads_out.data(), .count = value},
          {.place = NanPlace::branch_logits, .data = online.heads_out.data() + value, .count = value * n.branches},
          {.place = NanPlace::loss, .data = b.losses.data(), .count = kernels::kLossTerms, .is_double = true},
          {.place = NanPlace::parameters, .data = c.arenas.params.data(), .count = arena},
          {.place = NanPlace::target_parameters, .data = c.arenas.target.data(), .count = arena},
          {.place = NanPlace::gradients, .data = c.arenas.gradients.data(), .count = arena},
          all(NanPlace::log_probabilities, b.probabilities),
          all(NanPlace::projected_target, b.projected),
          all(NanPlace::iqn, aux.online_q.out),
          all(NanPlace::td_errors, b.td),
          all(NanPlace::priorities, b.priority),
          all(NanPlace::trunk_output, online.trunk),
          all(NanPlace::gates, online.gates),
          all(NanPlace::vsn_weights, online.selection_weights),
          all(NanPlace::rewards, b.reward)};
}

std::unique_ptr<telemetry::Telemetry> make_telemetry(StepContext& c, const kernels::StepResults& results) {
  if (!telemetry::Telemetry::supports(results)) return nullptr;
  return std::make_unique<telemetry::Telemetry>(c.device, results,
                                                telemetry::telemetry_layout(c.table, c.options.config.branches));
}

}  // namespace foxhunt
