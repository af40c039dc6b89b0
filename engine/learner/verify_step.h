// Replays an oracle fixture (learner.py's inputs and float64 results) on a device and compares every result by name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include "engine/device/device.h"

namespace foxhunt {

struct VerifiedTensor {
  std::string name;
  double error = 0;      // |x - ref| / |ref|, L2; |x| where the reference is all zero; exact results: how many differ
  double tolerance = 0;  // 0: must be exact
  bool passed() const { return error <= tolerance; }  // NaN fails
  double share() const { return tolerance > 0 ? error / tolerance : error; }
};

struct VerifyStepResult {
  bool passed = false;
  int steps = 0;
  std::vector<VerifiedTensor>
      tensors;  // every out.* of the file, then the whole-vector comparisons "gradients", "parameters"
};

// Errors: Error with file, tensor and what is wrong when the fixture is not one.
VerifyStepResult verify_step(device::Device& device, const std::filesystem::path& fixture, device::Precision precision);
nlohmann::ordered_json to_json(const VerifyStepResult& result);

}  // namespace foxhunt
