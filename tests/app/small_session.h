// A session of a second or two, for tests of the program.
#pragma once

#include <filesystem>
#include <fstream>

namespace foxhunt::test {

inline constexpr const char* kSmallSession = R"({
  "data": { "simulated": { "bars": 1500, "seed": 1 } },
  "folds": { "count": 1, "train_bars": 600, "validation_bars": 200 },
  "environment": { "environments": 8, "episode_bars": 64 },
  "replay": { "capacity": 4096 },
  "training": { "epochs": 2, "steps_per_epoch": 20, "batch": 16 },
  "evaluation": { "windows": 4 },
  "telemetry": { "diag_interval": 5 },
  "device": "cpu", "threads": 2 })";

// The same with a network of a tenth of a millisecond a step, for what has to happen often.
inline constexpr const char* kTinySession = R"({
  "data": { "simulated": { "bars": 1200, "seed": 1 } },
  "folds": { "count": 1, "train_bars": 500, "validation_bars": 100 },
  "environment": { "environments": 8, "episode_bars": 64 },
  "learner": { "hidden": 16, "vsn_hidden": 8, "head_hidden": 16, "experts": 4, "expert_hidden": 8, "atoms": 21,
               "iqn_cosines": 8, "iqn_taus": 4, "iql_hidden": 8 },
  "replay": { "capacity": 2048 },
  "training": { "epochs": 2, "steps_per_epoch": 20, "batch": 8 },
  "evaluation": { "windows": 4 },
  "guards": { "drift": "warn" },
  "device": "cpu", "threads": 1 })";

inline void write_small(const std::filesystem::path& folder) {
  std::ofstream(folder / "small.json") << kSmallSession;
}
inline void write_tiny(const std::filesystem::path& folder) {
  std::ofstream(folder / "tiny.json") << kTinySession;
}

}  // namespace foxhunt::test
