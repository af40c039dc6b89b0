// The Q-drift guard: stops training when the mean Q-value runs away from one epoch to the next.
//
// Trips when |q| > factor |q_prev| and |q| > floor, floor = max(least floor, reference factor x max(slot 16, slot 21)).
// q is the epoch mean of HealthDiag word 26. The references are EMAs over epochs and are updated only after this guard
// has read them: a per-step EMA would follow q and could never be exceeded threefold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace foxhunt::telemetry {

enum class GuardMode { off, warn, armed };

struct DriftSettings {
  GuardMode mode = GuardMode::armed;
  double factor = 2;
  double reference_factor = 3;
  double floor = 0.5;
  int window = 200;  // steps between live checks
};

// Everything that an event has to say about a check.
struct DriftVerdict {
  bool exceeded = false;                                                                      // the rule holds
  bool halt = false;                                                                          // and the guard is armed
  bool live = false;                                                                          // a check between epochs
  double q = 0, q_previous = 0, reference_magnitude = 0, reference_direction = 0, floor = 0;  // the five numbers
  double ratio = 0;  // |q| / |q_previous|; infinite when that is 0

  std::string sentence() const;
};

class DriftGuard {
 public:
  explicit DriftGuard(const DriftSettings& settings = {}) : settings_(settings) {}

  // Live-tunable: takes effect at the next check.
  void set(const DriftSettings& settings) { settings_ = settings; }
  const DriftSettings& settings() const { return settings_; }

  // At an epoch's end, fold boundaries included, before the references are updated. q: mean over the epoch's steps;
  // references: slots 16 and 21. The first epoch of a run never trips. Remembers q for the next epoch.
  DriftVerdict end_epoch(double q, double reference_magnitude, double reference_direction);

  // Whether a live check is due, and the check, with the references as the last epoch left them.
  bool due(std::uint64_t step) const {
    return settings_.window > 0 && step % static_cast<unsigned>(settings_.window) == 0;
  }
  DriftVerdict live(double q, double reference_magnitude, double reference_direction) const;

  // Kept in checkpoints: a resumed run goes on with it.
  std::optional<double> previous() const { return previous_; }
  void restore(std::optional<double> previous) { previous_ = previous; }

 private:
  DriftVerdict check(double q, double reference_magnitude, double reference_direction) const;

  DriftSettings settings_;
  std::optional<double> previous_;
};

}  // namespace foxhunt::telemetry
