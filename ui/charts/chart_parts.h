// Pieces that every chart paints the same way.
#pragma once

#include <QColor>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <vector>

class QPainter;

namespace foxhunt::ui {

// Distances that all charts share, in logical pixels: margins at the side and at the top, a row of title or legend, the
// labels below the x axis.
inline constexpr double chart_side = 10, chart_top = 6, chart_row = 17, chart_axis_height = 20;

// Shapes tell series apart without colour: circle, square, triangle, diamond; filled, and hollow from the fifth on.
void drawSeriesShape(QPainter& painter, const QPointF& at, double radius, int index, const QColor& color);

// Width of a text in Theme::small_font, in logical pixels. Kept, because measuring costs as much as drawing.
double smallWidth(const QString& text);
// One line of text in Theme::small_font and the painter's pen, laid out once and kept.
void drawSmallText(QPainter& painter, const QRectF& box, Qt::Alignment alignment, const QString& text);

struct ValueBoxRow {
  QColor color;
  QString name, text;
};

// The values at a crosshair: a box beside x inside `plot`, on its left where there is no room before `right_limit`.
// Rows that do not fit are counted in a last line.
void drawValueBox(QPainter& painter, const QRectF& plot, double x, double right_limit, const QString& head,
                  const std::vector<ValueBoxRow>& rows);

}  // namespace foxhunt::ui
