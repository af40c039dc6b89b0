// Reading checkpoints back: a model for evaluation, a full one to go on from.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/checkpoint/safetensors.h"
#include "engine/config/config.h"
#include "engine/environment/collector.h"
#include "engine/environment/device_market.h"
#include "engine/environment/evaluation_result.h"
#include "engine/learner/learner.h"
#include "engine/market/file_reader.h"
#include "engine/market/window_bars.h"

namespace foxhunt {

inline constexpr const char* kCheckpointFormat = "1";

// What evaluation needs of a file, whatever its kind.
struct LoadedModel {
  LearnerConfig learner;  // of the configuration stored with it
  int fold = 0, epoch = 0;
  std::uint64_t step = 0;
  std::string reason;
  std::vector<float> params, signals;  // an arena of that learner; [160]
  std::vector<float> v_min, v_max, gamma;
  FoldModel model;
  nlohmann::json metadata;  // strings of the file
};

// Throws Error with file and field: no checkpoint of ours, another format version, tensors missing or of another shape.
LoadedModel load_model(const std::filesystem::path& path);

// A loaded model as networks read it: parameters, signals, and a control block with its supports and discounts.
class ModelBuffers {
 public:
  ModelBuffers(device::Device& device, const LoadedModel& model);
  const float* params() const { return params_.data(); }
  const float* signals() const { return signals_.data(); }
  const kernels::Control* control() const { return control_.data(); }

 private:
  device::Buffer<float> params_, signals_;
  device::Buffer<kernels::Control> control_;
};

// The session's part of a full checkpoint's metadata.
nlohmann::json load_full(const std::filesystem::path& path, Learner& learner, Collector& collector);

// A checkpoint on the validation window of its fold in the configuration's data; the device is opened from the
// configuration.
struct CheckpointEvaluation {
  EvaluationResult result;
  int fold = 0, epoch = 0;
  std::uint64_t step = 0;
  double lot = 1;  // contracts
  market::Range window;
  market::WindowBars bars;  // of the window
};
// `progress` is that of reading the data; Error("cancelled") soon after its cancel became true.
CheckpointEvaluation evaluate_checkpoint(const std::filesystem::path& path, const Config& config,
                                         const market::Progress& progress = {});

}  // namespace foxhunt
