// A learner fed through its injection buffers with random but fixed inputs, for tests of the whole step.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/device/registry.h"
#include "engine/learner/initialise.h"
#include "engine/learner/learner.h"
#include "engine/learner/network_layout.h"
#include "engine/learner/step_context.h"
#include "engine/learner/transfer.h"

namespace foxhunt::test {

// Sizes that divide nothing evenly and stand in no fixture.
inline LearnerConfig odd_config() {
  LearnerConfig c;
  c.groups = {{"price", 5}, {"volume", 3}, {"technical", 7}, {"order_flow", 11}, {"portfolio", 8}, {"signals", 6}};
  c.branches = {{"direction", 5}, {"magnitude", 2}, {"order", 4}, {"urgency", 3}};
  c.hidden = 48;
  c.vsn_hidden = 9;
  c.head_hidden = 27;
  c.experts = 4;
  c.expert_hidden = 13;
  c.atoms = 21;
  c.iqn_cosines = 19;
  c.iqn_taus = 5;
  c.iql_hidden = 23;
  c.v_min = {-10, -7, -12, -9};
  c.v_max = {10, 7, 12, 9};
  return c;
}

// A session's shape (telemetry records it) on a small network.
inline LearnerConfig small_config() {
  LearnerConfig c;
  c.hidden = 32;
  c.vsn_hidden = 8;
  c.head_hidden = 24;
  c.experts = 4;
  c.expert_hidden = 8;
  c.atoms = 21;
  c.iqn_cosines = 16;
  c.iqn_taus = 4;
  c.iql_hidden = 16;
  return c;
}

inline LearnerOptions rig_options(LearnerConfig config, int batch) {
  LearnerOptions o;
  o.config = std::move(config);
  o.batch = batch;
  o.capacity = 2048;
  o.seed = 20240517;
  return o;
}

class Rig {
 public:
  explicit Rig(const LearnerOptions& options, int threads = 2) {
    device::DeviceOptions d;
    d.threads = threads;
    device = device::open_device("cpu", d);
    learner = std::make_unique<Learner>(*device, options);
    learner->initialise();
    layout = std::make_unique<NetworkLayout>(options.config, learner->table());
    arena = static_cast<std::size_t>(learner->table().arena_size());
    staging = device::MappedBuffer<float>(*device, arena);
    learner->drain();
  }

  void step() {
    learner->step();
    learner->drain();
  }

  template <class T>
  std::vector<T> get(const T* from, std::size_t count) {
    return download(*device, learner->stream(), from, count);
  }
  std::vector<float> arena_of(const float* from) { return get(from, arena); }
  void set_arena(float* to, const std::vector<float>& values) {
    std::memcpy(staging.host(), values.data(), values.size() * sizeof(float));
    device->stage(learner->stream(), to, staging.device(), values.size() * sizeof(float));
    learner->drain();
  }
  kernels::Control control() { return get(learner->control(), 1)[0]; }
  void set_control(const std::function<void(kernels::Control&)>& change) {
    kernels::Control c = control();
    change(c);
    upload(*device, learner->control(), &c, 1);
  }
  std::vector<double> losses() { return get(learner->results().losses, kernels::kLossTerms); }

  // Parameters away from their first values, so that no tensor is zero; target elsewhere.
  void perturb(std::uint32_t seed, float size) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0, size);
    auto p = arena_of(learner->params());
    auto t = p;
    for (const TensorSpec& s : learner->table().tensors())
      for (std::int64_t i = s.offset; i < s.offset + s.size; ++i) {
        p[static_cast<std::size_t>(i)] += normal(generator);
        t[static_cast<std::size_t>(i)] += normal(generator);
      }
    set_arena(learner->params(), p);
    set_arena(learner->target(), t);
  }

  // Random batch, noise (times `noise`) and neutral schedules; switches injection on.
  void inject(std::uint32_t seed, float noise = 1) {
    const NetworkLayout& n = *layout;
    const int rows = learner->options().batch;
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0, 1);
    std::uniform_real_distribution<float> uniform(0, 1);
    Injection& in = learner->injection();
    for (int i = 0; i < rows * n.state; ++i) in.state.host()[i] = normal(generator);
    for (int i = 0; i < rows * n.state; ++i) in.next_state.host()[i] = normal(generator);
    for (int b = 0; b < rows; ++b) {
      for (int d = 0; d < n.branches; ++d) {
        in.action.host()[b * n.branches + d] =
            std::min(static_cast<int>(uniform(generator) * static_cast<float>(n.sizes.count[d])), n.sizes.count[d] - 1);
        in.reward.host()[b * n.branches + d] = 1.5f * normal(generator);
        in.discount.host()[b * n.branches + d] = b % 5 == 4 ? 0.0f : 0.9f + 0.09f * uniform(generator);
      }
      in.weight.host()[b] = 0.3f + 0.7f * uniform(generator);
      in.regime.host()[b] = 0.75f + 0.75f * uniform(generator);
      in.aux.host()[4 * b] = normal(generator);
      in.aux.host()[4 * b + 1] = static_cast<float>(b % 3);
      in.aux.host()[4 * b + 2] = 1 + uniform(generator);
      in.aux.host()[4 * b + 3] = 0;
    }
    for (int i = 0; i < 2 * n.noise_floats(); ++i) in.noise.host()[i] = noise * normal(generator);
    *in.scalars.host() = {.depth_scale = {1, 1, 1}, .c51_alpha = 0.5f, .iqn_readiness = 1, .moe_lambda = 0.01f};
    learner->edit_settings([](kernels::Settings& s) { s.injected = 1; });
  }

  // A bar table and `count` random transitions with random priorities in the replay; before the first step. Needs the
  // standard state of 96 numbers.
  void fill_replay(int count, std::uint32_t seed) {
    constexpr int kBars = 300;
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0, 1);
    std::vector<float> market(kBars * kernels::kMarketWidth), label(kBars * 4);
    for (float& x : market) x = normal(generator);
    for (int i = 0; i < kBars; ++i) {
      label[static_cast<std::size_t>(4 * i)] = normal(generator);
      label[static_cast<std::size_t>(4 * i + 1)] = static_cast<float>(i % 3);
      label[static_cast<std::size_t>(4 * i + 2)] = 1 + 0.1f * normal(generator);
      label[static_cast<std::size_t>(4 * i + 3)] = 0.75f + 0.25f * static_cast<float>(i % 4);
    }
    features = device::Buffer<float>(*device, market.size());
    labels = device::Buffer<float>(*device, label.size());
    upload(*device, features.data(), market.data(), market.size());
    upload(*device, labels.data(), label.data(), label.size());
    kernels::BarTable table{};
    table.features = features.data(), table.labels = labels.data(), table.rows = kBars;
    learner->set_bar_table(table);
    std::vector<kernels::Transition> ring(static_cast<std::size_t>(count));
    std::vector<float> priority(ring.size());
    for (std::size_t i = 0; i < ring.size(); ++i) {
      kernels::Transition& t = ring[i];
      t.bar = static_cast<std::int32_t>(generator() % kBars),
      t.next_bar = static_cast<std::int32_t>(generator() % kBars);
      for (int k = 0; k < kernels::kOwnWidth; ++k) t.own[k] = normal(generator), t.next_own[k] = normal(generator);
      for (int d = 0; d < 4; ++d) {
        t.reward[d] = normal(generator);
        t.action[d] = static_cast<std::uint8_t>(generator() % 3);
      }
      t.steps = static_cast<std::uint8_t>(1 + generator() % 5), t.done = i % 11 == 0;
      priority[i] = 0.1f + std::abs(normal(generator));
    }
    upload(*device, learner->replay().ring, ring.data(), ring.size());
    upload(*device, learner->replay().priority, priority.data(), priority.size());
    set_control(
        [&](kernels::Control& c) { c.inserted = ring.size(), c.replay_size = static_cast<std::uint32_t>(count); });
  }
  std::vector<float> priorities() {
    return get(learner->replay().priority, static_cast<std::size_t>(learner->replay().capacity));
  }

  // Everything that training writes: arenas, spectral vectors, priorities, control block.
  struct State {
    std::vector<float> params, target, moment1, moment2, spectral, priority;
    kernels::Control control;
  };
  State state() {
    return {arena_of(learner->params()),
            arena_of(learner->target()),
            arena_of(learner->moment1()),
            arena_of(learner->moment2()),
            get(learner->spectral_vectors(), static_cast<std::size_t>(learner->spectral_floats())),
            priorities(),
            control()};
  }
  void restore(const State& s) {
    set_arena(learner->params(), s.params);
    set_arena(learner->target(), s.target);
    set_arena(learner->moment1(), s.moment1);
    set_arena(learner->moment2(), s.moment2);
    upload(*device, learner->spectral_vectors(), s.spectral.data(), s.spectral.size());
    upload(*device, learner->replay().priority, s.priority.data(), s.priority.size());
    upload(*device, learner->control(), &s.control, 1);
  }

  std::unique_ptr<device::Device> device;
  device::Buffer<float> features, labels;
  std::unique_ptr<Learner> learner;
  std::unique_ptr<NetworkLayout> layout;
  std::size_t arena = 0;
  device::MappedBuffer<float> staging;
};

// Bit for bit: NaN equals itself.
inline ::testing::AssertionResult same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << a.size() << " and " << b.size() << " values";
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0)
      return ::testing::AssertionFailure() << a[i] << " and " << b[i] << " at " << i;
  return ::testing::AssertionSuccess();
}

}  // namespace foxhunt::test
