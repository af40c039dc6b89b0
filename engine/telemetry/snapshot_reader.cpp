// The reader's half of the envelope's protocol: sequence with acquire, words, sequence again.
#include "engine/telemetry/snapshot_reader.h"

#include <cstring>

namespace foxhunt::telemetry {

using namespace kernels;

namespace {
constexpr int kAttempts = 64;
}

bool SnapshotReader::read(Snapshot& out) {
  std::uint32_t words[kEnvelopeWords];
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint32_t before = load_acquire_word(&mapped_.sequence);
    if (before == 0) return false;
    if (before % 2 == 0) {
      // Acquire on each word keeps the second look at the sequence behind them.
      for (int w = 0; w < kEnvelopeWords; ++w) words[w] = load_acquire_word(&mapped_.envelope[w]);
      if (load_acquire_word(&mapped_.sequence) == before) {
        std::memcpy(out.signals, words + envelope_signals, sizeof out.signals);
        std::memcpy(&out.health, words + envelope_health, sizeof out.health);
        out.signal_step = words[envelope_signal_step];
        out.q_epoch_mean = bits_float(words[envelope_q_epoch_mean]);
        out.q_epoch_steps = words[envelope_q_epoch_steps];
        out.reference_updates = words[envelope_reference_updates];
        out.health_snapshots = words[envelope_health_snapshots];
        ++reads_;
        return true;
      }
    }
    ++torn_;
  }
  return false;
}

Pulse read_pulse(const MappedTelemetry& mapped) {
  Pulse pulse;
  pulse.publishes = load_acquire_word(&mapped.publishes);
  pulse.completed = load_acquire_word(&mapped.completed);
  pulse.halt = load_acquire_word(&mapped.halt);
  pulse.nan_flags = load_acquire_word(&mapped.nan_flags);
  return pulse;
}

Heartbeat::Heartbeat(const MappedTelemetry& mapped, Clock::time_point now)
    : mapped_(mapped), publishes_(load_acquire_word(&mapped.publishes)), since_(now) {}

Heartbeat::Clock::duration Heartbeat::age(Clock::time_point now) {
  const std::uint32_t publishes = load_acquire_word(&mapped_.publishes);
  if (publishes != publishes_) {
    publishes_ = publishes;
    since_ = now;
  }
  return now - since_;
}

}  // namespace foxhunt::telemetry
