// The state's own 24 numbers against plain formulas in double, on random accounts; the table of all 96.
#include "engine/environment/state_table.h"

#include <cmath>
#include <set>

#include "engine/market/features.h"
#include "kernels/families.h"
#include "tests/environment/test_market.h"

namespace foxhunt {
namespace {

using namespace kernels;

constexpr EnvironmentContract kContract = {0.25, 50, 2.0, 0.5, 2};
constexpr EnvironmentRules kRules = {16, 1e6, 0.5, 3.0, 0.25, {1, 1, 0.01, 0.1, 0.1, 0.02}};

std::vector<EnvironmentState> random_accounts(std::size_t count, std::int64_t rows) {
  std::mt19937_64 random(31);
  const auto uniform = [&random](double low, double high) {
    return low + (high - low) * static_cast<double>(random() % 100'000) / 100'000;
  };
  std::vector<EnvironmentState> out(count);
  for (auto& s : out) {
    s.bar = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(rows));
    s.position = static_cast<std::int32_t>(random() % 17) - 8;
    if (random() % 4 == 0) s.position = 0;
    s.average_price = s.position ? uniform(3990, 4010) : 0;
    s.best_price = s.average_price + uniform(-1, 3);
    s.equity = uniform(-20'000, 20'000);
    s.peak_equity = s.equity + (random() % 3 ? uniform(0, 15'000) : 0);
    s.last_trade = uniform(-5000, 5000);
    s.turnover = uniform(0, 20);
    s.kelly = uniform(0.25, 1);
    s.bars_in_position = s.position ? static_cast<std::int32_t>(random() % 400) : 0;
    s.active = 1;
  }
  return out;
}

TEST(State, OwnColumnsEqualPlainFormulas) {
  const auto table = test::make_market(300, 5);
  const auto device = test::cpu();
  const auto stream = device->create_stream();
  DeviceMarket market(*device, *stream, table);
  market.load_fold(*stream, FoldModel::fit(table, {0, table.rows()}));
  for (const double trail : {3.0, 0.0}) {
    EnvironmentRules rules = kRules;
    rules.trail_atr = trail;
    const auto accounts = random_accounts(200, table.rows());
    device::MappedBuffer<EnvironmentState> states(*device, accounts.size());
    std::copy(accounts.begin(), accounts.end(), states.host());
    device::MappedBuffer<float> signals(*device, 160), rows(*device, accounts.size() * 96);
    for (int i = 0; i < 160; ++i) signals.host()[i] = static_cast<float>(i) / 10 - 6;
    SignalSlots slots{};
    for (int i = 0; i < 16; ++i) slots.slot[i] = 9 * i + 3;
    signals.host()[3] = std::nanf("");
    signals.host()[12] = INFINITY;
    device->launch(*stream, device::ModuleSet::eager,
                   {.grid_x = tiles(static_cast<std::int64_t>(accounts.size()), kGatherTile), .threads = 32},
                   GatherStatesArgs{market.bars(), kContract, rules, states.device(), signals.device(), slots,
                                    rows.device(), nullptr, static_cast<std::int32_t>(accounts.size()), 96});
    device->synchronise(*stream);
    const auto clip = [](double x) { return std::min(5.0, std::max(-5.0, x)); };
    for (std::size_t i = 0; i < accounts.size(); ++i) {
      const EnvironmentState& s = accounts[i];
      const auto t = static_cast<std::size_t>(s.bar);
      const double close = table.close[t], atr = std::max(table.atr[t], 0.25), side = s.position > 0 ? 1 : -1;
      const double full = atr * 50 * 16;
      const double want[8] = {
          s.position * 2.0 / (16 * s.kelly),
          s.position ? side * (close - s.average_price) / atr : 0,
          (s.peak_equity - s.equity) / full,
          s.position && trail > 0 ? side * (close - s.best_price) / atr + trail : 0,
          s.bars_in_position / (s.bars_in_position + 32.0),
          s.last_trade / full,
          s.kelly,
          s.turnover / 16,
      };
      const float* row = rows.host() + i * 96;
      for (int k = 0; k < 8; ++k)
        ASSERT_NEAR(row[72 + k], clip(want[k]), 1e-6 * std::max(1.0, std::abs(want[k]))) << k << " of account " << i;
      for (int k = 0; k < 16; ++k)
        ASSERT_EQ(row[80 + k], k < 2 ? 0.0f : std::clamp(static_cast<float>(9 * k + 3) / 10 - 6, -5.0f, 5.0f)) << k;
    }
  }
}

TEST(State, TableNamesAllNinetySixColumns) {
  const auto& columns = state_columns();
  std::set<std::string_view> names;
  int own = 0, signals = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const StateColumn& c = columns[i];
    EXPECT_TRUE(names.insert(c.name).second) << c.name;
    EXPECT_FALSE(c.unit.empty() || c.formula.empty() || c.source.empty()) << c.name;
    own += c.group == "portfolio";
    signals += c.group == "signals";
    std::array<char, 24> buffer{};
    EXPECT_FALSE(look_back_text(c, buffer).empty());
    if (i < 72) {
      EXPECT_EQ(c.name, market::market_features()[i].name);
    }
  }
  EXPECT_EQ(own, 8);
  EXPECT_EQ(signals, 16);
  EXPECT_EQ(columns[72].name, "position");
  EXPECT_EQ(columns[80].name, "learning.health");
  EXPECT_EQ(columns[95].group, "signals");
  std::array<char, 24> buffer{};
  EXPECT_EQ(look_back_text(columns[0], buffer), "20 bars");
}

}  // namespace
}  // namespace foxhunt
