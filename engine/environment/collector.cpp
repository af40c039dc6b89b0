// Collection of experience.
#include "engine/environment/collector.h"

#include <chrono>
#include <thread>

#include "engine/base/error.h"
#include "kernels/families.h"

namespace foxhunt {
namespace {

constexpr device::Launch per_environment(int count) {
  return {.grid_x = kernels::tiles(count, kernels::kEnvironmentTile), .threads = 32};
}

void check_range(const char* field, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return;
  throw usage_error(fmt::format("{} is {}; {} to {} are allowed", field, value, low, high), {.field = field});
}

}  // namespace

Collector::Collector(device::Device& device, const CollectorTarget& target, Actor actor, const DeviceMarket& market,
                     const CollectorOptions& options)
    : device_(device), target_(target), actor_(std::move(actor)), bars_(market.bars()), options_(options) {
  check_range("environment.environments", options.environments, 1, 1 << 20);
  check_range("environment.episode_bars", options.episode_bars, 1, 1 << 30);
  check_range("environment.n_step", options.n_step, 1, kernels::kMaxSteps);
  check_range("timesteps of one collection", options.max_timesteps, 1, std::int64_t{1} << 40);
  const std::int64_t least = std::int64_t{options.environments} * kernels::kMaxSteps;
  if (target.replay.capacity < least) {
    throw usage_error(fmt::format("replay.capacity is {}; {} environments need at least {}", target.replay.capacity,
                                  options.environments, least),
                      {.field = "replay.capacity"});
  }
  FH_CHECK(actor_.rows == options.environments && actor_.state_stride >= kernels::kStateWidth,
           "an actor of {} rows, stride {}, for {} environments", actor_.rows, actor_.state_stride,
           options.environments);
  const auto n = static_cast<std::size_t>(options.environments), rows = static_cast<std::size_t>(options.max_timesteps);
  event_ = device.create_event();
  states_ = {device, n};
  decisions_ = {device, n};
  outcomes_ = {device, n};
  pending_ = {device, n};
  staged_ = {device, n * kernels::kMaxSteps};
  counts_ = {device, n};
  offsets_ = {device, n};
  tally_ = {device, n * kernels::kTally};
  sums_ = {device, kernels::kTally};
  work_ = {device, 1};
  timesteps_ = {device, 1};
  reward_log_ = {device, rows * n};
  end_log_ = {device, rows * n};
  mapped_sums_ = {device, kernels::kTally};
  progress_ = {device, 1};
  done_ = {device, 1};
}

void Collector::begin_fold(market::Range train) {
  if (train.begin < 0 || train.end > bars_.rows || train.size() < 2) {
    throw usage_error(
        fmt::format("a training window of rows {} to {} in a market of {} bars; at least 2 of its rows are needed",
                    train.begin, train.end, bars_.rows),
        {.field = "folds"});
  }
  kernels::BeginEpisodesArgs args{};
  args.states = states_.data();
  args.pending = pending_.data();
  args.work = work_.data();
  args.control = target_.control;
  args.kelly_floor = options_.rules.kelly_floor;
  args.train_begin = train.begin;
  args.train_end = train.end;
  args.count = options_.environments;
  args.episode_bars = options_.episode_bars;
  device_.launch(*target_.stream, device::ModuleSet::eager, per_environment(args.count), args);
  begun_ = true;
}

void Collector::record(device::Recorder& recorder) {
  using namespace kernels;
  const int n = options_.environments;
  const device::Launch each = per_environment(n);
  recorder.launch(
      {.grid_x = tiles(n, kGatherTile), .threads = 128},
      GatherStatesArgs{bars_, options_.contract, options_.rules, states_.data(), target_.signals, options_.signal_slots,
                       actor_.states, &target_.control->halt, n, actor_.state_stride});
  actor_.record(recorder, target_.params, target_.control);
  recorder.launch(each, ChooseActionsArgs{actor_.q, actor_.kelly_q, actor_.kelly_variance, decisions_.data(),
                                          target_.control, n, 1});
  recorder.launch(each, EnvironmentStepArgs{bars_, options_.contract, options_.rules, states_.data(), decisions_.data(),
                                            outcomes_.data(), &target_.control->halt, 0, n, 0});
  AccumulateReturnsArgs windows{};
  windows.bars = bars_;
  windows.contract = options_.contract;
  windows.rules = options_.rules;
  windows.states = states_.data();
  windows.outcomes = outcomes_.data();
  windows.rows = actor_.states;
  windows.signals = target_.signals;
  windows.slots = options_.signal_slots;
  windows.pending = pending_.data();
  windows.staged = staged_.data();
  windows.counts = counts_.data();
  windows.tally = tally_.data();
  windows.reward_log = reward_log_.device();
  windows.end_log = end_log_.device();
  windows.work = work_.data();
  windows.control = target_.control;
  windows.count = n;
  windows.stride = actor_.state_stride;
  windows.n_step = options_.n_step;
  windows.log_rows = static_cast<std::int32_t>(options_.max_timesteps);
  recorder.launch(each, windows);
  constexpr std::uint32_t kPlaceThreads = 128;
  recorder.launch({.grid_x = 1, .threads = kPlaceThreads, .block_scratch = kPlaceThreads * sizeof(std::int32_t)},
                  PlaceTransitionsArgs{counts_.data(), offsets_.data(), work_.data(), timesteps_.data(),
                                       target_.control, progress_.device(), target_.replay.capacity, n});
  recorder.launch(each,
                  InsertTransitionsArgs{staged_.data(), counts_.data(), offsets_.data(), work_.data(), target_.control,
                                        target_.replay.ring, target_.replay.priority, target_.replay.capacity, n});
}

void Collector::launch_timestep() {
  device::Stream& stream = *target_.stream;
  if (options_.eager || !warm_) {
    device::Recorder recorder(device_, stream, options_.eager ? device::ModuleSet::eager : device::ModuleSet::graph);
    record(recorder);
    warm_ = true;
  } else {
    if (!graph_) {
      device_.begin_capture(stream);
      device::Recorder recorder(device_, stream, device::ModuleSet::graph);
      record(recorder);
      graph_ = device_.instantiate(*device_.end_capture(stream));
    }
    device_.launch(*graph_, stream);
  }
  ++launched_;
}

void Collector::throttle() {
  const auto behind = [this] { return launched_ - kernels::load_acquire_word(progress_.host()); };
  const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (behind() >= 2) {
    std::this_thread::yield();
    if (std::chrono::steady_clock::now() > patience) {
      device_.synchronise(*target_.stream);  // slow or broken: a device error surfaces here
      FH_CHECK(behind() == 0, "the collector's progress word stands at {} after {} timesteps", launched_ - behind(),
               launched_);
    }
  }
}

std::int64_t Collector::collect(std::int64_t timesteps, const std::atomic<bool>* stop) {
  FH_CHECK(begun_, "collection before a fold has begun");
  check_range("timesteps of one collection", timesteps, 0, options_.max_timesteps);
  device::Stream& stream = *target_.stream;
  const std::int64_t words = std::int64_t{options_.environments} * kernels::kTally;
  device_.launch(stream, device::ModuleSet::eager, {.grid_x = kernels::tiles(words, 4096), .threads = 128},
                 kernels::BeginCollectionArgs{tally_.data(), work_.data(), words});
  for (std::int64_t t = 0; t < timesteps && !(stop && stop->load(std::memory_order_relaxed)); ++t) {
    launch_timestep();
    throttle();
  }
  device_.launch(stream, device::ModuleSet::eager, {.grid_x = kernels::tiles(kernels::kTally, 8), .threads = 32},
                 kernels::SummariseCollectionArgs{tally_.data(), sums_.data(), mapped_sums_.device(), work_.data(),
                                                  done_.device(), options_.environments});
  if (target_.summary) {
    device_.launch(stream, device::ModuleSet::eager, {.grid_x = 1, .threads = 32},
                   kernels::FillCollectorSignalsArgs{sums_.data(), target_.summary, options_.rules.max_position});
  }
  device_.record(*event_, stream);
  device_.synchronise(*event_);
  return *done_.host();
}

RewardLog Collector::rewards() const {
  const auto values = static_cast<std::size_t>(*done_.host()) * static_cast<std::size_t>(options_.environments);
  return {{reward_log_.host(), values}, {end_log_.host(), values}, *done_.host(), options_.environments};
}

CollectorStatistics Collector::statistics() const {
  return CollectorStatistics::from_sums(std::span<const double, kernels::kTally>(mapped_sums_.host(), kernels::kTally));
}

std::vector<Collector::Block> Collector::state_blocks() {
  return {{"collector.states", states_.data(), states_.bytes()},
          {"collector.pending", pending_.data(), pending_.bytes()},
          {"collector.work", work_.data(), work_.bytes()}};
}

}  // namespace foxhunt
