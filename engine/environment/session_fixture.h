// A scripted trading session of the reference environment and what the reference made of it (a JSON document with the
// members `session` and `expected`), read strictly.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/environment_types.h"

namespace foxhunt {

struct SessionBar {
  double open = 0, high = 0, low = 0, close = 0, volume = 0, atr = 0, sigma = 0;
  std::vector<std::array<double, 2>> bids, asks;  // price, size; best first, at most 10
};

struct ExpectedFill {
  std::string kind;
  std::int64_t size = 0;  // lots
  double price = 0;
};

struct ExpectedRow {
  std::vector<ExpectedFill> fills;
  double costs = 0;
  std::vector<double> closed;
  std::array<double, kernels::kRewardParts> parts{};
  double reward = 0;
  std::int64_t position = 0;
  double equity = 0;
  bool done = false;
};

struct ExpectedEnd {
  std::vector<ExpectedFill> fills;
  double costs = 0;
  std::vector<double> closed;
  double equity = 0;
};

struct SessionFixture {
  kernels::EnvironmentContract contract{};
  kernels::EnvironmentRules rules{};
  std::vector<SessionBar> bars;              // at least 2
  std::vector<kernels::Decision> decisions;  // one a bar but the last
  double seconds = 0;
  std::int64_t trials = 1;
  double trial_variance = 0;
  std::vector<ExpectedRow> rows;  // one a decision, fewer after ruin
  ExpectedEnd end;
  std::vector<std::pair<std::string, std::optional<double>>> metrics;
};

// Names of the reward parts, in the kernels' order.
inline constexpr std::array<const char*, kernels::kRewardParts> kRewardPartNames = {"pnl",      "cost",  "risk",
                                                                                    "drawdown", "trail", "opportunity"};

// Throws Error with file, line and field: a missing or unknown member, a wrong type, length or range, a number that is
// not finite, more than 10 book levels, a position cap below one lot.
SessionFixture read_session_fixture(const std::filesystem::path& file);

}  // namespace foxhunt
