// Plain structs of what panels show of a run, whatever it comes from.
#pragma once

#include <QString>
#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "engine/market/folds.h"
#include "kernels/telemetry_types.h"
#include "ui/charts/chart_types.h"

namespace foxhunt::ui {

// One line of the event list.
struct EventView {
  double wall = 0;  // seconds since 1970 UTC
  std::uint64_t step = 0;
  int fold = 0, epoch = 0;
  QString kind, source, severity, message;  // severity: info, warning, error
};

// Net profit at each bar's close.
struct EquityCurve {
  std::vector<double> times;   // seconds since 1970 UTC
  std::vector<double> values;  // currency; as long as times
};

// A metric by the reference's name ("net", "sharpe"); NaN where it is not available.
using MetricList = std::vector<std::pair<std::string, double>>;
double metricOf(const MetricList& metrics, const std::string& name);  // NaN when absent

struct TradeView {
  double entry_time = 0, exit_time = 0;  // seconds since 1970 UTC, closes of the bars
  double contracts = 0;                  // traded, both sides; negative: short
  double entry_price = 0, exit_price = 0, net = 0;
  std::int64_t bars = 0;  // held
  double costs = kNone;   // currency; NaN where the run does not say
  int why = 0;            // kernels::FillKind of the closing fill; 0: not recorded
};

// One validation.
struct EpochView {
  int fold = 0, epoch = 0;
  std::uint64_t step = 0;
  bool best = false;  // of its fold, so far
  MetricList agent, flat, buy_and_hold, random;
  EquityCurve equity, buy_and_hold_equity, random_equity;
  std::vector<TradeView> trades;
  std::optional<std::array<double, kernels::kShownActions>> actions;  // shares of the greedy policy, when known
};

enum class FoldState { waiting, running, done, partial };  // partial: some epochs, not running

struct FoldView {
  market::Fold rows;
  // Open or close times of the edges, seconds since 1970 UTC; 0 while unknown.
  double train_first = 0, train_last = 0, validation_first = 0, validation_last = 0;
  FoldState state = FoldState::waiting;
  std::optional<double> best_sharpe, best_net;
  int epochs_done = 0;
};

struct CheckpointView {
  std::filesystem::path file;  // absolute
  double wall = 0;
  std::uint64_t step = 0;
  int fold = 0, epoch = 0;
  QString reason;  // best, periodic, manual, stop, rejected
  QString kind;    // model, full
  std::int64_t bytes = 0;
  bool rejected = false;
  MetricList metrics;  // may be empty
  QString problem;     // why it cannot be used, or empty
};

// The drift guard as it stands.
struct GuardView {
  QString mode = QStringLiteral("off");  // armed, warn, off
  double q = 0;                          // |mean Q| of the newest step
  std::optional<double> trip;            // |mean Q| above which it trips; empty before a second epoch has begun
  std::optional<double> ratio;           // q over that of the epoch before; empty before a second epoch has begun
  double q_previous = 0;                 // |mean Q| of the epoch before; 0 before a second one has begun
  double factor = 2, floor = 0.5;
  double reference = 0, reference_factor = 3;  // the larger of signals 16 and 21; 0 while unknown
};

}  // namespace foxhunt::ui
