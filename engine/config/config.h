// The resolved configuration of a run: plain structs, one a section of the JSON document. Names, defaults, units,
// ranges and help live in one table (fields.def); parsing, validation, --help-config, the editor and the schema read
// that table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/learner_config.h"

namespace foxhunt {

struct SimulatedConfig {
  std::int64_t bars = 20'000;
  std::uint64_t seed = 1;
  double edge = 1.0;  // strength with which order flow moves price; 0 leaves nothing to learn
};

struct DataConfig {
  std::vector<std::string> ohlcv, mbp10, trades;  // paths, made absolute against the configuration file's folder
  std::string symbol;                             // empty: the only one in the files
  std::string order_flow = "required";            // required, absent
  std::string timezone;                           // IANA name or "UTC"; empty: naive times are an error
  std::string delimiter;                          // empty: inferred; else one of , ; tab bar space
  std::string decimal_sign;                       // empty: inferred; . or ,
  std::string thousands_sign;                     // empty: inferred; none, or one of , . ' space
  std::string timestamp_format;  // empty: inferred; iso8601, mt4, epoch_s, epoch_ms, epoch_us, epoch_ns, midnight_ms
  std::string bar_stamp;         // empty: inferred; open, close
  double price_scale = 0;        // 0: inferred; else file price x this = points
  std::string date;              // YYYY-MM-DD for files that count from midnight; empty: from the file name
  std::optional<SimulatedConfig> simulated;  // stands for the three inputs
};

struct ContractConfig {  // overrides of the instrument's row in the contract table; NaN: as in the table
  double tick, tick_value, commission, slippage_ticks, lot, margin;
  ContractConfig();
};

struct FeaturesConfig {
  double clip = 5;  // scaled features are clipped to +-clip
};

struct FoldsConfig {
  int count = 3;
  std::string scheme = "rolling";  // rolling, anchored
  std::int64_t train_bars = 6000;
  std::int64_t validation_bars = 1500;
  std::int64_t test_bars = 0;
  std::int64_t gap_bars = 0;  // 0: the least allowed (look-back, label horizon, n-step, execution delay)
  std::string table;          // path of a JSON folds table; empty: computed
};

struct EnvironmentConfig {   // names as in the reference's Rules, then the collector's
  double max_position = 16;  // contracts
  double capital = 1'000'000;
  double ruin_fraction = 0.5;
  double trail_atr = 3;  // 0: no trailing stop
  double kelly_floor = 0.25;
  double weight_pnl = 1, weight_cost = 1, weight_risk = 0.01, weight_drawdown = 0.1, weight_trail = 0.1,
         weight_opportunity = 0.02;
  int environments = 0;  // parallel; 0: 64 on the host, 1,024 on CUDA
  int episode_bars = 512;
  int n_step = 1;         // 1 to 5
  double epsilon = 0.02;  // floor of random actions beside the noisy layers
};

struct ReplayConfig {
  std::int64_t capacity = 0;  // transitions; 0: 65,536 on the host, 1,048,576 on CUDA
  double beta_start = 0.4, beta_end = 1.0;
};

struct TrainingConfig {
  int epochs = 10;  // a fold
  int steps_per_epoch = 1000;
  int batch = 64;
  double depth_keep = 0.9;  // stochastic depth: a block is kept with this probability
  double moe_lambda = 0.01;
  std::string precision = "tf32";  // fp32, tf32, bf16; the host device is always fp32
  int steps_per_launch = 1;
  int checkpoint_epochs = 1;       // a periodic checkpoint every so many epochs; 0: none
  int patience = 0;                // epochs without a better validation Sharpe before a fold ends; 0: never
  std::string controllers = "on";  // on, off: whether scalars are adjusted at epoch ends
};

struct EvaluationConfig {
  int windows = 16;
};

struct GuardsConfig {
  std::string drift = "armed";  // armed, warn, off
  double drift_factor = 2, drift_reference_factor = 3, drift_floor = 0.5;
  int drift_window = 200;  // steps between live checks
  std::string nan = "armed";
};

struct TelemetryConfig {
  int diag_interval = 50;  // steps
  int record_rows_per_second = 200;
};

struct Config {
  DataConfig data;
  std::string instrument = "ES";
  ContractConfig contract;
  FeaturesConfig features;
  FoldsConfig folds;
  EnvironmentConfig environment;
  LearnerConfig learner;
  ReplayConfig replay;
  TrainingConfig training;
  EvaluationConfig evaluation;
  GuardsConfig guards;
  std::vector<std::string> rules;  // of the user, as engine/telemetry/rule_text.h reads them
  TelemetryConfig telemetry;
  std::string device = "auto";  // auto, cpu, cuda, cuda:N
  int threads = 0;              // of the host device; 0: all cores
  std::uint64_t seed = 7;
};

}  // namespace foxhunt
