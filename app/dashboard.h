// A training session in text: a block that is redrawn on a terminal, a line now and then otherwise.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/session/session.h"
#include "engine/telemetry/step_ring_reader.h"

namespace foxhunt::app {

enum class DashboardKind { none, lines, live };

class Dashboard {
 public:
  // `session` must outlive it.
  Dashboard(const Session& session, DashboardKind kind);
  // Call it a few times a second.
  void refresh();
  // Leaves the last block standing.
  void finish();

 private:
  void read_telemetry();
  void show_events();
  std::vector<std::string> block() const;
  std::string line() const;

  const Session& session_;
  DashboardKind kind_;
  std::optional<telemetry::StepRingReader> ring_;
  std::vector<telemetry::StepRecord> records_;
  std::optional<telemetry::StepRecord> last_;  // newest step
  std::optional<kernels::HealthDiag> health_;  // newest snapshot
  std::size_t events_ = 0;                     // shown
  int drawn_ = 0;                              // lines of the block on the screen
  std::chrono::steady_clock::time_point next_line_;
};

}  // namespace foxhunt::app
