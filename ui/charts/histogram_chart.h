// Histograms on one axis: a return distribution now, the weights of two checkpoints over each other.
#pragma once

#include <QtCharts/QAreaSeries>
#include <QtCharts/QLineSeries>
#include <vector>

#include "ui/charts/themed_chart.h"

namespace foxhunt::ui {

struct Histogram {
  QString name;
  std::vector<double> edges;   // ascending, one more than counts
  std::vector<double> counts;  // counts, shares or densities, >= 0
};

// A vertical line through the plot: a mean, a quantile.
struct HistogramMarker {
  double x = 0;
  QString label;
};

class HistogramChart : public ThemedChart {
  Q_OBJECT
 public:
  explicit HistogramChart(const QString& title, QWidget* parent = nullptr);
  // Throws Error when edges do not ascend, or counts are negative, not finite or of the wrong number.
  void setData(std::vector<Histogram> histograms, std::vector<HistogramMarker> markers = {});
  QString summary() const override;

 protected:
  void rebuild() override;
  void paintLabels(QPainter& painter) override;
  std::pair<QString, std::vector<ValueBoxRow>> valuesAt(double x) const override;
  std::string csv() const override;

 private:
  struct Layer {
    QLineSeries* upper = nullptr;
    QLineSeries* lower = nullptr;
    QAreaSeries* area = nullptr;
  };
  void makeLayers();

  std::vector<Histogram> histograms_;
  std::vector<HistogramMarker> markers_;
  std::vector<Layer> layers_;
};

}  // namespace foxhunt::ui
