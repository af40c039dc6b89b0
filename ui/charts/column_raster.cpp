// Spans of a curve and their rasterisation.
#include "ui/charts/column_raster.h"

#include <algorithm>
#include <cmath>

namespace foxhunt::ui {
namespace {

// Beyond these a span leaves the plot anyway; keeps far values inside the range of int and float.
constexpr double far_away = 1e6;

void includeSegment(std::vector<ColumnSpan>& spans, double x0, double y0, double x1, double y1) {
  const auto width = static_cast<double>(spans.size());
  if (x1 < 0 || x0 > width) return;
  const double slope = x1 > x0 ? (y1 - y0) / (x1 - x0) : 0;
  const auto first = static_cast<std::size_t>(std::clamp(std::floor(x0), 0.0, width - 1));
  const auto last = static_cast<std::size_t>(std::clamp(std::floor(x1), 0.0, width - 1));
  for (std::size_t k = first; k <= last; ++k) {
    const double from = std::max(x0, static_cast<double>(k));
    const double to = std::min(x1, static_cast<double>(k + 1));
    if (to < from) continue;
    if (x1 > x0) {
      spans[k].include(y0 + slope * (from - x0));
      spans[k].include(y0 + slope * (to - x0));
    } else {
      spans[k].include(y0);
      spans[k].include(y1);
    }
  }
}

inline QRgb over(QRgb below, QRgb color, unsigned alpha) {  // color premultiplied, alpha 0..256 scales it
  const unsigned a = (qAlpha(color) * alpha) >> 8;
  const unsigned keep = 255 - a;
  const auto channel = [alpha, keep](int top, int bottom) {
    return ((static_cast<unsigned>(top) * alpha) >> 8) + (static_cast<unsigned>(bottom) * keep + 127) / 255;
  };
  return qRgba(static_cast<int>(channel(qRed(color), qRed(below))),
               static_cast<int>(channel(qGreen(color), qGreen(below))),
               static_cast<int>(channel(qBlue(color), qBlue(below))),
               static_cast<int>(a + (static_cast<unsigned>(qAlpha(below)) * keep + 127) / 255));
}

}  // namespace

void YMap::set(double from, double to, bool logarithmic) {
  low_ = from;
  high_ = to;
  log_ = logarithmic;
  origin_ = log_ ? std::log(low_) : low_;
  scale_ = 1 / ((log_ ? std::log(high_) : high_) - origin_);
}

double YMap::pixel(double value) const {
  const double part = ((log_ ? std::log(value) : value) - origin_) * scale_;
  return std::clamp((1 - part) * height, -far_away, far_away);
}

double YMap::value(double pixel) const {
  const double at = origin_ + (1 - pixel / height) / scale_;
  return log_ ? std::exp(at) : at;
}

void columnSpans(std::span<const PixelColumn> columns, const XMap& x, const YMap& y, const Neighbour& before,
                 const Neighbour& after, std::vector<ColumnSpan>& out) {
  out.assign(columns.size(), ColumnSpan{});
  if (columns.empty()) return;
  const auto drawable = [&y](double value) { return !y.log() || value > 0; };
  bool joined = before && drawable(before->second);
  double last_x = joined ? x.pixel(before->first) : 0, last_y = joined ? y.pixel(before->second) : 0;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const PixelColumn& column = columns[k];
    if (column.count == 0) continue;
    if (joined && !column.leading_gap && drawable(column.first)) {
      includeSegment(out, last_x, last_y, x.pixel(column.x_first), y.pixel(column.first));
    }
    if ((y.log() ? column.positive() : column.finite()) > 0) {
      out[k].include(y.pixel(column.max));
      out[k].include(y.pixel(y.log() ? column.min_positive : column.min));
    }
    joined = !column.trailing_gap && drawable(column.last);
    if (joined) {
      last_x = x.pixel(column.x_last);
      last_y = y.pixel(column.last);
    }
  }
  if (joined && after && drawable(after->second)) {
    includeSegment(out, last_x, last_y, x.pixel(after->first), y.pixel(after->second));
  }
}

void drawSpans(QImage& image, std::span<const ColumnSpan> spans, const QColor& color, float thickness) {
  const QRgb ink = qPremultiply(color.rgba());
  const bool opaque = qAlpha(ink) == 255;
  const auto stride = static_cast<std::size_t>(image.bytesPerLine()) / sizeof(QRgb);
  auto* pixels = reinterpret_cast<QRgb*>(image.bits());
  const auto height = static_cast<float>(image.height());
  const std::size_t width = std::min(spans.size(), static_cast<std::size_t>(image.width()));
  for (std::size_t k = 0; k < width; ++k) {
    if (!spans[k].drawn()) continue;
    const float grow = thickness / 2;
    const float top = std::max(0.0f, spans[k].top - grow), bottom = std::min(height, spans[k].bottom + grow);
    if (top >= bottom) continue;
    const auto first = static_cast<int>(top);
    const int last = std::min(static_cast<int>(std::ceil(bottom)) - 1, image.height() - 1);
    QRgb* pixel = pixels + static_cast<std::size_t>(first) * stride + k;
    for (int row = first; row <= last; ++row, pixel += stride) {
      const float covered = std::min(bottom, static_cast<float>(row + 1)) - std::max(top, static_cast<float>(row));
      const auto alpha = static_cast<unsigned>(covered * 256.0f + 0.5f);
      *pixel = opaque && alpha >= 256 ? ink : over(*pixel, ink, alpha);
    }
  }
}

}  // namespace foxhunt::ui
