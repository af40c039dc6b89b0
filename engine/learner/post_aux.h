// Child `post_aux`: batch sums of the losses and the whole backward pass, from the gradients of the outputs that `aux`
// left to every tensor's gradient in the arena. Weight gradients run beside the chain of input gradients.
#pragma once

#include "engine/learner/aux_heads.h"
#include "engine/learner/network.h"
#include "engine/learner/step_context.h"
#include "kernels/backward.h"

namespace foxhunt {

class PostAux {
 public:
  PostAux(StepContext& context, Network& online, AuxHeads& heads);
  void record(device::Recorder& r);

 private:
  using Plan = std::unique_ptr<device::Product>;
  struct Block {                                 // one gated residual block
    device::Buffer<float> d_value_gate, d_wide;  // [B, 2 H]: value and gate; layer a and residual
    device::Buffer<float> wide_bias;             // [2 H]
    Plan d_relu, d_input, w_b, w_wide;
  };

  void make_buffers();
  void make_plans();
  void make_column_jobs();
  void record_heads(device::Recorder& main, device::Recorder& weights);
  void record_quantiles(device::Recorder& q);
  void record_side_gradients(device::Recorder& q);
  void record_mixture_norm(device::Recorder& main);
  void record_mixture(device::Recorder& main, device::Recorder& weights);
  void record_block(device::Recorder& main, device::Recorder& weights, int k);
  void record_selection(device::Recorder& main, device::Recorder& weights);
  Plan weight_plan(int outputs, int inputs, int lda, int ldb, const std::string& lane, device::Epilogue epilogue,
                   int rows = 0);
  Plan input_plan(int inputs, int outputs, int lda, int ldc, const std::string& lane, bool accumulate = false);
  float* gradient(const std::string& name) { return c_.arenas.gradients.data() + c_.table.offset(name); }
  const float* param(const std::string& name) { return c_.arenas.params.data() + c_.table.offset(name); }

  StepContext& c_;
  Network& n_;
  AuxHeads& h_;
  Block blocks_[2];
  device::Buffer<float> d_weight_, d_bias_;  // [L, wide, K], [L, wide] of the effective weights
  device::Buffer<float> d_trunk_, d_in_, d_y_, d_scaled_, d_mixture_, d_hidden1_, d_gated_;
  device::Buffer<float> d_score_, d_selection_hidden_, d_selection_;
  device::Buffer<float> d_iql_hidden_;
  device::Buffer<float> dq_hidden_, dz_, d_phi_;  // [B T, K], [B T, H], [T, H]
  device::Buffer<float> column_partial_, phi_partial_;
  kernels::ColumnSumsArgs columns_{}, phi_columns_{};
  Plan d_heads_hidden_, w_effective_, d_from_heads_, w_heads_;
  Plan dq_hidden_plan_, w_q_out_, w_q_hidden_, dz_plan_, w_embed_;
  Plan d_scaled_plan_, w_mixture_out_, d_mixture_plan_, w_mixture_in_;
  Plan w_selection_, w_iql_;
  std::unique_ptr<device::Stream> weight_stream_, quantile_stream_, sum_stream_;
  std::unique_ptr<device::Event> to_weights_, to_quantiles_, from_weights_, from_quantiles_, from_side_, from_sums_;
};

}  // namespace foxhunt
