// Spans of a curve and their rasterisation.
#include "ui/charts/column_raster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

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

// `parts` of 256 of a premultiplied colour over a premultiplied pixel.
inline QRgb over(QRgb below, QRgb color, unsigned parts) {
  const unsigned keep = 255 - ((qAlpha(color) * parts) >> 8);
  const auto channel = [parts, keep](int top, int bottom) {
    return static_cast<int>(((static_cast<unsigned>(top) * parts) >> 8) +
                            (static_cast<unsigned>(bottom) * keep + 127) / 255);
  };
  return qRgba(channel(qRed(color), qRed(below)), channel(qGreen(color), qGreen(below)),
               channel(qBlue(color), qBlue(below)), channel(qAlpha(color), qAlpha(below)));
}

// Rows are filled for sixteen neighbouring columns at once, one cache line of pixels: column by column every pixel
// would touch another line. Four pixels a vector, which every x86-64 has.
constexpr std::size_t lanes = 16, vector_lanes = 4;
typedef std::int32_t Rows __attribute__((vector_size(16)));
typedef std::uint32_t Pixels __attribute__((vector_size(16)));
typedef std::uint16_t Halves __attribute__((vector_size(16)));

// Rows that each of the columns covers whole: [first, end); top and bottom bound them all.
struct Strip {
  std::array<std::int32_t, lanes> first, end;
  int top = std::numeric_limits<int>::max(), bottom = 0;
};

// What remains of two channels of each pixel under a colour of alpha 255 - keep, rounded.
inline Pixels kept(Pixels channels, std::uint16_t keep) {
  Halves product = reinterpret_cast<Halves>(channels) * keep + std::uint16_t{128};
  product = (product + (product >> 8)) >> 8;
  return reinterpret_cast<Pixels>(product);
}

void fillStrip(QRgb* pixels, std::size_t stride, const Strip& strip, QRgb ink) {
  const auto keep = static_cast<std::uint16_t>(255 - qAlpha(ink));
  const Pixels color = Pixels{} + ink;
  constexpr std::uint32_t pairs = 0x00ff00ff;
  for (int row = strip.top; row < strip.bottom; ++row) {
    QRgb* at = pixels + static_cast<std::size_t>(row) * stride;
    for (std::size_t lane = 0; lane < lanes; lane += vector_lanes) {
      Rows first, end;
      Pixels below;
      std::memcpy(&first, &strip.first[lane], sizeof first);
      std::memcpy(&end, &strip.end[lane], sizeof end);
      std::memcpy(&below, at + lane, sizeof below);
      const Pixels inside = reinterpret_cast<Pixels>((first <= row) & (end > row));
      Pixels drawn = color;
      if (keep > 0) drawn += kept(below & pairs, keep) | (kept((below >> 8) & pairs, keep) << 8);
      below = (drawn & inside) | (below & ~inside);
      std::memcpy(at + lane, &below, sizeof below);
    }
  }
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
                 const Neighbour& after, std::vector<ColumnSpan>& out, std::size_t from) {
  if (out.size() != columns.size()) from = 0;
  out.resize(columns.size());
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(std::min(from, out.size())), out.end(), ColumnSpan{});
  if (columns.empty()) return;
  const auto drawable = [&y](double value) { return !y.log() || value > 0; };
  std::size_t previous = std::min(from, columns.size());
  while (previous > 0 && columns[previous - 1].count == 0) --previous;
  bool joined = false;
  double last_x = 0, last_y = 0;
  const auto join = [&](bool gap, double at, double value) {
    joined = !gap && drawable(value);
    if (!joined) return;
    last_x = x.pixel(at);
    last_y = y.pixel(value);
  };
  if (previous > 0) {
    const PixelColumn& column = columns[previous - 1];
    join(column.trailing_gap, column.x_last, column.last);
  } else if (before) {
    join(false, before->first, before->second);
  }
  for (std::size_t k = from; k < columns.size(); ++k) {
    const PixelColumn& column = columns[k];
    if (column.count == 0) continue;
    if (joined && !column.leading_gap && drawable(column.first)) {
      includeSegment(out, last_x, last_y, x.pixel(column.x_first), y.pixel(column.first));
    }
    if ((y.log() ? column.positive() : column.finite()) > 0) {
      out[k].include(y.pixel(column.max));
      out[k].include(y.pixel(y.log() ? column.min_positive : column.min));
    }
    join(column.trailing_gap, column.x_last, column.last);
  }
  if (joined && after && drawable(after->second)) {
    includeSegment(out, last_x, last_y, x.pixel(after->first), y.pixel(after->second));
  }
}

void drawSpans(QImage& image, std::span<const ColumnSpan> spans, const QColor& color, float thickness,
               std::size_t from) {
  const QRgb ink = qPremultiply(color.rgba());
  const auto stride = static_cast<std::size_t>(image.bytesPerLine()) / sizeof(QRgb);
  auto* pixels = reinterpret_cast<QRgb*>(image.bits());
  const auto height = static_cast<float>(image.height());
  const std::size_t width = std::min(spans.size(), static_cast<std::size_t>(image.width()));
  const auto blend = [&](std::size_t column, int row, float covered) {
    if (row < 0 || row >= image.height()) return;
    QRgb& pixel = pixels[static_cast<std::size_t>(row) * stride + column];
    pixel = over(pixel, ink, static_cast<unsigned>(covered * 256.0f + 0.5f));
  };
  for (std::size_t start = from; start < width; start += lanes) {
    Strip strip;
    strip.first.fill(0);
    strip.end.fill(0);
    const std::size_t count = std::min(lanes, width - start);
    for (std::size_t lane = 0; lane < count; ++lane) {
      const ColumnSpan& span = spans[start + lane];
      if (!span.drawn()) continue;
      const float grow = thickness / 2;
      const float top = std::max(0.0f, span.top - grow), bottom = std::min(height, span.bottom + grow);
      if (top >= bottom) continue;
      const auto first = static_cast<int>(std::ceil(top)), end = static_cast<int>(bottom);
      if (first > end) {  // within one row
        blend(start + lane, end, bottom - top);
        continue;
      }
      if (top < static_cast<float>(first)) blend(start + lane, first - 1, static_cast<float>(first) - top);
      if (bottom > static_cast<float>(end)) blend(start + lane, end, bottom - static_cast<float>(end));
      if (first == end) continue;
      strip.first[lane] = first;
      strip.end[lane] = end;
      strip.top = std::min(strip.top, first);
      strip.bottom = std::max(strip.bottom, end);
    }
    if (strip.top >= strip.bottom) continue;
    if (count == lanes) {
      fillStrip(pixels + start, stride, strip, ink);
      continue;
    }
    for (std::size_t lane = 0; lane < count; ++lane) {
      for (int row = strip.first[lane]; row < strip.end[lane]; ++row) blend(start + lane, row, 1);
    }
  }
}

}  // namespace foxhunt::ui
