// Labelled bars with their values: an action mix now, the most changed tensors.
#pragma once

#include <vector>

#include "ui/charts/themed_chart.h"

namespace foxhunt::ui {

struct Bar {
  QString label;
  double value = 0;      // not finite: no bar, the text says so
  QString text;          // shown at the bar's end; empty: the formatted value
  int color_index = -1;  // -1: the theme's accent colour
};

class BarsChart : public ThemedChart {
  Q_OBJECT
 public:
  BarsChart(const QString& title, Qt::Orientation orientation, QWidget* parent = nullptr);
  // The axis reaches from 0 (or the lowest value) to the highest, or to `full` where that is higher.
  void setBars(std::vector<Bar> bars, double full = 0);
  QString summary() const override;

 protected:
  void rebuild() override;
  void paintLabels(QPainter& painter) override;
  std::pair<QString, std::vector<ValueBoxRow>> valuesAt(double x) const override;
  std::string csv() const override;

 private:
  void fillSeries();
  QString textOf(const Bar& bar) const;
  QColor colorOf(const Bar& bar) const;

  Qt::Orientation orientation_;
  std::vector<Bar> bars_;
  double full_ = 0;
};

}  // namespace foxhunt::ui
