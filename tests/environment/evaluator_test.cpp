// Evaluation: windows against a plain loop, ruin, baselines, captured against eager.
#include "engine/environment/evaluator.h"

#include <cmath>
#include <map>

#include "engine/base/error.h"
#include "engine/environment/baselines.h"
#include "kernels/environment.h"
#include "tests/environment/test_market.h"

namespace foxhunt {
namespace {

constexpr kernels::EnvironmentContract kContract = {0.25, 50, 2.0, 0, 1};
constexpr kernels::EnvironmentRules kRules = {16, 1e6, 0.5, 3.0, 0.25, {1, 1, 0.01, 0.1, 0.1, 0.02}};
constexpr float kVariance = 3.0f;

struct Rig {
  const market::MarketTable& table;
  std::unique_ptr<device::Device> device;
  std::unique_ptr<device::Stream> stream;
  std::unique_ptr<DeviceMarket> market;
  device::MappedBuffer<kernels::Control> control;
  device::MappedBuffer<float> signals;
  std::unique_ptr<test::FeatureActor> actor;
  std::unique_ptr<Evaluator> evaluator;
  EvaluatorOptions options;

  Rig(const market::MarketTable& t, int windows, std::int64_t max_bars, kernels::EnvironmentRules rules = kRules,
      bool eager = false, int threads = 2)
      : table(t), device(test::cpu(threads)) {
    stream = device->create_stream();
    market = std::make_unique<DeviceMarket>(*device, *stream, table);
    market->load_fold(*stream, FoldModel::fit(table, {0, table.rows()}));
    control = {*device, 1};
    signals = {*device, 160};
    actor = std::make_unique<test::FeatureActor>(*device, windows, kVariance);
    options.windows = windows;
    options.max_bars = max_bars;
    options.timesteps_per_launch = 7;
    options.contract = kContract;
    options.rules = rules;
    options.eager = eager;
    evaluator = std::make_unique<Evaluator>(*device, actor->actor, *market, options);
  }
  EvaluationRequest request(std::int64_t begin, std::int64_t end) const {
    EvaluationRequest r;
    r.control = control.device();
    r.signals = signals.device();
    r.window = {begin, end};
    return r;
  }
  EvaluationResult evaluate(std::int64_t begin, std::int64_t end) {
    evaluator->start(request(begin, end));
    evaluator->wait();
    return evaluator->result();
  }
};

const market::MarketTable& market_800() {
  static const market::MarketTable table = test::make_market(800, 9);
  return table;
}

// The same policy and rules, bar after bar on the host, with books and prices taken from the table itself.
struct Plain {
  std::vector<double> equity{0.0};
  std::vector<double> trades;
  std::array<std::int64_t, 13> actions{};
  double lots = 0, costs = 0;
  std::int64_t exposed = 0;
  int ruined = 0;
  std::vector<BarTrace> trace;
};

Plain plain_loop(const market::MarketTable& table, std::int64_t begin, std::int64_t end, int windows,
                 const kernels::EnvironmentRules& rules) {
  const FoldModel model = FoldModel::fit(table, {0, table.rows()});
  const auto features = model.scaler.apply(table);
  std::vector<double> prices, book;
  std::vector<std::int32_t> levels;
  for (std::size_t t = 0; t < static_cast<std::size_t>(table.rows()); ++t) {
    for (double x : {table.open[t], table.high[t], table.low[t], table.close[t], table.atr[t],
                     table.volatility[t] / model.mean_volatility, 0.0, 0.0})
      prices.push_back(x);
    for (const auto* side :
         {&table.book[t].bid_price, &table.book[t].bid_size, &table.book[t].ask_price, &table.book[t].ask_size})
      book.insert(book.end(), side->begin(), side->end());
    levels.push_back(table.book[t].bid_levels);
    levels.push_back(table.book[t].ask_levels);
  }
  kernels::BarTable bars{};
  bars.prices = prices.data();
  bars.book = book.data();
  bars.book_levels = levels.data();
  Plain out;
  double base = 0;
  const std::int64_t decisions = end - begin - 1;
  for (int w = 0; w < windows; ++w) {
    const std::int64_t first = begin + decisions * w / windows, last = begin + decisions * (w + 1) / windows;
    kernels::EnvironmentState account{};
    kernels::start_account(account, static_cast<std::int32_t>(first), static_cast<std::int32_t>(last),
                           rules.kelly_floor);
    for (std::int64_t t = first; t < last; ++t) {
      if (!account.active) {
        out.equity.push_back(base + account.equity);
        continue;
      }
      kernels::Decision d{};
      const float* q = features.data() + t * 72;
      const int column[5] = {0, 4, 7, 10, 13};
      for (int b = 0; b < 4; ++b) {
        d.action[b] = static_cast<std::uint8_t>(std::max_element(q + column[b], q + column[b + 1]) - (q + column[b]));
        ++out.actions[static_cast<std::size_t>(column[b] + d.action[b])];
      }
      std::vector<float> sorted(q, q + 4);
      std::sort(sorted.begin(), sorted.end());
      d.kelly = (static_cast<double>(sorted[3]) - sorted[2]) / kVariance;
      kernels::StepOutcome o;
      kernels::environment_advance(account, d, bars, kContract, rules, true, o);
      for (int i = 0; i < o.fill_count; ++i) out.lots += std::abs(o.fills[i].size);
      for (int i = 0; i < o.closed_count; ++i) out.trades.push_back(o.closed[i].result);
      BarTrace bar{static_cast<std::int32_t>(t + 1),
                   w,
                   account.position,
                   {},
                   static_cast<float>(o.reward),
                   sorted[3] - sorted[2],
                   0,
                   {},
                   account.done != 0};
      std::copy(d.action, d.action + 4, bar.action.begin());
      out.trace.push_back(bar);
      out.costs += o.costs + o.end_costs;
      out.exposed += o.position != 0;
      if (o.end_fill.kind != kernels::fill_none) {
        out.lots += std::abs(o.end_fill.size);
        out.trades.push_back(o.end_closed.result);
      }
      out.equity.push_back(base + account.equity);
    }
    base += account.equity;
    out.ruined += account.done != 0;
  }
  return out;
}

void expect_plain(const EvaluationResult& got, const Plain& want) {
  ASSERT_EQ(got.equity.size(), want.equity.size());
  for (std::size_t i = 0; i < got.equity.size(); ++i) ASSERT_NEAR(got.equity[i], want.equity[i], 1e-6) << i;
  ASSERT_EQ(got.trades.size(), want.trades.size());
  for (std::size_t i = 0; i < got.trades.size(); ++i) EXPECT_NEAR(got.trades[i].result, want.trades[i], 1e-6);
  EXPECT_EQ(got.action_counts, want.actions);
  EXPECT_EQ(got.contracts, want.lots);
  EXPECT_NEAR(got.metrics.costs, want.costs, 1e-6);
  EXPECT_NEAR(got.metrics.net, want.equity.back(), 1e-6);
  EXPECT_NEAR(*got.metrics.exposure, static_cast<double>(want.exposed) / static_cast<double>(want.equity.size() - 1),
              1e-12);
  EXPECT_EQ(got.ruined_windows, want.ruined);
  ASSERT_EQ(got.trace.size(), want.trace.size());
  for (std::size_t i = 0; i < got.trace.size(); ++i) {
    const BarTrace &a = got.trace[i], &b = want.trace[i];
    ASSERT_EQ(a.bar, b.bar) << i;
    ASSERT_EQ(a.window, b.window) << i;
    ASSERT_EQ(a.position, b.position) << i;
    ASSERT_EQ(a.action, b.action) << i;
    ASSERT_FLOAT_EQ(a.reward, b.reward) << i;
    ASSERT_FLOAT_EQ(a.q_gap, b.q_gap) << i;
    ASSERT_EQ(a.ruined, b.ruined) << i;
  }
}

TEST(Evaluator, WindowsAgainstAPlainLoop) {
  for (const int windows : {1, 4, 7}) {
    Rig rig(market_800(), windows, 700);
    for (const auto& [begin, end] : {std::pair{100, 800}, std::pair{13, 313}}) {
      const EvaluationResult got = rig.evaluate(begin, end);
      expect_plain(got, plain_loop(market_800(), begin, end, windows, kRules));
      EXPECT_GT(got.metrics.trades, 20);
      EXPECT_EQ(got.windows, windows);
      EXPECT_EQ(got.ruined_windows, 0);
    }
  }
}

// Fills add up to positions, costs of trades to the costs of all, and a trade's result to what its fills paid.
TEST(Evaluator, FillsAndCostsOfTradesReconcile) {
  for (const int windows : {1, 5}) {
    Rig rig(market_800(), windows, 700);
    const EvaluationResult r = rig.evaluate(60, 760);
    std::map<std::int32_t, std::int32_t> moved;  // lots by bar
    double lots = 0;
    for (const FillRecord& f : r.fills) {
      moved[f.bar] += f.lots;
      lots += std::abs(f.lots);
      EXPECT_NE(f.kind, kernels::fill_none);
    }
    EXPECT_EQ(lots * kContract.lot, r.contracts);
    std::int32_t position = 0;
    for (std::size_t i = 0; i < r.trace.size(); ++i) {
      if (i > 0 && r.trace[i].window != r.trace[i - 1].window) {
        EXPECT_EQ(position, 0);
      }
      if (const auto found = moved.find(r.trace[i].bar); found != moved.end()) position += found->second;
      ASSERT_EQ(position, r.trace[i].position) << "bar " << r.trace[i].bar;
    }
    double costs = 0;
    for (const TradeRecord& t : r.trades) {
      costs += t.costs;
      EXPECT_GT(t.costs, 0);
      // Commission of every lot, and never more than the worst taker would pay on top.
      EXPECT_GE(t.costs, static_cast<double>(t.lots) * kContract.lot * kContract.commission - 1e-9);
      // A round trip in two fills earns the difference of its prices, all costs but commission in them.
      if (t.lots != 2) continue;
      const double gain = t.side * (t.exit - t.entry) * kContract.lot * kContract.point_value;
      EXPECT_NEAR(t.result, gain - 2 * kContract.lot * kContract.commission, 1e-6);
    }
    EXPECT_NEAR(costs, r.metrics.costs, 1e-6 * std::max(1.0, costs));
  }
}

TEST(Evaluator, TradesReachFromEntryToExit) {
  Rig rig(market_800(), 3, 500);
  const EvaluationResult r = rig.evaluate(50, 550);
  for (const TradeRecord& t : r.trades) {
    EXPECT_GE(t.entry_bar, 51);
    EXPECT_GE(t.exit_bar, t.entry_bar);
    EXPECT_LT(t.exit_bar, 550);
    EXPECT_EQ(t.lots % 2, 0);
    EXPECT_TRUE(t.side == 1 || t.side == -1);
    // Entry and exit prices lie in or near their bars: half a spread and a walk of some ticks away at most.
    const auto exit = static_cast<std::size_t>(t.exit_bar);
    EXPECT_GT(t.exit, market_800().low[exit] - 4);
    EXPECT_LT(t.exit, market_800().high[exit] + 4);
  }
}

TEST(Evaluator, ARuinedWindowEarnsNothingFromThere) {
  kernels::EnvironmentRules rules = kRules;
  rules.capital = 12'000;
  rules.ruin_fraction = 0.3;
  Rig rig(market_800(), 4, 800, rules);
  const EvaluationResult got = rig.evaluate(0, 800);
  ASSERT_GT(got.ruined_windows, 0);
  expect_plain(got, plain_loop(market_800(), 0, 800, 4, rules));
}

TEST(Evaluator, MoreWindowsThanDecisions) {
  Rig rig(market_800(), 16, 800);
  const EvaluationResult got = rig.evaluate(10, 20);
  expect_plain(got, plain_loop(market_800(), 10, 20, 16, kRules));
}

TEST(Evaluator, SameEagerCapturedAndForAnyThreads) {
  Rig captured(market_800(), 5, 600), eager(market_800(), 5, 600, kRules, true),
      threads(market_800(), 5, 600, kRules, false, 1);
  const EvaluationResult a = captured.evaluate(0, 600), b = eager.evaluate(0, 600), c = threads.evaluate(0, 600);
  const EvaluationResult again = captured.evaluate(0, 600);
  EXPECT_EQ(a.equity, b.equity);
  EXPECT_EQ(a.equity, c.equity);
  EXPECT_EQ(a.equity, again.equity);
  EXPECT_EQ(a.baselines.random.equity, again.baselines.random.equity);
  EXPECT_EQ(metrics_json(a.metrics), metrics_json(b.metrics));
}

TEST(Evaluator, Baselines) {
  Rig rig(market_800(), 4, 700);
  const EvaluationResult r = rig.evaluate(100, 800);
  const auto& b = r.baselines;
  EXPECT_EQ(b.flat.net, 0.0);
  EXPECT_EQ(b.flat.trades, 0);

  // Buy and hold: 16 bought at the second bar's open, sold at the last close; costs by the book at both decisions.
  ASSERT_EQ(b.buy_and_hold_equity.size(), 700u);
  EXPECT_EQ(b.buy_and_hold.trades, 1);
  const double gross = (market_800().close[799] - market_800().open[101]) * 16 * 50;
  EXPECT_NEAR(b.buy_and_hold.net, gross - b.buy_and_hold.costs, 1e-6);
  EXPECT_GE(b.buy_and_hold.costs, 16 * (2 * 2.0 + 0.25 * 50) - 1e-9);
  EXPECT_EQ(*b.buy_and_hold.exposure, 1.0);

  // Random: as many round trips and contracts as the agent.
  EXPECT_EQ(b.random.seeds, 8);
  EXPECT_DOUBLE_EQ(b.random.trades, static_cast<double>(r.trades.size()));
  EXPECT_NEAR(b.random.contracts, r.contracts, 0.02 * r.contracts);
  EXPECT_GT(b.random.net_deviation, 0);
  ASSERT_EQ(b.random.equity.size(), 700u);
  EXPECT_NEAR(b.random.equity.back(), b.random.net, 1e-6);
  const auto json = evaluation_json(r);
  EXPECT_EQ(json["baselines"]["flat"]["net"], 0.0);
  EXPECT_EQ(json["baselines"]["random"]["net"], b.random.net);
  EXPECT_EQ(json["baselines"]["buy_and_hold"]["net"], b.buy_and_hold.net);
  EXPECT_EQ(json["metrics"]["net"], r.metrics.net);
}

TEST(Evaluator, RandomScriptKeepsSizesAndHolds) {
  std::vector<TradeRecord> trades;
  for (int i = 0; i < 12; ++i) trades.push_back({.lots = 2 * (1 + i), .hold = i});
  std::array<std::int64_t, 2> sides{};
  for (std::uint64_t element = 0; element < 200; ++element) {
    const auto script = random_script(trades, 100, kContract, kRules, 5, element);
    ASSERT_EQ(script.size(), 100u);
    std::vector<std::int64_t> sizes;
    std::int64_t held = 0;
    bool open = false;
    for (const auto& d : script) {
      if (d.action[0] == kernels::direction_flat) open = false;
      if (d.action[0] == kernels::direction_long || d.action[0] == kernels::direction_short) {
        open = true;
        ++sides[d.action[0] == kernels::direction_long];
        EXPECT_GE(d.kelly, 0.25);
        const double share = d.action[1] == 0 ? 0.25 : d.action[1] == 1 ? 0.5 : 1;
        sizes.push_back(std::llround(share * 16 * d.kelly));
      }
      held += open;
    }
    std::sort(sizes.begin(), sizes.end());
    ASSERT_EQ(sizes, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    ASSERT_EQ(held, 1 + 66);
  }
  EXPECT_NEAR(static_cast<double>(sides[0]) / static_cast<double>(sides[0] + sides[1]), 0.5, 0.05);
  // Too many bars held for the window: cut, none dropped.
  const auto tight = random_script(trades, 20, kContract, kRules, 5, 0);
  int entries = 0;
  for (const auto& d : tight)
    entries += d.action[0] == kernels::direction_long || d.action[0] == kernels::direction_short;
  EXPECT_EQ(entries, 12);
}

TEST(Evaluator, WindowsOutOfRangeAreRefused) {
  Rig rig(market_800(), 4, 300);
  EXPECT_THROW(rig.evaluator->start(rig.request(0, 301)), Error);
  EXPECT_THROW(rig.evaluator->start(rig.request(799, 800)), Error);
  EXPECT_THROW(rig.evaluator->start(rig.request(700, 801)), Error);
  EXPECT_FALSE(rig.evaluator->running());
}

}  // namespace
}  // namespace foxhunt
