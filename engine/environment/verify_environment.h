// Replays a scripted trading session of the reference environment on a device, through the kernels that the collector
// and the evaluator use, and compares everything that it reports.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/device/device.h"

namespace foxhunt {

// The comparison that used most of its tolerance: fills, positions and stops must be equal, money agree to half a cent,
// reward parts to 1e-5, metrics to 1e-6 relative.
struct WorstDifference {
  std::string what;       // "fill 0 price", "equity", "metrics.sharpe" ...
  std::int64_t row = -1;  // -1: not of a row
  nlohmann::json got, expected;
  double share = 0;  // of the tolerance; infinite where equality was asked
};

struct VerifyEnvironmentResult {
  bool passed = false;
  std::int64_t rows = 0;  // compared
  WorstDifference worst;
};

// Throws Error for a fixture that cannot be read; a session that differs is a result, not an error.
VerifyEnvironmentResult verify_environment(device::Device& device, const std::filesystem::path& fixture);

// {passed, rows, worst {what, row, got, expected}}; numbers that are not finite as strings.
nlohmann::ordered_json verify_environment_json(const VerifyEnvironmentResult& result);

}  // namespace foxhunt
