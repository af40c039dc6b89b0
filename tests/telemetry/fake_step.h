// A training step's results, filled with random numbers, for the telemetry kernels to read; and what the plain
// definitions say about them.
#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "engine/device/registry.h"
#include "engine/telemetry/telemetry.h"

namespace foxhunt::test {

using namespace kernels;

inline constexpr int kActionCount[4] = {4, 3, 3, 3};
inline constexpr int kFirstAction[4] = {0, 4, 7, 10};

// [count] elements that host and device see.
template <class T>
class Shared {
 public:
  Shared(device::Device& device, std::size_t count) : buffer_(device, count) {}
  T& operator[](std::size_t i) { return buffer_.host()[i]; }
  const T& operator[](std::size_t i) const { return buffer_.host()[i]; }
  T* device() const { return buffer_.device(); }
  std::size_t size() const { return buffer_.size(); }

 private:
  device::MappedBuffer<T> buffer_;
};

struct FakeSizes {
  int batch = 13, atoms = 51, taus = 8, experts = 8, groups = 6, tiles = 150;
};

class FakeStep {
 public:
  static constexpr int kTensors = 15, kSpectral = 5;

  FakeStep(device::Device& device, const FakeSizes& sizes)
      : n(sizes),
        action(device, sizes.batch * 4),
        index(device, sizes.batch),
        weight(device, sizes.batch),
        aux(device, sizes.batch * 4),
        losses(device, kLossTerms),
        q(device, sizes.batch * 13),
        q_variance(device, sizes.batch * 13),
        q_next(device, sizes.batch * 13),
        probabilities(device, static_cast<std::size_t>(sizes.batch) * 4 * sizes.atoms),
        quantiles(device, static_cast<std::size_t>(sizes.batch) * sizes.taus * 13),
        td(device, sizes.batch),
        priority(device, sizes.batch),
        aux_output(device, sizes.batch * 8),
        vsn(device, sizes.batch * sizes.groups),
        gates(device, sizes.batch * sizes.experts),
        gradient_norm(device, 2),
        sigma(device, kSpectral),
        tile_sums(device, sizes.tiles),
        tile_table(device, sizes.tiles),
        control(device, 1) {
    layout.groups = {"vsn",   "grn1",    "grn2", "moe", "value", "direction", "magnitude",
                     "order", "urgency", "iqn",  "iql", "aux",   "spare"};
    for (int t = 0; t < kTensors; ++t) {
      // Tensors 5 to 9 are noisy sigmas of value and of the branches.
      layout.sigma.push_back(
          t == 5 ? kShownBranches
                 : (t > 5 && t <= 9 ? static_cast<std::uint8_t>(t - 6) : telemetry::TelemetryLayout::kNoSigma));
      layout.size.push_back(100 + 10 * t);
    }
  }

  // Every buffer and every scalar that telemetry reads; the step number, halt and NaN flags stay.
  void fill(unsigned seed);

  StepResults results() const {
    StepResults r{};
    r.batch = n.batch;
    r.branches = 4;
    r.actions = 13;
    r.atoms = n.atoms;
    r.taus = n.taus;
    r.experts = n.experts;
    r.groups = n.groups;
    r.tiles = n.tiles;
    r.tensor_groups = static_cast<int>(layout.groups.size());
    r.spectral = kSpectral;
    for (int d = 0; d < 4; ++d) {
      r.branch_actions[d] = kActionCount[d];
      r.branch_first[d] = kFirstAction[d];
    }
    r.action = action.device();
    r.weight = weight.device();
    r.aux = aux.device();
    r.index = index.device();
    r.losses = losses.device();
    r.q = q.device();
    r.q_variance = q_variance.device();
    r.q_next = q_next.device();
    r.probabilities = probabilities.device();
    r.quantiles = quantiles.device();
    r.td = td.device();
    r.priority = priority.device();
    r.aux_output = aux_output.device();
    r.aux_stride = 8;
    r.vsn_weights = vsn.device();
    r.gates = gates.device();
    r.gradient_norm = gradient_norm.device();
    r.sigma = sigma.device();
    r.tile_sums = tile_sums.device();
    r.tile_table = tile_table.device();
    r.control = control.device();
    return r;
  }

  FakeSizes n;
  telemetry::TelemetryLayout layout;
  Shared<int32_t> action, index;
  Shared<float> weight, aux;
  Shared<double> losses;
  Shared<float> q, q_variance, q_next, probabilities, quantiles, td, priority, aux_output, vsn, gates;
  Shared<double> gradient_norm;
  Shared<float> sigma;
  Shared<TileSums> tile_sums;
  Shared<ArenaTile> tile_table;
  Shared<Control> control;
};

inline std::unique_ptr<device::Device> open_cpu(int threads) {
  device::DeviceOptions options;
  options.threads = threads;
  return device::open_device("cpu", options);
}

// A device, a telemetry on a fake step, and the recorder to run it with.
struct TelemetryRig {
  explicit TelemetryRig(const FakeSizes& sizes = {}, int threads = 2)
      : device(open_cpu(threads)),
        stream(device->create_stream()),
        recorder(*device, *stream, device::ModuleSet::eager),
        step(*device, sizes),
        telemetry(*device, step.results(), step.layout) {}

  // One whole step on the data of `seed`.
  void run(unsigned seed) {
    step.fill(seed);
    run();
  }
  void run() {
    step.control[0].step += step.control[0].halt ? 0 : 1;
    telemetry.record_batch_statistics(recorder);
    telemetry.record_maintenance(recorder);
    telemetry.record_diagnose(recorder);
    telemetry.record_publish(recorder);
    device->synchronise(*stream);
  }

  std::unique_ptr<device::Device> device;
  std::unique_ptr<device::Stream> stream;
  device::Recorder recorder;
  FakeStep step;
  telemetry::Telemetry telemetry;
};

// By table name.
std::map<std::string, double> expected_signals(const FakeStep& step, const CollectorSignals& collector,
                                               double step_time);
std::map<std::string, double> expected_health(const FakeStep& step);
double expected_action_entropy(const FakeStep& step);

}  // namespace foxhunt::test
