// What the trading environment keeps and reports: account, decision, fills, outcome of one bar. Money and prices are
// doubles in the instrument's currency and in points, positions and fills whole lots, so that a closed position is
// exactly 0.
#pragma once

#include "kernels/transition.h"

namespace foxhunt::kernels {

inline constexpr int kDirections = 4, kMagnitudes = 3, kOrders = 3, kUrgencies = 3;
inline constexpr int kActions = kDirections + kMagnitudes + kOrders + kUrgencies;  // 13, side by side
inline constexpr int kRewardParts = 6;  // pnl, cost, risk, drawdown, trail, opportunity
inline constexpr int kFillsPerBar = 2, kTradesPerBar = 2;

enum Direction : uint8_t { direction_short, direction_hold, direction_long, direction_flat };
enum Order : uint8_t { order_market, order_limit, order_pegged };

// Actions of branch d, and its first column in [.., 13].
FH_FN int branch_actions(int d) {
  return d == 0 ? kDirections : 3;
}
FH_FN int branch_first(int d) {
  return d == 0 ? 0 : kDirections + 3 * (d - 1);
}

struct EnvironmentContract {
  double tick;            // points
  double point_value;     // currency a point and contract
  double commission;      // currency a side and contract
  double slippage_ticks;  // paid on every Market fill and stop
  double lot;             // contracts in a lot
};

struct EnvironmentRules {
  double max_position;          // contracts
  double capital;               // currency
  double ruin_fraction;         // done when this share of capital is lost
  double trail_atr;             // trailing stop distance; 0: none
  double kelly_floor;           // least Kelly factor
  double weight[kRewardParts];  // of the reward's parts
};

// A decision of the close of a bar.
struct Decision {
  double kelly;                       // as computed; the rules clamp it, NaN gives the floor
  uint8_t action[kTrainingBranches];  // direction, magnitude, order, urgency
  uint8_t explored;                   // bit d: branch d was drawn at random
  uint8_t reserved[3];
  float q_gap;        // best less second Q of the direction, mean weights; 0 where a script decides
  uint32_t reserved2;
};

// One environment: the account and its place in the market.
struct EnvironmentState {
  double cash;           // equity = cash + position x lot x price x point value
  double average_price;  // of the open position
  double best_price;     // best since entry, up to the last closed bar
  double peak_equity;
  double equity;      // profit and loss since the start, net of costs
  double trade_pnl;   // of the open round trip, net
  double last_trade;  // net result of the last closed round trip
  double turnover;    // EMA (0.05) of contracts traded a bar
  double kelly;       // clamped factor of the last decision; the floor at the start
  int32_t position;   // lots, signed
  int32_t bars_in_position;
  int32_t trip_lots;  // traded by the open round trip so far
  int32_t magnitude;  // of the decision that opened the position
  int32_t bar;        // row of the bar at whose close the next decision is taken
  int32_t begin_bar;  // row of the first decision
  int32_t end_bar;    // last row in which anything is executed
  uint32_t episode;   // collector: episodes begun by this environment, never reset
  int32_t active;     // 0: ruined or at its end
  int32_t done;       // ruined
};

enum FillKind : int32_t {
  fill_none,
  fill_market,
  fill_limit,
  fill_pegged,
  fill_stop,
  fill_pegged_at_close,
  fill_window_end
};

struct Fill {
  double price;  // points, all that was paid included
  int32_t size;  // lots, signed
  int32_t kind;  // FillKind
};

struct ClosedTrade {
  double result;       // currency, net
  double entry, exit;  // average entry and last exit price
  int32_t hold;        // bars held before the closing bar; 0: opened and closed inside one bar
  int32_t side;        // +1 long, -1 short
  int32_t magnitude;   // of the decision that opened it
  int32_t lots;        // traded by the whole round trip, both sides
};

// One bar of one environment.
struct StepOutcome {
  double costs;                // commission, spread, walk, slippage
  double reward;               // weighted sum of the parts, in ATR x point value
  double equity;               // after the bar, before a close-out
  double kelly;                // as decided
  double parts[kRewardParts];  // in ATR x point value
  Fill fills[kFillsPerBar];
  ClosedTrade closed[kTradesPerBar];
  Fill end_fill;           // close-out of a window's end, kind none without one
  ClosedTrade end_closed;  // valid with an end_fill
  double end_costs, end_equity;
  int32_t fill_count, closed_count;
  int32_t position;  // lots, after the bar, before a close-out
  int32_t bar;       // row in which the decision was executed
  uint8_t action[kTrainingBranches];
  uint8_t explored;
  uint8_t done;    // ruined in this bar or before
  uint8_t ended;   // the environment's last bar
  uint8_t active;  // 0: nothing happened, the rest is not valid
  float q_gap;     // as decided
  uint32_t reserved;
};

}  // namespace foxhunt::kernels
