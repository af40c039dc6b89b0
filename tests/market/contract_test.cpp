// The contract table and its overrides.
#include "engine/market/contract.h"

#include "tests/market/market_fixture.h"

namespace foxhunt::market::test {

TEST(Contract, EsRoundTripCostsSixteenFifty) {
  const Contract es = contract_for("ES", {});
  EXPECT_EQ(es.point_value(), 50);
  // One tick of spread and two commissions.
  EXPECT_DOUBLE_EQ(es.tick_value + 2 * es.commission + 2 * es.slippage_ticks * es.tick_value, 16.5);
}

TEST(Contract, PointValuesOfTheTable) {
  const std::map<std::string_view, double> values = {{"ES", 50},      {"MES", 5},   {"NQ", 20},    {"MNQ", 2},
                                                     {"6E", 125'000}, {"CL", 1000}, {"crypto", 1}, {"generic", 1}};
  EXPECT_EQ(contract_table().size(), values.size());
  for (const auto& [name, value] : values)
    EXPECT_NEAR(contract_for(name, {}).point_value(), value, 1e-9 * value) << name;
}

TEST(Contract, Overrides) {
  ContractConfig config;
  config.commission = 0;
  config.slippage_ticks = 0.5;
  config.lot = 2;
  const Contract out = contract_for("CL", config);
  EXPECT_EQ(out.commission, 0);
  EXPECT_EQ(out.slippage_ticks, 0.5);
  EXPECT_EQ(out.lot, 2);
  EXPECT_EQ(out.tick, 0.01);
}

TEST(Contract, RefusesWithFieldValueAndKnownNames) {
  const auto unknown = error_of([] { contract_for("ZB", {}); });
  EXPECT_EQ(unknown.kind(), ErrorKind::usage);
  EXPECT_TRUE(says(unknown, "'ZB'; known are ES, MES, NQ, MNQ, 6E, CL, crypto, generic"));
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    ContractConfig config;
    config.tick = bad;
    EXPECT_EQ(error_of([&] { contract_for("ES", config); }).place().field, "contract.tick");
  }
  ContractConfig config;
  config.commission = -0.5;
  EXPECT_TRUE(says(error_of([&] { contract_for("ES", config); }), "contract.commission is -0.5; it must be 0 or more"));
}

}  // namespace foxhunt::market::test
