// Candles and lanes beneath them over one x axis of bars and one crosshair: market, position, reward.
//
// Every bar counts at any zoom: where bars are closer than a candle is wide, a candle stands for a fixed number of them
// with their exact extremes, and every pixel column of a lane spans all its bars. Bars are equally far apart, so that
// closed markets take no room; the axis says the dates.
#pragma once

#include <QImage>
#include <QWidget>
#include <functional>
#include <optional>
#include <utility>

#include "ui/charts/chart_parts.h"
#include "ui/charts/lane_content.h"
#include "ui/charts/ticks.h"

namespace foxhunt::ui {

// A stretch of bars to be seen: a trade from its entry to its exit.
struct LaneHighlight {
  std::size_t begin = 0, end = 0;  // first bar, and the last one
  double from = 0, to = 0;         // prices
  bool gain = true;
};

class LaneChart : public QWidget {
  Q_OBJECT
 public:
  using Content = std::shared_ptr<const LaneContent>;
  // More rows of the value box for a bar.
  using Details = std::function<std::vector<ValueBoxRow>(std::size_t)>;

  explicit LaneChart(const QString& title, QWidget* parent = nullptr);

  void setTitle(const QString& title);
  const QString& title() const { return title_; }
  // Muted text at the right of the title, before what the chart itself says there.
  void setBadge(const QString& badge);
  QString badge() const;  // all of it
  void setEmptyText(const QString& text);
  // Null: nothing. The range in view stays where it is when `keep_view` and the number of bars is the same.
  void setContent(Content content, bool keep_view = false);
  const Content& content() const { return content_; }
  void setDetails(Details details) { details_ = std::move(details); }
  void setHighlight(const std::optional<LaneHighlight>& highlight);
  const std::optional<LaneHighlight>& highlight() const { return highlight_; }

  // Bars in view, as positions: bar i takes [i, i + 1).
  std::pair<double, double> view() const { return {x0_, x1_}; }
  // Clamped to the bars, at least least_bars of them.
  void setView(double x0, double x1);
  void zoomTo(double x0, double x1);  // the same, with the range before kept for undo()
  void fit();
  bool undo();
  static constexpr double least_bars = 5;
  // Bars that one candle stands for at present.
  std::size_t candleBars() const;
  void setLaneVisible(int lane, bool visible);
  bool laneVisible(int lane) const { return !hidden_.contains(lane); }
  void setCrosshair(std::optional<std::size_t> bar);
  std::optional<std::size_t> crosshair() const { return crosshair_; }
  // Header and rows of the value box.
  std::pair<QString, std::vector<ValueBoxRow>> valuesAt(std::size_t bar) const;

  // Logical pixels. The plot is all lanes; lane -1 is that of the candles; null where it has no room or is hidden.
  QRectF plotRect() const { return layout_.plot; }
  QRectF laneRect(int lane) const;
  double pixelOf(double position) const;
  double positionAt(double pixel) const;
  double priceAt(double pixel) const;  // of the candles' lane
  double pricePixel(double price) const;

  // The chart in words.
  QString summary() const;
  // By suffix: .png, .svg, .pdf, or .csv of all bars. Throws Error when it cannot be written.
  void exportTo(const QString& path);

  QSize sizeHint() const override { return {480, 320}; }
  QSize minimumSizeHint() const override { return {200, 110}; }

 Q_SIGNALS:
  void viewChanged();
  void barClicked(quint64 bar);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  struct Scale {
    double low = 0, high = 1;
    std::vector<Tick> ticks;
  };
  struct Layout {
    QRectF plot, price, strip;
    std::vector<QRectF> lanes;  // null: no room, or hidden
    int without_room = 0;
    Scale price_scale;
    std::vector<Scale> scales;
  };
  enum class Drag { none, press, pan, range };

  void writeCsv(const QString& path) const;

  void invalidate();
  void describe();
  std::size_t firstBar() const;
  std::size_t endBar() const;
  Layout layoutFor(const QSizeF& size) const;
  Scale scaleOf(BlockExtremes::Found found, double height, bool with_zero, double padding) const;
  double yPixel(const QRectF& lane, const Scale& scale, double value) const;
  void remember(const char* gesture);
  void zoom(double factor, double around);
  // lane_chart_paint.cpp; by layout_
  void paintAll(QPainter& painter, const QSizeF& size) const;
  void paintHeader(QPainter& painter, const QSizeF& size) const;
  void paintScale(QPainter& painter, const QRectF& lane, const Scale& scale) const;
  void paintTimes(QPainter& painter, double width) const;
  void paintName(QPainter& painter, const QRectF& lane, const QString& name,
                 const std::vector<ValueBoxRow>& keys) const;
  void paintNames(QPainter& painter) const;
  void paintHighlight(QPainter& painter) const;
  void paintCandles(QPainter& painter) const;
  void paintMarkers(QPainter& painter) const;
  void paintStrip(QPainter& painter) const;
  void paintBars(QPainter& painter, std::size_t lane) const;
  void paintLine(QPainter& painter, std::size_t lane) const;
  void paintCrosshair(QPainter& painter) const;
  // Bars that touch a pixel column of the plot.
  std::pair<std::size_t, std::size_t> columnBars(int column) const;
  double barWidth() const { return layout_.plot.width() / (x1_ - x0_); }

  QString title_, badge_, empty_;
  Content content_;
  Details details_;
  std::optional<LaneHighlight> highlight_;
  QList<int> hidden_;
  double x0_ = 0, x1_ = 1;
  std::vector<std::pair<double, double>> past_;
  const char* last_gesture_ = nullptr;
  qint64 last_time_ = 0;
  Drag drag_ = Drag::none;
  QPointF drag_from_, drag_at_;
  double drag_x0_ = 0, drag_x1_ = 1;
  std::optional<std::size_t> crosshair_;
  std::optional<QPointF> pointer_;
  Layout layout_;
  QImage image_;
  bool stale_ = true;
};

}  // namespace foxhunt::ui
