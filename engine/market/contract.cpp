// The contract table.
#include "engine/market/contract.h"

#include <array>
#include <cmath>
#include <string>

#include "engine/base/error.h"

namespace foxhunt::market {
namespace {

// Ticks and tick values: CME contract specifications. Commissions are typical retail all-in rates; margins are rounded
// overnight requirements of 2024 and move with the exchange's settings: check them against a broker.
// crypto: one coin of a linear perpetual, tick 0.1, thousandth lots, about 2 basis points at 50,000.
constexpr std::array<Contract, 8> kContracts = {{
    {"ES", 0.25, 12.5, 2.0, 0, 1, 13'000},
    {"MES", 0.25, 1.25, 0.6, 0, 1, 1'300},
    {"NQ", 0.25, 5.0, 2.0, 0, 1, 19'000},
    {"MNQ", 0.25, 0.5, 0.6, 0, 1, 1'900},
    {"6E", 0.00005, 6.25, 2.2, 0, 1, 2'500},
    {"CL", 0.01, 10.0, 2.2, 0, 1, 6'000},
    {"crypto", 0.1, 0.1, 10.0, 0, 0.001, 5'000},
    {"generic", 0.01, 0.01, 0.0, 0, 1, 0},
}};

void override_with(double& value, double wanted, const char* field, bool zero_allowed) {
  if (std::isnan(wanted)) return;
  if (!std::isfinite(wanted) || wanted < 0 || (wanted == 0 && !zero_allowed)) {
    throw usage_error(
        fmt::format("contract.{} is {}; it must be {}", field, wanted, zero_allowed ? "0 or more" : "above 0"),
        {.field = fmt::format("contract.{}", field)});
  }
  value = wanted;
}

}  // namespace

std::span<const Contract> contract_table() {
  return kContracts;
}

Contract contract_for(std::string_view instrument, const ContractConfig& overrides) {
  for (const Contract& row : kContracts) {
    if (row.name != instrument) continue;
    Contract out = row;
    override_with(out.tick, overrides.tick, "tick", false);
    override_with(out.tick_value, overrides.tick_value, "tick_value", false);
    override_with(out.commission, overrides.commission, "commission", true);
    override_with(out.slippage_ticks, overrides.slippage_ticks, "slippage_ticks", true);
    override_with(out.lot, overrides.lot, "lot", false);
    override_with(out.margin, overrides.margin, "margin", true);
    return out;
  }
  std::string known;
  for (const Contract& row : kContracts) known += (known.empty() ? "" : ", ") + std::string(row.name);
  throw usage_error(fmt::format("instrument is '{}'; known are {}", instrument, known),
                    {.field = "instrument", .hint = "use generic and set contract.tick, tick_value and commission"});
}

}  // namespace foxhunt::market
