// Child `aux`: all heads on the trunks of both networks, side by side: dueling and quantile heads, both expectile
// values, the auxiliary heads; then every loss of every row. The quantile heads' embeddings need no trunk and come
// before.
#pragma once

#include "engine/learner/network.h"
#include "engine/learner/step_context.h"

namespace foxhunt {

class AuxHeads {
 public:
  AuxHeads(StepContext& context, Network& online, Network& target);
  void record(device::Recorder& r);
  // cosines -> phi, which record() reads.
  void record_online_embedding(device::Recorder& r) { record_embedding(r, online_q, c_.arenas.params.data()); }
  void record_target_embedding(device::Recorder& r) { record_embedding(r, target_q, c_.arenas.target.data()); }

  // Kept for the backward pass. Rows are B T for the quantile head.
  struct Quantiles {
    device::Buffer<float> phi, z, hidden, out;  // [T, H], [B T, H], [B T, K], [B T, A]
    device::Buffer<std::uint8_t> phi_mask, hidden_mask;
    std::unique_ptr<device::Product> embed, hidden_product, out_product;
  };
  Quantiles online_q, target_q;
  device::Buffer<float> iql_hidden, aux_output;       // [B, 2 Hq], [B, 8]
  device::Buffer<float> d_heads, d_quantiles, d_iql;  // [L, B, wide], [B T, A], [B, 2]
  device::Buffer<float> d_columns;  // [B, stride] gradient of heads' hidden layers, then of the auxiliary heads
  int d_stride = 0;
  static constexpr int kAuxStride = 8;

 private:
  void make_quantiles(Quantiles& q, const std::string& lane, bool masks);
  void record_embedding(device::Recorder& r, Quantiles& q, const float* params);
  void record_quantiles(device::Recorder& r, Quantiles& q, const float* params, const float* trunk);
  void record_losses(device::Recorder& r);

  StepContext& c_;
  Network& online_;
  Network& target_;
  std::unique_ptr<device::Product> iql_product_, aux_product_;
  std::unique_ptr<device::Stream> side_[4];
  std::unique_ptr<device::Event> forked_, joined_[4];
};

}  // namespace foxhunt
