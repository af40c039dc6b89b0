// Where the noisy output layers lie in the arena, and how their effective weights are laid out for one batched product.
#pragma once

#include "kernels/control.h"

namespace foxhunt::kernels {

inline constexpr int kMaxLayers = kMaxBranches + 1;  // value, then the branches

// Layer l has outputs[l] rows of `hidden` inputs; `wide` is the largest number of outputs: effective weights are [layers, wide, hidden],
// rows past outputs[l] stay zero.
struct NoisyLayers {
  int32_t count, hidden, wide;
  int32_t outputs[kMaxLayers];
  int64_t weight[kMaxLayers], bias[kMaxLayers], weight_sigma[kMaxLayers], bias_sigma[kMaxLayers];  // arena offsets
};

// Variable selection's first layers, laid out for one product: dense [groups x vsn_hidden, state] with the groups on the diagonal.
inline constexpr int kMaxGroups = 16, kMaxExperts = 64;
struct SelectionLayers {
  int32_t groups, hidden, state;
  int32_t first[kMaxGroups], width[kMaxGroups];  // columns of the state
  int64_t weight[kMaxGroups];                    // arena offsets of [hidden, width]
};

}  // namespace foxhunt::kernels
