// What all children of the step share: sizes, arenas, control block, injection, and the buffers that pass from child to
// child.
#pragma once

#include <memory>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/device/recorder.h"
#include "engine/learner/learner.h"
#include "engine/learner/network_layout.h"
#include "kernels/sampling.h"
#include "kernels/schedule.h"
#include "kernels/step_results.h"

namespace foxhunt {

// Five arenas of one layout.
struct Arenas {
  Arenas(device::Device& device, const TensorTable& table);
  device::Buffer<float> params, target, gradients, moment1, moment2;
  device::Buffer<kernels::ArenaTile> tiles;
  device::Buffer<kernels::TileSums> sums;
  std::vector<kernels::ArenaTile> tile_list;
};

// Mapped buffers that stand in for replay, noise and schedules while Settings::injected is set.
struct Injection {
  Injection(device::Device& device, const NetworkLayout& n, int batch);
  device::MappedBuffer<float> state, next_state, reward, discount, weight, regime, aux, noise;  // noise: [2 draws]
  device::MappedBuffer<std::int32_t> action;
  device::MappedBuffer<kernels::InjectedScalars> scalars;
  kernels::InjectedBatch view() const;
};

// B batch. Written by per_sample and by the losses; see StepResults for meanings.
struct StepBuffers {
  StepBuffers(device::Device& device, const NetworkLayout& n, int batch);
  device::Buffer<float> state, reward, discount, weight, regime, aux_label, probability;  // state: [2 B, stride]
  device::Buffer<std::int32_t> action, index, greedy;
  device::Buffer<float> noise, taus, cosines;  // [2 draws], [T], [T, C]
  device::Buffer<float> q, q_variance, q_next, probabilities, projected, td, priority, q_taken, iql, row_terms,
      importance;
  device::Buffer<double> losses, gate_entropy, gradient_norm;
  device::Buffer<float> sigma;
};

struct StepContext {
  StepContext(device::Device& device, const LearnerOptions& options);

  device::Device& device;
  LearnerOptions options;
  TensorTable table;
  NetworkLayout layout;
  int batch;
  Arenas arenas;
  Injection injection;
  StepBuffers buffers;
  device::Buffer<kernels::Control> control;
  device::MappedBuffer<kernels::CommandBlock> command;
  device::Buffer<kernels::Transition> ring;
  device::Buffer<float> ring_priority;
  kernels::BarTable bars{};
};

}  // namespace foxhunt
