// Assembly of an evaluation.
#include "engine/environment/evaluation_result.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "engine/base/error.h"
#include "kernels/environment.h"
#include "kernels/evaluation.h"

namespace foxhunt {
namespace {

// Collects windows one after another.
class Assembly {
 public:
  Assembly(EvaluationResult& out, MetricsInput& in, const market::MarketTable& table, const EvaluationTerms& terms)
      : out_(out), in_(in), table_(table), terms_(terms) {}

  void add_bar(const kernels::StepOutcome& o, int window) {
    for (int b = 0; b < kernels::kTrainingBranches; ++b) ++out_.action_counts[kernels::branch_first(b) + o.action[b]];
    int closed = 0;
    double left = o.costs;
    for (int i = 0; i < o.fill_count; ++i) {
      // Two fills of a bar are an order and the stop; what the order did not cost, the stop did.
      const double costs = i + 1 == o.fill_count ? left : order_costs(o.fills[i], o.bar);
      left -= costs;
      add_fill(o.fills[i], o.bar, window, costs, closed < o.closed_count ? &o.closed[closed] : nullptr,
               closed < o.closed_count ? o.bar - o.closed[closed].hold : 0, closed);
    }
    FH_CHECK(closed == o.closed_count, "{} of {} trades of bar {} belong to fills", closed, o.closed_count, o.bar);
    BarTrace trace{o.bar,
                   window,
                   o.ended ? 0 : o.position,
                   {},
                   static_cast<float>(o.reward),
                   o.q_gap,
                   static_cast<float>(kernels::clamp_kelly(o.kelly, terms_.rules.kelly_floor)),
                   {},
                   o.done != 0};
    std::copy(std::begin(o.action), std::end(o.action), trace.action.begin());
    for (std::size_t k = 0; k < trace.parts.size(); ++k) trace.parts[k] = static_cast<float>(o.parts[k]);
    out_.trace.push_back(trace);
    in_.costs += o.costs;
    in_.exposed_bars += o.position != 0;
    in_.equity.push_back(base_ + o.equity);
  }

  void end_window(const kernels::StepOutcome& last, std::int64_t idle_bars, int window) {
    if (last.end_fill.kind != kernels::fill_none) {
      int closed = 0;
      add_fill(last.end_fill, last.bar, window, last.end_costs, &last.end_closed, last.bar + 1 - last.end_closed.hold,
               closed);
    }
    position_ = 0;
    trip_costs_ = 0;
    in_.costs += last.end_costs;
    base_ += last.end_equity;
    in_.equity.back() = base_;
    in_.equity.insert(in_.equity.end(), static_cast<std::size_t>(idle_bars), base_);
    out_.ruined_windows += last.done != 0;
  }

  std::int64_t lots() const { return lots_; }

 private:
  // Of the first of two fills in a bar: orders that rest pay commission alone, one at the market what it is away from
  // the bar's open too.
  double order_costs(const kernels::Fill& fill, std::int32_t bar) const {
    const double contracts = std::abs(fill.size) * terms_.contract.lot;
    const double away =
        fill.kind == kernels::fill_market ? std::abs(fill.price - table_.open[static_cast<std::size_t>(bar)]) : 0;
    return contracts * (terms_.contract.commission + away * terms_.contract.point_value);
  }

  // `trade` is what the fill may close, entered in `entry_bar`; a reversal's costs are shared by lots.
  void add_fill(const kernels::Fill& fill, std::int32_t bar, int window, double costs,
                const kernels::ClosedTrade* trade, std::int64_t entry_bar, int& closed) {
    const std::int32_t lots = std::abs(fill.size);
    lots_ += lots;
    out_.fills.push_back({bar, window, fill.size, fill.kind, fill.price});
    const bool opposite = (position_ > 0 && fill.size < 0) || (position_ < 0 && fill.size > 0);
    const std::int32_t closing = opposite ? std::min(lots, std::abs(position_)) : 0;
    const double share = lots > 0 ? costs * closing / lots : 0;
    const bool closes = opposite && closing == std::abs(position_);
    position_ += fill.size;
    trip_costs_ += opposite ? share : costs;
    if (!closes) return;
    FH_CHECK(trade, "a fill of bar {} closes a trade that is not there", bar);
    add_trade(*trade, bar, entry_bar, fill.kind, window);
    ++closed;
    trip_costs_ = costs - share;
  }

  void add_trade(const kernels::ClosedTrade& t, std::int64_t exit_bar, std::int64_t entry_bar, std::int32_t why,
                 int window) {
    out_.trades.push_back({entry_bar, exit_bar, window, t.side, t.lots, t.entry, t.exit, t.result, t.magnitude, t.hold,
                           why, trip_costs_});
    in_.trades.push_back(t.result);
    in_.holds.push_back(t.hold);
  }

  EvaluationResult& out_;
  MetricsInput& in_;
  const market::MarketTable& table_;
  const EvaluationTerms& terms_;
  double base_ = 0;
  std::int64_t lots_ = 0;
  std::int32_t position_ = 0;  // lots, of the window
  double trip_costs_ = 0;      // of the open trade
};

}  // namespace

double window_seconds(const market::MarketTable& table, market::Range window) {
  const auto first = static_cast<std::size_t>(window.begin), last = static_cast<std::size_t>(window.end - 1);
  return static_cast<double>(table.close_time[last] - table.close_time[first]) * 1e-9;
}

double window_mean_price(const market::MarketTable& table, market::Range window) {
  double sum = 0;
  for (auto t = window.begin + 1; t < window.end; ++t) sum += table.close[static_cast<std::size_t>(t)];
  return sum / static_cast<double>(window.size() - 1);
}

std::array<double, kernels::kActions> EvaluationResult::action_frequency() const {
  std::array<double, kernels::kActions> out{};
  std::int64_t decisions = 0;
  for (int k = 0; k < kernels::kDirections; ++k) decisions += action_counts[k];
  if (decisions == 0) return out;
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = static_cast<double>(action_counts[k]) / static_cast<double>(decisions);
  return out;
}

EvaluationResult assemble_evaluation(const market::MarketTable& table, market::Range window, int windows,
                                     std::span<const kernels::StepOutcome> outcomes, std::int64_t stride,
                                     const EvaluationTerms& terms) {
  EvaluationResult out;
  out.window = window;
  out.windows = windows;
  MetricsInput in;
  in.equity = {0.0};
  Assembly assembly(out, in, table, terms);
  for (int w = 0; w < windows; ++w) {
    const std::int64_t bars = kernels::window_begin(window.begin, window.end, windows, w + 1) -
                              kernels::window_begin(window.begin, window.end, windows, w);
    for (std::int64_t t = 0; t < bars; ++t) {
      const auto& o = outcomes[static_cast<std::size_t>(w * stride + t)];
      FH_CHECK(o.active, "window {} has no outcome of its bar {}", w, t);
      assembly.add_bar(o, w);
      if (!o.ended) continue;
      assembly.end_window(o, bars - t - 1, w);
      break;
    }
  }
  FH_CHECK(static_cast<std::int64_t>(in.equity.size()) == window.size(), "an equity curve of {} values over {} bars",
           in.equity.size(), window.size());
  out.contracts = static_cast<double>(assembly.lots()) * terms.contract.lot;
  in.contracts = out.contracts;
  in.seconds = window_seconds(table, window);
  in.mean_price = window_mean_price(table, window);
  in.capital = terms.rules.capital;
  in.point_value = terms.contract.point_value;
  in.trials = terms.trials;
  in.trial_variance = terms.trial_variance;
  out.metrics = compute_metrics(in);
  out.equity = std::move(in.equity);
  return out;
}

nlohmann::ordered_json evaluation_json(const EvaluationResult& r) {
  nlohmann::ordered_json out;
  out["metrics"] = metrics_json(r.metrics);
  const RandomBaseline& random = r.baselines.random;
  out["baselines"]["flat"] = metrics_json(r.baselines.flat);
  out["baselines"]["buy_and_hold"] = metrics_json(r.baselines.buy_and_hold);
  out["baselines"]["random"] = {{"net", random.net},
                                {"net_deviation", random.net_deviation},
                                {"trades", random.trades},
                                {"contracts", random.contracts},
                                {"seeds", random.seeds}};
  out["windows"] = r.windows;
  out["ruined_windows"] = r.ruined_windows;
  return out;
}

}  // namespace foxhunt
