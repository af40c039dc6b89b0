// Child `counters`: the step's counters and schedules, then every noise draw and the IQN levels' cosines.
#pragma once

#include "engine/learner/step_context.h"

namespace foxhunt {

class Counters {
 public:
  explicit Counters(StepContext& context) : c_(context) {}
  void record(device::Recorder& r);

 private:
  StepContext& c_;
};

}  // namespace foxhunt
