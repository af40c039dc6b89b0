// Small tensors first, so that the table fills at once; results reach the table in batches.
#include "ui/panels/checkpoint_inspector.h"

#include <QElapsedTimer>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTabWidget>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ui/charts/format.h"
#include "ui/models/checkpoint_list_model.h"

namespace foxhunt::ui {
namespace {

constexpr int least_with_chart =
    300;  // pixels of height: below it the rows of the table matter more than the histogram

constexpr int bins = 64;
constexpr int batch_ms = 60;

using Batch = std::vector<std::pair<int, TensorStatistics>>;

// Bins need edges that ascend: a constant tensor gets a range around its value.
std::pair<double, double> histogramRange(double low, double high) {
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low > size * 1e-9 && high - low > 1e-300) return {low, high};
  const double half = size > 0 ? size * 0.01 : 1;
  return {low - half, high + half};
}

}  // namespace

QString metadataText(const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const auto& [key, value] : metadata) {
    const auto parsed = nlohmann::ordered_json::parse(value, nullptr, false);
    out[key] = parsed.is_object() || parsed.is_array() ? parsed : nlohmann::ordered_json(value);
  }
  return QString::fromStdString(out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

CheckpointInspector::CheckpointInspector(QWidget* parent) : QWidget(parent), model_(new TensorTableModel(this)) {
  QVBoxLayout* column = panelColumn(this);
  QHBoxLayout* row = controlRow(column);
  state_ = mutedLabel(tr("No file chosen"), this);
  progress_ = new QProgressBar(this);
  progress_->setAccessibleName(tr("Progress of the statistics"));
  progress_->setMaximumWidth(110);
  progress_->setTextVisible(false);
  cancel_ = toolButton(tr("Cancel"), tr("Stops computing statistics; what is there stays"), this);
  export_ = toolButton(tr("Export…"), tr("Writes tensors and statistics as CSV or JSON"), this);
  export_->setEnabled(false);
  row->addWidget(state_, 1);
  row->addWidget(progress_);
  row->addWidget(cancel_);
  row->addWidget(export_);
  progress_->hide();
  cancel_->hide();
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  makeTensorTab();
  metadata_ = new QPlainTextEdit(this);
  metadata_->setReadOnly(true);
  metadata_->setAccessibleName(tr("Metadata"));
  metadata_->setLineWrapMode(QPlainTextEdit::NoWrap);
  metadata_->setFrameShape(QFrame::NoFrame);
  tabs_->addTab(metadata_, tr("Metadata"));
  column->addWidget(tabs_, 1);
  connect(cancel_, &QToolButton::clicked, this, &CheckpointInspector::cancel);
  connect(export_, &QToolButton::clicked, this, &CheckpointInspector::chooseExport);
}

void CheckpointInspector::makeTensorTab() {
  auto* page = new QWidget(this);
  QVBoxLayout* column = panelColumn(page);
  search_ = new QLineEdit(page);
  search_->setPlaceholderText(tr("Search tensors"));
  search_->setAccessibleName(search_->placeholderText());
  search_->setClearButtonEnabled(true);
  controlRow(column)->addWidget(search_);
  table_ = sortedTable(model_, tr("Tensors"), page);
  table_.proxy->setFilterKeyColumn(TensorTableModel::name);
  table_.proxy->setFilterCaseSensitivity(Qt::CaseInsensitive);
  table_.view->setMinimumHeight(80);
  using Model = TensorTableModel;
  keepColumnsInView(table_.view, {Model::dead_units, Model::norm, Model::bytes, Model::zeros, Model::type,
                                  Model::greatest, Model::least, Model::not_finite, Model::deviation, Model::mean});
  chart_ = new HistogramChart(tr("Values"), page);
  chart_->setMinimumSize(150, 90);
  splitter_ = new QSplitter(Qt::Vertical, page);
  splitter_->setChildrenCollapsible(false);
  splitter_->addWidget(table_.view);
  splitter_->addWidget(chart_);
  splitter_->setStretchFactor(0, 3);
  splitter_->setStretchFactor(1, 2);
  column->addWidget(splitter_, 1);
  tabs_->addTab(page, tr("Tensors"));
  connect(search_, &QLineEdit::textChanged, table_.proxy, &QSortFilterProxyModel::setFilterFixedString);
  connect(table_.view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] { startHistogram(); });
}

void CheckpointInspector::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const bool beside = width() >= 900;
  splitter_->setOrientation(beside ? Qt::Horizontal : Qt::Vertical);
  chart_->setVisible(beside || height() >= least_with_chart);
}

void CheckpointInspector::inspect(const QString& file) {
  histogram_.cancel();
  file_ = file;
  open_.reset();
  cancelled_ = false;
  model_->setTensors({});
  metadata_->clear();
  chart_->setData({});
  chart_->setTitle(tr("Values"));
  export_->setEnabled(false);
  state_->setText(tr("Reading %1").arg(checkpointName(file)));
  state_->setToolTip(file);
  startStatistics();
}

void CheckpointInspector::startStatistics() {
  progress_->setRange(0, 0);
  progress_->show();
  cancel_->show();
  const auto work = [this, file = file_](const BackgroundTask::Context& context) {
    auto opened = std::make_shared<SafetensorsFile>(SafetensorsFile::open(file.toStdString()));
    context.post([this, opened] { showTensors(opened); });
    const auto& tensors = opened->tensors();
    std::vector<std::size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return tensors[a].bytes() < tensors[b].bytes(); });
    Batch batch;
    QElapsedTimer since;
    since.start();
    int done = 0;
    for (const std::size_t at : order) {
      if (context.cancelled()) return;
      batch.emplace_back(static_cast<int>(at), tensor_statistics(*opened, tensors[at]));
      ++done;
      if (since.elapsed() < batch_ms && done < static_cast<int>(order.size())) continue;
      context.post([this, done, of = static_cast<int>(order.size()), ready = std::move(batch)] {
        for (const auto& [row, values] : ready) model_->setStatistics(row, values);
        showProgress(done, of);
      });
      batch.clear();
      since.restart();
    }
  };
  statistics_.start(
      work,
      [this] {
        showProgress(model_->rowCount(), model_->rowCount());
        fitColumns(table_.view);
        Q_EMIT finished();
      },
      [this](const QString& sentence) {
        showProblem(sentence);
        Q_EMIT finished();
      });
}

void CheckpointInspector::showTensors(std::shared_ptr<SafetensorsFile> file) {
  open_ = std::move(file);
  model_->setTensors(open_->tensors());
  metadata_->setPlainText(metadataText(open_->metadata()));
  fitColumns(table_.view);
  export_->setEnabled(true);
  showProgress(0, model_->rowCount());
  if (model_->rowCount() > 0) selectTensor(0);
}

void CheckpointInspector::showProgress(int done, int of) {
  const QString name = checkpointName(file_);
  progress_->setRange(0, std::max(1, of));
  progress_->setValue(done);
  const bool running = done < of;
  progress_->setVisible(running);
  cancel_->setVisible(running);
  std::uint64_t bytes = 0;
  for (int row = 0; row < model_->rowCount(); ++row) bytes += model_->tensor(row).bytes();
  state_->setText(running
                      ? tr("%1 · statistics of %2 of %3 tensors").arg(name, formatCount(done), formatCount(of))
                      : tr("%1 · %2 tensors · %3")
                            .arg(name, formatCount(of), QLocale().formattedDataSize(static_cast<qint64>(bytes), 1)));
}

void CheckpointInspector::showProblem(const QString& sentence) {
  progress_->hide();
  cancel_->hide();
  state_->setText(tr("%1 cannot be used").arg(checkpointName(file_)));
  metadata_->setPlainText(sentence);
  tabs_->setCurrentWidget(metadata_);
  Q_EMIT message(QStringLiteral("error"), sentence);
}

void CheckpointInspector::cancel() {
  if (!statistics_.running()) return;
  statistics_.cancel();
  cancelled_ = true;
  progress_->hide();
  cancel_->hide();
  int done = 0;
  for (int row = 0; row < model_->rowCount(); ++row) done += model_->statistics(row).has_value();
  state_->setText(tr("%1 · cancelled after %2 of %3 tensors")
                      .arg(checkpointName(file_), formatCount(done), formatCount(model_->rowCount())));
  Q_EMIT finished();
}

void CheckpointInspector::selectTensor(int row) {
  selectSourceRow(table_, row);
}

void CheckpointInspector::startHistogram() {
  const int row = currentSourceRow(table_);
  if (row < 0 || !open_) return;
  struct Result {
    double low = 0, high = 0;
    std::vector<std::uint64_t> counts;
  };
  const auto result = std::make_shared<Result>();
  const TensorInfo tensor = model_->tensor(row);
  chart_->setData({});  // the histogram of another tensor would stand under this name
  chart_->setBadge(tr("reading…"));
  chart_->setTitle(QString::fromStdString(tensor.name));
  const auto work = [result, tensor, open = open_, known = model_->statistics(row)](const BackgroundTask::Context&) {
    const TensorStatistics s = known ? *known : tensor_statistics(*open, tensor);
    if (!std::isfinite(s.min)) return;
    std::tie(result->low, result->high) = histogramRange(s.min, s.max);
    result->counts = tensor_histogram(*open, tensor, bins, result->low, result->high);
  };
  histogram_.start(
      work,
      [this, result, name = QString::fromStdString(tensor.name)] {
        drawHistogram(name, result->low, result->high, result->counts);
      },
      [this](const QString& sentence) { Q_EMIT message(QStringLiteral("error"), sentence); });
}

void CheckpointInspector::drawHistogram(const QString& name, double low, double high,
                                        const std::vector<std::uint64_t>& counts) {
  if (counts.empty()) {
    chart_->setData({});
    chart_->setBadge(tr("no finite value"));
    return;
  }
  Histogram histogram{name, {}, {}};
  for (int edge = 0; edge <= bins; ++edge) histogram.edges.push_back(low + (high - low) * edge / bins);
  for (const std::uint64_t count : counts) histogram.counts.push_back(static_cast<double>(count));
  const double values = std::accumulate(histogram.counts.begin(), histogram.counts.end(), 0.0);
  chart_->setBadge(tr("%1 values · %2 bins").arg(formatShortCount(values)).arg(bins));
  chart_->setData({std::move(histogram)});
}

void CheckpointInspector::chooseExport() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Export tensors"),
                                                    QFileInfo(file_).completeBaseName() + QStringLiteral(".csv"),
                                                    tr("Table (*.csv);;Document (*.json)"));
  if (!path.isEmpty()) exportTo(path);
}

void CheckpointInspector::exportTo(const QString& path) {
  if (!open_) return;
  const bool json = path.endsWith(QLatin1String(".json"), Qt::CaseInsensitive);
  const auto work = [path, json, open = open_,
                     table = json ? std::string() : model_->csv()](const BackgroundTask::Context&) {
    writeTextFile(path, json ? inspect_document(*open).dump(2) + '\n' : table);
  };
  export_task_.start(
      work, [this, path] { Q_EMIT message(QStringLiteral("info"), tr("Written: %1").arg(path)); },
      [this](const QString& sentence) { Q_EMIT message(QStringLiteral("error"), sentence); });
}

QString CheckpointInspector::summary() const {
  return state_->text() + QLatin1Char('\n') + chart_->summary();
}

}  // namespace foxhunt::ui
