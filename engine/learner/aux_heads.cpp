// Plans and recording of `aux`.
#include "engine/learner/aux_heads.h"

#include "engine/learner/launches.h"
#include "kernels/losses.h"
#include "kernels/network.h"

namespace foxhunt {

using device::Epilogue;
using device::ProductShape;

AuxHeads::AuxHeads(StepContext& context, Network& online, Network& target)
    : c_(context), online_(online), target_(target) {
  const NetworkLayout& n = c_.layout;
  const auto b = static_cast<std::size_t>(c_.batch);
  make_quantiles(online_q, "aux.online", true);
  make_quantiles(target_q, "aux.target", false);
  iql_hidden = {c_.device, b * 2 * n.iql_hidden};
  aux_output = {c_.device, b * kAuxStride};
  d_heads = {c_.device, b * n.heads * n.wide};
  d_quantiles = {c_.device, b * n.taus * n.actions};
  d_iql = {c_.device, b * 2};
  d_stride = (n.head_gradient_columns() + 3) / 4 * 4;
  d_columns = {c_.device, b * d_stride};
  iql_product_ = c_.device.plan({.m = c_.batch,
                                 .n = 2 * n.iql_hidden,
                                 .k = n.state,
                                 .transpose_b = true,
                                 .lda = n.stride,
                                 .epilogue = Epilogue::relu_bias,
                                 .precision = c_.options.precision},
                                "aux.heads");
  aux_product_ = c_.device.plan({.m = c_.batch,
                                 .n = 5,
                                 .k = n.hidden,
                                 .transpose_b = true,
                                 .ldc = kAuxStride,
                                 .epilogue = Epilogue::bias,
                                 .precision = c_.options.precision},
                                "aux.heads");
  for (auto& stream : side_) stream = c_.device.create_stream();
  forked_ = c_.device.create_event();
  for (auto& event : joined_) event = c_.device.create_event();
}

void AuxHeads::make_quantiles(Quantiles& q, const std::string& lane, bool masks) {
  const NetworkLayout& n = c_.layout;
  const int rows = c_.batch * n.taus;
  const auto size = static_cast<std::size_t>(rows);
  q.phi = {c_.device, static_cast<std::size_t>(n.taus) * n.hidden};
  q.z = {c_.device, size * n.hidden};
  q.hidden = {c_.device, size * n.head_hidden};
  q.out = {c_.device, size * n.actions};
  if (masks) q.hidden_mask = {c_.device, device::mask_bytes(rows, n.head_hidden)};
  const auto plan = [&](int m, int outputs, int inputs, Epilogue epilogue) {
    return c_.device.plan({.m = m,
                           .n = outputs,
                           .k = inputs,
                           .transpose_b = true,
                           .epilogue = epilogue,
                           .precision = c_.options.precision},
                          lane);
  };
  q.embed = plan(n.taus, n.hidden, n.cosines, Epilogue::relu_bias);
  q.hidden_product = plan(rows, n.head_hidden, n.hidden, masks ? Epilogue::relu_bias_mask : Epilogue::relu_bias);
  q.out_product = plan(rows, n.actions, n.head_hidden, Epilogue::bias);
}

void AuxHeads::record_embedding(device::Recorder& r, Quantiles& q, const float* params) {
  r.multiply(*q.embed, {.a = c_.buffers.cosines.data(),
                        .b = params + c_.table.offset("iqn.embed.weight"),
                        .c = q.phi.data(),
                        .bias = const_cast<float*>(params + c_.table.offset("iqn.embed.bias"))});
}

void AuxHeads::record_quantiles(device::Recorder& r, Quantiles& q, const float* params, const float* trunk) {
  const NetworkLayout& n = c_.layout;
  const TensorTable& t = c_.table;
  const auto bias = [&](const char* name) { return const_cast<float*>(params + t.offset(name)); };
  const RowTiles quantile_input = row_tiles(static_cast<std::int64_t>(c_.batch) * n.taus, n.hidden, kFewLightRows);
  r.launch(quantile_input.launch, kernels::QuantileInputArgs{.h = trunk,
                                                             .phi = q.phi.data(),
                                                             .z = q.z.data(),
                                                             .rows = c_.batch,
                                                             .taus = n.taus,
                                                             .width = n.hidden,
                                                             .tile = quantile_input.tile});
  r.multiply(*q.hidden_product, {.a = q.z.data(),
                                 .b = params + t.offset("iqn.hidden.weight"),
                                 .c = q.hidden.data(),
                                 .bias = bias("iqn.hidden.bias"),
                                 .mask = q.hidden_mask.data()});
  r.multiply(*q.out_product, {.a = q.hidden.data(),
                              .b = params + t.offset("iqn.out.weight"),
                              .c = q.out.data(),
                              .bias = bias("iqn.out.bias")});
}

void AuxHeads::record(device::Recorder& r) {
  const float* params = c_.arenas.params.data();
  const TensorTable& t = c_.table;
  const float* target_params = c_.arenas.target.data();
  device::Recorder target = r.fork(*side_[0], *forked_);
  device::Recorder heads = r.fork(*side_[1], *forked_);
  device::Recorder online_heads = r.fork(*side_[2], *forked_);
  device::Recorder target_heads = r.fork(*side_[3], *forked_);
  online_.record_heads(online_heads, params);
  target_.record_heads(target_heads, target_params);
  record_quantiles(r, online_q, params, online_.trunk.data());
  record_quantiles(target, target_q, target_params, target_.trunk.data());
  heads.multiply(*iql_product_, {.a = c_.buffers.state.data(),
                                 .b = params + t.offset("iql_high.hidden.weight"),
                                 .c = iql_hidden.data(),
                                 .bias = c_.arenas.params.data() + t.offset("iql_high.hidden.bias")});
  heads.multiply(*aux_product_, {.a = online_.trunk.data(),
                                 .b = params + t.offset("aux.return.weight"),
                                 .c = aux_output.data(),
                                 .bias = c_.arenas.params.data() + t.offset("aux.return.bias")});
  r.join(target, *joined_[0]);
  r.join(heads, *joined_[1]);
  r.join(online_heads, *joined_[2]);
  r.join(target_heads, *joined_[3]);
  record_losses(r);
}

void AuxHeads::record_losses(device::Recorder& r) {
  const NetworkLayout& n = c_.layout;
  StepBuffers& b = c_.buffers;
  const auto threads =
      static_cast<std::uint32_t>(32 * std::min(n.branches + 1, 8));  // on CUDA a team a branch, one for the rest
  const std::uint32_t scratch = kernels::row_losses_scratch(n.atoms, n.largest_branch, n.branches, threads / 32);
  r.launch({.grid_x = static_cast<std::uint32_t>(c_.batch), .threads = threads, .block_scratch = scratch},
           kernels::RowLossesArgs{.params = c_.arenas.params.data(),
                                  .control = c_.control.data(),
                                  .heads = online_.heads_out.data(),
                                  .target_heads = target_.heads_out.data(),
                                  .quantiles = online_q.out.data(),
                                  .target_quantiles = target_q.out.data(),
                                  .taus = b.taus.data(),
                                  .iql_hidden = iql_hidden.data(),
                                  .aux_output = aux_output.data(),
                                  .action = b.action.data(),
                                  .reward = b.reward.data(),
                                  .discount = b.discount.data(),
                                  .weight = b.weight.data(),
                                  .aux_label = b.aux_label.data(),
                                  .iql_weight = c_.table.offset("iql_high.out.weight"),
                                  .iql_bias = c_.table.offset("iql_high.out.bias"),
                                  .d_heads = d_heads.data(),
                                  .d_quantiles = d_quantiles.data(),
                                  .d_iql = d_iql.data(),
                                  .d_aux = d_columns.data() + n.head_columns(),
                                  .q = b.q.data(),
                                  .q_variance = b.q_variance.data(),
                                  .q_next = b.q_next.data(),
                                  .greedy = b.greedy.data(),
                                  .probabilities = b.probabilities.data(),
                                  .projected = b.projected.data(),
                                  .td = b.td.data(),
                                  .q_taken = b.q_taken.data(),
                                  .iql = b.iql.data(),
                                  .row_terms = b.row_terms.data(),
                                  .sizes = n.sizes,
                                  .batch = c_.batch,
                                  .wide = n.wide,
                                  .taus_count = n.taus,
                                  .iql_hidden_width = n.iql_hidden,
                                  .aux_stride = kAuxStride,
                                  .d_aux_stride = d_stride,
                                  .huge_branch = n.largest_branch});
}

}  // namespace foxhunt
