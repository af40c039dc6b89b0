// The rule of the Q-drift guard.
#include "engine/telemetry/drift_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace foxhunt::telemetry {

std::string DriftVerdict::sentence() const {
  return fmt::format(
      "mean Q {:.6g} against {:.6g} {}: ratio {:.3g}, floor {:.6g} (references: magnitude {:.6g}, direction {:.6g})", q,
      q_previous, live ? "in the epoch before, between epochs" : "in the epoch before", ratio, floor,
      reference_magnitude, reference_direction);
}

DriftVerdict DriftGuard::check(double q, double reference_magnitude, double reference_direction) const {
  DriftVerdict verdict;
  verdict.q = q;
  verdict.reference_magnitude = reference_magnitude;
  verdict.reference_direction = reference_direction;
  verdict.floor =
      std::max(settings_.floor, settings_.reference_factor * std::max(reference_magnitude, reference_direction));
  if (!previous_) return verdict;
  verdict.q_previous = *previous_;
  const double magnitude = std::abs(q), before = std::abs(*previous_);
  verdict.ratio = before > 0 ? magnitude / before : (magnitude > 0 ? std::numeric_limits<double>::infinity() : 0);
  // A mean that is not a number has run away as well: comparisons with it are false.
  const bool within = magnitude <= settings_.factor * before || magnitude <= verdict.floor;
  verdict.exceeded = settings_.mode != GuardMode::off && !within;
  verdict.halt = verdict.exceeded && settings_.mode == GuardMode::armed;
  return verdict;
}

DriftVerdict DriftGuard::end_epoch(double q, double reference_magnitude, double reference_direction) {
  const DriftVerdict verdict = check(q, reference_magnitude, reference_direction);
  if (std::isfinite(q)) previous_ = q;
  return verdict;
}

DriftVerdict DriftGuard::live(double q, double reference_magnitude, double reference_direction) const {
  DriftVerdict verdict = check(q, reference_magnitude, reference_direction);
  verdict.live = true;
  return verdict;
}

}  // namespace foxhunt::telemetry
