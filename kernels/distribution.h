// The dueling return distribution of one row and branch: logits = v + adv - mean_a adv, softmax over atoms, expectation
// and variance. Output buffers of the heads are [layers, R, wide]: layer 0 the value (Z columns), layer 1 + d the
// advantages of branch d (A_d x Z). Family `distribution`.
#pragma once

#include "kernels/control.h"
#include "kernels/math.h"
#include "kernels/tile.h"

namespace foxhunt::kernels {

inline constexpr int kMaxBranchActions = 16;

struct BranchSizes {
  int32_t branches, atoms, actions;  // actions: of all branches
  int32_t count[kMaxBranches], first[kMaxBranches];
};

struct Heads {
  const float* out;  // [layers, rows, wide]
  int64_t rows;
  int32_t wide;
  FH_METHOD const float* value(int64_t row) const { return out + row * wide; }
  FH_METHOD const float* advantage(int64_t row, int d) const { return out + ((1 + d) * rows + row) * wide; }
};

struct Moments {
  float mean, variance;
};

FH_FN float atom(const Settings& s, int d, int z, int atoms) {
  return s.v_min[d] + (s.v_max[d] - s.v_min[d]) * (static_cast<float>(z) / static_cast<float>(atoms - 1));
}

// center[z] = v[z] - mean_a adv[a][z]; each lane later reads only what it wrote.
FH_FN void duel_center(const Team& team, const Heads& h, int64_t row, int d, int count, int atoms, float* center) {
  const float* v = h.value(row);
  const float* adv = h.advantage(row, d);
  team_each(team, atoms, [&](int z) {
    float sum = 0;
    for (int k = 0; k < count; ++k) sum += adv[k * atoms + z];
    center[z] = v[z] - sum / static_cast<float>(count);
  });
}

// p[z] = softmax_z(center + adv_a); log of the normaliser comes back, so that log p = l - log_sum.
FH_FN float duel_softmax(const Team& team, const float* center, const float* adv, int atoms, float* p) {
  team_each(team, atoms, [&](int z) { p[z] = center[z] + adv[z]; });
  const float largest = team_max(team, atoms, [&](int z) { return p[z]; });
  team_each(team, atoms, [&](int z) { p[z] = exponential(p[z] - largest); });
  const float sum = team_sum(team, atoms, [&](int z) { return p[z]; });
  const float inverse = 1.0f / sum;
  team_each(team, atoms, [&](int z) { p[z] *= inverse; });
  return largest + logf(sum);
}

FH_FN Moments duel_moments(const Team& team, const float* p, const float* support, int atoms) {
  const float mean = team_sum(team, atoms, [&](int z) { return p[z] * support[z]; });
  const float variance = team_sum(team, atoms, [&](int z) { return p[z] * (support[z] - mean) * (support[z] - mean); });
  return {mean, variance};
}

struct ExpectedQArgs {
  const float* heads;      // [layers, rows, wide]
  const Control* control;  // supports
  float* q;                // [rows, A] overwritten
  float* variance;         // [rows, A] overwritten
  BranchSizes sizes;
  int32_t rows, wide;
};

// Scratch a team: 3 Z floats.
FH_FN void expected_q(const Block& block, const ExpectedQArgs& a) {
  const Team team = block.team();
  const BranchSizes& n = a.sizes;
  const int atoms = n.atoms;
  float* center = block.scratch<float>() + static_cast<int64_t>(team.index) * 3 * atoms;
  float* support = center + atoms;
  float* p = support + atoms;
  const Heads heads{a.heads, a.rows, a.wide};
  const Tile tile = tile_of(block.x, a.rows, kRowTile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    for (int d = 0; d < n.branches; ++d) {
      team_each(team, atoms, [&](int z) { support[z] = atom(a.control->settings, d, z, atoms); });
      duel_center(team, heads, r, d, n.count[d], atoms, center);
      for (int k = 0; k < n.count[d]; ++k) {
        duel_softmax(team, center, heads.advantage(r, d) + k * atoms, atoms, p);
        const Moments m = duel_moments(team, p, support, atoms);
        if (team.lane == 0) {
          a.q[r * n.actions + n.first[d] + k] = m.mean;
          a.variance[r * n.actions + n.first[d] + k] = m.variance;
        }
      }
    }
  }
}

// Where the mass of one atom of reward + discount z goes: `share` of it to atom whole + 1, the rest to atom whole.
struct AtomPlace {
  int32_t whole;
  float share;
};
FH_FN AtomPlace place_atom(const Settings& s, int d, int atoms, float reward, float discount, int z) {
  const double low = s.v_min[d], high = s.v_max[d], scale = (atoms - 1) / (high - low);
  const double value = low + (high - low) * z / (atoms - 1);
  double t = reward + discount * value;
  t = t < low ? low : (t > high ? high : t);
  const double b = (t - low) * scale;
  int whole = static_cast<int>(b);
  double fraction = b - whole;
  if (whole >= atoms - 1) {
    whole = atoms - 2;
    fraction = 1;
  }
  // A NaN reward must stay visible: it goes into the share.
  return {t == t ? whole : 0, static_cast<float>(t == t ? fraction : t)};
}

// Categorical projection of reward + discount z onto the support (Bellemare et al. 2017): every atom's mass goes to its
// two neighbours, an atom hit exactly keeps its whole mass. Places are kept as whole part and fraction, from double:
// fp32 would lose 4e-6 at atom 50. target[z] gathers the atoms in ascending order, whatever the number of lanes.
// `place`, `share`: scratch of Z each; calls team.sync.
FH_FN void project(const Team& team, const Settings& s, int d, int atoms, const float* p, float reward, float discount,
                   int32_t* place, float* share, float* target) {
  team_each(team, atoms, [&](int z) {
    const AtomPlace at = place_atom(s, d, atoms, reward, discount, z);
    place[z] = at.whole;
    share[z] = at.share;
  });
#if FH_DEVICE
  team.sync();
  team_each(team, atoms, [&](int z) {
    float sum = 0;
    for (int j = 0; j < atoms; ++j) {
      if (place[j] == z) sum += p[j] * (1.0f - share[j]);
      if (place[j] + 1 == z) sum += p[j] * share[j];
    }
    target[z] = sum;
  });
  team.sync();
#else
  for (int z = 0; z < atoms; ++z) target[z] = 0;
  for (int j = 0; j < atoms; ++j) {
    target[place[j]] += p[j] * (1.0f - share[j]);
    target[place[j] + 1] += p[j] * share[j];
  }
#endif
}

// The projection alone, for tests and verify-step: one row of probabilities a sample, branch 0's support.
struct ProjectRowsArgs {
  const float* probabilities;  // [R, Z]
  const float* reward;         // [R]
  const float* discount;       // [R]
  const Control* control;
  float* target;  // [R, Z] overwritten
  int32_t rows, atoms, branch;
};

// Scratch a team: 3 Z floats (probabilities, places, shares).
FH_FN void project_rows(const Block& block, const ProjectRowsArgs& a) {
  const Team team = block.team();
  float* p = block.scratch<float>() + static_cast<int64_t>(team.index) * 3 * a.atoms;
  const Tile tile = tile_of(block.x, a.rows, kRowTile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    team_each(team, a.atoms, [&](int z) { p[z] = a.probabilities[r * a.atoms + z]; });
    project(team, a.control->settings, a.branch, a.atoms, p, a.reward[r], a.discount[r],
            reinterpret_cast<int32_t*>(p + a.atoms), p + 2 * a.atoms, a.target + r * a.atoms);
  }
}

}  // namespace foxhunt::kernels
