// What is trained and how: data with what was inferred, and the configuration as an editable tree. Everything is
// checked here before a run starts.
#pragma once

#include "ui/models/background_task.h"
#include "ui/models/config_model.h"
#include "ui/panels/data_files_box.h"
#include "ui/panels/panel.h"

class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QTabWidget;
class QTreeView;
class QTreeWidget;

namespace foxhunt::ui {

class SessionPanel : public Panel {
  Q_OBJECT
 public:
  SessionPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  ~SessionPanel() override;
  void setData(RunData* run) override;
  QString summary() const override;

  const Config& config() const { return model_->config(); }
  void setConfig(const Config& config);
  // Throws Error where the configuration cannot train; the field is shown.
  Config checkedConfig();
  // Files of market data, sorted into kinds by their names, then read.
  void openFiles(const QStringList& files);
  // Fields cannot be changed while a session runs.
  void setRunning(bool running);
  // What is wrong, in the panel too, beside the field.
  void showProblem(const QString& field, const QString& sentence);
  // Reads the chosen data on another thread and shows what they are.
  void readData();
  bool reading() const { return task_.running(); }
  // The tree and its filter, for tests.
  QTreeView* configView() const { return tree_; }
  ConfigModel* configModel() const { return model_; }

 Q_SIGNALS:
  void configChanged();
  // The folds that the data give, before any run.
  void preview(std::shared_ptr<const SessionPlan> plan);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  QWidget* makeDataPage();
  QWidget* makeConfigPage();
  void showPlan(const SessionPlan& plan);
  void showReading(bool on);
  void takeData();

  PanelContext context_;
  BackgroundTask task_;
  RunData* data_ = nullptr;
  ConfigModel* model_;
  ConfigFilter* filter_;
  QTabWidget* tabs_;
  DataFilesBox* files_;
  QPushButton *read_, *cancel_;
  QProgressBar* progress_;
  QLabel *reading_, *problem_;
  QTreeWidget* report_;
  QTreeView* tree_;
};

}  // namespace foxhunt::ui
