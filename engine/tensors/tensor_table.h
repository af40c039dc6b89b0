// The one table of the network's tensors. Offsets, optimiser, target average, resets, checkpoint, norms, inspector and
// layout fingerprint are derived from it; a new head adds rows here and nothing else has to know.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/learner_config.h"

namespace foxhunt {

enum class Initialiser { zeros, ones, xavier_uniform, noisy_sigma };

struct TensorSpec {
  std::string name;        // as in a checkpoint
  std::vector<int> shape;  // one or two dimensions, row-major
  Initialiser initialiser = Initialiser::zeros;
  int fan_in = 0;           // of noisy_sigma
  bool decays = false;      // AdamW's decay: 2-D tensors
  int spectral = -1;        // place in the spectral list, or -1
  std::string group;        // vsn, grn1, grn2, moe, value, <branch>..., iqn, iql, aux: gradient norms
  std::int64_t offset = 0;  // floats from the arena's start
  std::int64_t size = 0;    // floats
};

// Tensors in checkpoint order; offsets follow the arena's own order, in which the rows of one fused product lie
// together.
class TensorTable {
 public:
  explicit TensorTable(const LearnerConfig& config);

  std::span<const TensorSpec> tensors() const { return tensors_; }
  const TensorSpec& at(std::string_view name) const;  // Error naming it when there is none
  std::int64_t offset(std::string_view name) const { return at(name).offset; }
  std::int64_t arena_size() const { return arena_size_; }  // floats, padding included; a multiple of 64
  std::span<const std::string> groups() const { return groups_; }
  std::span<const int> spectral() const { return spectral_; }  // indices of tensors(), in the spectral list's order
  std::uint64_t fingerprint() const { return fingerprint_; }   // of names and shapes

 private:
  void place(const std::vector<std::string>& fused);

  std::vector<TensorSpec> tensors_;
  std::vector<std::string> groups_;
  std::vector<int> spectral_;
  std::int64_t arena_size_ = 0;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace foxhunt
