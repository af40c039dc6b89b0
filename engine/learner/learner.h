// The learner: parameters, replay ring, and the training step as one graph. Belongs to the thread that owns the device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/device/buffer.h"
#include "engine/device/recorder.h"
#include "engine/tensors/tensor_table.h"
#include "kernels/control.h"
#include "kernels/step_results.h"
#include "kernels/transition.h"

namespace foxhunt {

namespace telemetry {
class Telemetry;
}
struct Injection;

// Device memory that the collector fills and the step reads.
struct ReplayView {
  kernels::Transition* ring = nullptr;  // [capacity]
  float* priority = nullptr;            // [capacity], already raised to alpha
  std::int64_t capacity = 0;
};

struct LearnerOptions {
  LearnerConfig config;
  int batch = 64;
  std::int64_t capacity = 65'536;
  double beta_start = 0.4, beta_end = 1, beta_steps = 100'000;
  double depth_keep = 0.9, moe_lambda = 0.01, epsilon = 0.02;
  int diag_interval = 50;
  device::Precision precision = device::Precision::fp32;
  std::uint64_t seed = 7;
  bool eager = false;  // never capture: tests compare with captured
};

// One child of the step, for `bench --children` and the timing panel.
struct ChildTiming {
  std::string name;
  int nodes = 0, critical_nodes = 0;
  double microseconds = 0;  // NaN when it was not measured
};

class Learner {
 public:
  Learner(device::Device& device, const LearnerOptions& options);
  ~Learner();

  const TensorTable& table() const;
  const LearnerOptions& options() const;
  device::Device& device();
  device::Stream& stream();  // every step and the collector run in it, in order

  // Arenas, device memory, arena_size() floats each.
  float* params();
  float* target();
  float* moment1();
  float* moment2();
  float* gradients();
  float* spectral_vectors();    // left vectors, one after another in the spectral list's order
  kernels::Control* control();  // device address
  ReplayView replay();
  void set_bar_table(const kernels::BarTable& table);  // before the first step; addresses must stay

  // Host-settable scalars. edit_settings publishes the change as a whole; it takes effect at the next step or at
  // apply_settings().
  const kernels::Settings& settings() const;
  void edit_settings(const std::function<void(kernels::Settings&)>& change);
  void apply_settings();  // copies them into Control now, in stream order

  // Xavier and sigma initialisation from the seed; target = params; moments 0.
  void initialise();
  // The fold boundary's rules for parameters, target, moments and counters: shrink_and_perturb(0.8), hard sync, reset.
  void begin_fold(int fold);

  // What the last step left on the device, and the recorder of telemetry (null when the sizes are not those of a
  // session).
  const kernels::StepResults& results() const;
  telemetry::Telemetry* telemetry();
  // Buffers that stand in for replay, noise and schedules while settings().injected is set; IQN levels, [T] on the
  // device.
  Injection& injection();
  float* taus();
  int spectral_floats() const;

  // Launches one step: the first eagerly, later ones as one graph. Returns at once; at most two launches are ahead of
  // completed().
  void step();
  std::uint64_t launched() const;   // steps launched
  std::uint64_t completed() const;  // steps whose record is published (mapped word)
  std::uint32_t halted() const;     // halt bits as published
  std::uint32_t nan_flags() const;
  void request_halt();  // from any thread: takes effect at the next step
  void clear_halt();
  void drain();  // waits until everything launched is done

  // Snapshot slots for evaluation and saving: parameters, target, counters and signals copied within the device, in
  // stream order.
  static constexpr int kSlots = 2;
  void snapshot(int slot);
  const float* snapshot_params(int slot) const;
  const float* snapshot_target(int slot) const;
  const kernels::Control* snapshot_control(int slot) const;
  const float* snapshot_signals(int slot) const;  // [160] signal bus; zeros without telemetry

  // A profiling instantiation: runs `steps` steps with event nodes between children and returns mean times.
  std::vector<ChildTiming> profile(int steps);
  // Microseconds of the step's matrix products alone, back to back: mean over `repetitions`. For `bench`: it leaves
  // activations and gradients that no step made.
  double time_products(int repetitions);

 private:
  std::uint64_t published() const;
  void wait_for_room() const;  // until fewer than kLaunchesAhead steps are under way
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace foxhunt
