// Streams both files; cancelling lets the work run out and drops its result.
#include "ui/panels/checkpoint_comparison.h"

#include <QFileDialog>
#include <QLabel>
#include <QSplitter>
#include <QToolButton>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ui/charts/format.h"
#include "ui/models/checkpoint_list_model.h"

namespace foxhunt::ui {
namespace {

constexpr std::size_t most_bars = 8;

}  // namespace

CheckpointComparison::CheckpointComparison(QWidget* parent) : QWidget(parent), model_(new ComparisonModel(this)) {
  QVBoxLayout* column = panelColumn(this);
  QHBoxLayout* row = controlRow(column);
  state_ = mutedLabel({}, this);
  cancel_ = toolButton(tr("Cancel"), tr("Gives the comparison up"), this);
  export_ = toolButton(tr("Export…"), tr("Writes the comparison as CSV or JSON"), this);
  cancel_->hide();
  export_->setEnabled(false);
  row->addWidget(state_, 1);
  row->addWidget(cancel_);
  row->addWidget(export_);
  table_ = sortedTable(model_, tr("Compared tensors"), this);
  table_.view->setMinimumHeight(80);
  keepColumnsInView(table_.view, {ComparisonModel::values, ComparisonModel::state, ComparisonModel::sign_share,
                                  ComparisonModel::cosine, ComparisonModel::max_abs});
  bars_ = new BarsChart(tr("Most changed, relative L2"), Qt::Horizontal, this);
  bars_->setMinimumSize(160, 90);
  auto* splitter = new QSplitter(Qt::Vertical, this);
  splitter->setChildrenCollapsible(false);
  splitter->addWidget(bars_);
  splitter->addWidget(table_.view);
  splitter->setStretchFactor(1, 2);
  column->addWidget(splitter, 1);
  connect(cancel_, &QToolButton::clicked, this, &CheckpointComparison::stop);
  connect(export_, &QToolButton::clicked, this, &CheckpointComparison::chooseExport);
}

void CheckpointComparison::compare(const QString& first, const QString& second) {
  const QString names = tr("%1 → %2").arg(checkpointName(first), checkpointName(second));
  model_->setComparison({});
  bars_->setBars({});
  export_->setEnabled(false);
  cancel_->show();
  state_->setText(tr("Comparing %1").arg(names));
  state_->setToolTip(first + QLatin1Char('\n') + second);
  const auto result = std::make_shared<FileComparison>();
  const auto work = [result, a = first.toStdString(), b = second.toStdString()](const BackgroundTask::Context&) {
    *result = compare_files(SafetensorsFile::open(a), SafetensorsFile::open(b));
  };
  task_.start(
      work,
      [this, result, names] {
        model_->setComparison(std::move(*result));
        show(names);
        Q_EMIT finished();
      },
      [this, names](const QString& sentence) {
        cancel_->hide();
        state_->setText(tr("%1: cannot be compared").arg(names));
        Q_EMIT message(QStringLiteral("error"), sentence);
        Q_EMIT finished();
      });
}

void CheckpointComparison::show(const QString& names) {
  cancel_->hide();
  export_->setEnabled(true);
  state_->setText(tr("%1 · %2").arg(names, model_->sentence()));
  std::vector<Bar> bars;
  for (const TensorDifference& d : model_->comparison().tensors) {
    if (bars.size() == most_bars || d.identical) break;
    if (!std::isfinite(d.relative_l2)) continue;  // was zero, or is no number: only the table can say so
    bars.push_back({QString::fromStdString(d.name), d.relative_l2, formatValue(d.relative_l2, 3), -1});
  }
  bars_->setVisible(!bars.empty());
  bars_->setBars(std::move(bars));
  fitColumns(table_.view);
}

void CheckpointComparison::stop() {
  task_.cancel();
  cancel_->hide();
  state_->setText(tr("Comparison cancelled"));
  Q_EMIT finished();
}

void CheckpointComparison::chooseExport() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Export comparison"), QStringLiteral("comparison.csv"),
                                                    tr("Table (*.csv);;Document (*.json)"));
  if (!path.isEmpty()) exportTo(path);
}

void CheckpointComparison::exportTo(const QString& path) {
  const bool json = path.endsWith(QLatin1String(".json"), Qt::CaseInsensitive);
  try {
    writeTextFile(path, json ? to_json(model_->comparison()).dump(2) + '\n' : model_->csv());
    Q_EMIT message(QStringLiteral("info"), tr("Written: %1").arg(path));
  } catch (const Error& error) {
    Q_EMIT message(QStringLiteral("error"), QString::fromStdString(error.sentence()));
  }
}

QString CheckpointComparison::summary() const {
  return state_->text();
}

}  // namespace foxhunt::ui
