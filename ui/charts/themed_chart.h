// What the Qt Charts plots share: title, badge, legend, axes and value box painted as in CurveChart, export, summary.
// Qt Charts draws the series alone; its axes are hidden, because their labels cannot be kept from being cut off.
#pragma once

#include <QtCharts/QChartView>
#include <QtCharts/QValueAxis>
#include <optional>
#include <utility>
#include <vector>

#include "ui/charts/chart_parts.h"
#include "ui/charts/ticks.h"

namespace foxhunt::ui {

class ThemedChart : public QChartView {
  Q_OBJECT
 public:
  explicit ThemedChart(const QString& title, QWidget* parent = nullptr);

  const QString& title() const { return title_; }
  void setTitle(const QString& title);
  void setTitleVisible(bool visible);
  // Muted text at the right of the title: "Sharpe 0.97 · max DD $1,940".
  void setBadge(const QString& badge);
  const QString& badge() const { return badge_; }
  // The chart in words.
  virtual QString summary() const = 0;
  // By suffix: .png, .svg, .pdf, .csv. Throws Error when the suffix is another or the file cannot be written.
  void exportTo(const QString& path);
  // In widget coordinates.
  QRectF plotRect() const { return plot_; }

  QSize sizeHint() const override { return {360, 240}; }

 protected:
  struct LegendEntry {
    QString name;
    QColor color;
  };
  // Room beside the plot for labels, in pixels.
  struct Gutters {
    double left = 52, right = 14, bottom = 20;
  };

  // Derived charts fill these in rebuild() and then call place().
  void setAxes(double x_low, double x_high, std::vector<Tick> x_ticks, double y_low, double y_high,
               std::vector<Tick> y_ticks);
  void setLegend(std::vector<LegendEntry> entries) { legend_ = std::move(entries); }
  void setGutters(const Gutters& gutters) { gutters_ = gutters; }
  void setEmptyText(const QString& text) { empty_ = text; }
  // Lays out and repaints.
  void place();
  QValueAxis* xAxis() const { return x_axis_; }
  QValueAxis* yAxis() const { return y_axis_; }
  void adopt(QAbstractSeries* series);
  double xPixel(double x) const;
  double yPixel(double y) const;
  // Pixels between the gutters, for choosing the number of ticks before place().
  double plotWidth() const { return std::max(1.0, width() - gutters_.left - gutters_.right); }

  // Colours, ticks and series anew: after new data, a new size or theme.
  virtual void rebuild() = 0;
  virtual void paintLabels(QPainter& painter) { Q_UNUSED(painter); }
  // Header and rows of the value box at x; nothing without rows.
  virtual std::pair<QString, std::vector<ValueBoxRow>> valuesAt(double x) const = 0;
  virtual std::string csv() const = 0;
  virtual bool verticalCrosshair() const { return true; }

  void drawBackground(QPainter* painter, const QRectF& rect) override;
  void drawForeground(QPainter* painter, const QRectF& rect) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void applyColors();
  void paintLegend(QPainter& painter, double top);

  QString title_, badge_, empty_;
  bool title_visible_ = true;
  std::vector<LegendEntry> legend_;
  std::vector<Tick> x_ticks_, y_ticks_;
  Gutters gutters_;
  QRectF plot_;
  QValueAxis *x_axis_, *y_axis_;
  std::optional<double> hover_;
};

}  // namespace foxhunt::ui
