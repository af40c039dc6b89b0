// Writes the mapped memory through the device's own kernel, on the calling thread: fast enough to overrun readers.
#pragma once

#include <cstring>
#include <memory>
#include <thread>

#include "engine/telemetry/snapshot_reader.h"
#include "kernels/host_table.h"
#include "kernels/telemetry.h"

namespace foxhunt::test {

using namespace kernels;

// Every word of step n's record and of the envelope is a function of n alone, so a reader can tell a torn one.
class MappedWriter {
 public:
  MappedWriter() {
    StepResults& r = args_.results;
    r.batch = 1;
    r.branches = 4;
    r.actions = 13;
    const int actions[4] = {4, 3, 3, 3}, first[4] = {0, 4, 7, 10};
    for (int d = 0; d < 4; ++d) {
      r.branch_actions[d] = actions[d];
      r.branch_first[d] = first[d];
    }
    r.losses = losses_;
    r.gradient_norm = gradient_norm_;
    r.control = &control_;
    args_.state = state_.get();
    args_.publish = publish_.get();
    args_.mapped = mapped_.get();
  }

  // `health`: with a new HealthDiag snapshot.
  void write(bool health = true) { write(health, static_cast<float>((control_.step + 1) % 8'000'000)); }
  // The same with losses of one's own.
  void write(bool health, float loss_of_all) {
    const std::uint64_t n = ++control_.step;
    const auto x = static_cast<float>(n % 8'000'000);
    for (double& loss : losses_) loss = loss_of_all;
    control_.settings.lr = control_.tau = control_.beta = x;
    for (float& signal : state_->signals) signal = x;
    if (health) {
      for (std::uint32_t& word : publish_->health) word = static_cast<std::uint32_t>(n);
      ++publish_->snapshots;
    }
    run();
  }
  void go_to(std::uint64_t step) { control_.step = step; }
  void beat() { run(); }
  std::uint64_t step() const { return control_.step; }
  Control& control() { return control_; }
  const MappedTelemetry& mapped() const { return *mapped_; }
  MappedTelemetry& mapped() { return *mapped_; }

 private:
  // Through the table of kernels, as the host device does.
  void run() { publish_kernel_(Block{}, &args_); }

  HostKernel publish_kernel_ = host_table()[static_cast<int>(KernelId::publish)].function;
  double losses_[kLossTerms] = {}, gradient_norm_[2] = {};
  Control control_{};
  std::unique_ptr<TelemetryState> state_ = std::make_unique<TelemetryState>();
  std::unique_ptr<PublishState> publish_ = std::make_unique<PublishState>();
  std::unique_ptr<MappedTelemetry> mapped_ = std::make_unique<MappedTelemetry>();
  PublishArgs args_{};
};

// True when every word that the writer sets belongs to one step.
inline bool whole(const telemetry::StepRecord& r) {
  const auto x = static_cast<float>(r.step % 8'000'000u);
  bool same = r.step == r.step_last && r.lr == x && r.tau == x && r.beta == x;
  for (int i = 0; i < kLossTerms; ++i) same = same && telemetry::word_value(r, step_word_loss_total + i) == x;
  return same;
}

inline bool whole(const telemetry::Snapshot& s) {
  const auto x = static_cast<float>(s.signal_step % 8'000'000u);
  for (float signal : s.signals)
    if (signal != x) return false;
  std::uint32_t words[kHealthWords];
  std::memcpy(words, &s.health, sizeof words);
  for (std::uint32_t word : words)
    if (word != words[0]) return false;
  return words[0] <= s.signal_step;
}

}  // namespace foxhunt::test
