// One forward pass of trunk and heads over a fixed number of rows: its plans, its buffers and its recording function.
// The trainer's online network (s and s' together), its target network, the collector's and the evaluator's policies
// are all instances of it.
#pragma once

#include <memory>
#include <string>

#include "engine/device/buffer.h"
#include "engine/device/recorder.h"
#include "engine/learner/network_layout.h"
#include "kernels/control.h"

namespace foxhunt {

struct NetworkOptions {
  int rows = 0;
  int scaled = 0;      // the first rows, on which stochastic depth falls
  bool masks = false;  // keep the ReLU masks that a backward pass needs
  std::string lane;
  device::Precision precision = device::Precision::fp32;
};

class Network {
 public:
  Network(device::Device& device, const LearnerConfig& config, const TensorTable& table, const NetworkOptions& options);

  // Effective noisy weights (noise: transformed, NetworkLayout::noise_floats(); null: mean weights) and selection
  // layers, from `params`.
  void record_weights(device::Recorder& r, const float* params, const float* noise);
  // states [rows, stride] -> heads_out; record_weights must come before in the recording's order.
  void record_forward(device::Recorder& r, const float* params, const float* states, const kernels::Control* control);
  // Its two parts: states -> trunk, trunk -> heads_out.
  void record_trunk(device::Recorder& r, const float* params, const float* states, const kernels::Control* control);
  void record_heads(device::Recorder& r, const float* params);

  const NetworkLayout& layout() const { return layout_; }
  int rows() const { return options_.rows; }

  // One residual block's kept values, [rows, ..].
  struct Gated {
    device::Buffer<float> relu, value_gate, xhat, out, inverse;  // H, 2 H, H, H, 1
    device::Buffer<std::uint8_t> mask;
    std::unique_ptr<device::Product> a, b, residual;
    std::int64_t a_weight, a_bias, b_weight, b_bias, r_weight, gamma, beta;
  };
  Gated& grn(int k) { return grn_[k]; }

  device::Buffer<float> selection_hidden, selection_weights, gated;  // [R, G V], [R, G], [R, stride]
  device::Buffer<float> mixture_in, gates, scaled_hidden, mixture_xhat, trunk,
      mixture_inverse;                            // [R, E + E X], [R, E], [R, E X], [R, H] x2, [R]
  device::Buffer<float> heads_hidden, heads_out;  // [R, L K], [L, R, wide]
  device::Buffer<float> weight, bias, selection;  // [L, wide, K], [L, wide], [G V, S]

 private:
  void make_plans(device::Device& device);
  void record_grn(device::Recorder& r, int k, const float* params, const float* x, const kernels::Control* control);

  NetworkLayout layout_;
  NetworkOptions options_;
  Gated grn_[2];
  std::int64_t selection_bias_, selection_weight2_, selection_bias2_, gate_weight_, gate_bias_, out_weight_, moe_gamma_,
      moe_beta_;
  std::int64_t heads_weight_, heads_bias_;
  std::unique_ptr<device::Product> selection_product_, mixture_in_product_, mixture_out_product_, hidden_product_,
      out_product_;
  std::unique_ptr<device::Stream> side_;
  std::unique_ptr<device::Event> forked_[2], joined_[2];
};

}  // namespace foxhunt
