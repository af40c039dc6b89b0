// Rows as numbers, and buckets of rows.
#include "engine/telemetry/telemetry_sink.h"

#include <cmath>
#include <limits>

#include "engine/base/error.h"

namespace foxhunt::telemetry {

void word_values(const StepRecord& record, std::span<double> out) {
  FH_CHECK(out.size() == kernels::kStepWords, "{} values of a step record", out.size());
  for (int w = 0; w < kernels::kStepWords; ++w) out[w] = word_value(record, w);
}

void word_values(const HealthDiag& health, std::span<double> out) {
  FH_CHECK(out.size() == kernels::kHealthWords, "{} values of a snapshot", out.size());
  for (int w = 0; w < kernels::kHealthWords; ++w) out[w] = word_value(health, w);
}

StepBucket make_bucket(double wall, std::span<const StepRow> rows) {
  FH_CHECK(!rows.empty(), "an empty bucket");
  StepBucket bucket;
  bucket.wall = wall;
  bucket.first_step = rows.front().record.step;
  bucket.last_step = rows.back().record.step;
  bucket.count = static_cast<std::uint32_t>(rows.size());
  for (int w = 0; w < kernels::kStepWords; ++w) {
    double sum = 0, low = std::numeric_limits<double>::infinity(), high = -low;
    std::uint32_t finite = 0;
    for (const StepRow& row : rows) {
      const double value = word_value(row.record, w);
      if (!std::isfinite(value)) continue;
      sum += value;
      low = std::min(low, value);
      high = std::max(high, value);
      ++finite;
    }
    bucket.not_finite[w] = bucket.count - finite;
    const double none = std::numeric_limits<double>::quiet_NaN();
    bucket.mean[w] = finite ? sum / finite : none;
    bucket.min[w] = finite ? low : none;
    bucket.max[w] = finite ? high : none;
  }
  return bucket;
}

}  // namespace foxhunt::telemetry
