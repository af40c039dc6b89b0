// Everything measured for one drawing of a curve chart at one size and range.
#pragma once

#include <QRectF>
#include <QSizeF>
#include <optional>
#include <utility>
#include <vector>

#include "ui/charts/chart_types.h"
#include "ui/charts/column_raster.h"
#include "ui/charts/minmax_pyramid.h"
#include "ui/charts/ticks.h"

namespace foxhunt::ui {

// One curve's columns and spans, with how far the data had come when they were computed.
struct CurveColumns {
  std::vector<PixelColumn> columns;
  std::vector<ColumnSpan> spans;
  Neighbour before, after;
  std::size_t samples = 0;  // of the whole series
  std::size_t in_view = 0;
  double last_x = 0;
  std::size_t changed = 0;  // first column that the newest samples changed; as many as there are columns: none
};

struct CurveFrame {
  QSizeF size;  // logical pixels, as all rectangles
  double dpr = 1;
  double gutter = 52;               // width left of the plot; the same in all charts unless labels need more
  QRectF title, badge, lane, plot;  // lane: the strip above the plot for labels of events and marks
  std::vector<QRectF> legend;       // one a series; null where there was no room
  QRectF more;                      // "+3" where entries did not fit; they take no clicks
  int hidden_entries = 0;

  double x0 = 0, x1 = 1;  // steps
  XMap x;                 // device pixels
  YMap y;
  std::vector<double> edges;  // steps at the edges of the device-pixel columns
  std::vector<Tick> x_ticks, y_ticks;
  std::vector<CurveColumns> raw, smooth;  // one a series; empty for hidden ones and where nothing is smoothed
  std::vector<ChartMark> marks;
  std::optional<std::pair<double, double>> extent;  // of what the columns hold and the y axis can show
  bool has_positive = true;                         // false: nothing can be drawn on the log axis
  bool has_samples = false;
  QString badge_text;

  // Widget coordinates.
  double xPixel(double step) const { return plot.left() + x.pixel(step) / dpr; }
  double yPixel(double value) const { return plot.top() + y.pixel(value) / dpr; }
};

}  // namespace foxhunt::ui
