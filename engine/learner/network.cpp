// Plans, buffers and recording of the forward pass.
#include "engine/learner/network.h"

#include "engine/learner/launches.h"
#include "kernels/network.h"

namespace foxhunt {

using device::Epilogue;
using device::ProductShape;

Network::Network(device::Device& device, const LearnerConfig& config, const TensorTable& table,
                 const NetworkOptions& options)
    : layout_(config, table), options_(options) {
  const auto& n = layout_;
  const std::size_t rows = static_cast<std::size_t>(options.rows);
  selection_hidden = {device, rows * n.groups * n.selection_hidden};
  selection_weights = {device, rows * n.groups};
  gated = {device, rows * n.stride};
  for (int k = 0; k < 2; ++k) {
    Gated& g = grn_[k];
    g.relu = {device, rows * n.hidden};
    g.value_gate = {device, rows * 2 * n.hidden};
    g.xhat = {device, rows * n.hidden};
    g.out = {device, rows * n.hidden};
    g.inverse = {device, rows};
    if (options.masks) g.mask = {device, device::mask_bytes(options.rows, n.hidden)};
    const std::string name = k == 0 ? "grn1" : "grn2";
    g.a_weight = table.offset(name + ".a.weight");
    g.a_bias = table.offset(name + ".a.bias");
    g.b_weight = table.offset(name + ".b.weight");
    g.b_bias = table.offset(name + ".b.bias");
    g.r_weight = table.offset(name + ".residual.weight");
    g.gamma = table.offset(name + ".norm.weight");
    g.beta = table.offset(name + ".norm.bias");
    forked_[k] = device.create_event();
    joined_[k] = device.create_event();
  }
  mixture_in = {device, rows * n.mixture_columns()};
  gates = {device, rows * n.experts};
  scaled_hidden = {device, rows * n.experts * n.expert_hidden};
  mixture_xhat = {device, rows * n.hidden};
  trunk = {device, rows * n.hidden};
  mixture_inverse = {device, rows};
  heads_hidden = {device, rows * n.head_columns()};
  heads_out = {device, rows * n.heads * n.wide};
  weight = {device, static_cast<std::size_t>(n.heads) * n.wide * n.head_hidden};
  bias = {device, static_cast<std::size_t>(n.heads) * n.wide};
  selection = {device, static_cast<std::size_t>(n.groups) * n.selection_hidden * n.state};
  selection_bias_ = table.offset("vsn." + config.groups[0].first + ".1.bias");
  selection_weight2_ = table.offset("vsn." + config.groups[0].first + ".2.weight");
  selection_bias2_ = table.offset("vsn." + config.groups[0].first + ".2.bias");
  gate_weight_ = table.offset("moe.gate.weight");
  gate_bias_ = table.offset("moe.gate.bias");
  out_weight_ = table.offset("moe.out.weight");
  moe_gamma_ = table.offset("moe.norm.weight");
  moe_beta_ = table.offset("moe.norm.bias");
  heads_weight_ = table.offset("value.hidden.weight");
  heads_bias_ = table.offset("value.hidden.bias");
  side_ = device.create_stream();
  make_plans(device);
}

void Network::make_plans(device::Device& device) {
  const auto& n = layout_;
  const int rows = options_.rows;
  const std::string side_lane = options_.lane + ".side";
  const auto forward = [&](int outputs, int inputs, int lda, Epilogue epilogue) {
    return ProductShape{.m = rows,
                        .n = outputs,
                        .k = inputs,
                        .transpose_b = true,
                        .lda = lda,
                        .epilogue = epilogue,
                        .precision = options_.precision};
  };
  const Epilogue relu = options_.masks ? Epilogue::relu_bias_mask : Epilogue::relu_bias;
  selection_product_ =
      device.plan(forward(n.groups * n.selection_hidden, n.state, n.stride, Epilogue::relu_bias), options_.lane);
  for (int k = 0; k < 2; ++k) {
    const int in = k == 0 ? n.state : n.hidden, stride = k == 0 ? n.stride : n.hidden;
    grn_[k].a = device.plan(forward(n.hidden, in, stride, relu), options_.lane);
    grn_[k].b = device.plan(forward(2 * n.hidden, n.hidden, 0, Epilogue::bias), options_.lane);
    grn_[k].residual = device.plan(forward(n.hidden, in, stride, Epilogue::none), side_lane);
  }
  mixture_in_product_ = device.plan(forward(n.mixture_columns(), n.hidden, 0, Epilogue::bias), options_.lane);
  mixture_out_product_ = device.plan(forward(n.hidden, n.experts * n.expert_hidden, 0, Epilogue::none), options_.lane);
  hidden_product_ = device.plan(forward(n.head_columns(), n.hidden, 0, Epilogue::relu_bias), options_.lane);
  ProductShape out = forward(n.wide, n.head_hidden, n.head_columns(), Epilogue::bias);
  out.batch = n.heads;
  out.stride_a = n.head_hidden;
  out.stride_b = static_cast<std::int64_t>(n.wide) * n.head_hidden;
  out.stride_c = static_cast<std::int64_t>(rows) * n.wide;
  out.stride_bias = n.wide;
  out_product_ = device.plan(out, options_.lane);
}

void Network::record_weights(device::Recorder& r, const float* params, const float* noise) {
  const auto& n = layout_;
  r.launch({.grid_x = kernels::effective_blocks(n.noisy, n.selection), .threads = 256},
           kernels::EffectiveWeightsArgs{.params = params,
                                         .noise = noise,
                                         .weight = weight.data(),
                                         .bias = bias.data(),
                                         .selection = selection.data(),
                                         .layers = n.noisy,
                                         .groups = n.selection});
}

void Network::record_grn(device::Recorder& r, int k, const float* params, const float* x,
                         const kernels::Control* control) {
  Gated& g = grn_[k];
  device::Recorder side = r.fork(*side_, *forked_[k]);
  side.multiply(*g.residual, {.a = x, .b = params + g.r_weight, .c = g.xhat.data()});
  r.multiply(*g.a, {.a = x,
                    .b = params + g.a_weight,
                    .c = g.relu.data(),
                    .bias = const_cast<float*>(params + g.a_bias),
                    .mask = g.mask.data()});
  r.multiply(*g.b, {.a = g.relu.data(),
                    .b = params + g.b_weight,
                    .c = g.value_gate.data(),
                    .bias = const_cast<float*>(params + g.b_bias)});
  r.join(side, *joined_[k]);
  const RowTiles gated_norm = row_tiles(options_.rows, layout_.hidden, kNeverFew);
  r.launch(gated_norm.launch, kernels::GatedNormArgs{.params = params,
                                                     .value_gate = g.value_gate.data(),
                                                     .residual = g.xhat.data(),
                                                     .out = g.out.data(),
                                                     .inverse = g.inverse.data(),
                                                     .gamma = g.gamma,
                                                     .beta = g.beta,
                                                     .control = control,
                                                     .rows = options_.rows,
                                                     .scaled = options_.scaled,
                                                     .width = layout_.hidden,
                                                     .block_index = k,
                                                     .tile = gated_norm.tile});
}

void Network::record_forward(device::Recorder& r, const float* params, const float* states,
                             const kernels::Control* control) {
  record_trunk(r, params, states, control);
  record_heads(r, params);
}

void Network::record_trunk(device::Recorder& r, const float* params, const float* states,
                           const kernels::Control* control) {
  const auto& n = layout_;
  const int rows = options_.rows;
  r.multiply(*selection_product_, {.a = states,
                                   .b = selection.data(),
                                   .c = selection_hidden.data(),
                                   .bias = const_cast<float*>(params + selection_bias_)});
  const RowTiles selection_gate = row_tiles(rows, n.state, kNeverFew);
  r.launch(selection_gate.launch, kernels::SelectionGateArgs{.params = params,
                                                             .x = states,
                                                             .hidden = selection_hidden.data(),
                                                             .weights = selection_weights.data(),
                                                             .gated = gated.data(),
                                                             .weight2 = selection_weight2_,
                                                             .bias2 = selection_bias2_,
                                                             .groups = n.selection,
                                                             .rows = rows,
                                                             .stride = n.stride,
                                                             .tile = selection_gate.tile});
  record_grn(r, 0, params, gated.data(), control);
  record_grn(r, 1, params, grn_[0].out.data(), control);
  const float* h = grn_[1].out.data();
  r.multiply(
      *mixture_in_product_,
      {.a = h, .b = params + gate_weight_, .c = mixture_in.data(), .bias = const_cast<float*>(params + gate_bias_)});
  const RowTiles mixture_gate = row_tiles(rows, n.experts * n.expert_hidden, kFewRows);
  r.launch(mixture_gate.launch, kernels::MixtureGateArgs{.input = mixture_in.data(),
                                                         .gates = gates.data(),
                                                         .scaled_hidden = scaled_hidden.data(),
                                                         .rows = rows,
                                                         .experts = n.experts,
                                                         .expert_hidden = n.expert_hidden,
                                                         .tile = mixture_gate.tile});
  r.multiply(*mixture_out_product_, {.a = scaled_hidden.data(), .b = params + out_weight_, .c = mixture_xhat.data()});
  const RowTiles mixture_norm = row_tiles(rows, n.hidden, kNeverFew);
  r.launch(mixture_norm.launch, kernels::MixtureNormArgs{.params = params,
                                                         .h = h,
                                                         .y = mixture_xhat.data(),
                                                         .out = trunk.data(),
                                                         .inverse = mixture_inverse.data(),
                                                         .gamma = moe_gamma_,
                                                         .beta = moe_beta_,
                                                         .control = control,
                                                         .rows = rows,
                                                         .scaled = options_.scaled,
                                                         .width = n.hidden,
                                                         .tile = mixture_norm.tile});
}

void Network::record_heads(device::Recorder& r, const float* params) {
  r.multiply(*hidden_product_, {.a = trunk.data(),
                                .b = params + heads_weight_,
                                .c = heads_hidden.data(),
                                .bias = const_cast<float*>(params + heads_bias_)});
  r.multiply(*out_product_, {.a = heads_hidden.data(), .b = weight.data(), .c = heads_out.data(), .bias = bias.data()});
}

}  // namespace foxhunt
