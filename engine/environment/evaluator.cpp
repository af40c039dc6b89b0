// Evaluation beside training.
#include "engine/environment/evaluator.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/environment/baselines.h"
#include "kernels/families.h"

namespace foxhunt {
namespace {

constexpr device::Launch per_environment(std::int64_t count) {
  return {.grid_x = kernels::tiles(count, kernels::kEnvironmentTile), .threads = 32};
}

void check_range(const char* field, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return;
  throw usage_error(fmt::format("{} is {}; {} to {} are allowed", field, value, low, high), {.field = field});
}

std::int64_t window_decisions(market::Range bars, int windows, std::int64_t w) {
  return kernels::window_begin(bars.begin, bars.end, windows, w + 1) -
         kernels::window_begin(bars.begin, bars.end, windows, w);
}

// Metrics of a curve known by its end alone, besides the curve.
Metrics summary_metrics(const market::MarketTable& table, const EvaluationRequest& request,
                        const EvaluatorOptions& options, std::vector<double> equity, const kernels::ScriptSummary& s) {
  MetricsInput in;
  in.equity = std::move(equity);
  in.seconds = window_seconds(table, request.window);
  if (s.trades > 0) {
    in.trades = {s.equity};
    in.holds = {s.exposed};
  }
  in.costs = s.costs;
  in.contracts = static_cast<double>(s.lots) * options.contract.lot;
  in.exposed_bars = s.exposed;
  in.mean_price = window_mean_price(table, request.window);
  in.capital = options.rules.capital;
  in.point_value = options.contract.point_value;
  return compute_metrics(in);
}

}  // namespace

Evaluator::Evaluator(device::Device& device, Actor actor, const DeviceMarket& market, const EvaluatorOptions& options)
    : device_(device), actor_(std::move(actor)), market_(market), options_(options) {
  check_range("evaluation.windows", options.windows, 1, 1 << 16);
  check_range("bars of an evaluation", options.max_bars, 2, market.bars().rows);
  check_range("timesteps of one launch", options.timesteps_per_launch, 1, 1024);
  check_range("seeds of the random baseline", options.random_seeds, 1, 1024);
  FH_CHECK(actor_.rows == options.windows && actor_.state_stride >= kernels::kStateWidth,
           "an actor of {} rows, stride {}, for {} windows", actor_.rows, actor_.state_stride, options.windows);
  stride_ = (options.max_bars - 1 + options.windows - 1) / options.windows;
  const auto m = static_cast<std::size_t>(options.windows), stride = static_cast<std::size_t>(stride_);
  const std::size_t random = m * static_cast<std::size_t>(options.random_seeds);
  const auto bars = static_cast<std::size_t>(options.max_bars);
  stream_ = device.create_stream();
  event_ = device.create_event();
  states_ = {device, m};
  decisions_ = {device, m};
  outcomes_ = {device, m * stride};
  random_states_ = {device, random};
  random_decisions_ = {device, random * stride};
  random_equity_ = {device, random * stride};
  random_sums_ = {device, random};
  hold_state_ = {device, 1};
  hold_decisions_ = {device, bars};
  hold_equity_ = {device, bars};
  hold_sum_ = {device, 1};
}

// Nothing that was launched may outlive the buffers.
Evaluator::~Evaluator() {
  try {
    device_.synchronise(*stream_);
  } catch (const std::exception&) {
    // The device is broken; its owner has already been told by the call that broke it.
  }
}

void Evaluator::record(device::Recorder& recorder) {
  using namespace kernels;
  const int m = options_.windows;
  for (int t = 0; t < options_.timesteps_per_launch; ++t) {
    recorder.launch(
        {.grid_x = tiles(m, kGatherTile), .threads = 128},
        GatherStatesArgs{market_.bars(), options_.contract, options_.rules, states_.data(), request_.signals,
                         options_.signal_slots, actor_.states, nullptr, m, actor_.state_stride});
    actor_.record(recorder, request_.params, request_.control);
    recorder.launch(per_environment(m), ChooseActionsArgs{actor_.q, actor_.kelly_q, actor_.kelly_variance,
                                                          decisions_.data(), request_.control, m, 0});
    recorder.launch(per_environment(m),
                    EnvironmentStepArgs{market_.bars(), options_.contract, options_.rules, states_.data(),
                                        decisions_.data(), outcomes_.device(), nullptr, stride_, m, 1});
  }
}

void Evaluator::launch_chunk() {
  if (options_.eager || !warm_) {
    device::Recorder recorder(device_, *stream_, device::ModuleSet::evaluation);
    record(recorder);
    warm_ = true;
    return;
  }
  auto& graph = graphs_[GraphKey{request_.params, request_.control, request_.signals}];
  if (!graph) {
    device_.begin_capture(*stream_);
    device::Recorder recorder(device_, *stream_, device::ModuleSet::evaluation);
    record(recorder);
    graph = device_.instantiate(*device_.end_capture(*stream_));
  }
  device_.launch(*graph, *stream_);
}

void Evaluator::start(const EvaluationRequest& request) {
  FH_CHECK(!running(), "an evaluation is already running");
  const market::Range bars = request.window;
  if (bars.begin < 0 || bars.end > market_.bars().rows || bars.size() < 2 || bars.size() > options_.max_bars) {
    throw usage_error(
        fmt::format("an evaluation of rows {} to {} in a market of {} bars; 2 to {} of its rows can be evaluated",
                    bars.begin, bars.end, market_.bars().rows, options_.max_bars));
  }
  request_ = request;
  if (request.after) device_.wait(*stream_, *request.after);
  const int m = options_.windows;
  device_.launch(*stream_, device::ModuleSet::eager, per_environment(m),
                 kernels::BeginWindowsArgs{states_.data(), options_.rules.kelly_floor, bars.begin, bars.end, m, m});
  std::int64_t longest = 0;
  for (int w = 0; w < m; ++w) longest = std::max(longest, window_decisions(bars, m, w));
  for (std::int64_t t = 0; t < longest; t += options_.timesteps_per_launch) launch_chunk();
  device_.record(*event_, *stream_);
  phase_ = Phase::policy;
}

bool Evaluator::ready() {
  if (phase_ == Phase::policy && event_->done()) {
    result_ =
        assemble_evaluation(market_.table(), request_.window, options_.windows, {outcomes_.host(), outcomes_.size()},
                            stride_, {options_.contract, options_.rules, request_.trials, request_.trial_variance});
    launch_baselines();
    phase_ = Phase::baselines;
  }
  if (phase_ == Phase::baselines && event_->done()) {
    take_baselines();
    phase_ = Phase::done;
  }
  return phase_ == Phase::done;
}

void Evaluator::wait() {
  FH_CHECK(running(), "no evaluation is running");
  while (!ready()) device_.synchronise(*event_);
}

EvaluationResult Evaluator::result() {
  FH_CHECK(phase_ == Phase::done, "the evaluation is not ready");
  phase_ = Phase::idle;
  return std::move(result_);
}

void Evaluator::launch_baselines() {
  const market::Range bars = request_.window;
  const int m = options_.windows, random = m * options_.random_seeds;
  std::vector<std::vector<TradeRecord>> of_window(static_cast<std::size_t>(m));
  for (const TradeRecord& t : result_.trades) of_window[static_cast<std::size_t>(t.window)].push_back(t);
  for (int i = 0; i < random; ++i) {
    const int w = i % m;
    const auto script = random_script(of_window[static_cast<std::size_t>(w)], window_decisions(bars, m, w),
                                      options_.contract, options_.rules, options_.seed, static_cast<std::uint64_t>(i));
    std::copy(script.begin(), script.end(), random_decisions_.host() + i * stride_);
  }
  const auto hold = buy_and_hold_script(bars.size() - 1);
  std::copy(hold.begin(), hold.end(), hold_decisions_.host());

  const auto launch = [&](const auto& shape, const auto& args) {
    device_.launch(*stream_, device::ModuleSet::eager, shape, args);
  };
  const double floor = options_.rules.kelly_floor;
  launch(per_environment(random),
         kernels::BeginWindowsArgs{random_states_.data(), floor, bars.begin, bars.end, m, random});
  launch(per_environment(1), kernels::BeginWindowsArgs{hold_state_.data(), floor, bars.begin, bars.end, 1, 1});
  launch(per_environment(random),
         kernels::EnvironmentScriptArgs{market_.bars(), options_.contract, options_.rules, random_states_.data(),
                                        random_decisions_.device(), nullptr, random_equity_.device(),
                                        random_sums_.device(), stride_, random});
  // Holding means holding: no trailing stop.
  kernels::EnvironmentRules held = options_.rules;
  held.trail_atr = 0;
  launch(per_environment(1), kernels::EnvironmentScriptArgs{market_.bars(), options_.contract, held, hold_state_.data(),
                                                            hold_decisions_.device(), nullptr, hold_equity_.device(),
                                                            hold_sum_.device(), options_.max_bars, 1});
  device_.record(*event_, *stream_);
}

void Evaluator::take_baselines() {
  const market::Range bars = request_.window;
  const auto size = static_cast<std::size_t>(bars.size());
  const int m = options_.windows;
  Baselines& out = result_.baselines;
  const double seeds = options_.random_seeds;
  RandomBaseline random;
  random.seeds = options_.random_seeds;
  random.equity.assign(size, 0.0);
  double squares = 0;
  for (int seed = 0; seed < options_.random_seeds; ++seed) {
    double base = 0;
    std::size_t at = 1;
    for (int w = 0; w < m; ++w) {
      const std::int64_t i = std::int64_t{seed} * m + w, decisions = window_decisions(bars, m, w);
      const kernels::ScriptSummary& s = random_sums_.host()[i];
      for (std::int64_t t = 0; t < decisions; ++t) {
        random.equity[at++] += (base + (t < s.bars ? random_equity_.host()[i * stride_ + t] : s.equity)) / seeds;
      }
      base += s.equity;
      random.trades += s.trades / seeds;
      random.contracts += static_cast<double>(s.lots) * options_.contract.lot / seeds;
    }
    random.net += base / seeds;
    squares += base * base / seeds;
  }
  random.net_deviation = std::sqrt(std::max(0.0, squares - random.net * random.net));
  out.random = std::move(random);

  const kernels::ScriptSummary& s = *hold_sum_.host();
  out.buy_and_hold_equity.assign(1, 0.0);
  for (std::int64_t t = 0; t + 1 < bars.size(); ++t)
    out.buy_and_hold_equity.push_back(t < s.bars ? hold_equity_.host()[t] : s.equity);
  out.buy_and_hold = summary_metrics(market_.table(), request_, options_, out.buy_and_hold_equity, s);
  out.flat = summary_metrics(market_.table(), request_, options_, std::vector<double>(size, 0.0), {});
}

}  // namespace foxhunt
