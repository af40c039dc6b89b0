// What an evaluation came to: equity curve, trades, metrics, baselines. Made on the host from the outcomes of every
// bar.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "engine/environment/metrics.h"
#include "engine/market/folds.h"
#include "engine/market/market_table.h"
#include "kernels/environment_types.h"

namespace foxhunt {

struct TradeRecord {
  std::int64_t entry_bar = 0, exit_bar = 0;  // rows in which it was opened and closed
  int window = 0, side = 0;                  // side +1 long, -1 short
  std::int64_t lots = 0;                     // traded, both sides
  double entry = 0, exit = 0, result = 0;    // average entry and last exit price; currency, net
  int magnitude = 0, hold = 0;               // of the opening decision; bars held before the closing one
  std::int32_t why = 0;                      // kernels::FillKind of the closing fill
  double costs = 0;  // currency: commission, spread, walk and slippage of its fills; result + costs is its gross
};

// One order that was filled.
struct FillRecord {
  std::int32_t bar = 0;  // row in which
  std::int32_t window = 0;
  std::int32_t lots = 0;  // signed
  std::int32_t kind = 0;  // kernels::FillKind
  double price = 0;       // points, all that was paid included
};

// One evaluated bar, for the market lane: what was decided at the close before and what came of it. The candle is row
// `bar` of the market table.
struct BarTrace {
  std::int32_t bar = 0;  // row in which the decision was executed
  std::int32_t window = 0;
  std::int32_t position = 0;               // lots, after the bar; 0 after a window's close-out
  std::array<std::uint8_t, 4> action{};    // direction, magnitude, order, urgency
  float reward = 0, q_gap = 0, kelly = 0;  // ATR x point value; Q; clamped to [floor, 1]
  std::array<float, 6> parts{};            // of the reward, before weights
  bool ruined = false;
};

struct RandomBaseline {
  double net = 0, net_deviation = 0;  // mean and population deviation over the seeds
  double trades = 0, contracts = 0;   // mean
  int seeds = 0;
  std::vector<double> equity;  // mean curve, [bars]
};

struct Baselines {
  Metrics flat, buy_and_hold;
  std::vector<double> buy_and_hold_equity;  // [bars]
  RandomBaseline random;
};

struct EvaluationResult {
  market::Range window;
  std::vector<double> equity;       // [bars] net profit at each bar's close, 0 at the first
  std::vector<TradeRecord> trades;  // in order of windows, then of closing
  std::vector<FillRecord> fills;    // in order of windows, then of bars
  std::vector<BarTrace> trace;      // in order of bars; a ruined window has none after its ruin
  std::array<std::int64_t, kernels::kActions> action_counts{};
  int windows = 0, ruined_windows = 0;
  double contracts = 0;  // traded
  Metrics metrics;
  Baselines baselines;

  std::array<double, kernels::kActions> action_frequency() const;  // 0 without a decision
};

struct EvaluationTerms {
  kernels::EnvironmentContract contract{};
  kernels::EnvironmentRules rules{};
  std::int64_t trials = 1;    // models tried so far, this one included
  double trial_variance = 0;  // of their per-bar Sharpe ratios
};

// `outcomes` [windows, stride]: what the environment left, each window's rows up to its `ended`. Increments are
// concatenated; a ruined window earns 0 from there.
EvaluationResult assemble_evaluation(const market::MarketTable& table, market::Range window, int windows,
                                     std::span<const kernels::StepOutcome> outcomes, std::int64_t stride,
                                     const EvaluationTerms& terms);

// Seconds between the closes of the window's first and last bar.
double window_seconds(const market::MarketTable& table, market::Range window);
// Mean close of all bars but the first.
double window_mean_price(const market::MarketTable& table, market::Range window);

// {metrics {...}, baselines {flat {...}, buy_and_hold {...}, random {net, ...}}}, names of the reference environment.
nlohmann::ordered_json evaluation_json(const EvaluationResult& result);

}  // namespace foxhunt
