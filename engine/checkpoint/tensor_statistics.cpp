// Mean and squared deviations piece by piece (Chan, Golub and LeVeque 1979), so that large means lose nothing.
#include "engine/checkpoint/tensor_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/json_number.h"

namespace foxhunt {
namespace {

// Calls use(first, values) with the decoded pieces.
template <class Use>
void visit_values(const SafetensorsFile& file, const TensorInfo& tensor, Use use) {
  const std::uint32_t parts = dtype_parts(tensor.dtype);
  std::vector<double> values;
  file.visit(tensor, [&](std::uint64_t first, std::span<const std::byte> bytes, std::uint64_t elements) {
    values.resize(elements * parts);
    decode_elements(tensor.dtype, bytes.data(), elements, values.data());
    use(first * parts, std::span<const double>(values));
  });
}

class Moments {
 public:
  void add(std::span<const double> values) {
    double count = 0, sum = 0;
    for (const double x : values) {
      if (!std::isfinite(x)) continue;
      ++count;
      sum += x;
      squares_ += x * x;
      min_ = std::min(min_, x);
      max_ = std::max(max_, x);
    }
    if (count == 0) return;
    const double mean = sum / count;
    double deviations = 0;
    for (const double x : values) {
      if (std::isfinite(x)) deviations += (x - mean) * (x - mean);
    }
    const double total = count_ + count;
    deviations_ += deviations + (mean - mean_) * (mean - mean_) * count_ * count / total;
    mean_ += (mean - mean_) * count / total;
    count_ = total;
  }

  void finish(TensorStatistics& out) const {
    const bool any = count_ > 0;
    out.min = any ? min_ : std::nan("");
    out.max = any ? max_ : std::nan("");
    out.mean = any ? mean_ : std::nan("");
    out.std = any ? std::sqrt(deviations_ / count_) : std::nan("");
    out.norm = std::sqrt(squares_);
  }

 private:
  double count_ = 0, mean_ = 0, deviations_ = 0, squares_ = 0;
  double min_ = std::numeric_limits<double>::infinity(), max_ = -std::numeric_limits<double>::infinity();
};

}  // namespace

TensorStatistics tensor_statistics(const SafetensorsFile& file, const TensorInfo& tensor) {
  TensorStatistics out{};
  Moments moments;
  const bool matrix = tensor.shape.size() == 2 && tensor.shape[1] > 0;
  const std::uint64_t width = matrix ? tensor.shape[1] * dtype_parts(tensor.dtype) : 0;
  std::uint64_t column = 0;
  bool alive = false;
  visit_values(file, tensor, [&](std::uint64_t, std::span<const double> values) {
    moments.add(values);
    out.values += values.size();
    for (const double x : values) {
      out.zeros += x == 0;
      out.nan += std::isnan(x);
      out.inf += std::isinf(x);
      if (!matrix) continue;
      alive |= x != 0;
      if (++column == width) {
        out.dead_units += !alive;
        column = 0;
        alive = false;
      }
    }
  });
  moments.finish(out);
  return out;
}

std::vector<std::uint64_t> tensor_histogram(const SafetensorsFile& file, const TensorInfo& tensor, int bins, double low,
                                            double high) {
  FH_CHECK(bins > 0 && std::isfinite(low) && std::isfinite(high) && low <= high, "a histogram of {} bins from {} to {}",
           bins, low, high);
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(bins));
  const double scale = high > low ? bins / (high - low) : 0;
  visit_values(file, tensor, [&](std::uint64_t, std::span<const double> values) {
    for (const double x : values) {
      if (!std::isfinite(x)) continue;
      ++counts[static_cast<std::size_t>(std::clamp((x - low) * scale, 0.0, bins - 1.0))];
    }
  });
  return counts;
}

nlohmann::ordered_json inspect_document(const SafetensorsFile& file, std::string_view only) {
  nlohmann::ordered_json document;
  document["metadata"] = nlohmann::ordered_json::object();
  for (const auto& [key, value] : file.metadata()) document["metadata"][key] = value;
  document["tensors"] = nlohmann::ordered_json::array();
  if (!only.empty()) file.at(only);  // says so when it is absent
  for (const TensorInfo& tensor : file.tensors()) {
    if (!only.empty() && tensor.name != only) continue;
    const TensorStatistics s = tensor_statistics(file, tensor);
    nlohmann::ordered_json row;
    row["name"] = tensor.name;
    row["dtype"] = dtype_name(tensor.dtype);
    row["shape"] = tensor.shape;
    row["bytes"] = tensor.bytes();
    for (const auto& [name, value] :
         {std::pair("min", s.min), {"max", s.max}, {"mean", s.mean}, {"std", s.std}, {"norm", s.norm}}) {
      row[name] = json_number(value);
    }
    for (const auto& [name, value] :
         {std::pair("zeros", s.zeros), {"nan", s.nan}, {"inf", s.inf}, {"dead_units", s.dead_units}}) {
      row[name] = value;
    }
    document["tensors"].push_back(std::move(row));
  }
  return document;
}

}  // namespace foxhunt
