// Children `adam_grad` (NaN search, global norm, clip factor) and `adam` (AdamW with the target average).
#pragma once

#include <memory>

#include "engine/learner/step_context.h"
#include "engine/telemetry/telemetry.h"

namespace foxhunt {

class AdamGrad {
 public:
  AdamGrad(StepContext& context, std::span<const telemetry::NanCheck> checks, const telemetry::Telemetry* telemetry);
  void record(device::Recorder& r);

 private:
  StepContext& c_;
  telemetry::NanScanner scanner_;
  std::unique_ptr<device::Stream> side_;
  std::unique_ptr<device::Event> forked_, joined_;
};

class Adam {
 public:
  explicit Adam(StepContext& context) : c_(context) {}
  void record(device::Recorder& r);

 private:
  StepContext& c_;
};

}  // namespace foxhunt
