// A few curves over dates: equity against its baselines.
#pragma once

#include <QtCharts/QLineSeries>
#include <vector>

#include "ui/charts/themed_chart.h"

namespace foxhunt::ui {

struct EquityLine {
  QString name;
  std::vector<double> times;   // seconds since 1970 UTC, ascending
  std::vector<double> values;  // in `unit`; not finite: a gap, counted in the value box and the summary
  int color_index = -1;        // -1: its position
};

class EquityChart : public ThemedChart {
  Q_OBJECT
 public:
  explicit EquityChart(const QString& title, QWidget* parent = nullptr);
  // Throws Error when lengths differ or times do not ascend. More points than four a pixel column are drawn as first,
  // lowest, highest and last of each column.
  void setLines(std::vector<EquityLine> lines, const QString& unit = {});
  QString summary() const override;

 protected:
  void rebuild() override;
  std::pair<QString, std::vector<ValueBoxRow>> valuesAt(double x) const override;
  std::string csv() const override;

 private:
  struct Drawn {
    std::vector<QLineSeries*> parts;  // one an unbroken stretch
  };
  QColor colorOf(std::size_t line) const;
  void drawLine(std::size_t line);

  std::vector<EquityLine> lines_;
  QString unit_;
  std::vector<Drawn> drawn_;
};

}  // namespace foxhunt::ui
