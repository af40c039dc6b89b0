// One safetensors file looked into: tensors with statistics that arrive while they are computed, the histogram of the
// chosen one, metadata. Everything that reads the file runs on another thread.
#pragma once

#include <QWidget>
#include <memory>

#include "engine/checkpoint/safetensors.h"
#include "ui/charts/histogram_chart.h"
#include "ui/models/background_task.h"
#include "ui/models/tensor_table_model.h"
#include "ui/panels/panel_parts.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QProgressBar;
class QSplitter;
class QTabWidget;
class QToolButton;

namespace foxhunt::ui {

class CheckpointInspector : public QWidget {
  Q_OBJECT
 public:
  explicit CheckpointInspector(QWidget* parent = nullptr);

  // Another file; what runs for the one before is cancelled.
  void inspect(const QString& file);
  const QString& file() const { return file_; }
  // Statistics of all tensors are there (or the file could not be read).
  bool done() const { return !statistics_.running(); }
  bool cancelled() const { return cancelled_; }
  void cancel();
  const TensorTableModel& tensors() const { return *model_; }
  const HistogramChart& histogram() const { return *chart_; }
  void selectTensor(int row);
  // .csv: the table as it stands, at once. .json: metadata and statistics of all tensors, computed anew on another
  // thread. message() tells when it is done or why it failed.
  void exportTo(const QString& path);
  QString summary() const;

 Q_SIGNALS:
  void finished();  // statistics done
  void message(const QString& severity, const QString& sentence);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeTensorTab();
  void startStatistics();
  void showTensors(std::shared_ptr<SafetensorsFile> file);
  void showProgress(int done, int of);
  void showProblem(const QString& sentence);
  void startHistogram();
  void drawHistogram(const QString& name, double low, double high, const std::vector<std::uint64_t>& counts);
  void chooseExport();

  QString file_;
  std::shared_ptr<SafetensorsFile> open_;
  TensorTableModel* model_;
  SortedTable table_;
  HistogramChart* chart_;
  QSplitter* splitter_;
  QTabWidget* tabs_;
  QPlainTextEdit* metadata_;
  QLabel* state_;
  QLineEdit* search_;
  QProgressBar* progress_;
  QToolButton *cancel_, *export_;
  BackgroundTask statistics_, histogram_, export_task_;
  bool cancelled_ = false;
};

// The metadata as indented JSON, texts that are JSON themselves taken apart.
QString metadataText(const std::map<std::string, std::string>& metadata);

}  // namespace foxhunt::ui
