// Prioritised sampling: proportional to stored priorities, stratified, by a fixed-order two-level prefix sum in double
// (a million small fp32 priorities lose mass in fp32). Family `sampling`. Schaul et al. 2016; weights (N P)^-beta over
// the batch's largest.
#pragma once

#include "kernels/control.h"
#include "kernels/math.h"
#include "kernels/rng.h"
#include "kernels/tile.h"
#include "kernels/transition.h"

namespace foxhunt::kernels {

inline constexpr int kPriorityTile = 1024,
                     kPriorityChunk = 32;  // a tile is 32 chunks of 32, summed in that order on every device

struct PriorityTile {
  double sum;
  float largest;
  float reserved;
};

struct SumPrioritiesArgs {
  const float* priority;   // [capacity]
  const Control* control;  // replay_size says how many count
  PriorityTile* tiles;     // [capacity / 1024 rounded up] overwritten
  double* chunks;          // [32 tiles] overwritten: sums of the chunks
};

FH_FN void sum_priorities(const Block& block, const SumPrioritiesArgs& a) {
  const int64_t size = a.control->replay_size;
  const Tile tile = tile_of(block.x, size, kPriorityTile);
  const int chunks = static_cast<int>((tile.end - tile.begin + kPriorityChunk - 1) / kPriorityChunk);
  double* sums = a.chunks + static_cast<int64_t>(block.x) * (kPriorityTile / kPriorityChunk);
  float largest = 0;
#if FH_DEVICE
  // The tile comes in by neighbouring threads, a chunk's 32 values then lie in different banks of every chunk.
  __shared__ float values[kPriorityTile + kPriorityTile / kPriorityChunk];
  __shared__ double chunk_sums[kPriorityTile / kPriorityChunk];
  for (int i = block.thread(); i < kPriorityTile; i += block.threads()) {
    const float p = tile.begin + i < tile.end ? a.priority[tile.begin + i] : 0.0f;
    values[i + i / kPriorityChunk] = p;
    largest = maximum(largest, p);
  }
  block.sync();
  for (int k = block.thread(); k < kPriorityTile / kPriorityChunk; k += block.threads()) {
    double sum = 0;
    for (int i = 0; i < kPriorityChunk; ++i) sum += static_cast<double>(values[k * (kPriorityChunk + 1) + i]);
    chunk_sums[k] = sums[k] = sum;
  }
  largest = block.max(largest);  // holds barriers
  if (block.thread() == 0) {
    double sum = 0;
    for (int k = 0; k < chunks; ++k) sum += chunk_sums[k];
    a.tiles[block.x] = {sum, largest, 0};
  }
#else
  for (int k = block.thread(); k < kPriorityTile / kPriorityChunk; k += block.threads()) {
    const int64_t begin = tile.begin + k * kPriorityChunk;
    double sum = 0;
    if (k < chunks) {
      const int n = static_cast<int>(minimum(begin + kPriorityChunk, tile.end) - begin);
      for (int i = 0; i < n; ++i) {
        const float p = a.priority[begin + i];
        sum += static_cast<double>(p);
        largest = maximum(largest, p);
      }
    }
    sums[k] = sum;
  }
  largest = block.max(largest);
  block.sync();
  if (block.thread() == 0) {
    double sum = 0;
    for (int k = 0; k < chunks; ++k) sum += sums[k];
    a.tiles[block.x] = {sum, largest, 0};
  }
#endif
}

// One block: prefix[i] = sum of tiles before i, prefix[n] = total; largest priority.
struct ScanTilesArgs {
  const PriorityTile* tiles;  // [n]
  double* prefix;             // [n + 1] overwritten
  float* largest;             // [1] overwritten
  int32_t count;
};

inline constexpr uint32_t scan_scratch(int tiles) {
  return static_cast<uint32_t>(tiles + 2 * ((tiles + kPriorityChunk - 1) / kPriorityChunk)) * 8;
}

// Chunks of 32 tiles first, in order, then the chunks, in order: the same sums on every device. Scratch:
// scan_scratch(count) bytes.
FH_FN void scan_tiles(const Block& block, const ScanTilesArgs& a) {
  double* sums = block.scratch<double>();
  const int chunks = (a.count + kPriorityChunk - 1) / kPriorityChunk;
  const auto at = [](int i) { return i + i / kPriorityChunk; };  // chunks begin in different banks
  double* before = sums + a.count + chunks;
  float largest = 0;
  for (int i = block.thread(); i < a.count; i += block.threads()) {
    sums[at(i)] = a.tiles[i].sum;
    largest = maximum(largest, a.tiles[i].largest);
  }
  block.sync();
  for (int c = block.thread(); c < chunks; c += block.threads()) {
    double sum = 0;
    for (int i = c * kPriorityChunk; i < minimum((c + 1) * kPriorityChunk, a.count); ++i) sum += sums[at(i)];
    before[c] = sum;
  }
  block.sync();
  if (block.thread() == 0) {
    double sum = 0;
    for (int c = 0; c < chunks; ++c) {
      const double chunk = before[c];
      before[c] = sum;
      sum += chunk;
    }
    a.prefix[a.count] = sum;
  }
  block.sync();
  for (int c = block.thread(); c < chunks; c += block.threads()) {
    double sum = before[c];
    for (int i = c * kPriorityChunk; i < minimum((c + 1) * kPriorityChunk, a.count); ++i) {
      a.prefix[i] = sum;
      sum += sums[at(i)];
    }
  }
  largest = block.max(largest);
  if (block.thread() == 0) *a.largest = largest;
}

struct DrawSamplesArgs {
  const float* priority;  // [capacity]
  const Control* control;
  const double* prefix;  // [tiles + 1]
  const double* chunks;  // [32 tiles]
  int32_t* index;        // [B] overwritten; ascending
  float* probability;    // [B] overwritten: the priority drawn
  int32_t batch, tiles;
};

// Sample b takes the position (b + u) / B of the total mass. A value that rounding pushes past the end takes the last
// positive entry.
FH_FN int64_t find_sample(const DrawSamplesArgs& a, double mass, int64_t size) {
  int low = 0, high = a.tiles - 1;
  while (low < high) {  // last tile whose prefix is <= mass
    const int middle = (low + high + 1) / 2;
    if (a.prefix[middle] <= mass)
      low = middle;
    else
      high = middle - 1;
  }
  double left = mass - a.prefix[low];
  const double* chunks = a.chunks + static_cast<int64_t>(low) * (kPriorityTile / kPriorityChunk);
  int chunk = 0;
  while (chunk + 1 < kPriorityTile / kPriorityChunk && left >= chunks[chunk]) left -= chunks[chunk++];
  const int64_t begin = static_cast<int64_t>(low) * kPriorityTile + chunk * kPriorityChunk;
  int64_t last = -1;
  for (int64_t i = begin; i < minimum(begin + kPriorityChunk, size); ++i) {
    const double p = static_cast<double>(a.priority[i]);
    if (p > 0) last = i;
    if (left < p) return i;
    left -= p;
  }
  for (int64_t i = last >= 0 ? last : minimum(begin, size) - 1; i >= 0; --i)
    if (a.priority[i] > 0) return i;
  return 0;
}

#if FH_DEVICE
// find_sample by a warp: the tile by comparing 32 places at a time, chunk and entry by the same subtractions in the same
// order on values that lanes hold. Every lane gets the result.
FH_FN int64_t find_sample_by_lanes(const Team& team, const DrawSamplesArgs& a, double mass, int64_t size) {
  constexpr unsigned all = 0xffffffffu;
  int low = 0;
  for (int span = a.tiles; span > 1;) {
    const int step = (span + 31) / 32, place = low + team.lane * step;
    const bool before = team.lane * step < span && a.prefix[place] <= mass;
    const int passed = __popc(__ballot_sync(all, before));
    const int skip = passed > 0 ? (passed - 1) * step : 0;
    low += skip;
    span = minimum(step, span - skip);
  }
  double left = mass - a.prefix[low];
  const double chunk_sum = a.chunks[static_cast<int64_t>(low) * (kPriorityTile / kPriorityChunk) + team.lane];
  int chunk = 0;
  for (; chunk + 1 < kPriorityTile / kPriorityChunk; ++chunk) {
    const double sum = team.broadcast(chunk_sum, chunk);
    if (left < sum) break;
    left -= sum;
  }
  const int64_t begin = static_cast<int64_t>(low) * kPriorityTile + chunk * kPriorityChunk;
  const float mine = begin + team.lane < size ? a.priority[begin + team.lane] : 0.0f;
  int64_t last = -1;
  for (int k = 0; k < kPriorityChunk && begin + k < size; ++k) {
    const double p = static_cast<double>(team.broadcast(mine, k));
    if (p > 0) last = begin + k;
    if (left < p) return begin + k;
    left -= p;
  }
  for (int64_t i = last >= 0 ? last : minimum(begin, size) - 1; i >= 0; --i)
    if (a.priority[i] > 0) return i;
  return 0;
}
static_assert(kPriorityTile / kPriorityChunk == 32 && kPriorityChunk == 32);
#endif

FH_FN void draw_samples(const Block& block, const DrawSamplesArgs& a) {
  const Control& c = *a.control;
  const int64_t size = c.replay_size;
  const double total = a.prefix[a.tiles];
  const Tile tile = tile_of(block.x, a.batch, 32);
#if FH_DEVICE
  const Team team = block.team();
  if (team.lanes == 32 && total > 0) {  // the same for the whole grid
    for (int64_t b = tile.begin + team.index; b < tile.end; b += team.teams) {
      const Random4 r = philox(c.seed, static_cast<uint32_t>(Purpose::sampling), c.step, b);
      const double place = (static_cast<double>(b) + uniform53(r.v[0], r.v[1])) / a.batch;
      const int64_t i = find_sample_by_lanes(team, a, place * total, size);
      if (team.lane == 0) {
        a.index[b] = static_cast<int32_t>(i);
        a.probability[b] = a.priority[i];
      }
    }
    return;
  }
#endif
  block_each(block, tile.begin, tile.end, [&](int64_t b) {
    const Random4 r = philox(c.seed, static_cast<uint32_t>(Purpose::sampling), c.step, b);
    const double place = (static_cast<double>(b) + uniform53(r.v[0], r.v[1])) / a.batch;
    // Without any mass every entry is as likely as another.
    const int64_t i =
        total > 0 ? find_sample(a, place * total, size) : static_cast<int64_t>(place * static_cast<double>(size));
    a.index[b] = static_cast<int32_t>(i);
    a.probability[b] = a.priority[i];
  });
}

// What a batch looks like when it is injected, in mapped memory: learner.py's Batch.
struct InjectedBatch {
  const float* state;       // [B, S]
  const float* next_state;  // [B, S]
  const int32_t* action;    // [B, D]
  const float* reward;      // [B, D]
  const float* discount;    // [B, D]
  const float* weight;      // [B]
  const float* regime;      // [B]
  const float* aux;         // [B, 4]
};

struct GatherBatchArgs {
  const Transition* ring;
  const Control* control;
  BarTable bars;
  InjectedBatch injected;
  const int32_t* index;      // [B]
  const float* probability;  // [B]
  float* state;              // [2 B, stride]: s, then s'; padding stays zero
  int32_t* action;           // [B, D]
  float* reward;             // [B, D]
  float* discount;           // [B, D]
  float* weight;             // [B]
  float* regime;             // [B]
  float* aux;                // [B, 4]
  int32_t batch, width, stride, branches;
};

FH_FN void gather_injected(const Team& team, const GatherBatchArgs& a, int64_t b) {
  const int n = a.width, d = a.branches;
  team_each(team, n, [&](int k) {
    a.state[b * a.stride + k] = a.injected.state[b * n + k];
    a.state[(b + a.batch) * a.stride + k] = a.injected.next_state[b * n + k];
  });
  team_each(team, d, [&](int k) {
    a.action[b * d + k] = a.injected.action[b * d + k];
    a.reward[b * d + k] = a.injected.reward[b * d + k];
    a.discount[b * d + k] = a.injected.discount[b * d + k];
  });
  team_each(team, 4, [&](int k) { a.aux[b * 4 + k] = a.injected.aux[b * 4 + k]; });
  if (team.lane == 0) {
    a.weight[b] = a.injected.weight[b];
    a.regime[b] = a.injected.regime[b];
  }
}

FH_FN void gather_batch(const Block& block, const GatherBatchArgs& a) {
  const Control& c = *a.control;
  const Team team = block.team();
  const Tile tile = tile_of(block.x, a.batch, kRowTile);
  if (c.settings.injected) {
    for (int64_t b = tile.begin + team.index; b < tile.end; b += team.teams) gather_injected(team, a, b);
    return;
  }
  // The largest weight belongs to the smallest priority: w = (p / p_min)^-beta. Every block looks at the whole batch:
  // cheaper than a node.
  float least = 3.402823466e38f;
  for (int b = block.thread(); b < a.batch; b += block.threads()) least = minimum(least, a.probability[b]);
  least = block.min(least);
  for (int64_t b = tile.begin + team.index; b < tile.end; b += team.teams) {
    const Transition& t = a.ring[a.index[b]];
    const float* now = a.bars.features + static_cast<int64_t>(t.bar) * kMarketWidth;
    const float* next = a.bars.features + static_cast<int64_t>(t.next_bar) * kMarketWidth;
    float* s = a.state + b * a.stride;
    float* s2 = a.state + (b + a.batch) * a.stride;
    struct Pair {
      float now, next;
    };
    team_map(team, kMarketWidth, [&](int k) { return Pair{now[k], next[k]}; }, [&](int k, Pair v) {
      s[k] = v.now;
      s2[k] = v.next;
    });
    team_map(team, kOwnWidth, [&](int k) { return Pair{t.own[k], t.next_own[k]}; }, [&](int k, Pair v) {
      s[kMarketWidth + k] = v.now;
      s2[kMarketWidth + k] = v.next;
    });
    const float* labels = a.bars.labels + static_cast<int64_t>(t.bar) * 4;
    team_each(team, a.branches, [&](int d) {
      a.action[b * a.branches + d] = t.action[d];
      a.reward[b * a.branches + d] = t.reward[d] / c.settings.reward_scale;
      float discount = t.done ? 0.0f : 1.0f;
      for (int m = 0; m < t.steps; ++m) discount *= c.settings.gamma[d];
      a.discount[b * a.branches + d] = discount;
    });
    team_each(team, 4, [&](int k) { a.aux[b * 4 + k] = k < 3 ? labels[k] : 0.0f; });
    if (team.lane == 0) {
      const float p = a.probability[b];
      a.weight[b] = p > 0 && least > 0 ? powf(p / least, -c.beta) : 1.0f;
      a.regime[b] = labels[3];
    }
  }
}

// Priorities written back. Stratified samples are ascending, so twins are neighbours: the last one's value is kept, on
// every device.
struct WritePrioritiesArgs {
  const int32_t* index;  // [B]
  const float* fresh;    // [B], already raised to alpha
  const float* largest;  // [1] of the whole ring, before this step
  float* priority;       // [capacity]
  Control* control;      // max_priority overwritten
  int32_t batch;
};

FH_FN void write_priorities(const Block& block, const WritePrioritiesArgs& a) {
  Control& c = *a.control;
  if (c.halt || c.settings.injected) return;  // the same for every thread of the block
  float largest = 0;
  for (int b = block.thread(); b < a.batch; b += block.threads()) {
    largest = maximum(largest, a.fresh[b]);
    if (b + 1 == a.batch || a.index[b + 1] != a.index[b]) a.priority[a.index[b]] = a.fresh[b];
  }
  largest = block.max(largest);
  if (block.thread() == 0) c.max_priority = maximum(largest, *a.largest);
}

}  // namespace foxhunt::kernels
