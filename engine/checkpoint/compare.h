// Two safetensors files side by side, tensor by tensor.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/checkpoint/safetensors.h"

namespace foxhunt {

// Change from a to b. Equal elements differ by 0, also two infinite ones of one sign and two NaNs; a NaN against a
// number makes all three measures NaN.
struct TensorDifference {
  std::string name;
  bool identical = false;  // same type and bits
  double max_abs = 0;      // largest |b - a|
  double relative_l2 = 0;  // ||b - a|| / ||a||; infinite when a is zero and b is not
  double cosine = 1;       // of a and b as vectors; 1 when both are zero, 0 when one is
  std::uint64_t values = 0;
  std::uint64_t sign_changes = 0;  // values that went from one side of zero to the other
};

struct ReshapedTensor {
  std::string name;
  std::vector<std::uint64_t> shape_a, shape_b;
};

struct FileComparison {
  bool identical = false;                 // same tensors, types, shapes and bits; metadata is not looked at
  std::vector<std::string> missing;       // in a, not in b
  std::vector<std::string> extra;         // in b, not in a
  std::vector<ReshapedTensor> reshaped;   // in both with different shapes
  std::vector<TensorDifference> tensors;  // of equal shape, the most changed (by relative_l2) first
};

// Streams both files; memory does not grow with the tensors.
FileComparison compare_files(const SafetensorsFile& a, const SafetensorsFile& b);

// {identical, missing [name], extra [name], reshaped [{name, a, b}], tensors [{name, max_abs, relative_l2, cosine,
// sign_changes, values}]}
nlohmann::ordered_json to_json(const FileComparison& comparison);

}  // namespace foxhunt
