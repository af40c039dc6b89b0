// Both files are read in pieces of the same elements; sums are kept in double.
#include "engine/checkpoint/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/base/error.h"
#include "engine/base/json_number.h"

namespace foxhunt {
namespace {

struct Sums {
  double squares_a = 0, squares_b = 0, squares_difference = 0, product = 0;
  bool nan = false;
};

void add_pair(double a, double b, bool equal, TensorDifference& out, Sums& sums) {
  ++out.values;
  if (equal) {
    if (!std::isfinite(a)) return;
    sums.squares_a += a * a;
    sums.squares_b += b * b;
    sums.product += a * b;
    return;
  }
  const double difference = b - a;
  if (std::isnan(difference)) {
    sums.nan = true;
    return;
  }
  out.max_abs = std::max(out.max_abs, std::abs(difference));
  out.sign_changes += (a < 0 && b > 0) || (a > 0 && b < 0);
  sums.squares_a += a * a;
  sums.squares_b += b * b;
  sums.squares_difference += difference * difference;
  sums.product += a * b;
}

TensorDifference compare_tensor(const SafetensorsFile& file_a, const TensorInfo& a, const SafetensorsFile& file_b,
                                const TensorInfo& b) {
  TensorDifference out;
  out.name = a.name;
  out.identical = a.dtype == b.dtype;
  Sums sums;
  std::vector<std::byte> bytes_b;
  const std::uint32_t parts_a = dtype_parts(a.dtype), parts_b = dtype_parts(b.dtype);
  std::vector<double> values_a, values_b;
  file_a.visit(a, [&](std::uint64_t first, std::span<const std::byte> bytes, std::uint64_t elements) {
    bytes_b.resize(elements * dtype_bits(b.dtype) / 8);
    file_b.read_part(b, first * dtype_bits(b.dtype) / 8, bytes_b.data(), bytes_b.size());
    const bool same = a.dtype == b.dtype && std::memcmp(bytes.data(), bytes_b.data(), bytes.size()) == 0;
    out.identical = out.identical && same;
    values_a.resize(elements * parts_a);
    values_b.resize(elements * parts_b);
    decode_elements(a.dtype, bytes.data(), elements, values_a.data());
    decode_elements(b.dtype, bytes_b.data(), elements, values_b.data());
    // A complex and a real tensor compare by their real parts and the imaginary part against 0.
    const std::uint32_t parts = std::max(parts_a, parts_b);
    for (std::uint64_t i = 0; i < elements * parts; ++i) {
      const double x = parts_a == parts ? values_a[i] : (i % 2 ? 0 : values_a[i / 2]);
      const double y = parts_b == parts ? values_b[i] : (i % 2 ? 0 : values_b[i / 2]);
      add_pair(x, y, same || x == y || (std::isnan(x) && std::isnan(y)), out, sums);
    }
  });
  if (sums.nan) {
    out.max_abs = out.relative_l2 = out.cosine = std::nan("");
    return out;
  }
  const double difference = std::sqrt(sums.squares_difference);
  out.relative_l2 = difference == 0 || std::isinf(difference) ? difference : difference / std::sqrt(sums.squares_a);
  const double norms = std::sqrt(sums.squares_a) * std::sqrt(sums.squares_b);
  out.cosine = norms > 0 ? std::clamp(sums.product / norms, -1.0, 1.0) : (sums.squares_a == sums.squares_b ? 1 : 0);
  if (difference == 0) out.cosine = 1;
  return out;
}

bool more_changed(const TensorDifference& a, const TensorDifference& b) {
  const auto key = [](const TensorDifference& d) {
    const double change = std::isnan(d.relative_l2) ? std::numeric_limits<double>::infinity() : d.relative_l2;
    return std::make_tuple(!std::isnan(d.relative_l2), -change, std::isnan(d.max_abs) ? 0 : -d.max_abs, d.name);
  };
  return key(a) < key(b);
}

}  // namespace

FileComparison compare_files(const SafetensorsFile& a, const SafetensorsFile& b) {
  FileComparison out;
  for (const TensorInfo& tensor : a.tensors()) {
    const TensorInfo* other = b.find(tensor.name);
    if (!other) {
      out.missing.push_back(tensor.name);
    } else if (other->shape != tensor.shape) {
      out.reshaped.push_back({tensor.name, tensor.shape, other->shape});
    } else {
      out.tensors.push_back(compare_tensor(a, tensor, b, *other));
    }
  }
  for (const TensorInfo& tensor : b.tensors()) {
    if (!a.find(tensor.name)) out.extra.push_back(tensor.name);
  }
  out.identical =
      out.missing.empty() && out.extra.empty() && out.reshaped.empty() &&
      std::all_of(out.tensors.begin(), out.tensors.end(), [](const TensorDifference& d) { return d.identical; });
  std::sort(out.tensors.begin(), out.tensors.end(), more_changed);
  return out;
}

nlohmann::ordered_json to_json(const FileComparison& comparison) {
  nlohmann::ordered_json document;
  document["identical"] = comparison.identical;
  document["missing"] = comparison.missing;
  document["extra"] = comparison.extra;
  document["reshaped"] = nlohmann::ordered_json::array();
  for (const ReshapedTensor& tensor : comparison.reshaped) {
    document["reshaped"].push_back({{"name", tensor.name}, {"a", tensor.shape_a}, {"b", tensor.shape_b}});
  }
  document["tensors"] = nlohmann::ordered_json::array();
  for (const TensorDifference& d : comparison.tensors) {
    document["tensors"].push_back({{"name", d.name},
                                   {"max_abs", json_number(d.max_abs)},
                                   {"relative_l2", json_number(d.relative_l2)},
                                   {"cosine", json_number(d.cosine)},
                                   {"sign_changes", d.sign_changes},
                                   {"values", d.values}});
  }
  return document;
}

}  // namespace foxhunt
