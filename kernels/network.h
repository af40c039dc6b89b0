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
        team_each(team, n.hidden, [&](int i) { out[i] = w[i] + sigma[i] * (e * in[i]); });
        if (team.lane == 0) a.bias[row] = a.params[n.bias[l] + o] + a.params[n.bias_sigma[l] + o] * e;
      } else {
        team_each(team, n.hidden, [&](int i) { out[i] = w[i]; });
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
    team_each(team, s.width[g], [&](int i) { out[i] = w[i]; });
  }
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
};

FH_FN void selection_gate(const Block& block, const SelectionGateArgs& a) {
  const Team team = block.team();
  const SelectionLayers& s = a.groups;
  const Tile tile = tile_of(block.x, a.rows, kRowTile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    float score[kMaxGroups], largest = -3.402823466e38f, sum = 0;
    for (int g = 0; g < s.groups; ++g) {
      const float* h = a.hidden + (r * s.groups + g) * s.hidden;
      const float* w = a.params + a.weight2 + static_cast<int64_t>(g) * s.hidden;
      score[g] = team_sum(team, s.hidden, [&](int i) { return h[i] * w[i]; }) + a.params[a.bias2 + g];
      largest = maximum(largest, score[g]);
    }
    for (int g = 0; g < s.groups; ++g) sum += score[g] = exponential(score[g] - largest);
    for (int g = 0; g < s.groups; ++g) {
      const float weight = score[g] / sum, scale = weight * static_cast<float>(s.groups);
      if (team.lane == 0) a.weights[r * s.groups + g] = weight;
      const float* x = a.x + r * a.stride + s.first[g];
      float* y = a.gated + r * a.stride + s.first[g];
      team_each(team, s.width[g], [&](int i) { y[i] = x[i] * scale; });
    }
  }
}

// LayerNorm of y in place: y becomes xhat, out = xhat gamma + beta. Returns 1 / deviation.
FH_FN float normalise_row(const Team& team, float* y, float* out, const float* gamma, const float* beta, int n) {
  const float mean = team_sum(team, n, [&](int i) { return y[i]; }) / static_cast<float>(n);
  const float variance = team_sum(team, n, [&](int i) { return (y[i] - mean) * (y[i] - mean); }) / static_cast<float>(n);
  const float inverse = 1.0f / sqrtf(variance + 1e-5f);
  team_each(team, n, [&](int i) {
    const float x = (y[i] - mean) * inverse;
    y[i] = x;
    out[i] = x * gamma[i] + beta[i];
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
};

FH_FN void gated_norm(const Block& block, const GatedNormArgs& a) {
  const Team team = block.team();
  const int n = a.width;
  const Tile tile = tile_of(block.x, a.rows, kRowTile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    const float depth = r < a.scaled ? a.control->depth_scale[a.block_index] : 1.0f;
    const float* value = a.value_gate + r * 2 * n;
    float* y = a.residual + r * n;
    team_each(team, n, [&](int i) { y[i] += depth * value[i] * sigmoid(value[n + i]); });
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
};
inline constexpr int kMaxExperts = 64;

FH_FN void mixture_gate(const Block& block, const MixtureGateArgs& a) {
  const Team team = block.team();
  const int e = a.experts, x = a.expert_hidden;
  const Tile tile = tile_of(block.x, a.rows, kRowTile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    const float* in = a.input + r * (e + static_cast<int64_t>(e) * x);
    float* gates = a.gates + r * e;
    float* out = a.scaled_hidden + r * e * x;
    float largest = in[0], sum = 0;
    for (int k = 1; k < e; ++k) largest = maximum(largest, in[k]);
    for (int k = 0; k < e; ++k) sum += exponential(in[k] - largest);
    for (int k = 0; k < e; ++k) {
      const float gate = exponential(in[k] - largest) / sum;
      if (team.lane == 0) gates[k] = gate;
      const float* h = in + e + k * x;
      team_each(team, x, [&](int i) { out[k * x + i] = maximum(h[i], 0.0f) * gate; });
    }
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
};

FH_FN void mixture_norm(const Block& block, const MixtureNormArgs& a) {
  const Team team = block.team();
  const int n = a.width;
  const Tile tile = tile_of(block.x, a.rows, kRowTile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    const float depth = r < a.scaled ? a.control->depth_scale[2] : 1.0f;
    const float* h = a.h + r * n;
    float* y = a.y + r * n;
    team_each(team, n, [&](int i) { y[i] = h[i] + depth * y[i]; });
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
};

FH_FN void quantile_input(const Block& block, const QuantileInputArgs& a) {
  const Team team = block.team();
  const Tile tile = tile_of(block.x, static_cast<int64_t>(a.rows) * a.taus, 4 * kRowTile);
  for (int64_t k = tile.begin + team.index; k < tile.end; k += team.teams) {
    const float* h = a.h + k / a.taus * a.width;
    const float* phi = a.phi + k % a.taus * a.width;
    float* z = a.z + k * a.width;
    team_each(team, a.width, [&](int i) { z[i] = h[i] * phi[i]; });
  }
}

}  // namespace foxhunt::kernels
