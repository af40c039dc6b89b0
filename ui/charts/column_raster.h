// From pixel columns to what is drawn of them: one vertical span a device-pixel column, antialiased at its ends.
#pragma once

#include <QColor>
#include <QImage>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ui/charts/minmax_pyramid.h"
#include "ui/charts/x_scale.h"

namespace foxhunt::ui {

// Steps to device pixels, left edge of the plot at 0. A null scale is the identity.
struct XMap {
  const XScale* scale = nullptr;
  double low = 0, high = 1;  // display values at pixel 0 and `width`
  int width = 1;
  double pixel(double x) const { return ((scale ? scale->toDisplay(x) : x) - low) / (high - low) * width; }
  double step(double pixel) const {
    const double display = low + (high - low) * pixel / width;
    return scale ? scale->fromDisplay(display) : display;
  }
};

// Values to device pixels, top of the plot at 0. On a log axis low and high are > 0.
class YMap {
 public:
  void set(double from, double to, bool logarithmic);
  double low() const { return low_; }
  double high() const { return high_; }
  bool log() const { return log_; }
  double pixel(double value) const;
  double value(double pixel) const;

  int height = 1;

 private:
  double low_ = 0, high_ = 1;
  bool log_ = false;
  double origin_ = 0, scale_ = 1;  // part of the height = (value or its logarithm - origin) * scale
};

// Device pixels; nothing is drawn where top > bottom.
struct ColumnSpan {
  float top = 1e30f, bottom = -1e30f;
  bool drawn() const { return top <= bottom; }
  void include(double y) {
    const auto v = static_cast<float>(y);
    if (v < top) top = v;
    if (v > bottom) bottom = v;
  }
};

// A sample outside the view to which the curve runs on; empty when it is not finite or there is none.
using Neighbour = std::optional<std::pair<double, double>>;

// Every column spans the values it holds and the straight line between neighbouring samples across its edges.
// Non-finite samples, and on a log axis those <= 0, break the line. Columns before `from` are taken as they stand in
// `out`, where nothing changed for them.
void columnSpans(std::span<const PixelColumn> columns, const XMap& x, const YMap& y, const Neighbour& before,
                 const Neighbour& after, std::vector<ColumnSpan>& out, std::size_t from = 0);

// Paints spans into a premultiplied image of the plot's size. thickness in device pixels is the least height;
// columns before `from` are left alone.
void drawSpans(QImage& image, std::span<const ColumnSpan> spans, const QColor& color, float thickness,
               std::size_t from = 0);

}  // namespace foxhunt::ui
