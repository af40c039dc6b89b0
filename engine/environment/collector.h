// Collection of experience: N environments advance one bar a timestep, and whole n-step windows go into the replay
// ring.
//
// A timestep is one graph: gather states, the actor's network, actions, environment, n-step windows, slots, insertion.
// It is recorded once; the first timestep runs eagerly. Everything runs in the learner's stream.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/environment/actor.h"
#include "engine/environment/collector_statistics.h"
#include "engine/environment/device_market.h"
#include "engine/environment/reward_statistics.h"
#include "engine/learner/learner.h"
#include "kernels/collector.h"

namespace foxhunt {

// Slots of the signal bus that the state's `signals` group repeats, from the table of signals.
inline kernels::SignalSlots state_signal_slots() {
  kernels::SignalSlots slots{};
  for (int i = 0; i < kernels::kSignalWidth; ++i) slots.slot[i] = kernels::kStateSignals[i];
  return slots;
}

struct CollectorOptions {
  int environments = 64;
  int episode_bars = 512;
  int n_step = 1;                  // 1 to 5
  std::int64_t max_timesteps = 0;  // most that one collect() is asked for: the reward log's rows
  kernels::EnvironmentContract contract{};
  kernels::EnvironmentRules rules{};
  kernels::SignalSlots signal_slots = state_signal_slots();
  bool eager = false;  // never capture: tests compare with captured
};

// What collection reads and writes of a learner; device addresses that stay.
struct CollectorTarget {
  device::Stream* stream = nullptr;
  kernels::Control* control = nullptr;
  const float* params = nullptr;
  const float* signals = nullptr;                // [160] signal bus
  kernels::CollectorSignals* summary = nullptr;  // [1] filled after each collection; may be null
  ReplayView replay;                             // holds at least 5 transitions an environment
};

// The learner's own stream, control block, parameters, signals and replay. Throws Error for a learner without
// telemetry, whose sizes are not those of a session.
CollectorTarget collector_target(Learner& learner);

class Collector {
 public:
  // `actor` has one row an environment. Throws usage_error for options out of range.
  Collector(device::Device& device, const CollectorTarget& target, Actor actor, const DeviceMarket& market,
            const CollectorOptions& options);

  // Every environment starts a new episode inside `train`; open windows are dropped. The replay is the learner's to
  // reset. Throws usage_error for a window of fewer than 2 bars or outside the market.
  void begin_fold(market::Range train);

  // Runs `timesteps` of them, fewer when *stop becomes true or Control::halt is set, and waits for the last. At most
  // two launches are ahead of the device. Returns how many were really done.
  std::int64_t collect(std::int64_t timesteps, const std::atomic<bool>* stop = nullptr);

  // Of the last collect(); valid until the next one begins.
  RewardLog rewards() const;
  CollectorStatistics statistics() const;
  // [kernels::kTally] sums of the last collect() on the device, for kernels that fill signals.
  const double* tally_sums() const { return sums_.data(); }

  // What a checkpoint must keep so that collection goes on bit for bit. Device memory.
  struct Block {
    std::string name;
    void* data = nullptr;
    std::size_t bytes = 0;
  };
  std::vector<Block> state_blocks();
  // Says that state_blocks() have been filled from a checkpoint: collection goes on without begin_fold().
  void resumed() { begun_ = true; }

  const CollectorOptions& options() const { return options_; }

 private:
  void record(device::Recorder& recorder);
  void launch_timestep();
  void throttle();

  device::Device& device_;
  CollectorTarget target_;
  Actor actor_;
  kernels::BarTable bars_;
  CollectorOptions options_;
  std::unique_ptr<device::Event> event_;
  std::unique_ptr<device::Executable> graph_;
  bool warm_ = false;  // one timestep has run eagerly
  bool begun_ = false;
  std::uint32_t launched_ = 0;  // timesteps ever, modulo 2^32

  device::Buffer<kernels::EnvironmentState> states_;     // [N]
  device::Buffer<kernels::Decision> decisions_;          // [N]
  device::Buffer<kernels::StepOutcome> outcomes_;        // [N]
  device::Buffer<kernels::PendingWindow> pending_;       // [N]
  device::Buffer<kernels::Transition> staged_;           // [N, 5]
  device::Buffer<std::int32_t> counts_, offsets_;        // [N]
  device::Buffer<double> tally_, sums_;                  // [kTally, N], [kTally]
  device::Buffer<kernels::CollectorWork> work_;          // [1]
  device::Buffer<std::uint32_t> timesteps_;              // [1] ever launched
  device::MappedBuffer<float> reward_log_;               // [max_timesteps, N]
  device::MappedBuffer<std::uint8_t> end_log_;           // [max_timesteps, N]
  device::MappedBuffer<double> mapped_sums_;             // [kTally]
  device::MappedBuffer<std::uint32_t> progress_, done_;  // timesteps ever launched; done by the last collect()
};

}  // namespace foxhunt
