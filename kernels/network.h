// Forward pass: what stands between the matrix products. R rows; the first `scaled` of them are rows of s, on which stochastic depth
// falls; the others see every block. Family `network`. Lim et al. 2021 (selection, gated residual), Fortunato 2018 (noise).
#pragma once

#include "kernels/control.h"
#include "kernels/math.h"
#include "kernels/noise_layers.h"
#include "kernels/tile.h"

namespace foxhunt::kernels {

// Effective weights of the noisy layers, W + sigma f(e_out) f(e_in)', laid out for one batched product; and the selection layers'
// weights on a block diagonal. Everything else of both outputs stays zero.
struct EffectiveWeightsArgs {
  const float* params;
  const float* noise;       // [layers hidden, layers wide] transformed, or null: mean weights
  float* weight;            // [layers, wide, hidden]
  float* bias;              // [layers, wide]
  float* selection;         // [groups x vsn_hidden, state]
  NoisyLayers layers;
  SelectionLayers groups;
};

inline constexpr int kEffectiveRows = 8;
inline constexpr uint32_t effective_blocks(const NoisyLayers& l, const SelectionLayers& s) {
  return tiles(l.count * l.wide, kEffectiveRows) + tiles(s.groups * s.hidden, kEffectiveRows);
}

FH_FN void effective_weights(const Block& block, const EffectiveWeightsArgs& a) {
  const Team team = block.team();
  const NoisyLayers& n = a.layers;
  const int rows = n.count * n.wide;
  const int noisy_blocks = static_cast<int>(tiles(rows, kEffectiveRows));
  if (static_cast<int>(block.x) < noisy_blocks) {
    const Tile tile = tile_of(block.x, rows, kEffectiveRows);
    for (int64_t row = tile.begin + team.index; row < tile.end; row += team.teams) {
      const int l = static_cast<int>(row / n.wide), o = static_cast<int>(row % n.wide);
      if (o >= n.outputs[l]) continue;
      const float* w = a.params + n.weight[l] + static_cast<int64_t>(o) * n.hidden;
      float* out = a.weight + row * n.hidden;
      if (a.noise) {
        const float* in = a.noise + l * n.hidden;
        const float e = a.noise[n.count * n.hidden + row];
        const float* sigma = a.params + n.weight_sigma[l] + static_cast<int64_t>(o) * n.hidden;
        team_map(team, n.hidden, [&](int i) { return w[i] + sigma[i] * (e * in[i]); }, [&](int i, float x) { out[i] = x; });
        if (team.lane == 0) a.bias[row] = a.params[n.bias[l] + o] + a.params[n.bias_sigma[l] + o] * e;
      } else {
        team_map(team, n.hidden, [&](int i) { return w[i]; }, [&](int i, float x) { out[i] = x; });
        if (team.lane == 0) a.bias[row] = a.params[n.bias[l] + o];
      }
    }
    return;
  }
  const SelectionLayers& s = a.groups;
  const Tile tile = tile_of(static_cast<int>(block.x) - noisy_blocks, s.groups * s.hidden, kEffectiveRows);
  for (int64_t row = tile.begin + team.index; row < tile.end; row += team.teams) {
    const int g = static_cast<int>(row / s.hidden), h = static_cast<int>(row % s.hidden);
    const float* w = a.params + s.weight[g] + static_cast<int64_t>(h) * s.width[g];
    float* out = a.selection + row * s.state + s.first[g];
    team_map(team, s.width[g], [&](int i) { return w[i]; }, [&](int i, float x) { out[i] = x; });
  }
}

// y = x weight_g G, group by group. The groups stand one after the other in a row.
FH_FN void scale_groups(const Team& team, const SelectionLayers& s, const float (&weight)[kMaxGroups], const float* x, float* y) {
  const float groups = static_cast<float>(s.groups);
#if FH_DEVICE
  team_map(team, s.state, [&](int i) {
    float scale = weight[0];
    FH_UNROLL
    for (int g = 1; g < kMaxGroups; ++g) scale = g < s.groups && i >= s.first[g] ? weight[g] : scale;
    return x[i] * (scale * groups);
  }, [&](int i, float v) { y[i] = v; });
#else
  for (int g = 0; g < s.groups; ++g) {
    const float scale = weight[g] * groups;
    team_each(team, s.width[g], [&](int i) { y[s.first[g] + i] = x[s.first[g] + i] * scale; });
  }
#endif
}

// score_g = w2_g . hidden_g + b2_g; weights = softmax(score); gated = x weight_g G.
struct SelectionGateArgs {
  const float* params;
  const float* x;        // [R, stride]
  const float* hidden;   // [R, groups x vsn_hidden] after ReLU
  float* weights;        // [R, groups]
  float* gated;          // [R, stride]; padding stays zero
  int64_t weight2, bias2;  // arena offsets: [groups, vsn_hidden], [groups]
  SelectionLayers groups;
  int32_t rows, stride;
  int32_t tile;  // rows a block owns
};

FH_FN void selection_gate(const Block& block, const SelectionGateArgs& a) {
  const Team team = row_team(block, a.tile);
  const SelectionLayers& s = a.groups;
  const Tile tile = tile_of(block.x, a.rows, a.tile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    float score[kMaxGroups], largest = -3.402823466e38f, sum = 0;
    const float* h = a.hidden + r * s.groups * s.hidden;
    const float* w = a.params + a.weight2;
    team_sums(block.team(), s.groups, [&](int) { return s.hidden; }, [&](int g, int i) { return h[g * s.hidden + i] * w[g * s.hidden + i]; },
              score);
    for (int g = 0; g < s.groups; ++g) {
      score[g] += a.params[a.bias2 + g];
      largest = maximum(largest, score[g]);
    }
    for (int g = 0; g < s.groups; ++g) sum += score[g] = exponential(score[g] - largest);
    for (int g = 0; g < s.groups; ++g) score[g] /= sum;
    team_each(team, s.groups, [&](int g) { a.weights[r * s.groups + g] = score[g]; });
    const float* x = a.x + r * a.stride;
    float* y = a.gated + r * a.stride;
    scale_groups(team, s, score, x, y);
  }
}

// LayerNorm of y in place: y becomes xhat, out = xhat gamma + beta. Returns 1 / deviation.
FH_FN float normalise_row(const Team& team, float* y, float* out, const float* gamma, const float* beta, int n) {
  const float mean = team_sum(team, n, [&](int i) { return y[i]; }) / static_cast<float>(n);
  const float variance = team_sum(team, n, [&](int i) { return (y[i] - mean) * (y[i] - mean); }) / static_cast<float>(n);
  const float inverse = 1.0f / sqrtf(variance + 1e-5f);
  struct Normalised {
    float x, out;
  };
  team_map(team, n, [&](int i) {
    const float x = (y[i] - mean) * inverse;
    return Normalised{x, x * gamma[i] + beta[i]};
  }, [&](int i, Normalised v) {
    y[i] = v.x;
    out[i] = v.out;
  });
  return inverse;
}

// out = LayerNorm(residual + depth (value sigmoid(gate))).
struct GatedNormArgs {
  const float* params;
  const float* value_gate;  // [R, 2 H]
  float* residual;          // [R, H] becomes xhat
  float* out;               // [R, H]
  float* inverse;           // [R] 1 / deviation
  int64_t gamma, beta;      // arena offsets
  const Control* control;   // depth_scale[block_index]; null: 1
  int32_t rows, scaled, width, block_index;
  int32_t tile;  // rows a block owns
};

FH_FN void gated_norm(const Block& block, const GatedNormArgs& a) {
  const Team team = row_team(block, a.tile);
  const int n = a.width;
  const Tile tile = tile_of(block.x, a.rows, a.tile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    const float depth = r < a.scaled ? a.control->depth_scale[a.block_index] : 1.0f;
    const float* value = a.value_gate + r * 2 * n;
    float* y = a.residual + r * n;
    team_map(team, n, [&](int i) { return y[i] + depth * value[i] * sigmoid(value[n + i]); }, [&](int i, float x) { y[i] = x; });
    const float inverse = normalise_row(team, y, a.out + r * n, a.params + a.gamma, a.params + a.beta, n);
    if (team.lane == 0) a.inverse[r] = inverse;
  }
}

// gates = softmax of the first E columns; u = ReLU of the others, scaled by its expert's gate.
struct MixtureGateArgs {
  const float* input;   // [R, E + E X] gate logits, then experts' hidden before ReLU
  float* gates;         // [R, E]
  float* scaled_hidden; // [R, E X]
  int32_t rows, experts, expert_hidden;
  int32_t tile;  // rows a block owns
};

FH_FN void mixture_gate(const Block& block, const MixtureGateArgs& a) {
  const Team team = row_team(block, a.tile);
  const int e = a.experts, x = a.expert_hidden;
  const Tile tile = tile_of(block.x, a.rows, a.tile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    const float* in = a.input + r * (e + static_cast<int64_t>(e) * x);
    float* gates = a.gates + r * e;
    float* out = a.scaled_hidden + r * e * x;
    // Every warp for itself: cheaper than a barrier.
    const float largest = team_max(block.team(), e, [&](int k) { return in[k]; });
    const float sum = team_sum(block.team(), e, [&](int k) { return exponential(in[k] - largest); });
    const auto gate = [&](int k) { return exponential(in[k] - largest) / sum; };
    team_map(team, e, gate, [&](int k, float g) { gates[k] = g; });
    const float* h = in + e;
    team_map_groups(team, e, x, gate, [&](int k, int i, float g) { return maximum(h[k * x + i], 0.0f) * g; },
                    [&](int k, int i, float v) { out[k * x + i] = v; });
  }
}

// out = LayerNorm(h + depth y).
struct MixtureNormArgs {
  const float* params;
  const float* h;          // [R, H]
  float* y;                // [R, H] becomes xhat
  float* out;              // [R, H]
  float* inverse;          // [R]
  int64_t gamma, beta;
  const Control* control;
  int32_t rows, scaled, width;
  int32_t tile;  // rows a block owns
};

FH_FN void mixture_norm(const Block& block, const MixtureNormArgs& a) {
  const Team team = row_team(block, a.tile);
  const int n = a.width;
  const Tile tile = tile_of(block.x, a.rows, a.tile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    const float depth = r < a.scaled ? a.control->depth_scale[2] : 1.0f;
    const float* h = a.h + r * n;
    float* y = a.y + r * n;
    team_map(team, n, [&](int i) { return h[i] + depth * y[i]; }, [&](int i, float x) { y[i] = x; });
    const float inverse = normalise_row(team, y, a.out + r * n, a.params + a.gamma, a.params + a.beta, n);
    if (team.lane == 0) a.inverse[r] = inverse;
  }
}

// z[b, t] = h[b] * phi[t], the input of the quantile head.
struct QuantileInputArgs {
  const float* h;    // [B, H]
  const float* phi;  // [T, H]
  float* z;          // [B, T, H]
  int32_t rows, taus, width;
  int32_t tile;  // rows a block owns
};

FH_FN void quantile_input(const Block& block, const QuantileInputArgs& a) {
  const Team team = row_team(block, a.tile);
  const Tile tile = tile_of(block.x, static_cast<int64_t>(a.rows) * a.taus, a.tile);
  for (int64_t k = tile.begin + team.index; k < tile.end; k += team.teams) {
    const auto row = static_cast<uint32_t>(k), taus = static_cast<uint32_t>(a.taus);
    const float* h = a.h + static_cast<int64_t>(row / taus) * a.width;
    const float* phi = a.phi + static_cast<int64_t>(row % taus) * a.width;
    float* z = a.z + k * a.width;
    team_map(team, a.width, [&](int i) { return h[i] * phi[i]; }, [&](int i, float x) { z[i] = x; });
  }
}

}  // namespace foxhunt::kernels
