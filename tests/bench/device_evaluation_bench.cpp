// The evaluator on a device beside the host: seconds for 20,000 bars in 16 windows; with scripted actions the figures
// of both, bit for bit; with a trained network the share of bars on which both act alike. Exit 1 when scripted figures
// differ.
//
//   device_evaluation_bench DEVICE [CHECKPOINT CONFIG]     the checkpoint is evaluated in fp32 on both devices
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/config/load_config.h"
#include "engine/device/registry.h"
#include "engine/environment/evaluator.h"
#include "engine/learner/learner.h"
#include "engine/learner/policy.h"
#include "engine/market/market_loader.h"
#include "engine/session/checkpoint_load.h"
#include "tests/environment/test_market.h"

namespace foxhunt {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kBars = 20'000, kWindows = 16;

// One device with the same market, contract and parameters as any other made so.
class Bench {
 public:
  Bench(const std::string& name, const market::MarketTable& table)
      : device_(device::open_device(name, {.threads = 2, .plan_cache = {}})),
        learner_(*device_, LearnerOptions{}),
        market_(*device_, learner_.stream(), table),
        rows_(table.rows()) {
    market_.load_fold(learner_.stream(), FoldModel::fit(table, {0, table.rows()}));
    learner_.set_bar_table(market_.bars());
    options_.windows = kWindows;
    options_.max_bars = table.rows();
    options_.contract = {0.25, 50, 2.0, 0, 1};
    options_.rules = {16, 1e6, 0.5, 3.0, 0.25, {1, 1, 0.01, 0.1, 0.1, 0.02}};
  }

  EvaluationResult scripted() {
    const test::FeatureActor script(*device_, kWindows, 40.0F);
    Evaluator evaluator(*device_, script.actor, market_, options_);
    return run(evaluator);
  }
  // Seconds of the second run with an untrained network, whose sizes are the default ones; result() and baselines
  // included.
  double network_seconds() {
    Policy greedy(*device_, learner_.options().config, learner_.table(), kWindows, "evaluate", device::Precision::fp32);
    Evaluator evaluator(*device_, greedy_actor(greedy), market_, options_);
    run(evaluator);
    const auto start = Clock::now();
    run(evaluator);
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

 private:
  EvaluationResult run(Evaluator& evaluator) {
    evaluator.start({.params = learner_.params(),
                     .control = learner_.control(),
                     .signals = collector_target(learner_).signals,
                     .window = {0, rows_}});
    evaluator.wait();
    return evaluator.result();
  }

  std::unique_ptr<device::Device> device_;
  Learner learner_;
  DeviceMarket market_;
  std::int64_t rows_;
  EvaluatorOptions options_;
};

struct Agreement {
  std::size_t bars = 0, actions = 0, positions = 0;
};

Agreement agreement(const EvaluationResult& a, const EvaluationResult& b) {
  Agreement out;
  out.bars = std::min(a.trace.size(), b.trace.size());
  for (std::size_t i = 0; i < out.bars; ++i) {
    out.actions += a.trace[i].action == b.trace[i].action;
    out.positions += a.trace[i].position == b.trace[i].position;
  }
  return out;
}

bool run_scripted(const std::string& name) {
  DataConfig data;
  data.simulated = SimulatedConfig{kBars, 7, 1.0};
  const market::MarketTable table = market::load_market(data);
  Bench host("cpu", table), other(name, table);
  fmt::print("{} bars in {} windows, network and baselines included: {:.3f} s on {}, {:.3f} s on cpu\n", table.rows(),
             kWindows, other.network_seconds(), name, host.network_seconds());
  const EvaluationResult a = host.scripted(), b = other.scripted();
  const Agreement same = agreement(a, b);
  const bool equal = a.equity == b.equity && a.trace.size() == b.trace.size() && same.actions == same.bars &&
                     same.positions == same.bars && a.fills.size() == b.fills.size() &&
                     a.trades.size() == b.trades.size();
  fmt::print("scripted actions: {} bars, {} fills, {} trades, net {:.2f} and {:.2f}: {}\n", a.trace.size(),
             a.fills.size(), a.trades.size(), a.equity.back(), b.equity.back(),
             equal ? "equity, actions and positions are equal, bit for bit" : "THEY DIFFER");
  return equal;
}

void run_network(const std::string& name, const std::string& checkpoint, const std::string& file) {
  const auto on = [&](const std::string& device) {
    const std::vector<std::string> settings{"device=" + device, "training.precision=fp32"};
    return evaluate_checkpoint(checkpoint, load_config(file, settings));
  };
  const CheckpointEvaluation a = on("cpu"), b = on(name);
  const Agreement same = agreement(a.result, b.result);
  fmt::print("network of {}: {} of {} greedy actions agree ({:.3f} %), net {:.2f} and {:.2f}\n", checkpoint,
             same.actions, same.bars, 100.0 * static_cast<double>(same.actions) / static_cast<double>(same.bars),
             a.result.equity.back(), b.result.equity.back());
}

}  // namespace
}  // namespace foxhunt

int main(int argc, char** argv) {
  try {
    if (argc != 2 && argc != 4) throw foxhunt::usage_error("device_evaluation_bench DEVICE [CHECKPOINT CONFIG]");
    const bool equal = foxhunt::run_scripted(argv[1]);
    if (argc == 4) foxhunt::run_network(argv[1], argv[2], argv[3]);
    return equal ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
