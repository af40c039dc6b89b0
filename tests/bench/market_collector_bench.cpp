// Environment steps a second of the collector on a device, with the network and without, beside what bounds them: the
// bytes that a step moves over the memory's speed, and the arithmetic of the network over the speed of a large product.
//
//   market_collector_bench [ENVIRONMENTS] [THREADS] [DEVICE]     64, 2 and cpu by default; other devices without the
//   bounds
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "engine/device/registry.h"
#include "engine/environment/collector.h"
#include "engine/environment/evaluator.h"
#include "engine/learner/learner.h"
#include "engine/learner/policy.h"
#include "engine/market/market_loader.h"
#include "tests/environment/test_market.h"

namespace foxhunt {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kTimesteps = 200;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Environment steps a second, best of five collections.
double rate(Collector& collector, int environments) {
  double best = 0;
  for (int i = 0; i < 6; ++i) {
    const auto start = Clock::now();
    collector.collect(kTimesteps);
    if (i > 0) best = std::max(best, static_cast<double>(kTimesteps * environments) / seconds_since(start));
  }
  return best;
}

// Bytes a second of copying what is larger than the caches.
double memory_speed() {
  const std::vector<char> from(std::size_t{256} << 20, 1);
  std::vector<char> to(from.size());
  double best = 0;
  for (int i = 0; i < 4; ++i) {
    const auto start = Clock::now();
    std::memcpy(to.data(), from.data(), from.size());
    best = std::max(best, 2.0 * static_cast<double>(from.size()) / seconds_since(start));
  }
  return best;
}

// Floating-point operations a second of 1024 x 256 x 256.
double product_speed(device::Device& device) {
  device::ProductShape s;
  s.m = 1024, s.n = 256, s.k = 256, s.batch = 1;
  s.stride_a = std::int64_t{s.m} * s.k, s.stride_b = std::int64_t{s.k} * s.n, s.stride_c = std::int64_t{s.m} * s.n;
  const device::Buffer<float> a(device, static_cast<std::size_t>(s.stride_a)),
      b(device, static_cast<std::size_t>(s.stride_b)), c(device, static_cast<std::size_t>(s.stride_c));
  const auto stream = device.create_stream();
  const auto product = device.plan(s, "bench");
  double best = 0;
  for (int i = 0; i < 30; ++i) {
    const auto start = Clock::now();
    for (int k = 0; k < 8; ++k) device.multiply(*stream, *product, {a.data(), b.data(), c.data(), nullptr, nullptr});
    device.synchronise(*stream);
    best = std::max(best, 8 * 2.0 * s.m * s.n * s.k / seconds_since(start));
  }
  return best;
}

void run(int environments, int threads, const std::string& name) {
  DataConfig data;
  data.simulated = SimulatedConfig{6000, 7, 1.0};
  const market::MarketTable table = market::load_market(data);
  const auto device = device::open_device(name, {.threads = threads, .plan_cache = {}});
  const bool host = device->info().kind == device::DeviceKind::host;
  LearnerOptions options;
  Learner learner(*device, options);
  DeviceMarket market(*device, learner.stream(), table);
  market.load_fold(learner.stream(), FoldModel::fit(table, {0, table.rows()}));
  learner.set_bar_table(market.bars());
  CollectorOptions collecting;
  collecting.environments = environments;
  collecting.max_timesteps = kTimesteps;
  collecting.contract = {0.25, 50, 2.0, 0, 1};
  collecting.rules = {16, 1e6, 0.5, 3.0, 0.25, {1, 1, 0.01, 0.1, 0.1, 0.02}};

  test::FeatureActor plain(*device, environments, 40.0F);  // costs one small copy a row
  Collector bare(*device, collector_target(learner), plain.actor, market, collecting);
  bare.begin_fold({0, table.rows()});
  const double without = rate(bare, environments);
  Policy noisy(*device, options.config, learner.table(), environments, "collect", device::Precision::fp32);
  Policy mean(*device, options.config, learner.table(), environments, "collect.mean", device::Precision::fp32);
  Collector whole(*device, collector_target(learner), exploring_actor(noisy, mean), market, collecting);
  whole.begin_fold({0, table.rows()});
  const double with = rate(whole, environments);

  if (!host) {
    fmt::print(
        "{} environments on {}: {:.0f} steps/s without the network, {:.0f} with it (noisy and mean pass, fp32)\n",
        environments, device->info().description, without, with);
    return;
  }
  // Read: features, prices, book, labels of the bar and the next; written: state row, transition, outcome, account.
  const double moved = 2.0 * (72 * 4 + 8 * 8 + 40 * 8 + 2 * 4 + 8 * 4) + 96 * 4 + 2.0 * sizeof(kernels::Transition) +
                       sizeof(kernels::StepOutcome) + 2.0 * sizeof(kernels::EnvironmentState);
  const double flops =
      2 * 2.0 * static_cast<double>(learner.table().arena_size());  // two passes, a multiply-add a parameter
  const double memory = memory_speed(), arithmetic = product_speed(*device);
  fmt::print("{} environments, {} threads\n", environments, threads);
  fmt::print(
      "without the network  {:>12.0f} steps/s; {:.0f} bytes a step at {:.1f} GB/s allow {:.0f}: {:.1f} % of the "
      "bound\n",
      without, moved, memory / 1e9, memory / moved, 100 * without * moved / memory);
  fmt::print(
      "with the network     {:>12.0f} steps/s; {:.0f} kflop a step at {:.0f} GFLOP/s allow {:.0f}: {:.1f} % of the "
      "bound\n",
      with, flops / 1e3, arithmetic / 1e9, arithmetic / flops, 100 * with * flops / arithmetic);

  EvaluatorOptions evaluating;
  evaluating.max_bars = table.rows();
  evaluating.contract = collecting.contract;
  evaluating.rules = collecting.rules;
  Policy greedy(*device, options.config, learner.table(), evaluating.windows, "evaluate", device::Precision::fp32);
  Evaluator evaluator(*device, greedy_actor(greedy), market, evaluating);
  for (int i = 0; i < 2; ++i) {
    const auto start = Clock::now();
    evaluator.start({.params = learner.params(),
                     .control = learner.control(),
                     .signals = collector_target(learner).signals,
                     .window = {0, table.rows()}});
    evaluator.wait();
    evaluator.result();
    if (i == 1)
      fmt::print("evaluation of {} bars in {} windows, baselines included: {:.3f} s\n", table.rows(),
                 evaluating.windows, seconds_since(start));
  }
}

}  // namespace
}  // namespace foxhunt

int main(int argc, char** argv) {
  try {
    foxhunt::run(argc > 1 ? std::atoi(argv[1]) : 64, argc > 2 ? std::atoi(argv[2]) : 2, argc > 3 ? argv[3] : "cpu");
    return 0;
  } catch (const foxhunt::Error& error) {
    fmt::print(stderr, "{}\n", error.sentence());
    return 1;
  }
}
