// Shares over time as stacked areas: the action distribution of a branch.
#pragma once

#include <QtCharts/QAreaSeries>
#include <QtCharts/QLineSeries>
#include <memory>
#include <vector>

#include "ui/charts/themed_chart.h"
#include "ui/charts/x_scale.h"

namespace foxhunt::ui {

struct ShareRow {
  double x = 0;                // step, ascending
  std::vector<double> shares;  // one a name, >= 0; scaled to add up to 1
};

class StackedAreaChart : public ThemedChart {
  Q_OBJECT
 public:
  explicit StackedAreaChart(const QString& title, QWidget* parent = nullptr);
  // Rows whose shares are not finite, negative or all zero leave a gap and are counted in the badge. More rows than
  // columns are averaged within each column, which the badge says. Throws Error when a row has another length.
  void setData(std::vector<QString> names, std::vector<ShareRow> rows);
  void setXScale(std::shared_ptr<const XScale> scale);
  QString summary() const override;

 protected:
  void rebuild() override;
  std::pair<QString, std::vector<ValueBoxRow>> valuesAt(double x) const override;
  std::string csv() const override;

 private:
  static constexpr std::size_t most_columns = 400;
  struct Stripe {  // edges of one area; index 0 is the floor of the first
    QLineSeries* lower = nullptr;
    QLineSeries* upper = nullptr;
    QAreaSeries* area = nullptr;
  };
  void makeStripes();
  void average();

  std::vector<QString> names_;
  std::vector<ShareRow> rows_;   // as given
  std::vector<ShareRow> drawn_;  // normalised and averaged; no shares where there is a gap
  std::shared_ptr<const XScale> scale_;
  std::vector<Stripe> stripes_;
};

}  // namespace foxhunt::ui
