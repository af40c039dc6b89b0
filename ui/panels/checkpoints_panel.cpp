// The list above (or beside) what was opened from it.
#include "ui/panels/checkpoints_panel.h"

#include <QClipboard>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QGuiApplication>
#include <QMenu>
#include <QMimeData>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QUrl>
#include <algorithm>

namespace foxhunt::ui {
namespace {

QStringList droppedFiles(const QMimeData* data) {
  QStringList files;
  for (const QUrl& url : data->urls()) {
    const QString file = url.toLocalFile();
    if (file.endsWith(QLatin1String(".safetensors"), Qt::CaseInsensitive)) files << file;
  }
  return files;
}

}  // namespace

CheckpointsPanel::CheckpointsPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent), model_(new CheckpointListModel(this)) {
  setAcceptDrops(true);
  QVBoxLayout* column = panelColumn(this);
  makeButtons(column);
  splitter_ = new QSplitter(Qt::Vertical, this);
  splitter_->setChildrenCollapsible(false);
  table_ = sortedTable(model_, tr("Checkpoints"), this);
  table_.view->setSelectionMode(QAbstractItemView::ExtendedSelection);
  table_.view->setContextMenuPolicy(Qt::CustomContextMenu);
  table_.view->setMinimumHeight(60);
  keepColumnsInView(table_.view, {CheckpointListModel::file, CheckpointListModel::trades, CheckpointListModel::drawdown,
                                  CheckpointListModel::size, CheckpointListModel::net, CheckpointListModel::epoch,
                                  CheckpointListModel::fold});
  showWhenEmpty(table_.view, [] {
    return tr(
        "Checkpoints of the run appear here; the first is saved when an epoch has been validated. Other "
        "safetensors files can be dropped here.");
  });
  detail_ = new QStackedWidget(this);
  inspector_ = new CheckpointInspector(this);
  comparison_ = new CheckpointComparison(this);
  detail_->addWidget(inspector_);
  detail_->addWidget(comparison_);
  detail_->hide();
  splitter_->addWidget(table_.view);
  splitter_->addWidget(detail_);
  splitter_->setStretchFactor(0, 2);
  splitter_->setStretchFactor(1, 3);
  column->addWidget(splitter_, 1);
  connect(table_.view, &QTableView::activated, this, [this] { inspectSelected(); });
  connect(table_.view, &QTableView::customContextMenuRequested, this, &CheckpointsPanel::showMenu);
  connect(table_.view->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] { updateButtons(); });
  connect(inspector_, &CheckpointInspector::message, this, &Panel::message);
  connect(comparison_, &CheckpointComparison::message, this, &Panel::message);
  updateButtons();
}

void CheckpointsPanel::makeButtons(QVBoxLayout* column) {
  QHBoxLayout* row = controlRow(column);
  add_ = toolButton(tr("Add…"), tr("Adds safetensors files to the list; they can be dropped here too"), this);
  inspect_ = toolButton(tr("Inspect"), tr("Shows tensors and metadata of the chosen file (Enter)"), this);
  compare_ =
      toolButton(tr("Compare"), tr("Compares two chosen files tensor by tensor, the older with the newer"), this);
  resume_ = toolButton(tr("Resume"), tr("Goes on training from the chosen full checkpoint"), this);
  evaluate_ =
      toolButton(tr("Evaluate"),
                 tr("Runs the chosen checkpoint over the validation window of its fold, in the Market panel"), this);
  close_ = toolButton(tr("Close"), tr("Shows the list alone"), this);
  close_->hide();
  for (QToolButton* button : {add_, inspect_, compare_, evaluate_, resume_}) row->addWidget(button);
  row->addStretch(1);
  row->addWidget(close_);
  connect(add_, &QToolButton::clicked, this, &CheckpointsPanel::chooseFiles);
  connect(inspect_, &QToolButton::clicked, this, &CheckpointsPanel::inspectSelected);
  connect(compare_, &QToolButton::clicked, this, &CheckpointsPanel::compareSelected);
  connect(evaluate_, &QToolButton::clicked, this, [this] {
    const std::vector<int> rows = selectedRows();
    if (rows.size() == 1) Q_EMIT evaluateRequested(model_->path(rows[0]));
  });
  connect(resume_, &QToolButton::clicked, this, &CheckpointsPanel::resumeSelected);
  connect(close_, &QToolButton::clicked, this, [this] {
    detail_->hide();
    close_->hide();
    table_.view->setFocus();
  });
}

void CheckpointsPanel::setData(RunData* run) {
  if (data_ != nullptr) disconnect(data_, nullptr, this, nullptr);
  data_ = run;
  connect(data_, &RunData::checkpointsChanged, this, [this] { takeCheckpoints(); });
  connect(data_, &RunData::cleared, this, [this] { takeCheckpoints(); });
  takeCheckpoints();
}

// The selection stays with its files.
void CheckpointsPanel::takeCheckpoints() {
  const int before = model_->rowCount();
  QStringList chosen;
  for (const int row : selectedRows()) chosen << model_->path(row);
  model_->setRun(data_->checkpoints());
  auto* selection = table_.view->selectionModel();
  for (const QString& file : chosen) {
    const QModelIndex index = table_.proxy->mapFromSource(model_->index(model_->find(file), 0));
    if (index.isValid()) selection->select(index, QItemSelectionModel::Select | QItemSelectionModel::Rows);
  }
  if (before == 0 && model_->rowCount() > 0) fitColumns(table_.view);
  updateButtons();
}

std::vector<int> CheckpointsPanel::selectedRows() const {
  std::vector<int> rows;
  for (const QModelIndex& index : table_.view->selectionModel()->selectedRows())
    rows.push_back(table_.proxy->mapToSource(index).row());
  return rows;
}

void CheckpointsPanel::updateButtons() {
  const std::vector<int> rows = selectedRows();
  inspect_->setEnabled(rows.size() == 1);
  compare_->setEnabled(rows.size() == 2);
  const bool full = rows.size() == 1 && model_->item(rows[0]).view.kind != QLatin1String("model") &&
                    model_->item(rows[0]).view.problem.isEmpty() && model_->item(rows[0]).placed;
  resume_->setEnabled(full);
  evaluate_->setEnabled(rows.size() == 1 && model_->item(rows[0]).view.problem.isEmpty() &&
                        model_->item(rows[0]).placed && data_ != nullptr && data_->configuration().is_object());
}

void CheckpointsPanel::addFile(const QString& file) {
  const int row = model_->add(checkpointItemOf(file));
  fitColumns(table_.view);
  table_.view->clearSelection();
  selectSourceRow(table_, row);
  inspect(model_->path(row));
}

void CheckpointsPanel::inspect(const QString& file) {
  showDetail(inspector_);
  inspector_->inspect(file);
}

void CheckpointsPanel::inspectSelected() {
  const std::vector<int> rows = selectedRows();
  if (rows.size() == 1) inspect(model_->path(rows[0]));
}

void CheckpointsPanel::compareSelected() {
  std::vector<int> rows = selectedRows();
  if (rows.size() != 2) return;
  if (model_->item(rows[0]).view.step > model_->item(rows[1]).view.step) std::swap(rows[0], rows[1]);
  showDetail(comparison_);
  comparison_->compare(model_->path(rows[0]), model_->path(rows[1]));
}

void CheckpointsPanel::resumeSelected() {
  const std::vector<int> rows = selectedRows();
  if (rows.size() == 1) Q_EMIT resumeRequested(model_->path(rows[0]));
}

void CheckpointsPanel::chooseFiles() {
  const QStringList files =
      QFileDialog::getOpenFileNames(this, tr("Add checkpoints"), {}, tr("safetensors (*.safetensors);;All files (*)"));
  for (const QString& file : files) addFile(file);
}

void CheckpointsPanel::showDetail(QWidget* widget) {
  detail_->setCurrentWidget(widget);
  detail_->show();
  close_->show();
  fitButtons();
}

// Those that find no room are in the list's menu alone.
void CheckpointsPanel::fitButtons() {
  constexpr int gap = 6, margins = 24;
  int wide = margins;
  for (const QToolButton* button : {add_, inspect_, compare_, evaluate_, resume_})
    wide += button->sizeHint().width() + gap;
  if (!close_->isHidden()) wide += close_->sizeHint().width() + gap;
  for (QToolButton* button : {evaluate_, resume_, compare_}) {
    const bool fits = wide <= width();
    button->setVisible(fits);
    if (!fits) wide -= button->sizeHint().width() + gap;
  }
}

void CheckpointsPanel::showMenu(const QPoint& at) {
  QMenu menu;
  for (QToolButton* button : {inspect_, compare_, evaluate_, resume_}) {
    QAction* action = menu.addAction(button->text(), button, &QToolButton::click);
    action->setEnabled(button->isEnabled());
  }
  menu.addSeparator();
  QAction* copy = menu.addAction(tr("Copy path"), this, [this] {
    QStringList paths;
    for (const int row : selectedRows()) paths << model_->path(row);
    QGuiApplication::clipboard()->setText(paths.join(QLatin1Char('\n')));
  });
  copy->setEnabled(!selectedRows().empty());
  menu.exec(table_.view->viewport()->mapToGlobal(at));
}

void CheckpointsPanel::dragEnterEvent(QDragEnterEvent* event) {
  if (!droppedFiles(event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void CheckpointsPanel::dropEvent(QDropEvent* event) {
  for (const QString& file : droppedFiles(event->mimeData())) addFile(file);
  event->acceptProposedAction();
}

void CheckpointsPanel::resizeEvent(QResizeEvent* event) {
  Panel::resizeEvent(event);
  fitButtons();
  splitter_->setOrientation(width() >= 1000 && height() < 700 ? Qt::Horizontal : Qt::Vertical);
}

QString CheckpointsPanel::summary() const {
  QString text = tr("%1 checkpoints").arg(model_->rowCount());
  if (detail_->isVisible())
    text +=
        QLatin1Char('\n') + (detail_->currentWidget() == inspector_ ? inspector_->summary() : comparison_->summary());
  return text;
}

}  // namespace foxhunt::ui
