// 100,000 bars of random actions: equity must equal the sum of fills, fees and marks to the cent, and everything that
// the rules know must have happened.
#include <cmath>
#include <map>
#include <random>
#include <span>

#include "kernels/families.h"
#include "tests/environment/test_market.h"

namespace foxhunt {
namespace {

using namespace kernels;

constexpr EnvironmentContract kContract = {0.25, 50, 2.0, 0.5, 1};

struct Session {
  std::vector<StepOutcome> outcomes;
  ScriptSummary summary{};
};

// From the close of row `first` on.
Session run(device::Device& device, const DeviceMarket& market, std::span<const Decision> decisions,
            const EnvironmentContract& contract, const EnvironmentRules& rules, std::size_t first = 0) {
  device::MappedBuffer<Decision> script(device, decisions.size());
  device::MappedBuffer<StepOutcome> outcomes(device, decisions.size());
  device::MappedBuffer<EnvironmentState> state(device, 1);
  device::MappedBuffer<ScriptSummary> summary(device, 1);
  std::copy(decisions.begin(), decisions.end(), script.host());
  start_account(*state.host(), static_cast<std::int32_t>(first), static_cast<std::int32_t>(first + decisions.size()),
                rules.kelly_floor);
  const auto stream = device.create_stream();
  device.launch(
      *stream, device::ModuleSet::eager, {.grid_x = 1, .threads = 32},
      EnvironmentScriptArgs{market.bars(), contract, rules, state.device(), script.device(), outcomes.device(), nullptr,
                            summary.device(), static_cast<std::int64_t>(decisions.size()), 1});
  device.synchronise(*stream);
  return {{outcomes.host(), outcomes.host() + summary.host()->bars}, *summary.host()};
}

std::vector<Decision> random_decisions(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Decision> out(count);
  for (auto& d : out) {
    for (int b = 0; b < 4; ++b)
      d.action[b] = static_cast<std::uint8_t>(random() % static_cast<unsigned>(branch_actions(b)));
    d.kelly = random() % 50 == 0 ? std::nan("") : static_cast<double>(random() % 1300) / 1000.0;
  }
  return out;
}

// How often each thing happened.
struct Seen {
  std::map<std::int32_t, std::int64_t> kinds;
  std::int64_t reversals = 0, partial = 0, waiting = 0, gaps = 0, walked = 0, ruins = 0;
  std::int64_t no_book = 0, one_sided = 0, crossed = 0;  // traded on
};

// One session from the close of row `first`: every bar's equity is the sum of its fills, fees and marks.
void reconcile(const Session& s, const market::MarketTable& table, std::span<const Decision> decisions,
               const EnvironmentRules& rules, std::size_t first, Seen& seen) {
  // In sixteenths of a cent nothing would be lost, but walks through the book divide; long double keeps far below a
  // cent.
  long double cash = 0, closed = 0, costs = 0;
  std::int64_t position = 0, trades = 0;
  for (std::size_t i = 0; i < s.outcomes.size(); ++i) {
    const StepOutcome& o = s.outcomes[i];
    const std::size_t t = first + i;
    const std::int64_t before = position;
    ASSERT_LE(std::abs(before), 16);
    const auto& book = table.book[t];
    for (int f = 0; f < o.fill_count; ++f) {
      const Fill& fill = o.fills[f];
      ++seen.kinds[fill.kind];
      cash -= static_cast<long double>(fill.size) * fill.price * 50 + 2.0L * std::abs(fill.size);
      seen.reversals += position * (position + fill.size) < 0;
      position += fill.size;
      seen.gaps += fill.kind == fill_stop &&
                   (fill.size < 0 ? table.open[t + 1] < table.low[t] - 1 : table.open[t + 1] > table.high[t] + 1);
      seen.no_book += book.bid_levels == 0;
      seen.one_sided += book.bid_levels > 0 && book.ask_levels == 0;
      seen.crossed += book.bid_levels > 0 && book.ask_levels > 0 && book.ask_price[0] <= book.bid_price[0];
      seen.walked +=
          fill.kind == fill_market && std::abs(fill.size) > (fill.size > 0 ? book.ask_size : book.bid_size)[0];
    }
    for (int k = 0; k < o.closed_count; ++k) closed += o.closed[k].result;
    trades += o.closed_count;
    costs += o.costs;
    const auto& action = decisions[i].action;
    seen.partial += action[0] != direction_hold && action[3] < 2 && o.fill_count == 1 &&
                    o.fills[0].kind == fill_market && position != 0;
    seen.waiting += action[2] == order_limit && action[0] == direction_flat && before != 0 && o.fill_count == 0;
    ASSERT_EQ(o.position, position) << "bar " << t;
    const long double equity = cash + static_cast<long double>(position) * table.close[t + 1] * 50;
    ASSERT_NEAR(static_cast<double>(equity), o.equity, 0.005) << "bar " << t;
    if (position == 0) {
      ASSERT_NEAR(static_cast<double>(closed), o.equity, 0.005) << "bar " << t;
    }
    double reward = 0;
    for (int k = 0; k < kRewardParts; ++k) reward += rules.weight[k] * o.parts[k];
    ASSERT_NEAR(reward, o.reward, 1e-9);
    for (int k = 1; k < kRewardParts; ++k) ASSERT_LE(o.parts[k], 0);
    ASSERT_EQ(o.done != 0, -o.equity >= rules.ruin_fraction * rules.capital) << "bar " << t;
  }
  const StepOutcome& last = s.outcomes.back();
  EXPECT_EQ(last.ended, 1);
  EXPECT_EQ(last.end_fill.size, -position);
  cash -= static_cast<long double>(last.end_fill.size) * last.end_fill.price * 50 + 2.0L * std::abs(last.end_fill.size);
  if (position) closed += last.end_closed.result;
  EXPECT_NEAR(static_cast<double>(cash), last.end_equity, 0.005);
  EXPECT_NEAR(static_cast<double>(closed), last.end_equity, 0.005);
  EXPECT_EQ(s.summary.trades, trades + (position != 0));
  EXPECT_NEAR(s.summary.costs, static_cast<double>(costs) + last.end_costs, 0.01);
  EXPECT_EQ(s.summary.equity, last.end_equity);
  seen.ruins += last.done;
}

// After a ruin the rest of the sequence begins anew, with the account of a new session.
TEST(Reconcile, HundredThousandBars) {
  const std::size_t bars = 100'001;
  const auto table = test::make_market(static_cast<std::int64_t>(bars), 42);
  const auto device = test::cpu();
  const auto stream = device->create_stream();
  DeviceMarket market(*device, *stream, table);
  market.load_fold(*stream, FoldModel::fit(table, {0, table.rows()}));
  const EnvironmentRules rules = {16, 1e6, 0.5, 3.0, 0.25, {1, 1, 0.01, 0.1, 0.1, 0.02}};
  const auto decisions = random_decisions(bars - 1, 43);
  Seen seen;
  std::size_t done = 0, sessions = 0;
  while (done < decisions.size()) {
    const auto rest = std::span(decisions).subspan(done);
    const Session s = run(*device, market, rest, kContract, rules, done);
    reconcile(s, table, rest, rules, done, seen);
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_GT(s.outcomes.size(), 0u);
    done += s.outcomes.size();
    ++sessions;
  }
  EXPECT_EQ(done, bars - 1);
  for (std::int32_t kind : {fill_market, fill_limit, fill_pegged, fill_stop, fill_pegged_at_close})
    EXPECT_GT(seen.kinds[kind], 500) << kind;
  EXPECT_GT(seen.reversals, 500);
  EXPECT_GT(seen.partial, 500);
  EXPECT_GT(seen.walked, 500);
  EXPECT_GT(seen.waiting, 100);
  EXPECT_GT(seen.gaps, 0);
  EXPECT_GT(seen.no_book, 500);
  EXPECT_GT(seen.one_sided, 500);
  EXPECT_GT(seen.crossed, 500);
  EXPECT_GT(seen.ruins, 1);
  EXPECT_GE(sessions, static_cast<std::size_t>(seen.ruins));
}

TEST(Reconcile, StopsAndGapsByHand) {
  auto table = test::make_market(6, 1);
  const double open[6] = {100, 100, 101, 90, 90, 90}, high[6] = {100, 102, 101, 91, 90, 90},
               low[6] = {100, 100, 99.75, 89, 90, 90}, close[6] = {100, 101, 100, 90, 90, 90};
  for (std::size_t t = 0; t < 6; ++t) {
    table.open[t] = open[t], table.high[t] = high[t], table.low[t] = low[t], table.close[t] = close[t];
    table.atr[t] = 1;
    table.book[t] = {};
  }
  const auto device = test::cpu();
  const auto stream = device->create_stream();
  DeviceMarket market(*device, *stream, table);
  market.load_fold(*stream, FoldModel::fit(table, {0, 6}));
  const EnvironmentRules rules = {4, 1e6, 0.5, 3.0, 0.25, {1, 1, 0.01, 0.1, 0.1, 0.02}};
  std::vector<Decision> decisions(5);
  for (auto& d : decisions) d = {1.0, {direction_hold, 2, 0, 2}, 0, {}, 0, 0};
  decisions[0].action[0] = direction_long;
  const Session s = run(*device, market, decisions, {0.25, 50, 2, 0, 1}, rules);
  // No book: half a tick each way. Bought 4 at 100.125; best 102, stop 99: not reached at 99.75, then gapped to 90.
  ASSERT_EQ(s.outcomes[0].fill_count, 1);
  EXPECT_EQ(s.outcomes[0].fills[0].price, 100.125);
  EXPECT_EQ(s.outcomes[1].fill_count, 0);
  ASSERT_EQ(s.outcomes[2].fill_count, 1);
  EXPECT_EQ(s.outcomes[2].fills[0].kind, fill_stop);
  EXPECT_EQ(s.outcomes[2].fills[0].price, 89.875);
  EXPECT_EQ(s.outcomes[2].closed[0].result, (89.875 - 100.125) * 4 * 50 - 2 * 8);
  EXPECT_EQ(s.outcomes[2].closed[0].hold, 2);
  EXPECT_EQ(s.outcomes[2].closed[0].lots, 8);
  EXPECT_NEAR(s.outcomes[2].parts[4], -(99 - 89.875) * 4, 1e-12);
  EXPECT_EQ(s.summary.equity, s.outcomes[2].closed[0].result);
}

TEST(Reconcile, RuinEndsASession) {
  const auto table = test::make_market(5001, 7);
  const auto device = test::cpu();
  const auto stream = device->create_stream();
  DeviceMarket market(*device, *stream, table);
  market.load_fold(*stream, FoldModel::fit(table, {0, table.rows()}));
  const EnvironmentRules rules = {16, 20'000, 0.3, 3.0, 0.25, {1, 1, 0.01, 0.1, 0.1, 0.02}};
  const Session s = run(*device, market, random_decisions(5000, 8), {0.25, 50, 20, 0, 1}, rules);
  ASSERT_LT(s.outcomes.size(), 5000u);
  EXPECT_TRUE(s.summary.done);
  EXPECT_LE(s.outcomes.back().equity, -6000);
  EXPECT_TRUE(s.outcomes.back().done && s.outcomes.back().ended);
  for (std::size_t t = 0; t + 1 < s.outcomes.size(); ++t) ASSERT_GT(s.outcomes[t].equity, -6000);
}

}  // namespace
}  // namespace foxhunt
