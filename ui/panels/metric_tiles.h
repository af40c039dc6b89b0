// A line of numbers with their names; those that do not fit the width are left away, the last first.
#pragma once

#include <QWidget>
#include <vector>

namespace foxhunt::ui {

struct MetricTile {
  QString label, value, tip;
};

class MetricTiles : public QWidget {
  Q_OBJECT
 public:
  explicit MetricTiles(QWidget* parent = nullptr);
  void setTiles(std::vector<MetricTile> tiles);
  QSize sizeHint() const override { return {320, 40}; }
  QSize minimumSizeHint() const override { return {80, 40}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  std::vector<QRectF> places() const;  // of those that fit
  std::vector<MetricTile> tiles_;
};

}  // namespace foxhunt::ui
