// Live curves: many series over steps, each a min/max pyramid, drawn so that every sample counts.
//
// A chart repaints only when its data, its range or what it shows changed, and does nothing while hidden. Data is
// owned by whoever feeds it; refresh() looks for news and is what the frame clock calls. GUI thread only.
#pragma once

#include <QImage>
#include <QPixmap>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "ui/charts/chart_link.h"
#include "ui/charts/chart_types.h"
#include "ui/charts/curve_frame.h"
#include "ui/charts/minmax_pyramid.h"
#include "ui/charts/smoothing.h"
#include "ui/charts/x_scale.h"

class QMenu;

namespace foxhunt::ui {

class CurveChart : public QWidget, public LinkedChart {
  Q_OBJECT
 public:
  using Data = std::shared_ptr<const MinMaxPyramid>;

  explicit CurveChart(const QString& title, QWidget* parent = nullptr);
  ~CurveChart() override;

  // --- what is shown ---
  // Returns the series' index.
  int addSeries(const SeriesInfo& info, Data samples);
  void clearSeries();
  int seriesCount() const { return static_cast<int>(series_.size()); }
  bool seriesVisible(int series) const { return series_[static_cast<std::size_t>(series)].shown; }
  void setSeriesVisible(int series, bool shown);
  // Shows this series alone; a second call brings the others back.
  void isolateSeries(int series);
  const QString& title() const { return title_; }
  void setTitle(const QString& title);
  // Off where a dock's own title bar says it.
  void setTitleVisible(bool visible);
  // Unit on the y axis, and the run's name for exports.
  void setUnit(const QString& unit);
  void setRunName(const QString& name) { run_name_ = name; }
  // One that the user holds stays where the mouse is.
  void setThreshold(const std::optional<Threshold>& threshold);
  const std::optional<Threshold>& threshold() const { return threshold_; }
  // Events of this chart alone; those of the link are drawn too.
  void setEvents(std::vector<EventLine> events);

  // --- axes ---
  void setLogY(bool on);
  bool logY() const { return log_y_; }
  // Scales offered in the menu; the first is taken at once. Never empty.
  void setXScales(std::vector<std::shared_ptr<const XScale>> scales);
  void setXScale(std::size_t index);
  const XScale& xScale() const { return *scales_[scale_]; }
  // Throws Error when the amount is out of range.
  void setSmoothing(const Smoothing& smoothing);
  const Smoothing& smoothing() const { return smoothing_; }
  // Limits the automatic y range to the 1st to 99th percentile in view, estimated from up to 4,096 evenly spaced
  // samples a series; what lies beyond is marked at the edge.
  void setClipOutliers(bool on);
  bool clipOutliers() const { return clip_; }

  // --- range ---
  // Null gives the chart a link of its own again.
  void setLink(ChartLink* link);
  ChartLink& link() const { return *link_; }
  const XView& xView() const { return link_->view(); }
  bool following() const { return link_->view().follow; }
  void fit();
  void setRange(double x0, double x1);  // ends Follow
  void setYView(const YView& view);
  void zoomX(double factor, double around_x);
  void zoomY(double factor, double around_pixel);
  void pan(double fraction_x, double fraction_y);

  // Looks for new samples and repaints if there are any; does nothing while hidden.
  void refresh();

  // --- what was drawn, for tests, summaries and exports ---
  // Plot rectangle in widget coordinates, and maps between values and widget pixels.
  QRectF plotRect() const;
  double xToPixel(double x) const;
  double pixelToX(double pixel) const;
  double yToPixel(double value) const;
  double pixelToY(double pixel) const;
  const std::vector<ChartMark>& marks() const;
  QRectF legendRect(int series) const;
  QRectF followButtonRect() const;
  QString badge() const;
  // The chart in words.
  QString summary() const;
  // Times the content was drawn anew, and times it was blitted or drawn.
  int redraws() const { return redraws_; }
  int paints() const { return paints_; }

  // By suffix: .png, .svg, .pdf, .csv. Throws Error when the suffix is another or the file cannot be written.
  void exportTo(const QString& path, ExportExtent extent) const;
  // The menu that a right click opens; the caller owns it.
  QMenu* createMenu();

  // --- LinkedChart ---
  std::optional<std::pair<double, double>> dataRange() const override;
  std::vector<ValueRow> valuesAt(double x) const override;
  YView yView() const override { return y_view_; }
  void restoreYView(const YView& view) override;

  QSize sizeHint() const override { return {480, 280}; }
  QSize minimumSizeHint() const override { return {200, 120}; }

 Q_SIGNALS:
  // While the threshold line is dragged, and once it is let go.
  void thresholdChanged(double value);
  void thresholdCommitted(double value);
  void seriesVisibilityChanged(int series, bool shown);
  // Lets panels add entries before the menu opens.
  void menuOpening(QMenu* menu);

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Series {
    SeriesInfo info;
    Data data;
    std::unique_ptr<SmoothedSeries> smooth;
    bool shown = true;
    int color = 0;
    std::uint64_t seen = 0;  // version of the data that refresh() last saw
  };
  enum class Drag { none, press, pan, rectangle, threshold };

  // curve_chart_frame.cpp: layout, columns, axes and marks
  void ensureFrame() const;
  void buildFrame(CurveFrame& frame, const QSizeF& size, double dpr, double x0, double x1) const;
  void layOut(CurveFrame& frame) const;
  int layOutLegend(CurveFrame& frame, double left, double right, double widest) const;
  void placeX(CurveFrame& frame, double x0, double x1) const;
  // Returns the first column that changed.
  std::size_t fillColumns(CurveFrame& frame, bool only_new) const;
  void fillSeries(const MinMaxPyramid& samples, const CurveFrame& frame, bool only_new, CurveColumns& columns) const;
  bool chooseY(CurveFrame& frame, std::size_t from) const;
  std::optional<std::pair<double, double>> columnExtent(const CurveFrame& frame, std::size_t from) const;
  std::optional<std::pair<double, double>> percentiles(const CurveFrame& frame) const;
  void fillSpans(CurveFrame& frame, std::size_t from) const;
  // Returns whether any changed.
  bool collectMarks(CurveFrame& frame, std::size_t from) const;
  void takeNewSamples() const;
  void invalidate();     // everything is drawn anew
  void updateChanged();  // what new samples changed is
  void takeView();       // of the link, at once or, when the range only grew, in one of the next frames
  QColor colorOf(const Series& series) const { return theme().seriesColor(series.color); }

  // curve_chart_paint.cpp
  void drawCurves();
  void paintChrome(QPainter& painter, const CurveFrame& frame, bool exporting) const;
  void paintLegend(QPainter& painter, const CurveFrame& frame) const;
  void paintAxes(QPainter& painter, const CurveFrame& frame) const;
  void paintCurves(QPainter& painter, const CurveFrame& frame, bool vector) const;
  void paintVectorCurve(QPainter& painter, const CurveFrame& frame, const MinMaxPyramid& samples,
                        const std::vector<ColumnSpan>& spans, const QColor& color, double width) const;
  void paintDots(QPainter& painter, const CurveFrame& frame) const;
  void paintEndMarkers(QPainter& painter, const CurveFrame& frame) const;
  void paintMarks(QPainter& painter, const CurveFrame& frame, std::vector<QRectF>& taken) const;
  void paintEvents(QPainter& painter, const CurveFrame& frame, std::vector<QRectF>& taken) const;
  void paintThreshold(QPainter& painter, const CurveFrame& frame) const;
  void paintCrosshair(QPainter& painter, const CurveFrame& frame) const;
  void paintAll(QPainter& painter, const CurveFrame& frame) const;  // for exports
  std::vector<EventLine> eventsInView(const CurveFrame& frame) const;

  // curve_chart_input.cpp
  void press(const QPointF& at, Qt::KeyboardModifiers modifiers);
  bool clickLegend(const QPointF& at, Qt::KeyboardModifiers modifiers);
  void dragThreshold(double pixel);
  void dragPan(const QPointF& at);
  void finishRectangle();
  void showHelp(const QPoint& at, const QPoint& global);
  bool overThreshold(const QPointF& at) const;

  // curve_chart_export.cpp
  void writeCsv(const QString& path, double x0, double x1) const;

  QString title_, unit_, run_name_;
  bool title_visible_ = true;
  std::vector<Series> series_;
  std::vector<EventLine> events_;
  std::optional<Threshold> threshold_;
  std::vector<std::shared_ptr<const XScale>> scales_;
  std::size_t scale_ = 0;
  bool log_y_ = false, clip_ = false;
  Smoothing smoothing_;
  YView y_view_;
  ChartLink own_link_;
  QPointer<ChartLink> link_;
  std::vector<QMetaObject::Connection> link_connections_;

  // Caches of what is on screen; filled on demand, so that reading a position is always right.
  mutable CurveFrame frame_;
  mutable bool frame_stale_ = true, data_stale_ = true, chrome_stale_ = true, marks_stale_ = true;
  bool view_pending_ = false;            // the link's range grew since the frame was built
  mutable std::size_t curves_from_ = 0;  // columns of curves_ from this one on are not up to date
  QPixmap chrome_;
  mutable QImage curves_;
  int redraws_ = 0, paints_ = 0;

  Drag drag_ = Drag::none;
  QPointF drag_from_, drag_at_;
  XView drag_x_;
  YView drag_y_;
  std::vector<bool> shown_before_;  // before the first click of a double click
  std::vector<bool> shown_before_isolation_;
  int isolated_ = -1;
  std::optional<YView> frozen_y_;  // while a threshold is dragged
};

}  // namespace foxhunt::ui
