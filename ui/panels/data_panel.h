// Data: what a session's files are and what was inferred of them, what cleaning found, and price and order flow over
// their whole span. Of the live session, of data that were read in the Session panel, or of a stored run's files.
#pragma once

#include "ui/charts/lane_chart.h"
#include "ui/models/background_task.h"
#include "ui/models/data_report_models.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_parts.h"

class QLabel;
class QPlainTextEdit;
class QProgressBar;
class QSplitter;
class QStackedWidget;
class QToolButton;
class QTreeView;

namespace foxhunt::ui {

class DataPanel : public Panel {
  Q_OBJECT
 public:
  DataPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void setData(RunData* run) override;
  void refresh() override;
  QString summary() const override;

  // Reads the files of the stored run that is shown.
  void read();
  bool reading() const { return task_.running(); }
  LaneChart& chart() { return *chart_; }
  const DataFilesModel& files() const { return *files_; }
  const AnomalyModel& anomalies() const { return *anomalies_; }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  enum Page { chart_page, files_page, cleaning_page };
  using Preview = std::shared_ptr<const market::DataPreview>;

  void makeControls(QVBoxLayout* column);
  QWidget* makeCleaning();
  void showPreview(const Preview& preview);
  void showState();
  bool both() const;  // chart and tables have room beside or above one another
  void choosePage();
  void showPage();
  void showExamples();

  RunData* data_ = nullptr;
  DataFilesModel* files_;
  AnomalyModel* anomalies_;
  Switch* page_;
  QLabel* state_;
  QToolButton *read_, *cancel_;
  QProgressBar* progress_;
  QSplitter* splitter_;
  LaneChart* chart_;
  QStackedWidget* tables_;
  QTreeView* tree_;
  SortedTable rules_;
  QPlainTextEdit* examples_;
  BackgroundTask task_;
  Preview shown_, own_;  // on the panel; read by the panel itself, of a stored run
  bool stale_ = true, page_asked_ = false, choosing_ = false;
};

}  // namespace foxhunt::ui
