// Backward pass: what stands between the matrix products. B rows of s only; next states and the target take no gradient. Family `backward`.
#pragma once

#include "kernels/control.h"
#include "kernels/math.h"
#include "kernels/noise_layers.h"
#include "kernels/tile.h"

namespace foxhunt::kernels {

// d *= (h > 0) over the first `columns` of each row.
struct ReluGateArgs {
  const float* h;  // [B.., h_stride] forward output after ReLU
  float* d;        // [B, d_stride] in place
  int32_t rows, columns, h_stride, d_stride;
  int32_t tile;  // rows a block owns
};

FH_FN void relu_gate(const Block& block, const ReluGateArgs& a) {
  const Team team = row_team(block, a.tile);
  const Tile tile = tile_of(block.x, a.rows, a.tile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    const float* h = a.h + r * a.h_stride;
    float* d = a.d + r * a.d_stride;
    team_map(team, a.columns, [&](int i) { return h[i] > 0 ? d[i] : 0.0f; }, [&](int i, float x) { d[i] = x; });
  }
}

// Gradients of the noisy layers from those of their effective weights: dW = G, dSigma = G f(e_out) f(e_in)'.
struct NoisyGradientsArgs {
  const float* weight;     // [layers, wide, hidden]
  const float* bias;       // [layers, wide]
  const float* noise;      // [layers hidden, layers wide]
  float* gradients;        // arena
  NoisyLayers layers;
};

FH_FN void noisy_gradients(const Block& block, const NoisyGradientsArgs& a) {
  const Team team = block.team();
  const NoisyLayers& n = a.layers;
  const Tile tile = tile_of(block.x, n.count * n.wide, 8);
  for (int64_t row = tile.begin + team.index; row < tile.end; row += team.teams) {
    const int l = static_cast<int>(row / n.wide), o = static_cast<int>(row % n.wide);
    if (o >= n.outputs[l]) continue;
    const float* g = a.weight + row * n.hidden;
    const float* in = a.noise + l * n.hidden;
    const float e = a.noise[n.count * n.hidden + row];
    float* w = a.gradients + n.weight[l] + static_cast<int64_t>(o) * n.hidden;
    float* sigma = a.gradients + n.weight_sigma[l] + static_cast<int64_t>(o) * n.hidden;
    struct Pair {
      float w, sigma;
    };
    team_map(team, n.hidden, [&](int i) { return Pair{g[i], g[i] * (e * in[i])}; }, [&](int i, Pair v) {
      w[i] = v.w;
      sigma[i] = v.sigma;
    });
    if (team.lane == 0) {
      a.gradients[n.bias[l] + o] = a.bias[row];
      a.gradients[n.bias_sigma[l] + o] = a.bias[row] * e;
    }
  }
}

// LayerNorm backward of one row: d_in = inverse (g gamma - mean(g gamma) - xhat mean(g gamma xhat)).
FH_FN void norm_row_backward(const Team& team, const float* g, const float* xhat, const float* gamma, float inverse, int n, float* d_in) {
  const PairSum m = team_sum_pair(team, n, [&](int i) { return g[i] * gamma[i]; }, [&](int i) { return g[i] * gamma[i] * xhat[i]; });
  const float m1 = m.first / static_cast<float>(n), m2 = m.second / static_cast<float>(n);
  team_map(team, n, [&](int i) { return inverse * (g[i] * gamma[i] - m1 - xhat[i] * m2); }, [&](int i, float x) { d_in[i] = x; });
}

// Adds the quantile head's share to d_h (readiness sum_t dz phi), then the mixture's LayerNorm backward.
struct MixtureNormBackwardArgs {
  const float* params;
  const Control* control;
  const float* dz;        // [B, T, H] gradient of the quantile head's input
  const float* phi;       // [T, H]
  const float* xhat;      // [B.., H]
  const float* inverse;   // [B..]
  float* d_h;             // [B, H] in: from the heads; out: the whole gradient at the norm's output
  float* d_in;            // [B, H] gradient of h + depth y: the residual path
  float* d_y;             // [B, H] depth d_in
  int64_t gamma;
  int32_t rows, width, taus;
  int32_t tile;  // rows a block owns
};

FH_FN void mixture_norm_backward(const Block& block, const MixtureNormBackwardArgs& a) {
  const Team team = row_team(block, a.tile);
  const int n = a.width;
  const float readiness = a.control->iqn_readiness, depth = a.control->depth_scale[2];
  const Tile tile = tile_of(block.x, a.rows, a.tile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    float* g = a.d_h + r * n;
    const float* dz = a.dz + r * a.taus * n;
    int t = 0;
    for (; t + 4 <= a.taus; t += 4) {
      const float* phi = a.phi + static_cast<int64_t>(t) * n;
      const float* d = dz + static_cast<int64_t>(t) * n;
      team_map(team, n, [&](int i) {
        float sum = g[i];
        FH_UNROLL
        for (int u = 0; u < 4; ++u) sum += readiness * (d[u * n + i] * phi[u * n + i]);
        return sum;
      }, [&](int i, float x) { g[i] = x; });
    }
    for (; t < a.taus; ++t) {
      const float* phi = a.phi + static_cast<int64_t>(t) * n;
      const float* d = dz + static_cast<int64_t>(t) * n;
      team_map(team, n, [&](int i) { return g[i] + readiness * (d[i] * phi[i]); }, [&](int i, float x) { g[i] = x; });
    }
    float* d_in = a.d_in + r * n;
    norm_row_backward(team, g, a.xhat + r * n, a.params + a.gamma, a.inverse[r], n, d_in);
    float* d_y = a.d_y + r * n;
    team_map(team, n, [&](int i) { return depth * d_in[i]; }, [&](int i, float x) { d_y[i] = x; });
  }
}

// Gradient through the gating: du = d gate (u > 0); d gate_e = sum_x d u + the balance term's 2 lambda E importance_e / B; softmax backward.
struct MixtureGateBackwardArgs {
  const Control* control;
  const float* input;       // [B.., E + E X] as in mixture_gate
  const float* gates;       // [B.., E]
  const float* d_scaled;    // [B, E X]
  const float* importance;  // [E]
  float* d_input;           // [B, E + E X] overwritten
  int32_t rows, experts, expert_hidden;
  int32_t tile;  // rows a block owns
};

FH_FN void mixture_gate_backward(const Block& block, const MixtureGateBackwardArgs& a) {
  const Team team = row_team(block, a.tile);
  const int e = a.experts, x = a.expert_hidden;
  const float balance = a.control->moe_lambda_now * 2.0f * static_cast<float>(e) / static_cast<float>(a.rows);
  const Tile tile = tile_of(block.x, a.rows, a.tile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    const int64_t wide = e + static_cast<int64_t>(e) * x;
    const float* in = a.input + r * wide + e;
    const float* gates = a.gates + r * e;
    const float* d = a.d_scaled + r * e * x;
    float* out = a.d_input + r * wide;
    float d_gate[kMaxExperts], mean = 0;
    team_sums(block.team(), e, [&](int) { return x; }, [&](int k, int i) { return d[k * x + i] * maximum(in[k * x + i], 0.0f); }, d_gate);
    for (int k = 0; k < e; ++k) {
      d_gate[k] += balance * a.importance[k];
      mean += d_gate[k] * gates[k];
    }
    team_map_groups(team, e, x, [&](int k) { return gates[k]; },
                    [&](int k, int i, float gate) { return in[k * x + i] > 0 ? d[k * x + i] * gate : 0.0f; },
                    [&](int k, int i, float v) { out[e + k * x + i] = v; });
    team_each(team, e, [&](int k) { out[k] = gates[k] * (d_gate[k] - mean); });
  }
}

// LayerNorm and gated linear unit of one residual block, backward.
struct GatedNormBackwardArgs {
  const float* params;
  const Control* control;
  const float* value_gate;  // [B.., 2 H]
  const float* xhat;        // [B.., H]
  const float* inverse;     // [B..]
  const float* d_out;       // [B, H]
  float* d_value_gate;      // [B, 2 H] overwritten
  float* d_residual;        // [B, stride] at column H of the block's [a | residual] gradient; overwritten
  int64_t gamma;
  int32_t rows, width, block_index, stride;
  int32_t tile;  // rows a block owns
};

FH_FN void gated_norm_backward(const Block& block, const GatedNormBackwardArgs& a) {
  const Team team = row_team(block, a.tile);
  const int n = a.width;
  const float depth = a.control->depth_scale[a.block_index];
  const Tile tile = tile_of(block.x, a.rows, a.tile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    float* d_in = a.d_residual + r * a.stride;
    norm_row_backward(team, a.d_out + r * n, a.xhat + r * n, a.params + a.gamma, a.inverse[r], n, d_in);
    const float* value = a.value_gate + r * 2 * n;
    float* out = a.d_value_gate + r * 2 * n;
    struct Pair {
      float value, gate;
    };
    team_map(team, n, [&](int i) {
      const float g = sigmoid(value[n + i]), d = depth * d_in[i];
      return Pair{d * g, d * value[i] * g * (1.0f - g)};
    }, [&](int i, Pair v) {
      out[i] = v.value;
      out[n + i] = v.gate;
    });
  }
}

// Variable selection backward: d weight_g = G sum_k d_gated x; softmax backward; d hidden = d score w2 (h > 0).
struct SelectionBackwardArgs {
  const float* params;
  const float* x;        // [B.., stride]
  const float* d_gated;  // [B, state]
  const float* weights;  // [B.., groups]
  const float* hidden;   // [B.., groups x vsn_hidden]
  float* d_score;        // [B, groups] overwritten
  float* d_hidden;       // [B, groups x vsn_hidden] overwritten
  int64_t weight2;
  SelectionLayers groups;
  int32_t rows, stride;
  int32_t tile;  // rows a block owns
};

FH_FN void selection_backward(const Block& block, const SelectionBackwardArgs& a) {
  const Team team = row_team(block, a.tile);
  const SelectionLayers& s = a.groups;
  const Tile tile = tile_of(block.x, a.rows, a.tile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    const float* weights = a.weights + r * s.groups;
    float d_weight[kMaxGroups], mean = 0;
    const float* x = a.x + r * a.stride;
    const float* d = a.d_gated + r * s.state;
    team_sums(block.team(), s.groups, [&](int g) { return s.width[g]; },
              [&](int g, int i) { return d[s.first[g] + i] * x[s.first[g] + i]; }, d_weight);
    for (int g = 0; g < s.groups; ++g) {
      d_weight[g] *= static_cast<float>(s.groups);
      mean += d_weight[g] * weights[g];
    }
    const auto d_score = [&](int g) { return weights[g] * (d_weight[g] - mean); };
    team_map(team, s.groups, d_score, [&](int g, float v) { a.d_score[r * s.groups + g] = v; });
    const float* h = a.hidden + r * s.groups * s.hidden;
    const float* w = a.params + a.weight2;
    float* out = a.d_hidden + r * s.groups * s.hidden;
    team_map_groups(team, s.groups, s.hidden, d_score,
                    [&](int g, int i, float v) { return h[g * s.hidden + i] > 0 ? v * w[g * s.hidden + i] : 0.0f; },
                    [&](int g, int i, float v) { out[g * s.hidden + i] = v; });
  }
}

// d hidden of both expectile values: dv w (h > 0).
struct ExpectileBackwardArgs {
  const float* params;
  const float* hidden;  // [B, 2 Hq] after ReLU
  const float* d_iql;   // [B, 2]
  float* d_hidden;      // [B, 2 Hq] overwritten
  int64_t weight;       // arena offset of [2, Hq]
  int32_t rows, width;
};

FH_FN void expectile_backward(const Block& block, const ExpectileBackwardArgs& a) {
  const Team team = block.team();
  const Tile tile = tile_of(block.x, a.rows, kRowTile);
  for (int64_t r = tile.begin + team.index; r < tile.end; r += team.teams) {
    const float* h = a.hidden + r * 2 * a.width;
    const float* w = a.params + a.weight;
    float* out = a.d_hidden + r * 2 * a.width;
    team_map_groups(team, 2, a.width, [&](int v) { return a.d_iql[r * 2 + v]; },
                    [&](int v, int i, float d) { return h[v * a.width + i] > 0 ? d * w[v * a.width + i] : 0.0f; },
                    [&](int v, int i, float x) { out[v * a.width + i] = x; });
  }
}

// Sums over the batch of products of columns, in two passes of fixed order: norm weights and biases, selection scores, expectile heads.
// out[j] = sum_b x[b, j] y[b, j / divide % modulo]; without y: of x alone.
struct ColumnJob {
  const float* x;
  const float* y;
  float* out;
  const float* gate;  // [columns] or null: out is zero where gate <= 0
  int32_t columns, x_stride, y_stride, divide, modulo, first_tile;
};
inline constexpr int kColumnJobs = 12, kColumnTile = 64, kColumnRows = 128;

struct ColumnSumsArgs {
  ColumnJob job[kColumnJobs];
  float* partial;  // [chunks, 64 tiles]
  int32_t jobs, rows, tiles;
};

FH_FN const ColumnJob& column_job(const ColumnJob* jobs, int count, int tile) {
  int k = 0;
  while (k + 1 < count && tile >= jobs[k + 1].first_tile) ++k;
  return jobs[k];
}

FH_FN void column_sums(const Block& block, const ColumnSumsArgs& a) {
  const ColumnJob& job = column_job(a.job, a.jobs, static_cast<int>(block.x));
  const int first = (static_cast<int>(block.x) - job.first_tile) * kColumnTile;
  const int width = minimum(kColumnTile, job.columns - first);
  const Tile rows = tile_of(block.y, a.rows, kColumnRows);
  float* out = a.partial + (static_cast<int64_t>(block.y) * a.tiles + block.x) * kColumnTile;
#if FH_DEVICE
  float* part = block.scratch<float>();
  const int groups = maximum(1, block.threads() / kColumnTile);
  for (int k = block.thread(); k < groups * kColumnTile; k += block.threads()) {
    const int j = first + k % kColumnTile;
    float sum = 0;
    if (k % kColumnTile < width)
      for (int64_t b = rows.begin + k / kColumnTile; b < rows.end; b += groups)
        sum += job.x[b * job.x_stride + j] * (job.y ? job.y[b * job.y_stride + j / job.divide % job.modulo] : 1.0f);
    part[k] = sum;
  }
  block.sync();
  for (int j = block.thread(); j < width; j += block.threads()) {
    float sum = 0;
    for (int g = 0; g < groups; ++g) sum += part[g * kColumnTile + j];
    out[j] = sum;
  }
#else
  float sum[kColumnTile] = {};
  for (int64_t b = rows.begin; b < rows.end; ++b) {
    const float* x = job.x + b * job.x_stride + first;
    if (!job.y) {
      for (int j = 0; j < width; ++j) sum[j] += x[j];
    } else if (job.divide == 1 && first % job.modulo + width <= job.modulo) {
      const float* y = job.y + b * job.y_stride + first % job.modulo;
      for (int j = 0; j < width; ++j) sum[j] += x[j] * y[j];
    } else {
      for (int j = 0; j < width; ++j) sum[j] += x[j] * job.y[b * job.y_stride + (first + j) / job.divide % job.modulo];
    }
  }
  for (int j = 0; j < width; ++j) out[j] = sum[j];
#endif
}

struct ColumnFinishArgs {
  ColumnJob job[kColumnJobs];
  const float* partial;
  int32_t jobs, chunks, tiles;
};

FH_FN void column_finish(const Block& block, const ColumnFinishArgs& a) {
  const ColumnJob& job = column_job(a.job, a.jobs, static_cast<int>(block.x));
  const int first = (static_cast<int>(block.x) - job.first_tile) * kColumnTile;
  const int width = minimum(kColumnTile, job.columns - first);
  block_each(block, 0, width, [&](int64_t j) {
    float sum = 0;
    for (int c = 0; c < a.chunks; ++c) sum += a.partial[(static_cast<int64_t>(c) * a.tiles + block.x) * kColumnTile + j];
    job.out[first + j] = !job.gate || job.gate[first + j] > 0 ? sum : 0.0f;
  });
}

// Copies gradients that a wide product left elsewhere into the arena: the diagonal blocks of the selection layers, a residual block's
// first bias out of the wide one.
struct ScatterGradientsArgs {
  const float* selection;  // [groups x vsn_hidden, state]
  const float* wide_bias[2];  // [2 H] of grn1, grn2: the first H belong to layer a
  float* gradients;        // arena
  int64_t bias[2];         // arena offsets of [H]
  SelectionLayers groups;
  int32_t width;
};

FH_FN void scatter_gradients(const Block& block, const ScatterGradientsArgs& a) {
  const SelectionLayers& s = a.groups;
  const Team team = block.team();
  const int rows = s.groups * s.hidden;
  const Tile tile = tile_of(block.x, rows + 2, 16);
  for (int64_t row = tile.begin + team.index; row < tile.end; row += team.teams) {
    if (row >= rows) {
      const int k = static_cast<int>(row) - rows;
      team_map(team, a.width, [&](int i) { return a.wide_bias[k][i]; }, [&](int i, float x) { a.gradients[a.bias[k] + i] = x; });
      continue;
    }
    const int g = static_cast<int>(row) / s.hidden, h = static_cast<int>(row) % s.hidden;
    const float* from = a.selection + row * s.state + s.first[g];
    float* to = a.gradients + s.weight[g] + static_cast<int64_t>(h) * s.width[g];
    team_map(team, s.width[g], [&](int i) { return from[i]; }, [&](int i, float x) { to[i] = x; });
  }
}

}  // namespace foxhunt::kernels
