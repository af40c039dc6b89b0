// Life of a step: the children in their order, what each depends on, and the host's side of launching them.
#include "engine/learner/learner.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "engine/base/error.h"
#include "engine/learner/aux_heads.h"
#include "engine/learner/counters.h"
#include "engine/learner/initialise.h"
#include "engine/learner/launches.h"
#include "engine/learner/network.h"
#include "engine/learner/optimiser.h"
#include "engine/learner/per_sample.h"
#include "engine/learner/post_aux.h"
#include "engine/learner/spectral.h"
#include "engine/learner/step_context.h"
#include "engine/learner/step_graph.h"
#include "engine/learner/step_results.h"
#include "engine/learner/transfer.h"
#include "engine/telemetry/telemetry.h"
#include "kernels/losses.h"
#include "kernels/optimiser.h"

namespace foxhunt {
namespace {

constexpr int kLaunchesAhead = 2;

NetworkOptions online_options(const LearnerOptions& o) {
  return {.rows = 2 * o.batch, .scaled = o.batch, .masks = true, .lane = "forward", .precision = o.precision};
}
NetworkOptions target_options(const LearnerOptions& o) {
  return {.rows = o.batch, .scaled = 0, .masks = false, .lane = "ddqn", .precision = o.precision};
}

}  // namespace

struct Learner::Parts {
  Parts(device::Device& device, const LearnerOptions& options)
      : c(device, options),
        stream(device.create_stream()),
        online(device, options.config, c.table, online_options(options)),
        target(device, options.config, c.table, target_options(options)),
        counters(c),
        per_sample(c),
        spectral(c),
        aux(c, online, target),
        post_aux(c, online, aux),
        per_priority(c, per_sample.largest()),
        results(step_results(c, online, aux)),
        telemetry(make_telemetry(c, results)),
        adam_grad(c, nan_checks(c, online, aux), telemetry.get()),
        adam(c),
        graph(device, *stream) {
    for (auto* event : {&scan_forked, &scan_joined, &weights_forked, &weights_joined, &statistics_forked,
                        &statistics_joined, &embed_forked[0], &embed_forked[1], &embed_joined[0], &embed_joined[1]})
      *event = device.create_event();
    for (auto* side : {&scan_side, &weights_side, &statistics_side, &embed_side[0], &embed_side[1]})
      *side = device.create_stream();
    compose();
    for (auto& slot : slot_params) slot = {device, static_cast<std::size_t>(c.table.arena_size())};
    for (auto& slot : slot_target) slot = {device, static_cast<std::size_t>(c.table.arena_size())};
    for (auto& slot : slot_control) slot = {device, 1};
    for (auto& slot : slot_signals) slot = {device, kernels::kSignals};
  }

  void compose();

  StepContext c;
  std::unique_ptr<device::Stream> stream;
  Network online, target;
  Counters counters;
  PerSample per_sample;
  Spectral spectral;
  AuxHeads aux;
  PostAux post_aux;
  PerPriority per_priority;
  kernels::StepResults results;
  std::unique_ptr<telemetry::Telemetry> telemetry;  // null when the sizes are not those of a training session
  AdamGrad adam_grad;
  Adam adam;
  StepGraph graph;
  std::unique_ptr<device::Stream> scan_side, weights_side, statistics_side, embed_side[2];
  std::unique_ptr<device::Event> scan_forked, scan_joined, weights_forked, weights_joined, statistics_forked,
      statistics_joined, embed_forked[2], embed_joined[2];
  device::Buffer<float> slot_params[kSlots];
  device::Buffer<float> slot_target[kSlots], slot_signals[kSlots];
  device::Buffer<kernels::Control> slot_control[kSlots];
  std::uint64_t launches = 0;  // of steps, published or not
  std::uint32_t base = 0;      // publications before the first launch
};

void Learner::Parts::compose() {
  using R = device::Recorder;
  const float* params = c.arenas.params.data();
  const float* target_params = c.arenas.target.data();
  const float* next = c.buffers.state.data() + static_cast<std::int64_t>(c.batch) * c.layout.stride;
  graph.add("counters", {}, [this](R& r) {
    R side = r.fork(*scan_side, *scan_forked);
    per_sample.record_scan(side);
    if (telemetry) telemetry->record_stamp(r);
    counters.record(r);
    r.join(side, *scan_joined);
  });
  graph.add("per_sample", {"counters"}, [this](R& r) { per_sample.record(r); });
  // Noisy weights of both networks beside the power iteration: neither waits for the batch.
  graph.add("spectral", {"counters"}, [this, params, target_params](R& r) {
    R side = r.fork(*weights_side, *weights_forked);
    online.record_weights(side, params, c.buffers.noise.data());
    target.record_weights(side, target_params, c.buffers.noise.data() + c.layout.noise_floats());
    spectral.record(r);
    r.join(side, *weights_joined);
  });
  graph.add("forward", {"per_sample", "spectral"}, [this, params](R& r) {
    R side = r.fork(*embed_side[0], *embed_forked[0]);
    aux.record_online_embedding(side);
    online.record_trunk(r, params, c.buffers.state.data(), c.control.data());
    r.join(side, *embed_joined[0]);
  });
  graph.add("ddqn", {"per_sample", "spectral"}, [this, target_params, next](R& r) {
    R side = r.fork(*embed_side[1], *embed_forked[1]);
    aux.record_target_embedding(side);
    target.record_trunk(r, target_params, next, c.control.data());
    r.join(side, *embed_joined[1]);
  });
  graph.add("aux", {"forward", "ddqn"}, [this](R& r) { aux.record(r); });
  // The batch's statistics read what `aux` left: the backward pass hides them.
  graph.add("post_aux", {"aux"}, [this](R& r) {
    R side = r.fork(*statistics_side, *statistics_forked);
    if (telemetry) telemetry->record_batch_statistics(side);
    post_aux.record(r);
    r.join(side, *statistics_joined);
  });
  graph.add("iql_modulate", {"aux"}, [this](R& r) {
    r.launch(tile_launch(c.batch, 256), kernels::ModulatePrioritiesArgs{.control = c.control.data(),
                                                                        .td = c.buffers.td.data(),
                                                                        .regime = c.buffers.regime.data(),
                                                                        .q_taken = c.buffers.q_taken.data(),
                                                                        .iql = c.buffers.iql.data(),
                                                                        .priority = c.buffers.priority.data(),
                                                                        .batch = c.batch});
  });
  if (telemetry) graph.add("diagnose", {"iql_modulate"}, [this](R& r) { telemetry->record_diagnose(r); });
  graph.add("adam_grad", {"post_aux", "iql_modulate"}, [this](R& r) { adam_grad.record(r); });
  graph.add("adam", {"adam_grad"}, [this](R& r) { adam.record(r); });
  graph.add("per_priority", {"adam_grad"}, [this](R& r) { per_priority.record(r); });
  if (!telemetry) return;
  graph.add("maintenance", {"adam", "per_priority"}, [this](R& r) { telemetry->record_maintenance(r); });
  graph.add("publish", {"maintenance", "diagnose"}, [this](R& r) { telemetry->record_publish(r); });
}

Learner::Learner(device::Device& device, const LearnerOptions& options)
    : parts_(std::make_unique<Parts>(device, options)) {
  edit_settings([&](kernels::Settings& s) { s = settings_from(options); });
  device::Recorder r(device, stream(), device::ModuleSet::eager);
  apply_settings();
  r.launch(single_launch(1),
           kernels::ResetControlArgs{.control = control(), .first = 1, .seed = options.seed, .c51_alpha_start = 0});
  if (parts_->telemetry) parts_->base = parts_->telemetry->mapped().publishes;
}

Learner::~Learner() {
  try {
    drain();
  } catch (const std::exception&) {
    // A broken device has been reported where it broke.
  }
}

const TensorTable& Learner::table() const {
  return parts_->c.table;
}
const LearnerOptions& Learner::options() const {
  return parts_->c.options;
}
device::Device& Learner::device() {
  return parts_->c.device;
}
device::Stream& Learner::stream() {
  return *parts_->stream;
}
float* Learner::params() {
  return parts_->c.arenas.params.data();
}
float* Learner::target() {
  return parts_->c.arenas.target.data();
}
float* Learner::moment1() {
  return parts_->c.arenas.moment1.data();
}
float* Learner::moment2() {
  return parts_->c.arenas.moment2.data();
}
float* Learner::gradients() {
  return parts_->c.arenas.gradients.data();
}
float* Learner::spectral_vectors() {
  return parts_->spectral.vectors();
}
int Learner::spectral_floats() const {
  return parts_->spectral.vector_floats();
}
kernels::Control* Learner::control() {
  return parts_->c.control.data();
}
ReplayView Learner::replay() {
  return {.ring = parts_->c.ring.data(),
          .priority = parts_->c.ring_priority.data(),
          .capacity = parts_->c.options.capacity};
}
void Learner::set_bar_table(const kernels::BarTable& table) {
  FH_CHECK(!parts_->graph.captured(), "the bar table is set before the first step");
  parts_->c.bars = table;
}
telemetry::Telemetry* Learner::telemetry() {
  return parts_->telemetry.get();
}
const kernels::StepResults& Learner::results() const {
  return parts_->results;
}
Injection& Learner::injection() {
  return parts_->c.injection;
}
float* Learner::taus() {
  return parts_->c.buffers.taus.data();
}

const kernels::Settings& Learner::settings() const {
  return parts_->c.command.host()->settings;
}

void Learner::edit_settings(const std::function<void(kernels::Settings&)>& change) {
  kernels::CommandBlock& block = *parts_->c.command.host();
  kernels::Settings fresh = block.settings;
  change(fresh);
  kernels::store_release_word(&block.sequence, kernels::load_shared_word(&block.sequence) + 1u);
  std::uint32_t words[sizeof(kernels::Settings) / 4];
  std::memcpy(words, &fresh, sizeof fresh);
  auto* to = reinterpret_cast<std::uint32_t*>(&block.settings);
  for (std::size_t i = 0; i < std::size(words); ++i) kernels::store_shared_word(to + i, words[i]);
  kernels::store_release_word(&block.sequence, kernels::load_shared_word(&block.sequence) + 1u);
}

void Learner::apply_settings() {
  device::Recorder r(parts_->c.device, stream(), device::ModuleSet::eager);
  r.launch(single_launch(1), kernels::ApplySettingsArgs{.control = control(), .command = parts_->c.command.device()});
}

void Learner::initialise() {
  drain();
  const Initial initial = initial_values(parts_->c.table, options().config, options().seed);
  upload(device(), params(), initial.params.data(), initial.params.size());
  upload(device(), target(), initial.params.data(), initial.params.size());
  upload(device(), spectral_vectors(), initial.spectral.data(), initial.spectral.size());
  device::Recorder r(parts_->c.device, stream(), device::ModuleSet::eager);
  r.fill(moment1(), 0, parts_->c.arenas.moment1.bytes());
  r.fill(moment2(), 0, parts_->c.arenas.moment2.bytes());
  r.fill(parts_->c.ring_priority.data(), 0, parts_->c.ring_priority.bytes());
  apply_settings();
  r.launch(
      single_launch(1),
      kernels::ResetControlArgs{
          .control = control(), .first = 1, .seed = options().seed, .c51_alpha_start = settings().c51_alpha_floor});
}

void Learner::begin_fold(int fold) {
  drain();  // a step still queued must not see the next fold's settings
  edit_settings([&](kernels::Settings& s) {
    s.fold = static_cast<std::uint32_t>(fold);
    s.c51_alpha_floor = 0.5f;
  });
  apply_settings();
  device::Recorder r(parts_->c.device, stream(), device::ModuleSet::eager);
  const Arenas& a = parts_->c.arenas;
  r.launch({.grid_x = static_cast<std::uint32_t>(a.tile_list.size()), .threads = 256},
           kernels::ShrinkPerturbArgs{.tiles = a.tiles.data(),
                                      .params = params(),
                                      .target = target(),
                                      .moment1 = moment1(),
                                      .moment2 = moment2(),
                                      .seed = options().seed,
                                      .fold = static_cast<std::uint64_t>(fold),
                                      .shrink = 0.8f,
                                      .noise = 0.001f});
  r.launch(single_launch(1), kernels::ResetControlArgs{
                                 .control = control(), .first = 0, .seed = options().seed, .c51_alpha_start = 0.5f});
  r.fill(parts_->c.ring_priority.data(), 0, parts_->c.ring_priority.bytes());
  if (parts_->telemetry) parts_->telemetry->record_begin_fold(r);
}

void Learner::step() {
  Parts& p = *parts_;
  wait_for_room();
  if (options().eager) {
    p.graph.run_eagerly();
  } else if (!p.graph.captured()) {
    p.graph.run_eagerly();
    p.c.device.synchronise(stream());
    p.graph.capture();
  } else {
    p.graph.launch();
  }
  ++p.launches;
}

std::uint64_t Learner::launched() const {
  return parts_->launches;
}

// A whole step is still queued when room appears, so a sleep of some tens of microseconds starves no device; a thread
// that only looked would take a processor from the host device's workers.
void Learner::wait_for_room() const {
  constexpr int kLooks = 64;
  constexpr std::chrono::microseconds kSleep{20};
  for (int looks = 0; parts_->telemetry && parts_->launches - published() >= kLaunchesAhead; ++looks) {
    if (looks < kLooks)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kSleep);
  }
}

std::uint64_t Learner::published() const {
  if (!parts_->telemetry) return parts_->launches;
  const std::uint32_t word = kernels::load_acquire_word(&parts_->telemetry->mapped().publishes) - parts_->base;
  // The mapped word counts modulo 2^32; at most a few launches are ahead.
  return parts_->launches - static_cast<std::uint32_t>(static_cast<std::uint32_t>(parts_->launches) - word);
}

std::uint64_t Learner::completed() const {
  return published();
}

std::uint32_t Learner::halted() const {
  return parts_->telemetry ? kernels::load_shared_word(&parts_->telemetry->mapped().halt) : 0;
}
std::uint32_t Learner::nan_flags() const {
  return parts_->telemetry ? kernels::load_shared_word(&parts_->telemetry->mapped().nan_flags) : 0;
}

void Learner::request_halt() {
  kernels::store_release_word(&parts_->c.command.host()->halt_request, 1);
}

void Learner::clear_halt() {
  kernels::store_release_word(&parts_->c.command.host()->halt_request, 0);
  device::Recorder r(parts_->c.device, stream(), device::ModuleSet::eager);
  r.launch(single_launch(1), kernels::ClearHaltArgs{.control = control()});
}

void Learner::drain() {
  parts_->c.device.synchronise(stream());
  // Publications outside the step (an epoch's end) count too: with everything done, all launches have published.
  if (parts_->telemetry)
    parts_->base = kernels::load_acquire_word(&parts_->telemetry->mapped().publishes) -
                   static_cast<std::uint32_t>(parts_->launches);
}

void Learner::snapshot(int slot) {
  FH_CHECK(slot >= 0 && slot < kSlots, "snapshot slot {}", slot);
  Parts& p = *parts_;
  p.c.device.copy(stream(), p.slot_params[slot].data(), params(), p.slot_params[slot].bytes());
  p.c.device.copy(stream(), p.slot_target[slot].data(), target(), p.slot_target[slot].bytes());
  p.c.device.copy(stream(), p.slot_control[slot].data(), control(), sizeof(kernels::Control));
  if (p.telemetry)
    p.c.device.copy(stream(), p.slot_signals[slot].data(), p.telemetry->signals(), p.slot_signals[slot].bytes());
}
const float* Learner::snapshot_params(int slot) const {
  return parts_->slot_params[slot].data();
}
const float* Learner::snapshot_target(int slot) const {
  return parts_->slot_target[slot].data();
}
const float* Learner::snapshot_signals(int slot) const {
  return parts_->slot_signals[slot].data();
}
const kernels::Control* Learner::snapshot_control(int slot) const {
  return parts_->slot_control[slot].data();
}

std::vector<ChildTiming> Learner::profile(int steps) {
  Parts& p = *parts_;
  drain();
  std::vector<double> times(p.graph.children().size(), std::nan(""));
  if (steps > 0 && p.graph.captured()) times = p.graph.time_children(steps, [&p] { ++p.launches; });
  std::vector<ChildTiming> out;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto& child = p.graph.children()[i];
    out.push_back({.name = child.name,
                   .nodes = child.graph ? child.graph->nodes() : 0,
                   .critical_nodes = child.graph ? child.graph->critical_nodes() : 0,
                   .microseconds = times[i]});
  }
  return out;
}

double Learner::time_products(int repetitions) {
  return parts_->graph.time_products(repetitions);
}

}  // namespace foxhunt
