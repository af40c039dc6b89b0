// Evaluation of a policy beside training: greedy, mean weights, bar by bar with the fills, costs, stops and caps of
// training.
//
// M contiguous windows run in parallel on a stream of their own; nothing here blocks: start(), then ready() now and
// then, then result(). Some timesteps form one graph, recorded once for each snapshot slot.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "engine/device/buffer.h"
#include "engine/environment/actor.h"
#include "engine/environment/collector.h"
#include "engine/environment/device_market.h"
#include "engine/environment/evaluation_result.h"

namespace foxhunt {

struct EvaluatorOptions {
  int windows = 16;           // M; 1 is the single path
  std::int64_t max_bars = 0;  // longest window that is evaluated
  int timesteps_per_launch = 16;
  int random_seeds = 8;  // of the random baseline
  std::uint64_t seed = 7;
  kernels::EnvironmentContract contract{};
  kernels::EnvironmentRules rules{};
  kernels::SignalSlots signal_slots = state_signal_slots();
  bool eager = false;  // never capture: tests compare with captured
};

struct EvaluationRequest {
  const float* params = nullptr;              // snapshot: must not change until ready()
  const kernels::Control* control = nullptr;  // its supports; snapshot too
  const float* signals = nullptr;             // [160] frozen signal bus
  market::Range window;                       // bars; at least 2
  std::int64_t trials = 1;
  double trial_variance = 0;
  device::Event* after = nullptr;  // recorded where the snapshot was made; null: nothing to wait for
};

class Evaluator {
 public:
  // `actor` has M rows and mean weights. Throws usage_error for options out of range.
  Evaluator(device::Device& device, Actor actor, const DeviceMarket& market, const EvaluatorOptions& options);
  ~Evaluator();

  // Launches the whole evaluation and returns. Throws usage_error for a window that is too short, too long or outside
  // the market. The market's fold tables must stay as they are until ready().
  void start(const EvaluationRequest& request);
  bool running() const { return phase_ != Phase::idle; }
  // Never blocks; true once the result can be taken. Call it now and then: it also launches the baselines.
  bool ready();
  // Blocks until ready().
  void wait();
  // Takes the result; ready() must have been true.
  EvaluationResult result();

  const EvaluatorOptions& options() const { return options_; }

 private:
  enum class Phase { idle, policy, baselines, done };
  using GraphKey = std::tuple<const float*, const kernels::Control*, const float*>;

  void record(device::Recorder& recorder);
  void launch_chunk();
  void launch_baselines();
  void take_baselines();

  device::Device& device_;
  Actor actor_;
  const DeviceMarket& market_;
  EvaluatorOptions options_;
  std::int64_t stride_ = 0;  // most decisions of one window
  Phase phase_ = Phase::idle;
  EvaluationRequest request_;
  EvaluationResult result_;
  bool warm_ = false;

  std::unique_ptr<device::Stream> stream_;
  std::unique_ptr<device::Event> event_;
  std::map<GraphKey, std::unique_ptr<device::Executable>> graphs_;
  device::Buffer<kernels::EnvironmentState> states_;          // [M]
  device::Buffer<kernels::Decision> decisions_;               // [M]
  device::MappedBuffer<kernels::StepOutcome> outcomes_;       // [M, stride]
  device::Buffer<kernels::EnvironmentState> random_states_;   // [seeds x M]
  device::MappedBuffer<kernels::Decision> random_decisions_;  // [seeds x M, stride]
  device::MappedBuffer<double> random_equity_;                // [seeds x M, stride]
  device::MappedBuffer<kernels::ScriptSummary> random_sums_;  // [seeds x M]
  device::Buffer<kernels::EnvironmentState> hold_state_;      // [1]
  device::MappedBuffer<kernels::Decision> hold_decisions_;    // [max_bars]
  device::MappedBuffer<double> hold_equity_;                  // [max_bars]
  device::MappedBuffer<kernels::ScriptSummary> hold_sum_;     // [1]
};

}  // namespace foxhunt
