// Q-values of two models at the same bars, and what they have in common.
#include "engine/session/probe.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/json_number.h"
#include "engine/device/recorder.h"
#include "engine/environment/collector.h"
#include "engine/learner/launches.h"
#include "engine/learner/policy.h"
#include "engine/learner/transfer.h"
#include "engine/market/market_loader.h"
#include "engine/session/checkpoint_load.h"
#include "engine/session/run_setup.h"

namespace foxhunt {
namespace {

constexpr int kRows = 64;  // states a pass

std::vector<std::int64_t> probe_bars(market::Range window) {
  const std::int64_t count = std::min<std::int64_t>(kProbeStates, window.size());
  std::vector<std::int64_t> bars;
  for (std::int64_t i = 0; i < count; ++i) bars.push_back(window.begin + i * window.size() / count);
  return bars;
}

// [bars, 13].
std::vector<float> q_values(device::Device& device, device::Stream& stream, const LoadedModel& model,
                            DeviceMarket& market, const std::vector<std::int64_t>& bars, const Config& config) {
  market.load_fold(stream, model.model);
  const ModelBuffers buffers(device, model);
  const TensorTable tensors(model.learner);
  Policy policy(device, model.learner, tensors, kRows, "probe", configured_precision(config, device));
  const CollectorOptions rules = collector_options(config);
  device::Buffer<kernels::EnvironmentState> states(device, kRows);
  std::vector<float> out;
  for (std::size_t first = 0; first < bars.size(); first += kRows) {
    std::vector<kernels::EnvironmentState> accounts(kRows);
    for (std::size_t i = 0; i < accounts.size(); ++i) {
      const auto bar = static_cast<std::int32_t>(bars[std::min(first + i, bars.size() - 1)]);
      kernels::start_account(accounts[i], bar, bar + 1, rules.rules.kelly_floor);
    }
    upload(device, states.data(), accounts.data(), accounts.size());
    device::Recorder recorder(device, stream, device::ModuleSet::eager);
    recorder.launch(
        {.grid_x = kernels::tiles(kRows, kernels::kGatherTile), .threads = 128},
        kernels::GatherStatesArgs{market.bars(), rules.contract, rules.rules, states.data(), buffers.signals(),
                                  state_signal_slots(), policy.states(), nullptr, kRows, policy.state_stride()});
    policy.record(recorder, buffers.params(), buffers.control(), false);
    const auto q = download(device, stream, policy.q(), static_cast<std::size_t>(kRows) * kernels::kActions);
    const std::size_t wanted = std::min<std::size_t>(kRows, bars.size() - first);
    out.insert(out.end(), q.begin(), q.begin() + static_cast<std::ptrdiff_t>(wanted * kernels::kActions));
  }
  return out;
}

BranchBehaviour compare_branch(const std::string& name, int first, int actions, const std::vector<float>& a,
                               const std::vector<float>& b, std::vector<bool>& all_agree) {
  BranchBehaviour out;
  out.name = name;
  out.actions_a.assign(static_cast<std::size_t>(actions), 0);
  out.actions_b = out.actions_a;
  const auto states = static_cast<double>(all_agree.size());
  for (std::size_t i = 0; i < all_agree.size(); ++i) {
    const float* qa = a.data() + i * kernels::kActions + first;
    const float* qb = b.data() + i * kernels::kActions + first;
    const int best_a = kernels::best_action(qa, actions), best_b = kernels::best_action(qb, actions);
    out.actions_a[static_cast<std::size_t>(best_a)] += 1 / states;
    out.actions_b[static_cast<std::size_t>(best_b)] += 1 / states;
    out.agreement += best_a == best_b ? 1 / states : 0;
    if (best_a != best_b) all_agree[i] = false;
    for (int k = 0; k < actions; ++k) {
      const double x = static_cast<double>(qa[k]), y = static_cast<double>(qb[k]);
      out.q_mean_a += x / (states * actions);
      out.q_mean_b += y / (states * actions);
      out.q_mean_abs += std::abs(y - x) / (states * actions);
      out.q_max_abs = std::max(out.q_max_abs, std::abs(y - x));
    }
  }
  return out;
}

}  // namespace

Behaviour compare_behaviour(const std::filesystem::path& file_a, const std::filesystem::path& file_b,
                            const Config& given) {
  Config config = given;
  const LoadedModel a = load_model(file_a), b = load_model(file_b);
  const market::MarketTable table = market::load_market(config.data);
  const auto folds = market::make_folds(table, config.folds, config.environment.n_step);
  if (a.fold >= static_cast<int>(folds.size()))
    throw usage_error(
        fmt::format("the checkpoint belongs to fold {}; the configuration has folds 0 to {}", a.fold, folds.size() - 1),
        {.file = file_a.string(), .field = "fold", .hint = "use the configuration that it was trained with"});
  const auto device = open_configured_device(config);
  resolve_defaults(config, *device);
  const auto stream = device->create_stream();
  DeviceMarket market(*device, *stream, table);
  Behaviour out;
  out.fold = a.fold;
  out.window = folds[static_cast<std::size_t>(a.fold)].validation;
  const auto bars = probe_bars(out.window);
  out.states = static_cast<std::int64_t>(bars.size());
  const auto q_a = q_values(*device, *stream, a, market, bars, config);
  const auto q_b = q_values(*device, *stream, b, market, bars, config);
  std::vector<bool> agree(bars.size(), true);
  for (int d = 0; d < kernels::kTrainingBranches; ++d)
    out.branches.push_back(compare_branch(a.learner.branches.at(static_cast<std::size_t>(d)).first,
                                          kernels::branch_first(d), kernels::branch_actions(d), q_a, q_b, agree));
  out.agreement = static_cast<double>(std::count(agree.begin(), agree.end(), true)) / static_cast<double>(agree.size());
  return out;
}

nlohmann::ordered_json to_json(const Behaviour& behaviour) {
  nlohmann::ordered_json branches = nlohmann::ordered_json::array();
  for (const BranchBehaviour& branch : behaviour.branches) {
    branches.push_back({{"name", branch.name},
                        {"agreement", branch.agreement},
                        {"q_mean_abs", json_number(branch.q_mean_abs)},
                        {"q_max_abs", json_number(branch.q_max_abs)},
                        {"q_mean_a", json_number(branch.q_mean_a)},
                        {"q_mean_b", json_number(branch.q_mean_b)},
                        {"actions_a", branch.actions_a},
                        {"actions_b", branch.actions_b}});
  }
  return {{"fold", behaviour.fold},
          {"window", {behaviour.window.begin, behaviour.window.end}},
          {"states", behaviour.states},
          {"agreement", behaviour.agreement},
          {"branches", std::move(branches)}};
}

}  // namespace foxhunt
