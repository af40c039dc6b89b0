// A search word must be found somewhere in a row for it to be shown.
#include "ui/panels/runs_panel.h"

#include <QClipboard>
#include <QDesktopServices>
#include <QDir>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSortFilterProxyModel>
#include <QToolButton>
#include <QUrl>
#include <algorithm>

#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

class RunFilter : public QSortFilterProxyModel {
 public:
  RunFilter(const RunListModel* runs, QObject* parent) : QSortFilterProxyModel(parent), runs_(runs) {}
  void setWords(const QString& text) {
    words_ = text.toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
  }

 protected:
  bool filterAcceptsRow(int row, const QModelIndex&) const override {
    const QString text = runs_->searchText(row);
    return std::all_of(words_.begin(), words_.end(), [&text](const QString& word) { return text.contains(word); });
  }

 private:
  const RunListModel* runs_;
  QStringList words_;
};

}  // namespace

RunsPanel::RunsPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent),
      folder_(QString::fromStdString(context.runs_folder.string())),
      model_(new RunListModel(this)) {
  QVBoxLayout* column = panelColumn(this);
  QHBoxLayout* row = controlRow(column);
  search_ = new QLineEdit(this);
  search_->setPlaceholderText(tr("Search runs"));
  search_->setAccessibleName(search_->placeholderText());
  search_->setToolTip(tr("Words of name, status, instrument, device, tags or notes; all must be found"));
  search_->setClearButtonEnabled(true);
  open_ = toolButton(
      tr("Open"), tr("Shows the chosen run with all its curves (Enter); one that another process controls, read-only"),
      this);
  row->addWidget(search_, 1);
  row->addWidget(open_);
  auto* filter = new RunFilter(model_, this);
  table_ = sortedTable(model_, tr("Runs"), this, filter);
  table_.view->setContextMenuPolicy(Qt::CustomContextMenu);
  keepColumnsInView(table_.view, {RunListModel::created, RunListModel::device, RunListModel::market, RunListModel::fold,
                                  RunListModel::net, RunListModel::steps, RunListModel::sharpe});
  column->addWidget(table_.view, 1);
  state_ = mutedLabel(tr("Reading runs…"), this);
  state_->setContentsMargins(8, 3, 8, 4);
  column->addWidget(state_);
  open_->setEnabled(false);
  connect(search_, &QLineEdit::textChanged, this, [this, filter](const QString& text) {
    filter->setWords(text);
    updateState();
  });
  connect(open_, &QToolButton::clicked, this, &RunsPanel::openSelected);
  connect(table_.view, &QTableView::activated, this, [this] { openSelected(); });
  connect(table_.view, &QTableView::customContextMenuRequested, this, &RunsPanel::showMenu);
  connect(table_.view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] { updateState(); });
}

void RunsPanel::setData(RunData* run) {
  if (data_ != nullptr) disconnect(data_, nullptr, this, nullptr);
  data_ = run;
  const auto mark = [this] { model_->setCurrent(QString::fromStdString(data_->folder().string())); };
  connect(data_, &RunData::cleared, this, mark);
  connect(data_, &RunData::nameChanged, this, mark);
  mark();
}

void RunsPanel::setRunsFolder(const QString& folder) {
  folder_ = folder;
  reload();
}

void RunsPanel::refresh() {
  if (!task_.running() && (!since_.isValid() || since_.elapsed() >= reload_ms)) reload();
}

void RunsPanel::reload() {
  since_.start();
  const auto runs = std::make_shared<std::vector<RunSummary>>();
  task_.start([runs, folder = folder_.toStdString()](const BackgroundTask::Context&) { *runs = list_runs(folder); },
              [this, runs] { takeRuns(std::move(*runs)); },
              [this](const QString& sentence) { state_->setText(sentence); });
}

// The chosen run stays chosen.
void RunsPanel::takeRuns(std::vector<RunSummary> runs) {
  const int row = currentSourceRow(table_);
  const QString chosen = row >= 0 ? model_->folder(row) : QString();
  const int before = model_->rowCount();
  model_->setRuns(std::move(runs));
  if (before == 0 && model_->rowCount() > 0) fitColumns(table_.view);
  for (int i = 0; i < model_->rowCount() && !chosen.isEmpty(); ++i)
    if (model_->folder(i) == chosen && currentSourceRow(table_) != i) selectSourceRow(table_, i);
  updateState();
}

void RunsPanel::updateState() {
  open_->setEnabled(currentSourceRow(table_) >= 0);
  const int all = model_->rowCount(), seen = table_.proxy->rowCount();
  const QString where = QDir::toNativeSeparators(folder_);
  state_->setText(all == 0      ? tr("No runs in %1 yet").arg(where)
                  : all == 1    ? tr("1 run in %1").arg(where)
                  : seen == all ? tr("%1 runs in %2").arg(formatCount(all), where)
                                : tr("%1 of %2 runs in %3").arg(formatCount(seen), formatCount(all), where));
  state_->setToolTip(where);
}

void RunsPanel::openSelected() {
  const int row = currentSourceRow(table_);
  if (row >= 0) Q_EMIT openRunRequested(model_->folder(row));
}

void RunsPanel::showMenu(const QPoint& at) {
  const int row = currentSourceRow(table_);
  if (row < 0) return;
  const QString folder = model_->folder(row);
  QMenu menu;
  menu.addAction(tr("Open"), this, &RunsPanel::openSelected);
  menu.addAction(tr("Show in file manager"), this,
                 [folder] { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); });
  menu.addAction(tr("Copy path"), this, [folder] { QGuiApplication::clipboard()->setText(folder); });
  menu.exec(table_.view->viewport()->mapToGlobal(at));
}

QString RunsPanel::summary() const {
  return state_->text();
}

}  // namespace foxhunt::ui
