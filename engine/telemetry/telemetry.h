// Telemetry's share of the training step: records the kernels that fill signal bus, step record and HealthDiag and
// publish them. Belongs to the thread that owns the device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/device/recorder.h"
#include "kernels/telemetry_state.h"

namespace foxhunt::telemetry {

// What telemetry must know of the tensor table.
struct TelemetryLayout {
  std::vector<std::string> groups;  // TensorTable::groups(), at most 32
  std::vector<std::uint8_t> sigma;  // a tensor, checkpoint order: branch of a noisy sigma, kShownBranches for other
                                    // noisy layers, kNoSigma
  std::vector<std::int64_t> size;   // a tensor: elements
  static constexpr std::uint8_t kNoSigma = 255;
};

// From a TensorTable. branches: names in configuration order.
template <class Table, class Branches>
TelemetryLayout telemetry_layout(const Table& table, const Branches& branches) {
  TelemetryLayout layout;
  layout.groups.assign(table.groups().begin(), table.groups().end());
  for (const auto& tensor : table.tensors()) {
    std::uint8_t sigma = TelemetryLayout::kNoSigma;
    if (tensor.name.ends_with("_sigma")) {
      sigma = kernels::kShownBranches;
      std::uint8_t index = 0;
      for (const auto& branch : branches) {
        if (tensor.group == branch.first) sigma = index;
        ++index;
      }
    }
    layout.sigma.push_back(sigma);
    layout.size.push_back(tensor.size);
  }
  return layout;
}

class Telemetry {
 public:
  // results: addresses must stay. Errors: usage_error when sizes are not those that a training session shows (branches
  // of 4, 3, 3, 3 actions, at most 8 experts and 6 feature groups); such sizes can only be verified.
  Telemetry(device::Device& device, const kernels::StepResults& results, const TelemetryLayout& layout);

  // True when the sizes can be recorded.
  static bool supports(const kernels::StepResults& results);

  // Children of the step, in this order. Batch statistics and diagnose need forward pass, losses and priorities and may
  // run beside the backward pass; maintenance needs the first of them and adam, publish all.
  void record_stamp(device::Recorder& recorder);  // among the step's first kernels: device time counts from here
  void record_batch_statistics(device::Recorder& recorder);
  void record_maintenance(device::Recorder& recorder);
  void record_diagnose(device::Recorder& recorder) { batch_health(recorder, false); }
  void record_publish(device::Recorder& recorder) {
    finish_health(recorder, false);
    publish(recorder, false);
  }

  // Eager, at an epoch's end after the guard has read slots 16 and 21 and controllers have decided: takes the words,
  // forces a HealthDiag snapshot of the last step, moves the references, publishes the whole envelope.
  void record_end_epoch(device::Recorder& recorder, const kernels::EpochWords& words);
  // Eager, at a fold's start: averages begin anew; references and the guard's previous value are carried.
  void record_begin_fold(device::Recorder& recorder);
  // Eager or captured, after a validation: shares of the greedy actions [rows, 4] become words 76 to 88.
  void record_evaluation_histogram(device::Recorder& recorder, const std::int32_t* greedy, std::int64_t rows);
  // Tests: the NaN search reports this place from the next step on.
  void record_injection(device::Recorder& recorder, std::optional<kernels::NanPlace> place);

  const kernels::MappedTelemetry& mapped() const { return *mapped_.host(); }
  const float* signals() const { return state_.data()->signals; }             // device, [160]
  kernels::CollectorSignals* collector() const { return collector_.data(); }  // device, filled by the collector
  // Device, sizeof(TelemetryState) bytes: belongs into a full checkpoint, since signals feed the state.
  kernels::TelemetryState* state() const { return state_.data(); }
  kernels::PublishState* publish_state() const { return publish_.data(); }  // device

 private:
  void end_epoch(device::Recorder& recorder, const kernels::EpochWords& words, bool advance);
  void batch_health(device::Recorder& recorder, bool forced);
  void finish_health(device::Recorder& recorder, bool forced);
  void publish(device::Recorder& recorder, bool forced);

  kernels::StepResults results_;
  TelemetryLayout layout_;
  device::Buffer<kernels::TelemetryState> state_;
  device::Buffer<kernels::PublishState> publish_;
  device::Buffer<kernels::CollectorSignals> collector_;
  device::MappedBuffer<kernels::MappedTelemetry> mapped_;
  device::Buffer<double> batch_rows_, batch_partial_, arena_partial_;
  device::Buffer<double> sample_rows_, sample_partial_, magnitude_partial_, health_totals_;
  device::Buffer<std::uint32_t> histogram_partial_;
  std::unique_ptr<device::Stream> side_;
  std::unique_ptr<device::Event> forked_, joined_;
};

// One place that the NaN search looks at.
struct NanCheck {
  kernels::NanPlace place = kernels::NanPlace::states;
  const void* data = nullptr;  // device: float, or double when `is_double`
  std::int64_t count = 0;      // elements tested
  std::int32_t stride = 1;     // elements from one to the next
  bool is_double = false;
};

// The NaN search over a fixed list of places: flags and the sticky halt bit. One a place in the step where it stands.
class NanScanner {
 public:
  // At most 48 checks. `telemetry` may be null (no injection then).
  NanScanner(device::Device& device, kernels::Control* control, std::span<const NanCheck> checks,
             const Telemetry* telemetry);
  void record(device::Recorder& recorder);

 private:
  kernels::Control* control_;
  kernels::PublishState* publish_;
  device::Buffer<kernels::PublishState> own_publish_;
  device::Buffer<std::uint32_t> partial_;
  std::vector<NanCheck> checks_;
  std::vector<std::int32_t> first_block_;
};

}  // namespace foxhunt::telemetry
