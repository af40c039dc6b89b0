// Buffers and plans of the backward pass. A weight gradient is dW[out, in] = dY^T X, with the bias gradient as its
// epilogue; an input gradient is dX = dY W.
#include "engine/learner/column_jobs.h"
#include "engine/learner/post_aux.h"

namespace foxhunt {

using device::Epilogue;
using device::ProductShape;

namespace {
constexpr const char* kMain = "backward";
constexpr const char* kWeights = "backward.weights";
constexpr const char* kQuantiles = "backward.quantiles";
}  // namespace

PostAux::PostAux(StepContext& context, Network& online, AuxHeads& heads) : c_(context), n_(online), h_(heads) {
  make_buffers();
  make_plans();
  make_column_jobs();
  weight_stream_ = c_.device.create_stream();
  quantile_stream_ = c_.device.create_stream();
  sum_stream_ = c_.device.create_stream();
  to_weights_ = c_.device.create_event();
  to_quantiles_ = c_.device.create_event();
  from_weights_ = c_.device.create_event();
  from_quantiles_ = c_.device.create_event();
  from_side_ = c_.device.create_event();
  from_sums_ = c_.device.create_event();
}

void PostAux::make_buffers() {
  const NetworkLayout& n = c_.layout;
  const auto b = static_cast<std::size_t>(c_.batch);
  const auto make = [&](std::size_t count) { return device::Buffer<float>(c_.device, count); };
  for (Block& block : blocks_) {
    block.d_value_gate = make(b * 2 * n.hidden);
    block.d_wide = make(b * 2 * n.hidden);
    block.wide_bias = make(2 * static_cast<std::size_t>(n.hidden));
  }
  d_weight_ = make(static_cast<std::size_t>(n.heads) * n.wide * n.head_hidden);
  d_bias_ = make(static_cast<std::size_t>(n.heads) * n.wide);
  d_trunk_ = make(b * n.hidden);
  d_in_ = make(b * n.hidden);
  d_y_ = make(b * n.hidden);
  d_scaled_ = make(b * n.experts * n.expert_hidden);
  d_mixture_ = make(b * n.mixture_columns());
  d_hidden1_ = make(b * n.hidden);
  d_gated_ = make(b * n.state);
  d_score_ = make(b * n.groups);
  d_selection_hidden_ = make(b * n.groups * n.selection_hidden);
  d_selection_ = make(static_cast<std::size_t>(n.groups) * n.selection_hidden * n.state);
  d_iql_hidden_ = make(b * 2 * n.iql_hidden);
  dq_hidden_ = make(b * n.taus * n.head_hidden);
  dz_ = make(b * n.taus * n.hidden);
  d_phi_ = make(static_cast<std::size_t>(n.taus) * n.hidden);
}

PostAux::Plan PostAux::weight_plan(int outputs, int inputs, int lda, int ldb, const std::string& lane,
                                   Epilogue epilogue, int rows) {
  return c_.device.plan({.m = outputs,
                         .n = inputs,
                         .k = rows ? rows : c_.batch,
                         .transpose_a = true,
                         .lda = lda,
                         .ldb = ldb,
                         .epilogue = epilogue,
                         .precision = c_.options.precision},
                        lane);
}

PostAux::Plan PostAux::input_plan(int inputs, int outputs, int lda, int ldc, const std::string& lane, bool accumulate) {
  return c_.device.plan({.m = c_.batch,
                         .n = inputs,
                         .k = outputs,
                         .lda = lda,
                         .ldc = ldc,
                         .accumulate = accumulate,
                         .precision = c_.options.precision},
                        lane);
}

void PostAux::make_plans() {
  const NetworkLayout& n = c_.layout;
  const int k = n.head_hidden, rows = c_.batch * n.taus;
  const auto wide_k = static_cast<std::int64_t>(n.wide) * k, wide_b = static_cast<std::int64_t>(n.wide) * c_.batch;
  d_heads_hidden_ = c_.device.plan({.m = c_.batch,
                                    .n = k,
                                    .k = n.wide,
                                    .ldc = h_.d_stride,
                                    .batch = n.heads,
                                    .stride_a = wide_b,
                                    .stride_b = wide_k,
                                    .stride_c = k,
                                    .precision = c_.options.precision},
                                   kMain);
  w_effective_ = c_.device.plan({.m = n.wide,
                                 .n = k,
                                 .k = c_.batch,
                                 .transpose_a = true,
                                 .ldb = n.head_columns(),
                                 .batch = n.heads,
                                 .stride_a = wide_b,
                                 .stride_b = k,
                                 .stride_c = wide_k,
                                 .stride_bias = n.wide,
                                 .epilogue = Epilogue::bias_gradient,
                                 .precision = c_.options.precision},
                                kWeights);
  d_from_heads_ = input_plan(n.hidden, n.head_gradient_columns(), h_.d_stride, 0, kMain);
  w_heads_ = weight_plan(n.head_gradient_columns(), n.hidden, h_.d_stride, 0, kWeights, Epilogue::bias_gradient);

  dq_hidden_plan_ = c_.device.plan(
      {.m = rows, .n = k, .k = n.actions, .epilogue = Epilogue::relu_gradient, .precision = c_.options.precision},
      kQuantiles);
  dz_plan_ = c_.device.plan({.m = rows, .n = n.hidden, .k = k, .precision = c_.options.precision}, kQuantiles);
  w_q_out_ = weight_plan(n.actions, k, 0, 0, kQuantiles, Epilogue::bias_gradient, rows);
  w_q_hidden_ = weight_plan(k, n.hidden, 0, 0, kQuantiles, Epilogue::bias_gradient, rows);
  w_embed_ = weight_plan(n.hidden, n.cosines, 0, 0, kQuantiles, Epilogue::bias_gradient, n.taus);

  const int experts = n.experts * n.expert_hidden;
  d_scaled_plan_ = input_plan(experts, n.hidden, 0, 0, kMain);
  w_mixture_out_ = weight_plan(n.hidden, experts, 0, 0, kWeights, Epilogue::none);
  d_mixture_plan_ = input_plan(n.hidden, n.mixture_columns(), 0, 0, kMain, true);
  w_mixture_in_ = weight_plan(n.mixture_columns(), n.hidden, 0, 0, kWeights, Epilogue::bias_gradient);

  for (int i = 0; i < 2; ++i) {
    const int in = i == 0 ? n.state : n.hidden, stride = i == 0 ? n.stride : n.hidden;
    blocks_[i].d_relu = c_.device.plan({.m = c_.batch,
                                        .n = n.hidden,
                                        .k = 2 * n.hidden,
                                        .ldc = 2 * n.hidden,
                                        .epilogue = Epilogue::relu_gradient,
                                        .precision = c_.options.precision},
                                       kMain);
    blocks_[i].d_input = input_plan(in, 2 * n.hidden, 0, 0, kMain);
    blocks_[i].w_b = weight_plan(2 * n.hidden, n.hidden, 0, 0, kWeights, Epilogue::bias_gradient);
    blocks_[i].w_wide = weight_plan(2 * n.hidden, in, 0, stride, kWeights, Epilogue::bias_gradient);
  }
  w_selection_ = weight_plan(n.groups * n.selection_hidden, n.state, 0, n.stride, kWeights, Epilogue::bias_gradient);
  w_iql_ = weight_plan(2 * n.iql_hidden, n.state, 0, n.stride, kQuantiles, Epilogue::bias_gradient);
}

void PostAux::make_column_jobs() {
  const NetworkLayout& n = c_.layout;
  const auto norm = [&](const std::string& name, const float* xhat, const float* d_out) {
    add_job(columns_, sum_products(xhat, n.hidden, d_out, n.hidden, 1, gradient(name + ".weight")));
    add_job(columns_, sum_alone(d_out, n.hidden, n.hidden, gradient(name + ".bias")));
  };
  norm("grn1.norm", n_.grn(0).xhat.data(), d_hidden1_.data());
  norm("grn2.norm", n_.grn(1).xhat.data(), d_in_.data());
  norm("moe.norm", n_.mixture_xhat.data(), d_trunk_.data());
  const std::string first = c_.options.config.groups[0].first;
  add_job(columns_, sum_products(n_.selection_hidden.data(), n.groups * n.selection_hidden, d_score_.data(), n.groups,
                                 n.selection_hidden, gradient("vsn." + first + ".2.weight")));
  add_job(columns_, sum_alone(d_score_.data(), n.groups, n.groups, gradient("vsn." + first + ".2.bias")));
  add_job(columns_, sum_products(h_.iql_hidden.data(), 2 * n.iql_hidden, h_.d_iql.data(), 2, n.iql_hidden,
                                 gradient("iql_high.out.weight")));
  add_job(columns_, sum_alone(h_.d_iql.data(), 2, 2, gradient("iql_high.out.bias")));
  columns_.rows = c_.batch;
  const auto chunks = static_cast<std::size_t>(kernels::tiles(c_.batch, kernels::kColumnRows));
  column_partial_ = {c_.device, chunks * columns_.tiles * kernels::kColumnTile};
  columns_.partial = column_partial_.data();

  // d phi[t, j] = sum_b dz[b, t, j] h[b, j] where the embedding was positive.
  kernels::ColumnJob phi = sum_products(dz_.data(), n.taus * n.hidden, n_.trunk.data(), n.hidden, 1, d_phi_.data());
  phi.modulo = n.hidden;
  phi.gate = h_.online_q.phi.data();
  add_job(phi_columns_, phi);
  phi_columns_.rows = c_.batch;
  phi_partial_ = {c_.device, chunks * phi_columns_.tiles * kernels::kColumnTile};
  phi_columns_.partial = phi_partial_.data();
}

}  // namespace foxhunt
