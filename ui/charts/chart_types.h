// Plain structs that charts take and give.
#pragma once

#include <QColor>
#include <QString>
#include <cstdint>
#include <limits>
#include <optional>

#include "ui/theme.h"

namespace foxhunt::ui {

// No value: a gap in a curve, a dash in a table.
inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// How a series is named and explained. Unit and meaning come from the signal tables.
struct SeriesInfo {
  QString name;
  QString unit;          // empty: dimensionless
  QString meaning;       // one sentence for the tooltip
  int color_index = -1;  // index into Theme::series; -1: the next free one
};

// A vertical line with a label; detail is shown on hover.
struct EventLine {
  double x = 0;  // step
  EventKind kind = EventKind::note;
  QString label;
  QString detail;
};

// A horizontal line. A draggable one sets a value by mouse. A mirrored one is of an absolute value: it stands at -value
// too.
struct Threshold {
  double value = 0;
  QString label;
  bool draggable = true;
  bool mirrored = false;
};

// The x range in view, in steps. In Follow mode the newest sample stays in view: span > 0 keeps that many steps
// before it, 0 keeps everything.
struct XView {
  double x0 = 0, x1 = 1;
  bool follow = true;
  double span = 0;
  bool operator==(const XView&) const = default;
};

struct YView {
  bool automatic = true;
  double low = 0, high = 1;  // used when not automatic
  bool operator==(const YView&) const = default;
};

enum class MarkKind { nan, non_positive, plus_inf, minus_inf, clipped_high, clipped_low };

// Something that a curve cannot show where it happened: drawn as a tick at the edge of the plot.
struct ChartMark {
  MarkKind kind = MarkKind::nan;
  int series = 0;
  int column = 0;           // device pixel column of the plot
  std::uint32_t count = 0;  // samples; for clipped marks, those of the column
  bool operator==(const ChartMark&) const = default;
};

// One line of the value table at the crosshair.
struct ValueRow {
  QString chart, series, unit;
  QColor color;
  double value = 0;         // last finite value in the pixel column, or of the nearest sample; NaN when there is none
  double min = 0, max = 0;  // over the pixel column
  std::uint64_t count = 0;  // samples in the pixel column
};

enum class ExportExtent { seen, all };

}  // namespace foxhunt::ui
