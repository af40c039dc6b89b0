// Debiased exponential average, trailing mean, trailing median.
#include "ui/charts/smoothing.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace foxhunt::ui {

SmoothedSeries::SmoothedSeries(std::shared_ptr<const MinMaxPyramid> source, Smoothing smoothing)
    : source_(std::move(source)), smoothing_(smoothing), result_(source_->budget()) {
  const bool ema = smoothing_.kind == SmoothingKind::ema;
  const bool good = ema ? smoothing_.amount >= 0 && smoothing_.amount < 1 : smoothing_.amount >= 1;
  if (smoothing_.kind == SmoothingKind::none || !good) {
    throw Error(fmt::format("smoothing amount {} is out of range: {}", smoothing_.amount,
                            ema ? "a weight in [0, 1)" : "a window of at least 1 sample"),
                {.field = "smoothing", .hint = "choose one of the amounts in the chart's menu"});
  }
}

void SmoothedSeries::restart() {
  result_.clear();
  done_ = 0;
  ema_ = sum_ = 0;
  past_ = 1;
  window_.clear();
  low_.clear();
  high_.clear();
}

bool SmoothedSeries::advance(std::size_t samples) {
  if (source_->size() < done_ || (done_ > 0 && source_->first_x() != result_.first_x())) restart();
  const std::size_t end = std::min(source_->size(), done_ + samples);
  source_->visit(done_, end, [this](double x, const Summary& run) {
    if (!result_.empty() && x < result_.last_x()) return;  // a bucket already taken in before it was coarsened
    if (run.count > 1) {
      result_.append(x, step(run.mean()));
    } else if (run.finite() == 1) {
      result_.append(x, step(run.first));
    } else {
      const double infinity = std::numeric_limits<double>::infinity();
      result_.append(x, run.nan > 0 ? std::nan("") : run.plus_inf > 0 ? infinity : -infinity);
    }
  });
  done_ = end;
  return done_ < source_->size();
}

double SmoothedSeries::step(double y) {
  if (!std::isfinite(y)) return y;
  if (smoothing_.kind == SmoothingKind::ema) {
    past_ *= smoothing_.amount;
    ema_ = smoothing_.amount * ema_ + (1 - smoothing_.amount) * y;
    return ema_ / (1 - past_);
  }
  if (smoothing_.kind == SmoothingKind::median) return step_median(y);
  const auto length = static_cast<std::size_t>(smoothing_.amount);
  window_.push_back(y);
  sum_ += y;
  double left = 0;
  if (window_.size() > length) {
    left = std::abs(window_.front());
    sum_ -= window_.front();
    window_.pop_front();
  }
  // The running sum drifts by rounding, and loses all digits where a value far above the others leaves the window.
  if (result_.size() % 65536 == 0 || left > 1e3 * std::abs(sum_)) {
    sum_ = 0;
    for (double value : window_) sum_ += value;
  }
  return sum_ / static_cast<double>(window_.size());
}

double SmoothedSeries::step_median(double y) {
  window_.push_back(y);
  if (low_.empty() || y <= *low_.rbegin()) {
    low_.insert(y);
  } else {
    high_.insert(y);
  }
  if (window_.size() > static_cast<std::size_t>(smoothing_.amount)) {
    const double oldest = window_.front();
    window_.pop_front();
    if (const auto it = low_.find(oldest); it != low_.end()) {
      low_.erase(it);
    } else {
      high_.erase(high_.find(oldest));
    }
  }
  while (low_.size() > high_.size() + 1) {
    high_.insert(*low_.rbegin());
    low_.erase(std::prev(low_.end()));
  }
  while (low_.size() < high_.size()) {
    low_.insert(*high_.begin());
    high_.erase(high_.begin());
  }
  return low_.size() > high_.size() ? *low_.rbegin() : (*low_.rbegin() + *high_.begin()) / 2;
}

}  // namespace foxhunt::ui
