// What collection and evaluation take from the learner.
#include "engine/base/error.h"
#include "engine/environment/actor.h"
#include "engine/environment/collector.h"
#include "engine/learner/learner.h"
#include "engine/learner/policy.h"
#include "engine/telemetry/telemetry.h"

namespace foxhunt {

Actor greedy_actor(Policy& policy) {
  return {policy.rows(),
          policy.state_stride(),
          policy.states(),
          policy.q(),
          policy.q(),
          policy.variance(),
          [&policy](device::Recorder& recorder, const float* params, const kernels::Control* control) {
            policy.record(recorder, params, control, false);
          }};
}

Actor exploring_actor(Policy& noisy, Policy& mean) {
  FH_CHECK(noisy.rows() == mean.rows() && noisy.state_stride() == mean.state_stride(), "policies of {} and {} rows",
           noisy.rows(), mean.rows());
  return {noisy.rows(),
          noisy.state_stride(),
          noisy.states(),
          noisy.q(),
          mean.q(),
          mean.variance(),
          [&noisy, &mean](device::Recorder& recorder, const float* params, const kernels::Control* control) {
            recorder.copy(mean.states(), noisy.states(),
                          static_cast<std::size_t>(noisy.rows()) * static_cast<std::size_t>(noisy.state_stride()) *
                              sizeof(float));
            noisy.record(recorder, params, control, true);
            mean.record(recorder, params, control, false);
          }};
}

CollectorTarget collector_target(Learner& learner) {
  if (!learner.telemetry()) throw Error("collection needs a learner with the standard branches and at most 8 experts");
  return {&learner.stream(),
          learner.control(),
          learner.params(),
          learner.telemetry()->signals(),
          learner.telemetry()->collector(),
          learner.replay()};
}

}  // namespace foxhunt
