// A policy is a network of its own rows, a noise draw of its own, and the expectation over atoms.
#include "engine/learner/policy.h"

#include "engine/learner/launches.h"
#include "engine/learner/network.h"
#include "kernels/schedule.h"

namespace foxhunt {

struct Policy::Parts {
  Parts(device::Device& device, const LearnerConfig& config, const TensorTable& table, const NetworkOptions& options)
      : network(device, config, table, options),
        noise(device, static_cast<std::size_t>(network.layout().noise_floats())),
        states(device, static_cast<std::size_t>(options.rows) * network.layout().stride),
        q(device, static_cast<std::size_t>(options.rows) * network.layout().actions),
        variance(device, static_cast<std::size_t>(options.rows) * network.layout().actions) {}

  Network network;
  device::Buffer<float> noise, states, q, variance;
};

Policy::Policy(device::Device& device, const LearnerConfig& config, const TensorTable& table, int rows,
               const std::string& lane, device::Precision precision)
    : parts_(std::make_unique<Parts>(
          device, config, table,
          NetworkOptions{.rows = rows, .scaled = 0, .masks = false, .lane = lane, .precision = precision})) {}

Policy::~Policy() = default;

void Policy::record(device::Recorder& r, const float* params, const kernels::Control* control, bool noisy) {
  Parts& p = *parts_;
  const NetworkLayout& n = p.network.layout();
  if (noisy) {
    r.launch(tile_launch(n.noise_floats(), 256),
             kernels::DrawNoiseArgs{.control = control,
                                    .injected = nullptr,
                                    .noise = p.noise.data(),
                                    .taus = nullptr,
                                    .cosines = nullptr,
                                    .layers = n.noisy.count,
                                    .hidden = n.noisy.hidden,
                                    .wide = n.noisy.wide,
                                    .draws = 1,
                                    .tau_count = 0,
                                    .cosine_count = 0,
                                    .purpose = {static_cast<std::uint32_t>(kernels::Purpose::collector_noise), 0},
                                    .per_collect_step = 1});
  }
  p.network.record_weights(r, params, noisy ? p.noise.data() : nullptr);
  p.network.record_forward(r, params, p.states.data(), control);
  r.launch(row_launch(rows(), static_cast<std::uint32_t>(3 * n.atoms * sizeof(float))),
           kernels::ExpectedQArgs{.heads = p.network.heads_out.data(),
                                  .control = control,
                                  .q = p.q.data(),
                                  .variance = p.variance.data(),
                                  .sizes = n.sizes,
                                  .rows = rows(),
                                  .wide = n.wide});
}

int Policy::rows() const {
  return parts_->network.rows();
}
int Policy::state_stride() const {
  return parts_->network.layout().stride;
}
float* Policy::states() const {
  return parts_->states.data();
}
const float* Policy::q() const {
  return parts_->q.data();
}
const float* Policy::variance() const {
  return parts_->variance.data();
}

}  // namespace foxhunt
