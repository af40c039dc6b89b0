// What `inspect` and the window show of each tensor of a safetensors file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "engine/checkpoint/safetensors.h"

namespace foxhunt {

// Over the finite values alone; min to std are NaN where there is none. A complex element counts as two values.
struct TensorStatistics {
  double min, max, mean;
  double std;                // population: divided by n
  double norm;               // root of the sum of squares
  std::uint64_t values = 0;  // finite or not
  std::uint64_t zeros = 0, nan = 0, inf = 0;
  std::uint64_t dead_units = 0;  // rows of a matrix that are zero throughout
};

// Streams the tensor in pieces; memory does not grow with it.
TensorStatistics tensor_statistics(const SafetensorsFile& file, const TensorInfo& tensor);

// Counts of the finite values in `bins` equal bins over [low, high]; values outside count in the edge bins.
std::vector<std::uint64_t> tensor_histogram(const SafetensorsFile& file, const TensorInfo& tensor, int bins, double low,
                                            double high);

// {metadata, tensors [{name, dtype, shape, bytes, min, max, mean, std, norm, zeros, nan, inf, dead_units}]}; `only`:
// one tensor's name, or empty for all. Non-finite numbers are "nan", "inf", "-inf".
nlohmann::ordered_json inspect_document(const SafetensorsFile& file, std::string_view only = {});

}  // namespace foxhunt
