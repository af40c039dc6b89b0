// What a checkpoint holds, copied in one go; the file itself is made of mapped memory by the writing thread.
#include "engine/session/checkpointer.h"

#include <chrono>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/telemetry/telemetry.h"

namespace foxhunt {
namespace {

constexpr std::size_t kAlign = 256;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

Checkpointer::Checkpointer(device::Device& device, Learner& learner, Collector& collector)
    : device_(device), learner_(learner), collector_(collector), side_(device.create_stream()) {
  SaveRequest request;
  prepare(full_, request);
  request.full = false;
  prepare(model_, request);
  thread_ = std::thread([this] { work(); });
}

Checkpointer::~Checkpointer() {
  drain();
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Checkpointer::prepare(Lane& lane, const SaveRequest& largest) {
  const auto list = blocks(largest);
  const std::size_t total = list.back().offset + aligned(list.back().bytes);
  lane.copy = {device_, total};
  lane.staging = {device_, total};
  lane.copied = device_.create_event();
  lane.staged = device_.create_event();
}

std::vector<Checkpointer::Block> Checkpointer::blocks(const SaveRequest& request) {
  std::vector<Block> out;
  std::size_t offset = 0;
  const auto add = [&](const std::string& name, const void* data, std::size_t bytes) {
    out.push_back({name, data, bytes, offset});
    offset += aligned(bytes);
  };
  const std::size_t arena = static_cast<std::size_t>(learner_.table().arena_size()) * sizeof(float);
  const int slot = request.slot;
  add("params", slot < 0 ? learner_.params() : learner_.snapshot_params(slot), arena);
  add("target", slot < 0 ? learner_.target() : learner_.snapshot_target(slot), arena);
  add("control", slot < 0 ? learner_.control() : learner_.snapshot_control(slot), sizeof(kernels::Control));
  add("signals", slot < 0 ? learner_.telemetry()->signals() : learner_.snapshot_signals(slot),
      kernels::kSignals * sizeof(float));
  if (!request.full) return out;
  const ReplayView replay = learner_.replay();
  add("m", learner_.moment1(), arena);
  add("v", learner_.moment2(), arena);
  add("u", learner_.spectral_vectors(), static_cast<std::size_t>(learner_.spectral_floats()) * sizeof(float));
  add("telemetry.state", learner_.telemetry()->state(), sizeof(kernels::TelemetryState));
  add("telemetry.collector", learner_.telemetry()->collector(), sizeof(kernels::CollectorSignals));
  add("replay.ring", replay.ring, static_cast<std::size_t>(replay.capacity) * sizeof(kernels::Transition));
  add("replay.priority", replay.priority, static_cast<std::size_t>(replay.capacity) * sizeof(float));
  for (const auto& block : collector_.state_blocks()) add("collector." + block.name, block.data, block.bytes);
  return out;
}

void Checkpointer::save(SaveRequest request, std::function<void(const SaveResult&)> done) {
  const double before = steady_seconds();
  Lane& lane = request.full ? full_ : model_;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !lane.busy; });
  }
  auto list = blocks(request);
  for (const Block& b : list) device_.copy(learner_.stream(), lane.copy.data() + b.offset, b.data, b.bytes);
  device_.record(*lane.copied, learner_.stream());
  device_.wait(*side_, *lane.copied);
  const std::size_t total = list.back().offset + aligned(list.back().bytes);
  device_.copy(*side_, lane.staging.device(), lane.copy.data(), total);
  device_.record(*lane.staged, *side_);
  lane.request = std::move(request);
  lane.blocks = std::move(list);
  lane.done = std::move(done);
  {
    const std::scoped_lock lock(mutex_);
    lane.busy = true;
    queue_.push_back(&lane);
  }
  changed_.notify_all();
  blocked_ms_ = (steady_seconds() - before) * 1e3;
}

bool Checkpointer::ready() {
  const std::scoped_lock lock(mutex_);
  return !full_.busy;
}

void Checkpointer::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty(); });
}

void Checkpointer::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !queue_.empty() || stop_; });
    if (queue_.empty()) return;
    Lane& lane = *queue_.front();
    lock.unlock();
    while (!lane.staged->done()) std::this_thread::sleep_for(std::chrono::microseconds(500));
    const SaveResult result = write(lane);
    if (lane.done) lane.done(result);
    lock.lock();
    queue_.pop_front();
    lane.busy = false;
    changed_.notify_all();
  }
}

SaveResult Checkpointer::write(const Lane& lane) const {
  const SaveRequest& request = lane.request;
  SaveResult result{.path = request.path, .bytes = 0, .error = {}};
  try {
    SafetensorsWriter writer;
    for (const auto& [key, value] : request.metadata) writer.metadata(key, value);
    const auto find = [&](const char* name) -> std::byte* {
      for (const Block& b : lane.blocks)
        if (b.name == name) return lane.staging.host() + b.offset;
      return nullptr;
    };
    const auto tensors = [&](const char* block, const std::string& prefix) {
      const auto* arena = reinterpret_cast<const float*>(find(block));
      for (const TensorSpec& t : learner_.table().tensors())
        writer.add(prefix + t.name, DType::f32, {t.shape.begin(), t.shape.end()}, arena + t.offset);
    };
    tensors("params", "params.");
    tensors("target", "target.");
    // The step-time slot is the clock's, not the run's: two equal runs must write equal files.
    auto* signals = reinterpret_cast<float*>(find("signals"));
    signals[kernels::signal_step_time] = 0;
    writer.add("signals", DType::f32, {kernels::kSignals}, signals);
    auto* control = reinterpret_cast<kernels::Control*>(find("control"));
    control->command_seen = 0;  // counts this process's commands
    writer.add("support.v_min", DType::f32, {kernels::kTrainingBranches}, control->settings.v_min);
    writer.add("support.v_max", DType::f32, {kernels::kTrainingBranches}, control->settings.v_max);
    writer.add("gamma", DType::f32, {kernels::kTrainingBranches}, control->settings.gamma);
    writer.add("reward_scale", DType::f32, {}, &control->settings.reward_scale);
    writer.add("scaler.mean", DType::f32, {market::kMarketFeatures}, request.model.scaler.mean.data());
    writer.add("scaler.scale", DType::f32, {market::kMarketFeatures}, request.model.scaler.scale.data());
    const double fitted[] = {request.model.mean_volatility, request.model.regimes.low, request.model.regimes.high,
                             request.model.regimes.width};
    writer.add("fold_model", DType::f64, {4}, fitted);
    if (request.full) {
      tensors("m", "m.");
      tensors("v", "v.");
      const auto* u = reinterpret_cast<const float*>(find("u"));
      for (const int i : learner_.table().spectral()) {
        const TensorSpec& t = learner_.table().tensors()[i];
        writer.add("u." + t.name.substr(0, t.name.size() - 7), DType::f32, {static_cast<std::uint64_t>(t.shape[0])}, u);
        u += t.shape[0];
      }
      auto* state = reinterpret_cast<kernels::TelemetryState*>(find("telemetry.state"));
      state->signals[kernels::signal_step_time] = 0;
      state->time_steps = 0;
      for (const Block& b : lane.blocks)
        if (b.name.find('.') != std::string::npos || b.name == "control")
          writer.add("state." + b.name, DType::u8, {b.bytes}, lane.staging.host() + b.offset);
    }
    writer.write(request.path);
    result.bytes = std::filesystem::file_size(request.path);
  } catch (const Error& e) {
    result.error = e.sentence();
  } catch (const std::exception& e) {
    result.error = e.what();
  }
  return result;
}

}  // namespace foxhunt
