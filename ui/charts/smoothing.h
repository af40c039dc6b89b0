// A smoothed copy of a series, computed from every sample and kept up as samples arrive.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <set>

#include "ui/charts/minmax_pyramid.h"

namespace foxhunt::ui {

enum class SmoothingKind { none, ema, mean, median };

// ema: amount is the weight of the past in [0, 1), debiased as value / (1 - amount^n).
// mean, median: amount is the length of the trailing window in finite samples, at least 1.
// A sample that is not finite stays as it is and does not enter the average.
struct Smoothing {
  SmoothingKind kind = SmoothingKind::none;
  double amount = 0;
  bool operator==(const Smoothing&) const = default;
};

class SmoothedSeries {
 public:
  // Throws Error when the amount is out of range for the kind.
  SmoothedSeries(std::shared_ptr<const MinMaxPyramid> source, Smoothing smoothing);

  // Takes in at most `samples` new samples; true while some are left. Starts over when the source was cleared.
  bool advance(std::size_t samples);
  // True while source samples wait for advance().
  bool pending() const { return done_ != source_->size(); }
  const MinMaxPyramid& result() const { return result_; }
  const Smoothing& smoothing() const { return smoothing_; }

 private:
  double step(double y);
  double step_median(double y);
  void restart();

  std::shared_ptr<const MinMaxPyramid> source_;
  Smoothing smoothing_;
  MinMaxPyramid result_;
  std::size_t done_ = 0;
  double ema_ = 0, past_ = 1, sum_ = 0;  // past_: amount^n
  std::deque<double> window_;
  std::multiset<double> low_, high_;  // halves of the window: low_ holds as many as high_ or one more
};

}  // namespace foxhunt::ui
