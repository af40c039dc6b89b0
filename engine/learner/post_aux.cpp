// Recording of the backward pass; plans are made in post_aux_plans.cpp.
#include "engine/learner/post_aux.h"

#include "engine/learner/column_jobs.h"
#include "kernels/losses.h"

namespace foxhunt {

void PostAux::record(device::Recorder& r) {
  device::Recorder weights = r.fork(*weight_stream_, *to_weights_);
  device::Recorder quantiles = r.fork(*quantile_stream_, *to_quantiles_);
  device::Recorder sums = r.fork(*sum_stream_, *to_quantiles_);
  StepBuffers& b = c_.buffers;
  sums.launch(single_launch(256), kernels::FinishLossesArgs{.control = c_.control.data(),
                                                            .row_terms = b.row_terms.data(),
                                                            .weight = b.weight.data(),
                                                            .gates = n_.gates.data(),
                                                            .losses = b.losses.data(),
                                                            .gate_entropy = b.gate_entropy.data(),
                                                            .importance = b.importance.data(),
                                                            .batch = c_.batch,
                                                            .experts = c_.layout.experts});
  record_quantiles(quantiles);
  record_heads(r, weights);
  r.join(quantiles, *from_quantiles_);
  record_side_gradients(quantiles);  // what nobody waits for
  record_mixture_norm(r);
  r.join(sums, *from_sums_);
  record_mixture(r, weights);
  record_block(r, weights, 1);
  record_block(r, weights, 0);
  record_selection(r, weights);
  r.join(weights, *from_weights_);
  r.join(quantiles, *from_side_);
}

void PostAux::record_heads(device::Recorder& main, device::Recorder& weights) {
  const NetworkLayout& n = c_.layout;
  weights.multiply(
      *w_effective_,
      {.a = h_.d_heads.data(), .b = n_.heads_hidden.data(), .c = d_weight_.data(), .bias = d_bias_.data()});
  weights.launch(tile_launch(n.noisy.count * n.noisy.wide, 8),
                 kernels::NoisyGradientsArgs{.weight = d_weight_.data(),
                                             .bias = d_bias_.data(),
                                             .noise = c_.buffers.noise.data(),
                                             .gradients = c_.arenas.gradients.data(),
                                             .layers = n.noisy});
  main.multiply(*d_heads_hidden_, {.a = h_.d_heads.data(), .b = n_.weight.data(), .c = h_.d_columns.data()});
  const RowTiles relu_gate = row_tiles(c_.batch, n.head_columns(), kFewRows);
  main.launch(relu_gate.launch, kernels::ReluGateArgs{.h = n_.heads_hidden.data(),
                                                      .d = h_.d_columns.data(),
                                                      .rows = c_.batch,
                                                      .columns = n.head_columns(),
                                                      .h_stride = n.head_columns(),
                                                      .d_stride = h_.d_stride,
                                                      .tile = relu_gate.tile});
  weights.join(main, *to_weights_);
  weights.multiply(*w_heads_, {.a = h_.d_columns.data(),
                               .b = n_.trunk.data(),
                               .c = gradient("value.hidden.weight"),
                               .bias = gradient("value.hidden.bias")});
  main.multiply(*d_from_heads_, {.a = h_.d_columns.data(), .b = param("value.hidden.weight"), .c = d_trunk_.data()});
}

void PostAux::record_quantiles(device::Recorder& q) {
  const auto& online = h_.online_q;
  q.multiply(*dq_hidden_plan_, {.a = h_.d_quantiles.data(),
                                .b = param("iqn.out.weight"),
                                .c = dq_hidden_.data(),
                                .mask = online.hidden_mask.data()});
  q.multiply(*dz_plan_, {.a = dq_hidden_.data(), .b = param("iqn.hidden.weight"), .c = dz_.data()});
}

void PostAux::record_side_gradients(device::Recorder& q) {
  const auto& online = h_.online_q;
  const NetworkLayout& n = c_.layout;
  q.multiply(*w_q_out_, {.a = h_.d_quantiles.data(),
                         .b = online.hidden.data(),
                         .c = gradient("iqn.out.weight"),
                         .bias = gradient("iqn.out.bias")});
  q.multiply(*w_q_hidden_, {.a = dq_hidden_.data(),
                            .b = online.z.data(),
                            .c = gradient("iqn.hidden.weight"),
                            .bias = gradient("iqn.hidden.bias")});
  record_column_sums(q, phi_columns_);
  q.multiply(*w_embed_, {.a = d_phi_.data(),
                         .b = c_.buffers.cosines.data(),
                         .c = gradient("iqn.embed.weight"),
                         .bias = gradient("iqn.embed.bias")});
  q.launch(row_launch(c_.batch), kernels::ExpectileBackwardArgs{.params = c_.arenas.params.data(),
                                                                .hidden = h_.iql_hidden.data(),
                                                                .d_iql = h_.d_iql.data(),
                                                                .d_hidden = d_iql_hidden_.data(),
                                                                .weight = c_.table.offset("iql_high.out.weight"),
                                                                .rows = c_.batch,
                                                                .width = n.iql_hidden});
  q.multiply(*w_iql_, {.a = d_iql_hidden_.data(),
                       .b = c_.buffers.state.data(),
                       .c = gradient("iql_high.hidden.weight"),
                       .bias = gradient("iql_high.hidden.bias")});
}

void PostAux::record_mixture_norm(device::Recorder& main) {
  const NetworkLayout& n = c_.layout;
  const RowTiles mixture_norm_backward = row_tiles(c_.batch, n.hidden, kFewRows);
  main.launch(mixture_norm_backward.launch,
              kernels::MixtureNormBackwardArgs{.params = c_.arenas.params.data(),
                                               .control = c_.control.data(),
                                               .dz = dz_.data(),
                                               .phi = h_.online_q.phi.data(),
                                               .xhat = n_.mixture_xhat.data(),
                                               .inverse = n_.mixture_inverse.data(),
                                               .d_h = d_trunk_.data(),
                                               .d_in = d_in_.data(),
                                               .d_y = d_y_.data(),
                                               .gamma = c_.table.offset("moe.norm.weight"),
                                               .rows = c_.batch,
                                               .width = n.hidden,
                                               .taus = n.taus,
                                               .tile = mixture_norm_backward.tile});
}

void PostAux::record_mixture(device::Recorder& main, device::Recorder& weights) {
  const NetworkLayout& n = c_.layout;
  weights.join(main, *to_weights_);
  weights.multiply(*w_mixture_out_, {.a = d_y_.data(), .b = n_.scaled_hidden.data(), .c = gradient("moe.out.weight")});
  main.multiply(*d_scaled_plan_, {.a = d_y_.data(), .b = param("moe.out.weight"), .c = d_scaled_.data()});
  const RowTiles mixture_gate_backward = row_tiles(c_.batch, n.experts * n.expert_hidden, kFewRows);
  main.launch(mixture_gate_backward.launch, kernels::MixtureGateBackwardArgs{.control = c_.control.data(),
                                                                             .input = n_.mixture_in.data(),
                                                                             .gates = n_.gates.data(),
                                                                             .d_scaled = d_scaled_.data(),
                                                                             .importance = c_.buffers.importance.data(),
                                                                             .d_input = d_mixture_.data(),
                                                                             .rows = c_.batch,
                                                                             .experts = n.experts,
                                                                             .expert_hidden = n.expert_hidden,
                                                                             .tile = mixture_gate_backward.tile});
  weights.join(main, *to_weights_);
  weights.multiply(*w_mixture_in_, {.a = d_mixture_.data(),
                                    .b = n_.grn(1).out.data(),
                                    .c = gradient("moe.gate.weight"),
                                    .bias = gradient("moe.gate.bias")});
  main.multiply(*d_mixture_plan_, {.a = d_mixture_.data(), .b = param("moe.gate.weight"), .c = d_in_.data()});
}

void PostAux::record_block(device::Recorder& main, device::Recorder& weights, int k) {
  const NetworkLayout& n = c_.layout;
  Block& block = blocks_[k];
  Network::Gated& g = n_.grn(k);
  const std::string name = k == 0 ? "grn1" : "grn2";
  const float* d_out = k == 0 ? d_hidden1_.data() : d_in_.data();
  const float* input = k == 0 ? n_.gated.data() : n_.grn(0).out.data();
  const RowTiles gated_norm_backward = row_tiles(c_.batch, n.hidden, kFewRows);
  main.launch(gated_norm_backward.launch, kernels::GatedNormBackwardArgs{.params = c_.arenas.params.data(),
                                                                         .control = c_.control.data(),
                                                                         .value_gate = g.value_gate.data(),
                                                                         .xhat = g.xhat.data(),
                                                                         .inverse = g.inverse.data(),
                                                                         .d_out = d_out,
                                                                         .d_value_gate = block.d_value_gate.data(),
                                                                         .d_residual = block.d_wide.data() + n.hidden,
                                                                         .gamma = g.gamma,
                                                                         .rows = c_.batch,
                                                                         .width = n.hidden,
                                                                         .block_index = k,
                                                                         .stride = 2 * n.hidden,
                                                                         .tile = gated_norm_backward.tile});
  weights.join(main, *to_weights_);
  weights.multiply(*block.w_b, {.a = block.d_value_gate.data(),
                                .b = g.relu.data(),
                                .c = gradient(name + ".b.weight"),
                                .bias = gradient(name + ".b.bias")});
  main.multiply(*block.d_relu, {.a = block.d_value_gate.data(),
                                .b = param(name + ".b.weight"),
                                .c = block.d_wide.data(),
                                .mask = g.mask.data()});
  weights.join(main, *to_weights_);
  weights.multiply(
      *block.w_wide,
      {.a = block.d_wide.data(), .b = input, .c = gradient(name + ".a.weight"), .bias = block.wide_bias.data()});
  main.multiply(
      *block.d_input,
      {.a = block.d_wide.data(), .b = param(name + ".a.weight"), .c = k == 0 ? d_gated_.data() : d_hidden1_.data()});
}

void PostAux::record_selection(device::Recorder& main, device::Recorder& weights) {
  const NetworkLayout& n = c_.layout;
  const std::string first = c_.options.config.groups[0].first;
  const RowTiles selection_backward = row_tiles(c_.batch, n.groups * n.selection_hidden, kFewRows);
  main.launch(selection_backward.launch,
              kernels::SelectionBackwardArgs{.params = c_.arenas.params.data(),
                                             .x = c_.buffers.state.data(),
                                             .d_gated = d_gated_.data(),
                                             .weights = n_.selection_weights.data(),
                                             .hidden = n_.selection_hidden.data(),
                                             .d_score = d_score_.data(),
                                             .d_hidden = d_selection_hidden_.data(),
                                             .weight2 = c_.table.offset("vsn." + first + ".2.weight"),
                                             .groups = n.selection,
                                             .rows = c_.batch,
                                             .stride = n.stride,
                                             .tile = selection_backward.tile});
  weights.join(main, *to_weights_);
  weights.multiply(*w_selection_, {.a = d_selection_hidden_.data(),
                                   .b = c_.buffers.state.data(),
                                   .c = d_selection_.data(),
                                   .bias = gradient("vsn." + first + ".1.bias")});
  record_column_sums(main, columns_);
  weights.launch(tile_launch(n.groups * n.selection_hidden + 2, 16),
                 kernels::ScatterGradientsArgs{.selection = d_selection_.data(),
                                               .wide_bias = {blocks_[0].wide_bias.data(), blocks_[1].wide_bias.data()},
                                               .gradients = c_.arenas.gradients.data(),
                                               .bias = {c_.table.offset("grn1.a.bias"), c_.table.offset("grn2.a.bias")},
                                               .groups = n.selection,
                                               .width = n.hidden});
}

}  // namespace foxhunt
