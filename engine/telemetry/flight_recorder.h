// Keeps the last seconds at full rate, for the file that is written with a halt.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/telemetry/telemetry_sink.h"

namespace foxhunt::telemetry {

struct FlightSignals {
  double wall = 0;
  std::uint32_t step = 0;
  std::array<float, kernels::kSignals> signals{};
};

// The value that left its healthy range first.
struct FlightMark {
  bool signal = false;  // a slot of the signal bus; else a word of the step record
  int index = 0;
  std::string_view name, unit;
  double wall = 0;
  std::uint32_t step = 0;    // first step outside
  double value = 0;          // there
  double low = 0, high = 0;  // healthy range, NaN: no bound
};

struct FlightReport {
  std::vector<StepRow> steps;
  std::vector<FlightSignals> signals;
  std::optional<FlightMark> first_unhealthy;
  bool shortened = false;  // more steps than are kept came within the time: the oldest are gone
};

class FlightRecorder {
 public:
  static constexpr std::size_t kMaxSteps = 1u << 18;
  static constexpr std::size_t kMaxSignals = 1u << 11;

  explicit FlightRecorder(double seconds = 10) : seconds_(seconds) {}
  void add(std::span<const StepRow> rows);
  void add(const FlightSignals& signals);
  void clear();

  // Marked is what left its range earliest and did not return; failing that, what left it earliest. A value that was
  // never inside since the recording began has not left.
  FlightReport report() const;

 private:
  void trim(double now);

  double seconds_;
  std::deque<StepRow> steps_;
  std::deque<FlightSignals> signals_;
  bool shortened_ = false;
};

}  // namespace foxhunt::telemetry
