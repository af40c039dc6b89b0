// The trading environment, exactly as the reference environment defines it: the same operations in the same order, in
// double, compiled without contraction. A decision of the close of bar t is executed inside bar t+1.
//
// Market fills at the next open and pays half the spread, the walk through the book seen at the close and slippage;
// Limit rests at the near touch and fills only when the bar trades through it; Pegged rests at mid, fills when the bar
// crosses it by a tick, else becomes Market at the close. Outputs are overwritten.
#pragma once

#include "kernels/environment_types.h"
#include "kernels/tile.h"

namespace foxhunt::kernels {

inline constexpr int64_t kEnvironmentTile = 16;

// One row of the bar table.
struct BarView {
  double open, high, low, close, atr, sigma;
  const double* book;  // [4, 10]: bid price, bid size, ask price, ask size
  int32_t bid_levels, ask_levels;

  FH_METHOD double bid() const { return book[0]; }
  FH_METHOD double ask() const { return book[20]; }
  // Two-sided and not crossed; any other book counts as none: one tick wide around the close.
  FH_METHOD bool has_book() const { return bid_levels > 0 && ask_levels > 0 && ask() > bid(); }
  FH_METHOD double mid() const { return has_book() ? (bid() + ask()) / 2 : close; }
};

FH_FN BarView bar_view(const BarTable& bars, int64_t row) {
  const double* p = bars.prices + row * 8;
  return {p[0],
          p[1],
          p[2],
          p[3],
          p[4],
          p[5],
          bars.book + row * 40,
          bars.book_levels[row * 2],
          bars.book_levels[row * 2 + 1]};
}

// Where a passive order of that side rests: the bid for a buy, the ask for a sell.
FH_FN double near_touch(const BarView& bar, int side, const EnvironmentContract& c) {
  if (bar.has_book()) return side > 0 ? bar.bid() : bar.ask();
  return bar.close - side * c.tick / 2;
}

// Points paid away from mid by a marketable order of `size` contracts; what is deeper than the last level pays that
// level plus one tick. Plus slippage.
FH_FN double taker_offset(const BarView& bar, int side, double size, const EnvironmentContract& c) {
  const double slippage = c.slippage_ticks * c.tick;
  if (!bar.has_book()) return c.tick / 2 + slippage;
  const double* price = bar.book + (side > 0 ? 20 : 0);
  const double* depth = price + 10;
  const int levels = side > 0 ? bar.ask_levels : bar.bid_levels;
  const double m = bar.mid();
  double left = size, paid = 0.0;
  for (int i = 0; i < levels; ++i) {
    const double take = minimum(left, depth[i]);
    paid += take * fabs(price[i] - m);
    left -= take;
    if (left <= 0) break;
  }
  if (left > 0) paid += left * (fabs(price[levels - 1] - m) + c.tick);
  return paid / size + slippage;
}

// Nearest integer of x >= 0, halves up (a hair under a half counts as a half).
FH_FN int32_t nearest(double x) {
  return static_cast<int32_t>(floor(x + 0.5 + 1e-6));
}

// min(1, max(floor, kelly)); NaN gives the floor.
FH_FN double clamp_kelly(double kelly, double floor_value) {
  const double raised = kelly > floor_value ? kelly : floor_value;
  return raised < 1.0 ? raised : 1.0;
}

FH_FN double magnitude_share(int magnitude) {
  return magnitude == 0 ? 0.25 : (magnitude == 1 ? 0.5 : 1.0);
}
FH_FN double urgency_share(int urgency) {
  return urgency == 0 ? 1.0 / 3 : (urgency == 1 ? 2.0 / 3 : 1.0);
}

FH_FN int32_t target_position(const EnvironmentState& a, const Decision& d, const EnvironmentRules& r,
                              const EnvironmentContract& c) {
  if (d.action[0] == direction_hold) return a.position;
  if (d.action[0] == direction_flat) return 0;
  const double cap = r.max_position * clamp_kelly(d.kelly, r.kelly_floor);
  const int32_t size = maximum(1, nearest(magnitude_share(d.action[1]) * cap / c.lot));
  return d.action[0] == direction_long ? size : -size;
}

FH_FN int32_t absolute(int32_t x) {
  return x < 0 ? -x : x;
}

// Books a fill of `size` lots, signed, at `price`. Returns its commission; a round trip that it closes is written to
// `closed`. A reversal closes one and opens another.
FH_FN double book_fill(EnvironmentState& a, int32_t size, double price, int32_t magnitude, const EnvironmentContract& c,
                       ClosedTrade* closed, int32_t* closed_count) {
  const double value = c.lot * c.point_value, fee = c.commission * c.lot;  // of one lot
  const int32_t lots = absolute(size), held = absolute(a.position);
  const double sign = a.position > 0 ? 1.0 : -1.0;
  const bool opposite = (a.position > 0 && size < 0) || (a.position < 0 && size > 0);
  a.cash -= size * price * value + fee * lots;
  const int32_t closing = opposite ? minimum(lots, held) : 0;
  const int32_t opening = lots - closing;
  if (closing) {
    const double gain = closing * (price - a.average_price) * sign * value;
    a.trade_pnl += gain - fee * closing;
    a.trip_lots += closing;
    if (closing == held) {
      closed[*closed_count] = {a.trade_pnl,       a.average_price, price,      a.bars_in_position,
                               sign > 0 ? 1 : -1, a.magnitude,     a.trip_lots};
      ++*closed_count;
      a.last_trade = a.trade_pnl;
      a.trade_pnl = 0.0;
      a.bars_in_position = 0;
      a.average_price = 0.0;
      a.trip_lots = 0;
    }
  }
  if (opening) {
    if (closing || a.position == 0) {
      a.average_price = price;
      a.best_price = price;
      a.magnitude = magnitude;
    } else {
      a.average_price = (a.average_price * held + price * opening) / (held + opening);
    }
    a.trade_pnl -= fee * opening;
    a.trip_lots += opening;
  }
  a.position += size;
  return fee * lots;
}

// A fill at `price` moved against the order by `offset`.
FH_FN void fill_order(EnvironmentState& a, int32_t size, double price, double offset, int32_t kind,
                      const EnvironmentContract& c, StepOutcome& out) {
  const int side = size > 0 ? 1 : -1;
  const double all_in = price + side * offset;
  const double paid = book_fill(a, size, all_in, out.action[1], c, out.closed, &out.closed_count);
  out.costs += paid + absolute(size) * c.lot * offset * c.point_value;
  out.fills[out.fill_count++] = {all_in, size, kind};
}

// The order of the decision. Returns what is left to be done at the close (Pegged).
FH_FN int32_t execute_order(EnvironmentState& a, const Decision& d, const BarView& now, const BarView& next,
                            const EnvironmentContract& c, const EnvironmentRules& r, StepOutcome& out) {
  const int32_t distance = target_position(a, d, r, c) - a.position;
  if (distance == 0) return 0;
  // Towards the target by the urgency's share, at least one lot, never past it.
  const int side = distance > 0 ? 1 : -1;
  const int32_t far = absolute(distance);
  const int32_t size = side * minimum(far, maximum(1, nearest(far * urgency_share(d.action[3]))));
  const double slack = 1e-6 * c.tick;  // comparisons with a level a tick away
  if (d.action[2] == order_market) {
    fill_order(a, size, next.open, taker_offset(now, side, absolute(size) * c.lot, c), fill_market, c, out);
  } else if (d.action[2] == order_limit) {
    const double near = near_touch(now, side, c);  // must trade through, a touch is not enough
    if (side > 0 ? next.low < near : next.high > near) fill_order(a, size, near, 0.0, fill_limit, c, out);
  } else {
    const double peg = now.mid();
    if (side > 0 ? next.low <= peg - c.tick + slack : next.high >= peg + c.tick - slack) {
      fill_order(a, size, peg, 0.0, fill_pegged, c, out);
    } else {
      return size;
    }
  }
  return 0;
}

// The trailing stop inside `next`. Returns the currency that the stop gave up beyond its level.
FH_FN double execute_stop(EnvironmentState& a, const BarView& now, const BarView& next, const EnvironmentContract& c,
                          const EnvironmentRules& r, StepOutcome& out, int32_t* at_close) {
  if (a.position == 0 || !(r.trail_atr > 0)) return 0.0;
  const bool up = a.position > 0;
  const double distance = r.trail_atr * maximum(now.atr, c.tick);
  const double stop = a.best_price - (up ? distance : -distance);
  if (!(up ? next.low <= stop : next.high >= stop)) return 0.0;
  // Gapped through: the open is worse than the stop.
  const double price = up ? minimum(stop, next.open) : maximum(stop, next.open);
  const int32_t size = -a.position;
  fill_order(a, size, price, taker_offset(now, size > 0 ? 1 : -1, absolute(size) * c.lot, c), fill_stop, c, out);
  *at_close = 0;  // a stop cancels what is pending
  return fabs(out.fills[out.fill_count - 1].price - stop) * absolute(size) * c.lot * c.point_value;
}

FH_FN void reward_parts(const EnvironmentState& a, const BarView& now, const BarView& next, int32_t held_before,
                        double before_equity, double before_drawdown, double shortfall, const EnvironmentContract& c,
                        const EnvironmentRules& r, StepOutcome& out) {
  const double unit = maximum(now.atr, c.tick) * c.point_value;
  const double share = a.position * c.lot / r.max_position;
  out.parts[0] = (a.equity - before_equity + out.costs) / unit;  // before costs
  out.parts[1] = -out.costs / unit;
  out.parts[2] = -(share * share) * (now.sigma * now.sigma);
  out.parts[3] = -maximum(0.0, (a.peak_equity - a.equity) - before_drawdown) / unit;
  out.parts[4] = -shortfall / unit;
  out.parts[5] = held_before == 0 && a.position == 0
                     ? -maximum(0.0, fabs(next.close - now.close) / maximum(now.atr, c.tick) - 1.0)
                     : 0.0;
  double reward = 0.0;
  for (int i = 0; i < kRewardParts; ++i) reward += r.weight[i] * out.parts[i];
  out.reward = reward;
}

// End of an evaluation window: whatever is held is closed at the bar's close, as a taker.
FH_FN void close_out(EnvironmentState& a, const BarView& bar, const EnvironmentContract& c, StepOutcome& out) {
  out.end_equity = a.equity;
  if (a.position == 0) return;
  const int32_t size = -a.position;
  const int side = size > 0 ? 1 : -1;
  const double offset = taker_offset(bar, side, absolute(size) * c.lot, c);
  const double price = bar.close + side * offset;
  int32_t count = 0;
  const double paid = book_fill(a, size, price, a.magnitude, c, &out.end_closed, &count);
  a.equity = a.cash;
  out.end_fill = {price, size, fill_window_end};
  out.end_costs = paid + absolute(size) * c.lot * offset * c.point_value;
  out.end_equity = a.equity;
}

// One bar of one environment: executes `d`, taken at the close of row a.bar, inside the next row.
FH_FN void environment_advance(EnvironmentState& a, const Decision& d, const BarTable& bars,
                               const EnvironmentContract& c, const EnvironmentRules& r, bool close_at_end,
                               StepOutcome& out) {
  out = StepOutcome{};
  if (!a.active) return;
  const BarView now = bar_view(bars, a.bar), next = bar_view(bars, a.bar + 1);
  const double before_equity = a.equity, before_drawdown = a.peak_equity - a.equity;
  const int32_t held_before = a.position;
  for (int i = 0; i < kTrainingBranches; ++i) out.action[i] = d.action[i];
  out.explored = d.explored;
  out.kelly = d.kelly;
  out.q_gap = d.q_gap;
  a.kelly = clamp_kelly(d.kelly, r.kelly_floor);

  int32_t at_close = execute_order(a, d, now, next, c, r, out);
  const double shortfall = execute_stop(a, now, next, c, r, out, &at_close);
  if (at_close) {
    const double offset = taker_offset(now, at_close > 0 ? 1 : -1, absolute(at_close) * c.lot, c);
    fill_order(a, at_close, next.close, offset, fill_pegged_at_close, c, out);
  }
  if (a.position) {
    a.best_price = a.position > 0 ? maximum(a.best_price, next.high) : minimum(a.best_price, next.low);
    a.bars_in_position += 1;
  }
  a.equity = a.cash + a.position * c.lot * next.close * c.point_value;
  a.peak_equity = maximum(a.peak_equity, a.equity);
  reward_parts(a, now, next, held_before, before_equity, before_drawdown, shortfall, c, r, out);
  a.done = a.done || -a.equity >= r.ruin_fraction * r.capital;

  double contracts = 0.0;
  for (int i = 0; i < out.fill_count; ++i) contracts += absolute(out.fills[i].size) * c.lot;
  a.turnover += 0.05 * (contracts - a.turnover);
  a.bar += 1;
  out.active = 1;
  out.equity = a.equity;
  out.position = a.position;
  out.bar = a.bar;
  out.done = a.done ? 1 : 0;
  out.ended = a.done || a.bar >= a.end_bar ? 1 : 0;
  if (out.ended) {
    a.active = 0;
    if (close_at_end) close_out(a, next, c, out);
  }
}

// A flat account that decides first at the close of `begin` and executes last inside `end`.
FH_FN void start_account(EnvironmentState& a, int32_t begin, int32_t end, double kelly_floor) {
  const uint32_t episode = a.episode;
  a = EnvironmentState{};
  a.episode = episode;
  a.kelly = kelly_floor;
  a.bar = begin;
  a.begin_bar = begin;
  a.end_bar = end;
  a.active = begin < end ? 1 : 0;
}

struct EnvironmentStepArgs {
  BarTable bars;
  EnvironmentContract contract;
  EnvironmentRules rules;
  EnvironmentState* states;   // [count] updated
  const Decision* decisions;  // [count]
  StepOutcome* outcomes;      // [count, outcome_stride]; column: bars since the environment's first decision
  const uint32_t* halt;       // null, or not 0: nothing is done
  int64_t outcome_stride;     // 0: one outcome an environment, overwritten by every bar
  int32_t count;
  int32_t close_at_end;  // 1: what is held at the end is closed out
};

FH_FN void environment_step(const Block& block, const EnvironmentStepArgs& a) {
  if (a.halt && *a.halt) return;
  const Tile tile = tile_of(block.x, a.count, kEnvironmentTile);
  for (int64_t i = tile.begin + block.thread(); i < tile.end; i += block.threads()) {
    EnvironmentState state = a.states[i];
    StepOutcome outcome;
    const int64_t column = a.outcome_stride ? state.bar - state.begin_bar : 0;
    environment_advance(state, a.decisions[i], a.bars, a.contract, a.rules, a.close_at_end != 0, outcome);
    a.states[i] = state;
    // A window that is over keeps its last outcome.
    if (outcome.active || !a.outcome_stride) a.outcomes[a.outcome_stride ? i * a.outcome_stride + column : i] = outcome;
  }
}

// What a scripted session came to.
struct ScriptSummary {
  double equity, costs;           // at the end, close-out included
  int64_t lots;                   // traded
  int32_t trades, exposed, bars;  // round trips, bars with a position, bars done
  int32_t done;
};

struct EnvironmentScriptArgs {
  BarTable bars;
  EnvironmentContract contract;
  EnvironmentRules rules;
  EnvironmentState* states;   // [count] updated
  const Decision* decisions;  // [count, stride], column: bars since the environment's first decision
  StepOutcome* outcomes;      // [count, stride] or null
  double* equity;             // [count, stride] or null: after each bar, close-out included
  ScriptSummary* summaries;   // [count]
  int64_t stride;
  int32_t count;
};

// Whole sessions of given decisions, closed out at their end: baselines and verification.
FH_FN void environment_script(const Block& block, const EnvironmentScriptArgs& a) {
  const Tile tile = tile_of(block.x, a.count, kEnvironmentTile);
  for (int64_t i = tile.begin + block.thread(); i < tile.end; i += block.threads()) {
    EnvironmentState state = a.states[i];
    ScriptSummary sum{};
    while (state.active) {
      const int64_t at = i * a.stride + state.bar - state.begin_bar;
      StepOutcome outcome;
      environment_advance(state, a.decisions[at], a.bars, a.contract, a.rules, true, outcome);
      for (int f = 0; f < outcome.fill_count; ++f) sum.lots += absolute(outcome.fills[f].size);
      sum.lots += absolute(outcome.end_fill.size);
      sum.trades += outcome.closed_count + (outcome.end_fill.kind != fill_none ? 1 : 0);
      sum.costs += outcome.costs + outcome.end_costs;
      sum.exposed += outcome.position != 0 ? 1 : 0;
      sum.bars += 1;
      if (a.outcomes) a.outcomes[at] = outcome;
      if (a.equity) a.equity[at] = state.equity;
    }
    sum.equity = state.equity;
    sum.done = state.done;
    a.summaries[i] = sum;
    a.states[i] = state;
  }
}

}  // namespace foxhunt::kernels
