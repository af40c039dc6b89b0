// Export, the summary in words and the context menu of a curve chart.
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>

#include "ui/charts/chart_export.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/format.h"

namespace foxhunt::ui {
void CurveChart::exportTo(const QString& path, ExportExtent extent) const {
  const auto covered = dataRange();
  double x0 = link_->view().x0, x1 = link_->view().x1;
  if (extent == ExportExtent::all && covered) std::tie(x0, x1) = *covered;
  if (wantsCsv(path)) return writeCsv(path, x0, x1);
  const QSizeF logical = QSizeF(size()).expandedTo(QSizeF(640, 360));
  CurveFrame frame;
  buildFrame(frame, logical, export_image_scale, x0, x1);
  exportPicture(path, {logical, title_, summary(), [&](QPainter& painter) { paintAll(painter, frame); }});
}

// One row a sample. Where old samples were coarsened, one row a bucket: its first step, mean, extremes and count.
void CurveChart::writeCsv(const QString& path, double x0, double x1) const {
  exportText(path, [&](const TextPart& add) {
    add("series,x,value,min,max,count\n");
    for (const Series& series : series_) {
      if (!series.shown) continue;
      const std::string name = csvField(series.info.name);
      const MinMaxPyramid& samples = *series.data;
      samples.visit(samples.lower_bound(x0), samples.upper_bound(x1), [&](double x, const Summary& run) {
        const double infinity = std::numeric_limits<double>::infinity();
        double value = run.mean(), low = run.min, high = run.max;
        if (run.finite() == 0) {
          value = low = high = run.plus_inf > 0 ? infinity : run.minus_inf > 0 ? -infinity : std::nan("");
        }
        add(name + ',' + plainNumber(x) + ',' + plainNumber(value) + ',' + plainNumber(low) + ',' + plainNumber(high) +
            ',' + std::to_string(run.count) + '\n');
      });
    }
  });
}

QString CurveChart::badge() const {
  ensureFrame();
  return frame_.badge_text;
}

QString CurveChart::summary() const {
  ensureFrame();
  QString text = title_ + QStringLiteral(": ");
  if (!frame_.has_samples) return text + tr("no samples yet.");
  text +=
      tr("%1 series, %2 to %3.").arg(series_.size()).arg(xScale().format(frame_.x.low), xScale().format(frame_.x.high));
  for (std::size_t i = 0; i < series_.size(); ++i) {
    if (!series_[i].shown) continue;
    Summary total;
    for (const PixelColumn& column : frame_.raw[i].columns) total.merge(column);
    text += QLatin1Char(' ') + series_[i].info.name + QStringLiteral(": ");
    if (total.finite() == 0) {
      text += tr("no finite value");
    } else {
      text +=
          tr("last %1, lowest %2, highest %3, mean %4")
              .arg(formatValue(total.last), formatValue(total.min), formatValue(total.max), formatValue(total.mean()));
    }
    if (total.nan > 0) text += tr(", %1 NaN").arg(formatCount(total.nan));
    if (total.plus_inf + total.minus_inf > 0)
      text += tr(", %1 infinite").arg(formatCount(total.plus_inf + total.minus_inf));
    if (log_y_ && total.non_positive > 0) text += tr(", %1 not above zero").arg(formatCount(total.non_positive));
    text += QLatin1Char('.');
  }
  if (threshold_)
    text += QLatin1Char(' ') + threshold_->label + QLatin1Char(' ') + formatValue(threshold_->value) + QLatin1Char('.');
  return text;
}

QMenu* CurveChart::createMenu() {
  auto* menu = new QMenu(this);
  menu->addAction(tr("Fit"), this, &CurveChart::fit);
  QAction* follow = menu->addAction(tr("Follow"), link_, &ChartLink::follow);
  follow->setEnabled(!following());
  menu->addAction(tr("Undo zoom"), link_, &ChartLink::undo)->setEnabled(link_->canUndo());
  menu->addAction(tr("Redo zoom"), link_, &ChartLink::redo)->setEnabled(link_->canRedo());
  menu->addSeparator();
  QAction* log = menu->addAction(tr("Logarithmic y"));
  log->setCheckable(true);
  log->setChecked(log_y_);
  connect(log, &QAction::toggled, this, &CurveChart::setLogY);
  QAction* clip = menu->addAction(tr("Clip outliers to 1–99 %"));
  clip->setCheckable(true);
  clip->setChecked(clip_);
  connect(clip, &QAction::toggled, this, &CurveChart::setClipOutliers);
  QMenu* smoothing = menu->addMenu(tr("Smoothing"));
  const std::pair<QString, Smoothing> kinds[] = {
      {tr("None"), {}},
      {tr("EMA 0.9"), {SmoothingKind::ema, 0.9}},
      {tr("EMA 0.99"), {SmoothingKind::ema, 0.99}},
      {tr("EMA 0.999"), {SmoothingKind::ema, 0.999}},
      {tr("Mean of 25"), {SmoothingKind::mean, 25}},
      {tr("Mean of 250"), {SmoothingKind::mean, 250}},
      {tr("Median of 25"), {SmoothingKind::median, 25}},
      {tr("Median of 250"), {SmoothingKind::median, 250}},
  };
  for (const auto& [name, kind] : kinds) {
    QAction* action = smoothing->addAction(name, this, [this, kind = kind] { setSmoothing(kind); });
    action->setCheckable(true);
    action->setChecked(smoothing_ == kind);
  }
  QMenu* shown = menu->addMenu(tr("Series"));
  for (std::size_t i = 0; i < series_.size(); ++i) {
    QAction* action = shown->addAction(series_[i].info.name);
    action->setCheckable(true);
    action->setChecked(series_[i].shown);
    connect(action, &QAction::toggled, this, [this, i](bool on) {
      if (i < series_.size()) setSeriesVisible(static_cast<int>(i), on);
    });
  }
  if (scales_.size() > 1) {
    QMenu* axis = menu->addMenu(tr("X axis"));
    for (std::size_t i = 0; i < scales_.size(); ++i) {
      QAction* action = axis->addAction(scales_[i]->name(), this, [this, i] { setXScale(i); });
      action->setCheckable(true);
      action->setChecked(i == scale_);
    }
  }
  menu->addSeparator();
  for (const auto& [name, extent] :
       {std::pair(tr("Export what is seen"), ExportExtent::seen), std::pair(tr("Export all"), ExportExtent::all)}) {
    addExportFormats(menu->addMenu(name), QStringLiteral("%1"), [this, extent = extent](const QString& suffix) {
      chooseExport(this, title_, suffix, [this, extent](const QString& path) { exportTo(path, extent); });
    });
  }
  menu->addAction(tr("Copy image"), this, [this] { QApplication::clipboard()->setPixmap(grab()); });
  menu->addAction(tr("Copy summary"), this, [this] { QApplication::clipboard()->setText(summary()); });
  Q_EMIT menuOpening(menu);
  return menu;
}

void CurveChart::contextMenuEvent(QContextMenuEvent* event) {
  QMenu* menu = createMenu();
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->popup(event->globalPos());
}

}  // namespace foxhunt::ui
