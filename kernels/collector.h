// Collection: state gather, choice of actions, n-step windows, insertion into the replay ring, statistics. N
// environments advance one bar a timestep. Every kernel that writes state does nothing while Control::halt is set.
#pragma once

#include "kernels/control.h"
#include "kernels/environment.h"
#include "kernels/rng.h"
#include "kernels/telemetry_types.h"

namespace foxhunt::kernels {

inline constexpr int64_t kGatherTile = 4;  // rows a block
inline constexpr int kMaxSteps = 5;        // longest n-step window
inline constexpr int kStateWidth = kMarketWidth + kOwnWidth;
inline constexpr float kOwnClip = 5.0f;

// Sums over one epoch's collection, one row of N doubles each.
enum Tally : int32_t {
  tally_actions,                           // 13 counts
  tally_steps = tally_actions + kActions,  // environment steps
  tally_episodes,                          // ended
  tally_ruins,
  tally_episode_return,                       // equity at an episode's end over capital
  tally_exposed,                              // bars with a position
  tally_turnover,                             // contracts traded
  tally_explored,                             // branch decisions drawn at random
  tally_kelly,                                // clamped factor
  tally_drawdown,                             // below the episode's peak, over capital
  tally_position,                             // |position| over max_position
  tally_regime,                               // 3 probabilities at the decision's bar
  tally_regime_class = tally_regime + 3,      // 3 counts of its class
  tally_parts = tally_regime_class + 3,       // 6 reward parts, unweighted
  tally_reward = tally_parts + kRewardParts,  // weighted
  tally_reward_square,
  tally_trades,                               // 3, by magnitude of the opening decision
  tally_wins = tally_trades + kMagnitudes,    // 3
  tally_hold = tally_wins + kMagnitudes,      // 3 bars
  tally_trail = tally_hold + kMagnitudes,     // 3 trailing stops
  tally_samples = tally_trail + kMagnitudes,  // 3: steps whose direction trades
  tally_sample_reward = tally_samples + kMagnitudes,
  tally_sample_square = tally_sample_reward + kMagnitudes,
  kTally = tally_sample_square + kMagnitudes
};

// A decision whose n-step window is open.
struct PendingStep {
  int32_t bar, steps;
  float own[kOwnWidth];
  float reward[kTrainingBranches];    // sum of discounted rewards so far
  float discount[kTrainingBranches];  // of the next reward
  uint8_t action[kTrainingBranches];
};

struct PendingWindow {
  PendingStep step[kMaxSteps];  // oldest first
  int32_t count;
  int32_t reserved;
};

// What the collector's kernels share; device memory.
struct CollectorWork {
  int64_t train_begin, train_end;  // rows of the fold's training window
  uint64_t head;                   // ring position of this timestep's first transition
  int32_t episode_bars;
  uint32_t log_row;  // timesteps since collection began
};

FH_FN float clip_own(double x) {
  return static_cast<float>(clamp(x, static_cast<double>(-kOwnClip), static_cast<double>(kOwnClip)));
}

// The account as the network sees it at the close of row `bar`, clipped to +-5:
//   0 position over its cap (max_position x Kelly)
//   1 unrealised profit a contract, in ATR
//   2 drawdown of equity from its peak, in ATR of max_position contracts
//   3 distance from the close to the trailing stop, in ATR; 0 without a position or stop
//   4 bars in position b as b / (b + 32)
//   5 net result of the last round trip, in ATR of max_position contracts
//   6 Kelly factor of the last decision (the floor at the start)
//   7 EMA (0.05) of contracts traded a bar, over max_position
FH_FN float portfolio_feature(int which, const EnvironmentState& s, const BarTable& bars, int64_t bar,
                              const EnvironmentContract& c, const EnvironmentRules& r) {
  const double close = bars.prices[bar * 8 + 3], atr = maximum(bars.prices[bar * 8 + 4], c.tick);
  const double side = s.position > 0 ? 1.0 : -1.0, full = atr * c.point_value * r.max_position;
  switch (which) {
    case 0:
      return clip_own(s.position * c.lot / (r.max_position * s.kelly));
    case 1:
      return s.position ? clip_own(side * (close - s.average_price) / atr) : 0.0f;
    case 2:
      return clip_own((s.peak_equity - s.equity) / full);
    case 3:
      return s.position && r.trail_atr > 0 ? clip_own(side * (close - s.best_price) / atr + r.trail_atr) : 0.0f;
    case 4:
      return clip_own(s.bars_in_position / (s.bars_in_position + 32.0));
    case 5:
      return clip_own(s.last_trade / full);
    case 6:
      return clip_own(s.kelly);
    default:
      return clip_own(s.turnover / r.max_position);
  }
}

struct SignalSlots {
  int32_t slot[kSignalWidth];  // of the signal bus, in the state's order
};

// Column `i` of portfolio and signals. A signal that is not finite reads as 0, so that one bad slot cannot poison the
// replay.
FH_FN float own_feature(int i, const EnvironmentState& s, const BarTable& bars, int64_t bar,
                        const EnvironmentContract& c, const EnvironmentRules& r, const float* signals,
                        const SignalSlots& slots) {
  if (i < kPortfolioWidth) return portfolio_feature(i, s, bars, bar, c, r);
  const float x = signals[slots.slot[i - kPortfolioWidth]];
  return not_finite(x) ? 0.0f : clamp(x, -kOwnClip, kOwnClip);
}

struct GatherStatesArgs {
  BarTable bars;
  EnvironmentContract contract;
  EnvironmentRules rules;
  const EnvironmentState* states;  // [count]
  const float* signals;            // [160] signal bus
  SignalSlots slots;
  float* rows;           // [count, stride]: 72 market features, 8 portfolio, 16 signals; padding untouched
  const uint32_t* halt;  // or null
  int32_t count, stride;
};

FH_FN void gather_states(const Block& block, const GatherStatesArgs& a) {
  if (a.halt && *a.halt) return;
  const Tile tile = tile_of(block.x, a.count, kGatherTile);
  const Team team = block.team();
  for (int64_t i = tile.begin + team.index; i < tile.end; i += team.teams) {
    const EnvironmentState& s = a.states[i];
    const float* market = a.bars.features + static_cast<int64_t>(s.bar) * kMarketWidth;
    float* row = a.rows + i * a.stride;
    for (int k = team.lane; k < kStateWidth; k += team.lanes) {
      row[k] = k < kMarketWidth
                   ? market[k]
                   : own_feature(k - kMarketWidth, s, a.bars, s.bar, a.contract, a.rules, a.signals, a.slots);
    }
  }
}

FH_FN int best_action(const float* q, int count) {
  int best = 0;
  for (int k = 1; k < count; ++k) {
    if (q[k] > q[best]) best = k;
  }
  return best;
}

struct ChooseActionsArgs {
  const float* q;               // [count, 13] by which the policy acts
  const float* kelly_q;         // [count, 13] mean weights
  const float* kelly_variance;  // [count, 13] mean weights
  Decision* decisions;          // [count]
  const Control* control;       // seed, collect_step, epsilon, halt; not read when explore is 0
  int32_t count;
  int32_t explore;  // 1: epsilon floor
};

// Greedy per branch, ties to the first; with explore, each branch is drawn uniformly with probability epsilon. Numbers
// of environment i: words of Philox (seed, epsilon, collect_step, 2 i) are the coins, those of 2 i + 1 the actions.
// Kelly = (best - second Q of direction) / variance of the chosen direction's return; clamped where it is used.
FH_FN void choose_actions(const Block& block, const ChooseActionsArgs& a) {
  if (a.explore && a.control->halt) return;
  const Tile tile = tile_of(block.x, a.count, kEnvironmentTile);
  for (int64_t i = tile.begin + block.thread(); i < tile.end; i += block.threads()) {
    Decision d{};
    for (int b = 0; b < kTrainingBranches; ++b) {
      d.action[b] = static_cast<uint8_t>(best_action(a.q + i * kActions + branch_first(b), branch_actions(b)));
    }
    if (a.explore) {
      const uint64_t element = static_cast<uint64_t>(i) * 2;
      const uint32_t purpose = static_cast<uint32_t>(Purpose::epsilon);
      const Random4 coin = philox(a.control->seed, purpose, a.control->collect_step, element);
      const Random4 draw = philox(a.control->seed, purpose, a.control->collect_step, element + 1);
      for (int b = 0; b < kTrainingBranches; ++b) {
        if (uniform(coin.v[b]) < a.control->settings.epsilon) {
          const int drawn = static_cast<int>(uniform(draw.v[b]) * static_cast<float>(branch_actions(b)));
          d.action[b] = static_cast<uint8_t>(minimum(drawn, branch_actions(b) - 1));
          d.explored = static_cast<uint8_t>(d.explored | 1u << b);
        }
      }
    }
    const float* q = a.kelly_q + i * kActions;
    const int best = best_action(q, kDirections);
    float second = -3.4e38f;
    for (int k = 0; k < kDirections; ++k) {
      if (k != best && q[k] > second) second = q[k];
    }
    d.q_gap = q[best] - second;
    d.kelly = (static_cast<double>(q[best]) - second) / a.kelly_variance[i * kActions + d.action[0]];
    a.decisions[i] = d;
  }
}

// Flat at a random row of the training window, so that a whole episode fits where the window allows it.
FH_FN void start_episode(EnvironmentState& s, int64_t element, uint64_t seed, int64_t begin, int64_t end, int32_t bars,
                         double kelly_floor) {
  const Random4 r =
      philox(seed, static_cast<uint32_t>(Purpose::episode_start), s.episode, static_cast<uint64_t>(element));
  const int64_t starts = maximum<int64_t>(1, end - begin - bars);
  const int64_t drawn = static_cast<int64_t>(uniform53(r.v[0], r.v[1]) * static_cast<double>(starts));
  const int64_t start = begin + minimum(drawn, starts - 1);
  s.episode += 1;
  start_account(s, static_cast<int32_t>(start), static_cast<int32_t>(minimum(start + bars, end - 1)), kelly_floor);
}

struct BeginEpisodesArgs {
  EnvironmentState* states;  // [count]
  PendingWindow* pending;    // [count] emptied
  CollectorWork* work;       // [1] the window is stored for later episodes
  const Control* control;    // seed
  double kelly_floor;
  int64_t train_begin, train_end;
  int32_t count, episode_bars;
};

FH_FN void begin_episodes(const Block& block, const BeginEpisodesArgs& a) {
  const Tile tile = tile_of(block.x, a.count, kEnvironmentTile);
  for (int64_t i = tile.begin + block.thread(); i < tile.end; i += block.threads()) {
    a.pending[i].count = 0;
    start_episode(a.states[i], i, a.control->seed, a.train_begin, a.train_end, a.episode_bars, a.kelly_floor);
    if (i == 0) {
      a.work->train_begin = a.train_begin;
      a.work->train_end = a.train_end;
      a.work->episode_bars = a.episode_bars;
    }
  }
}

FH_FN void add_to_tally(double* tally, int64_t count, int64_t i, const StepOutcome& o, const EnvironmentState& s,
                        const BarTable& bars, const EnvironmentContract& c, const EnvironmentRules& r) {
  const auto add = [&](int which, double x) { tally[which * count + i] += x; };
  for (int b = 0; b < kTrainingBranches; ++b) {
    add(tally_actions + branch_first(b) + o.action[b], 1);
    if (o.explored >> b & 1) add(tally_explored, 1);
  }
  add(tally_steps, 1);
  const float* regime = bars.regime + static_cast<int64_t>(o.bar - 1) * 4;
  for (int k = 0; k < 3; ++k) add(tally_regime + k, regime[k]);
  add(tally_regime_class + static_cast<int>(regime[3]), 1);
  add(tally_position, absolute(o.position) * c.lot / r.max_position);
  if (o.ended) {
    add(tally_episodes, 1);
    add(tally_episode_return, o.equity / r.capital);
    if (o.done) add(tally_ruins, 1);
  }
  if (o.position) add(tally_exposed, 1);
  add(tally_kelly, s.kelly);
  add(tally_drawdown, (s.peak_equity - s.equity) / r.capital);
  for (int k = 0; k < kRewardParts; ++k) add(tally_parts + k, o.parts[k]);
  add(tally_reward, o.reward);
  add(tally_reward_square, o.reward * o.reward);
  for (int k = 0; k < o.fill_count; ++k) {
    add(tally_turnover, absolute(o.fills[k].size) * c.lot);
    // A stop closes a round trip, the last one of its bar.
    if (o.fills[k].kind == fill_stop) add(tally_trail + o.closed[o.closed_count - 1].magnitude, 1);
  }
  for (int k = 0; k < o.closed_count; ++k) {
    add(tally_trades + o.closed[k].magnitude, 1);
    add(tally_hold + o.closed[k].magnitude, o.closed[k].hold);
    if (o.closed[k].result > 0) add(tally_wins + o.closed[k].magnitude, 1);
  }
  if (o.action[0] == direction_short || o.action[0] == direction_long) {
    add(tally_samples + o.action[1], 1);
    add(tally_sample_reward + o.action[1], o.reward);
    add(tally_sample_square + o.action[1], o.reward * o.reward);
  }
}

struct AccumulateReturnsArgs {
  BarTable bars;
  EnvironmentContract contract;
  EnvironmentRules rules;
  EnvironmentState* states;     // [count] a new episode begins where one ended
  const StepOutcome* outcomes;  // [count] of this timestep
  const float* rows;            // [count, stride] states at the decision
  const float* signals;         // [160]
  SignalSlots slots;
  PendingWindow* pending;  // [count]
  Transition* staged;      // [count, 5] whole windows of this timestep, oldest first
  int32_t* counts;         // [count] how many
  double* tally;           // [kTally, count] accumulated
  float* reward_log;       // [log_rows, count] raw rewards
  uint8_t* end_log;        // [log_rows, count] 0, 1 truncated, 2 ruined
  const CollectorWork* work;
  const Control* control;  // gamma, seed, collect_step, halt
  int32_t count, stride, n_step, log_rows;
};

FH_FN void emit_transition(const PendingStep& p, const float* next_own, int32_t next_bar, bool done, uint32_t collected,
                           Transition& t) {
  t = Transition{};
  t.bar = p.bar;
  t.next_bar = next_bar;
  for (int k = 0; k < kOwnWidth; ++k) {
    t.own[k] = p.own[k];
    t.next_own[k] = next_own[k];
  }
  for (int b = 0; b < kTrainingBranches; ++b) {
    t.reward[b] = p.reward[b];
    t.action[b] = p.action[b];
  }
  t.steps = static_cast<uint8_t>(p.steps);
  t.done = done ? 1 : 0;
  t.collected = collected;
}

// Adds the reward to every open window, closes those of n steps, and all of them at an episode's end (m < n there): no
// window crosses it.
FH_FN int32_t advance_windows(PendingWindow& w, const StepOutcome& o, const float* own, const float* next_own,
                              int32_t n_step, const Control& control, Transition* staged) {
  PendingStep& fresh = w.step[w.count++];
  fresh.bar = o.bar - 1;
  fresh.steps = 0;
  for (int k = 0; k < kOwnWidth; ++k) fresh.own[k] = own[k];
  for (int b = 0; b < kTrainingBranches; ++b) {
    fresh.action[b] = o.action[b];
    fresh.reward[b] = 0.0f;
    fresh.discount[b] = 1.0f;
  }
  for (int k = 0; k < w.count; ++k) {
    PendingStep& p = w.step[k];
    p.steps += 1;
    for (int b = 0; b < kTrainingBranches; ++b) {
      p.reward[b] += p.discount[b] * static_cast<float>(o.reward);
      p.discount[b] *= control.settings.gamma[b];
    }
  }
  const int32_t whole = o.ended ? w.count : (w.step[0].steps >= n_step ? 1 : 0);
  for (int k = 0; k < whole; ++k) {
    emit_transition(w.step[k], next_own, o.bar, o.done != 0, static_cast<uint32_t>(control.collect_step), staged[k]);
  }
  for (int k = whole; k < w.count; ++k) w.step[k - whole] = w.step[k];
  w.count -= whole;
  return whole;
}

FH_FN void accumulate_returns(const Block& block, const AccumulateReturnsArgs& a) {
  if (a.control->halt) return;
  const Tile tile = tile_of(block.x, a.count, kEnvironmentTile);
  for (int64_t i = tile.begin + block.thread(); i < tile.end; i += block.threads()) {
    EnvironmentState& s = a.states[i];
    const StepOutcome& o = a.outcomes[i];
    float next_own[kOwnWidth];
    for (int k = 0; k < kOwnWidth; ++k) {
      next_own[k] = own_feature(k, s, a.bars, s.bar, a.contract, a.rules, a.signals, a.slots);
    }
    a.counts[i] = advance_windows(a.pending[i], o, a.rows + i * a.stride + kMarketWidth, next_own, a.n_step, *a.control,
                                  a.staged + i * kMaxSteps);
    add_to_tally(a.tally, a.count, i, o, s, a.bars, a.contract, a.rules);
    const int64_t row = a.work->log_row;
    if (row < a.log_rows) {
      a.reward_log[row * a.count + i] = static_cast<float>(o.reward);
      a.end_log[row * a.count + i] = static_cast<uint8_t>(o.ended ? (o.done ? 2 : 1) : 0);
    }
    if (o.ended) {
      start_episode(s, i, a.control->seed, a.work->train_begin, a.work->train_end, a.work->episode_bars,
                    a.rules.kelly_floor);
    }
  }
}

struct PlaceTransitionsArgs {
  const int32_t* counts;  // [count]
  int32_t* offsets;       // [count] place of an environment's first transition behind the head
  CollectorWork* work;
  uint32_t* timesteps;  // [1] ever launched here, halted ones too
  Control* control;     // inserted, replay_size, collect_step advance
  uint32_t* progress;   // mapped word: timesteps launched
  int64_t capacity;
  int32_t count;
};

// One block: slots by a prefix sum in environment order. Scratch: one int32 a thread.
FH_FN void place_transitions(const Block& block, const PlaceTransitionsArgs& a) {
  const bool halted = a.control->halt != 0;
  int32_t* partial = block.scratch<int32_t>();
  const int32_t chunk = (a.count + block.threads() - 1) / block.threads();
  const int32_t begin = minimum(block.thread() * chunk, a.count), end = minimum(begin + chunk, a.count);
  int32_t sum = 0;
  for (int32_t i = begin; i < end; ++i) sum += a.counts[i];
  partial[block.thread()] = sum;
  block.sync();
  int32_t offset = 0;
  for (int t = 0; t < block.thread(); ++t) offset += partial[t];
  for (int32_t i = begin; i < end; ++i) {
    a.offsets[i] = offset;
    offset += a.counts[i];
  }
  // The last thread's offset is now the sum of all.
  if (block.thread() + 1 != block.threads()) return;
  if (!halted) {
    a.work->head = a.control->inserted;
    a.control->inserted += static_cast<uint64_t>(offset);
    a.control->replay_size =
        static_cast<uint32_t>(minimum<uint64_t>(a.control->inserted, static_cast<uint64_t>(a.capacity)));
    a.control->collect_step += 1;
    a.work->log_row += 1;
  }
  *a.timesteps += 1;
  store_release_word(a.progress, *a.timesteps);
}

struct InsertTransitionsArgs {
  const Transition* staged;  // [count, 5]
  const int32_t* counts;     // [count]
  const int32_t* offsets;    // [count]
  const CollectorWork* work;
  const Control* control;  // max_priority, halt
  Transition* ring;        // [capacity]
  float* priority;         // [capacity]
  int64_t capacity;
  int32_t count;
};

FH_FN void insert_transitions(const Block& block, const InsertTransitionsArgs& a) {
  if (a.control->halt) return;
  const float priority = a.control->max_priority > 0.0f ? a.control->max_priority : 1.0f;
  const Tile tile = tile_of(block.x, a.count, kEnvironmentTile);
  for (int64_t i = tile.begin + block.thread(); i < tile.end; i += block.threads()) {
    for (int32_t k = 0; k < a.counts[i]; ++k) {
      const uint64_t place = a.work->head + static_cast<uint64_t>(a.offsets[i] + k);
      const int64_t slot = static_cast<int64_t>(place % static_cast<uint64_t>(a.capacity));
      a.ring[slot] = a.staged[i * kMaxSteps + k];
      a.priority[slot] = priority;
    }
  }
}

struct BeginCollectionArgs {
  double* tally;        // [words] zeroed
  CollectorWork* work;  // log_row zeroed
  int64_t words;
};

FH_FN void begin_collection(const Block& block, const BeginCollectionArgs& a) {
  const Tile tile = tile_of(block.x, a.words, 4096);
  for (int64_t i = tile.begin + block.thread(); i < tile.end; i += block.threads()) {
    a.tally[i] = 0.0;
    if (i == 0) a.work->log_row = 0;
  }
}

struct SummariseCollectionArgs {
  const double* tally;  // [kTally, count]
  double* sums;         // [kTally] device memory
  double* mapped;       // [kTally] the same, for the host
  const CollectorWork* work;
  uint32_t* mapped_timesteps;  // [1] timesteps really done
  int32_t count;
};

FH_FN void summarise_collection(const Block& block, const SummariseCollectionArgs& a) {
  const Tile tile = tile_of(block.x, kTally, 8);
  for (int64_t k = tile.begin + block.thread(); k < tile.end; k += block.threads()) {
    double sum = 0.0;
    for (int32_t i = 0; i < a.count; ++i) sum += a.tally[k * a.count + i];
    a.sums[k] = sum;
    a.mapped[k] = sum;
    if (k == 0) *a.mapped_timesteps = a.work->log_row;
  }
}

struct FillCollectorSignalsArgs {
  const double* sums;     // [kTally]
  CollectorSignals* out;  // [1] overwritten; kept as it is when no step was done
  double max_position;    // contracts
};

FH_FN float mean_of(double sum, double count) {
  return count > 0 ? static_cast<float>(sum / count) : 0.0f;
}

// One block: what the signal bus averages.
FH_FN void fill_collector_signals(const Block& block, const FillCollectorSignalsArgs& a) {
  const double* s = a.sums;
  const double steps = s[tally_steps];
  if (block.thread() != 0 || !(steps > 0)) return;
  CollectorSignals& o = *a.out;
  for (int k = 0; k < kActions; ++k) o.action[k] = mean_of(s[tally_actions + k], steps);
  int most = 0;
  for (int k = 0; k < 3; ++k) {
    o.regime[k] = mean_of(s[tally_regime + k], steps);
    if (s[tally_regime_class + k] > s[tally_regime_class + most]) most = k;
  }
  o.regime_now = static_cast<float>(most);
  for (int k = 0; k < kRewardParts; ++k) o.reward[k] = mean_of(s[tally_parts + k], steps);
  for (int k = 0; k < kMagnitudes; ++k) {
    const double trades = s[tally_trades + k], samples = s[tally_samples + k];
    const double mean = samples > 0 ? s[tally_sample_reward + k] / samples : 0.0;
    o.win_rate[k] = mean_of(s[tally_wins + k], trades);
    o.hold[k] = mean_of(s[tally_hold + k], trades);
    o.trail[k] = mean_of(s[tally_trail + k], trades);
    o.reward_variance[k] =
        samples > 0 ? static_cast<float>(maximum(0.0, s[tally_sample_square + k] / samples - mean * mean)) : 0.0f;
  }
  o.kelly_cap = mean_of(s[tally_kelly], steps);
  o.exposure = mean_of(s[tally_position], steps);
  o.turnover = mean_of(s[tally_turnover] / a.max_position, steps);
  o.drawdown = mean_of(s[tally_drawdown], steps);
  o.episode_return = mean_of(s[tally_episode_return], s[tally_episodes]);
  o.ruin_share = mean_of(s[tally_ruins], s[tally_episodes]);
  o.exploration_share = mean_of(s[tally_explored], steps * kTrainingBranches);
  o.filled = 1;
}

}  // namespace foxhunt::kernels
