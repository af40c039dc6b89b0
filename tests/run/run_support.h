// Columns and information that the tests of runs share.
#pragma once

#include <cmath>
#include <string>

#include "engine/run/run_store.h"
#include "tests/support/shared_data.h"

namespace foxhunt::test {

inline TelemetryColumns small_columns() {
  TelemetryColumns columns;
  columns.steps = {{"step", "step", "", "progress", "number of the step", true},
                   {"fold", "fold", "", "progress", "fold", true},
                   {"loss_total", "loss.total", "", "loss", "all terms", false},
                   {"order", "", "", "", "a word of SQL", false}};
  columns.health = {{"step", "progress.step", "", "progress", "", true},
                    {"q_mean", "q.mean", "reward", "q", "mean of Q", false}};
  columns.signals = {{"td", "td", "", "", "", false}};
  return columns;
}

inline RunInfo small_info() {
  RunInfo info;
  info.created = "2026-03-01T09:05:07Z";
  info.device = "cpu";
  info.seed = 18446744073709551615ULL;
  info.configuration = {{"learner", {{"lr", 1e-4}}}};
  info.versions = {{"foxhunt", "0.1.0"}};
  return info;
}

}  // namespace foxhunt::test
