// The last seconds, and what went wrong first in them.
#include "engine/telemetry/flight_recorder.h"

namespace foxhunt::telemetry {
namespace {

// When a value was inside its range and then outside, `left` is the first sample outside of its last stay there.
struct Departure {
  std::ptrdiff_t left = -1, first = -1;  // of the last stay outside (only if it lasts to the end); of the first one
};

template <class Samples, class Value>
Departure departure(const Samples& samples, const TableEntry& entry, Value value) {
  Departure result;
  bool inside = false, known = false;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const bool healthy = entry.healthy(value(samples[i]));
    if (known && inside && !healthy) {
      result.left = static_cast<std::ptrdiff_t>(i);
      if (result.first < 0) result.first = result.left;
    }
    if (healthy) result.left = -1;
    known = known || healthy;
    inside = healthy;
  }
  return result;
}

struct Candidate {
  FlightMark mark;
  bool lasting = false;
};

// Lasting departures come before passing ones, then the earlier step, then the table's order.
void offer(std::optional<Candidate>& best, const Candidate& candidate) {
  if (best && best->lasting && !candidate.lasting) return;
  const bool better = !best || (candidate.lasting && !best->lasting) || candidate.mark.step < best->mark.step;
  if (better) best = candidate;
}

FlightMark mark_of(bool signal, int index, const TableEntry& entry, double wall, std::uint32_t step, double value) {
  return {signal, index, entry.name, entry.unit, wall, step, value, entry.low, entry.high};
}

}  // namespace

void FlightRecorder::add(std::span<const StepRow> rows) {
  if (rows.empty()) return;
  steps_.insert(steps_.end(), rows.begin(), rows.end());
  trim(rows.back().wall);
}

void FlightRecorder::add(const FlightSignals& signals) {
  signals_.push_back(signals);
  trim(signals.wall);
}

void FlightRecorder::clear() {
  steps_.clear();
  signals_.clear();
  shortened_ = false;
}

void FlightRecorder::trim(double now) {
  while (!steps_.empty() && steps_.front().wall < now - seconds_) steps_.pop_front();
  while (!signals_.empty() && signals_.front().wall < now - seconds_) signals_.pop_front();
  shortened_ = steps_.size() > kMaxSteps || (shortened_ && steps_.size() == kMaxSteps);
  while (steps_.size() > kMaxSteps) steps_.pop_front();
  while (signals_.size() > kMaxSignals) signals_.pop_front();
}

FlightReport FlightRecorder::report() const {
  FlightReport report;
  report.steps.assign(steps_.begin(), steps_.end());
  report.signals.assign(signals_.begin(), signals_.end());
  report.shortened = shortened_;

  std::optional<Candidate> best;
  const auto words = step_table();
  for (int w = 0; w < kernels::kStepWords; ++w) {
    if (!words[w].has_range()) continue;
    const auto value = [w](const StepRow& row) { return word_value(row.record, w); };
    const Departure d = departure(report.steps, words[w], value);
    const std::ptrdiff_t at = d.left >= 0 ? d.left : d.first;
    if (at < 0) continue;
    const StepRow& row = report.steps[static_cast<std::size_t>(at)];
    offer(best, {mark_of(false, w, words[w], row.wall, row.record.step, value(row)), d.left >= 0});
  }
  const auto slots = signal_table();
  for (int s = 0; s < kernels::kSignals; ++s) {
    if (!slots[s].has_range()) continue;
    const auto value = [s](const FlightSignals& row) { return static_cast<double>(row.signals[s]); };
    const Departure d = departure(report.signals, slots[s], value);
    const std::ptrdiff_t at = d.left >= 0 ? d.left : d.first;
    if (at < 0) continue;
    const FlightSignals& row = report.signals[static_cast<std::size_t>(at)];
    offer(best, {mark_of(true, s, slots[s], row.wall, row.step, value(row)), d.left >= 0});
  }
  if (best) report.first_unhealthy = best->mark;
  return report;
}

}  // namespace foxhunt::telemetry
