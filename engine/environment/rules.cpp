// Contract and rules for the kernels.
#include "engine/environment/rules.h"

#include "engine/base/error.h"

namespace foxhunt {

kernels::EnvironmentContract environment_contract(const market::Contract& c) {
  return {c.tick, c.point_value(), c.commission, c.slippage_ticks, c.lot};
}

kernels::EnvironmentRules environment_rules(const EnvironmentConfig& c, const kernels::EnvironmentContract& contract) {
  if (!(c.max_position >= contract.lot)) {
    throw usage_error(fmt::format("environment.max_position is {}; it must hold at least one lot of {} contracts",
                                  c.max_position, contract.lot),
                      {.field = "environment.max_position"});
  }
  return {c.max_position,
          c.capital,
          c.ruin_fraction,
          c.trail_atr,
          c.kelly_floor,
          {c.weight_pnl, c.weight_cost, c.weight_risk, c.weight_drawdown, c.weight_trail, c.weight_opportunity}};
}

}  // namespace foxhunt
