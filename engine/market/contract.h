// What one contract is worth and costs: the table of known instruments and the configuration's overrides.
#pragma once

#include <span>
#include <string_view>

#include "engine/config/config.h"

namespace foxhunt::market {

struct Contract {
  std::string_view name;
  double tick = 0.25;         // points
  double tick_value = 12.5;   // currency of one tick of one contract
  double commission = 2.0;    // currency a side and contract, exchange fees included
  double slippage_ticks = 0;  // paid on every Market fill and stop
  double lot = 1;             // contracts in one lot, the smallest size
  double margin = 0;          // currency a contract, for display only: no rule reads it; 0: not stated

  double point_value() const { return tick_value / tick; }
};

// ES, MES, NQ, MNQ, 6E, CL, crypto, generic.
std::span<const Contract> contract_table();

// The row of `instrument` with the overrides that are not NaN. Throws usage_error naming the known instruments, or the
// field, value and range of a bad override: tick, tick_value and lot above 0, commission, slippage_ticks
// and margin 0 or more.
Contract contract_for(std::string_view instrument, const ContractConfig& overrides);

}  // namespace foxhunt::market
