// The value table at a link's crosshair as an item model: chart, series, value, lowest, highest, samples.
#pragma once

#include <QAbstractTableModel>
#include <QPointer>
#include <vector>

#include "ui/charts/chart_link.h"

namespace foxhunt::ui {

class CrosshairModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  explicit CrosshairModel(ChartLink* link, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  void reload();

  QPointer<ChartLink> link_;
  std::vector<ValueRow> rows_;
};

}  // namespace foxhunt::ui
