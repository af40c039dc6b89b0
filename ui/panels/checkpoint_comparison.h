// Two files compared tensor by tensor, on another thread: the most changed as bars, all in a table.
#pragma once

#include <QWidget>

#include "ui/charts/bars_chart.h"
#include "ui/models/background_task.h"
#include "ui/models/comparison_model.h"
#include "ui/panels/panel_parts.h"

class QLabel;
class QToolButton;

namespace foxhunt::ui {

class CheckpointComparison : public QWidget {
  Q_OBJECT
 public:
  explicit CheckpointComparison(QWidget* parent = nullptr);
  void compare(const QString& first, const QString& second);
  bool done() const { return !task_.running(); }
  const ComparisonModel& model() const { return *model_; }
  // By suffix .csv or .json; message() tells the outcome.
  void exportTo(const QString& path);
  QString summary() const;

 Q_SIGNALS:
  void finished();
  void message(const QString& severity, const QString& sentence);

 private:
  void show(const QString& names);
  void stop();
  void chooseExport();

  ComparisonModel* model_;
  SortedTable table_;
  BarsChart* bars_;
  QLabel* state_;
  QToolButton *cancel_, *export_;
  BackgroundTask task_;
};

}  // namespace foxhunt::ui
