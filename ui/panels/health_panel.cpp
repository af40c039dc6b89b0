// At most four updates a second: numbers that change faster cannot be read.
#include "ui/panels/health_panel.h"

#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPainterPath>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <cmath>
#include <limits>
#include <utility>

#include "ui/charts/format.h"

namespace foxhunt::ui {

namespace {

// The line of a word's latest values over the cell's height; values that are not finite leave a gap.
class TrendDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    const auto values = index.data(HealthModel::trend_role).value<QList<double>>();
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (!(low <= high)) return;
    const QRectF box = QRectF(option.rect).adjusted(4, 4.5, -6, -4.5);
    const double span = high > low ? high - low : 1;
    const double step = box.width() / static_cast<double>(RunData::health_rows - 1);
    // The newest at the right; a constant word lies in the middle.
    const auto at = [&](qsizetype i) {
      const double part = high > low ? (values[i] - low) / span : 0.5;
      return QPointF(box.right() - step * static_cast<double>(values.size() - 1 - i), box.bottom() - part * box.height());
    };
    QPainterPath path;
    bool joined = false;
    for (qsizetype i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) {
        joined = false;
        continue;
      }
      if (joined) {
        path.lineTo(at(i));
      } else {
        path.moveTo(at(i));
      }
      joined = true;
    }
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(theme().muted, 1.1));
    painter->drawPath(path);
    if (std::isfinite(values.back())) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(theme().text);
      painter->drawEllipse(at(values.size() - 1), 1.6, 1.6);
    }
    painter->restore();
  }
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return {52, QStyledItemDelegate::sizeHint(option, index).height()};
  }
};

}  // namespace

class HealthFilter : public QSortFilterProxyModel {
 public:
  HealthFilter(const HealthModel* model, QObject* parent) : QSortFilterProxyModel(parent), model_(model) {}
  void setOnlyUnhealthy(bool on) {
    only_unhealthy_ = on;
    invalidateFilter();
  }
  void setText(const QString& text) {
    text_ = text;
    invalidateFilter();
  }
  void recheck() {
    if (only_unhealthy_) invalidateFilter();
  }

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override {
    if (only_unhealthy_ && !model_->unhealthy(row)) return false;
    if (text_.isEmpty()) return true;
    for (const int column : {HealthModel::word, HealthModel::group})
      if (model_->index(row, column, parent).data().toString().contains(text_, Qt::CaseInsensitive)) return true;
    return false;
  }

 private:
  const HealthModel* model_;
  QString text_;
  bool only_unhealthy_ = false;
};

HealthPanel::HealthPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent), model_(new HealthModel(this)), filter_(new HealthFilter(model_, this)) {
  QVBoxLayout* column = panelColumn(this);
  QHBoxLayout* row = controlRow(column);
  auto* search = new QLineEdit(this);
  search->setPlaceholderText(tr("Search words"));
  search->setAccessibleName(search->placeholderText());
  search->setClearButtonEnabled(true);
  QToolButton* only = toolButton(tr("Only unhealthy"), tr("Shows what is outside its healthy range"), this);
  only->setCheckable(true);
  row->addWidget(search, 1);
  row->addWidget(only);
  table_ = sortedTable(model_, tr("Health words"), this, filter_);
  column->addWidget(table_.view, 1);
  state_ = mutedLabel({}, this);
  state_->setContentsMargins(8, 3, 8, 4);
  column->addWidget(state_);
  table_.view->setItemDelegateForColumn(HealthModel::trend, new TrendDelegate(table_.view));
  QHeaderView* header = table_.view->horizontalHeader();
  header->setStretchLastSection(false);
  fitColumns(table_.view);
  header->setSectionResizeMode(HealthModel::word, QHeaderView::Stretch);
  for (const auto& [fixed, width] : {std::pair(HealthModel::value, 68), std::pair(HealthModel::trend, 56)}) {
    header->setSectionResizeMode(fixed, QHeaderView::Fixed);
    header->resizeSection(fixed, width);
  }
  keepColumnsInView(table_.view, {HealthModel::group, HealthModel::range, HealthModel::unit});
  connect(search, &QLineEdit::textChanged, this, [this](const QString& text) { filter_->setText(text); });
  connect(only, &QToolButton::toggled, this, [this](bool on) { filter_->setOnlyUnhealthy(on); });
}

void HealthPanel::setData(RunData* run) {
  if (data_ != nullptr) disconnect(data_, nullptr, this, nullptr);
  data_ = run;
  connect(data_, &RunData::snapshotChanged, this, [this] { stale_ = true; });
  connect(data_, &RunData::cleared, this, [this] { stale_ = true; });
  stale_ = true;
}

void HealthPanel::refresh() {
  if (data_ == nullptr || !stale_ || (since_.isValid() && since_.elapsed() < refresh_ms)) return;
  since_.start();
  stale_ = false;
  const auto& snapshot = data_->snapshot();
  const bool any = snapshot && snapshot->health_snapshots > 0;
  model_->setHealth(any ? std::optional(snapshot->health) : std::nullopt, &data_->healthTrend());
  filter_->recheck();
  const int bad = model_->unhealthyCount();
  state_->setText(
      !any ? tr("No snapshot yet")
      : bad == 0
          ? tr("Step %1 · all within their healthy ranges").arg(formatCount(snapshot->health.step))
          : tr("Step %1 · %2 outside their healthy ranges").arg(formatCount(snapshot->health.step), formatCount(bad)));
}

QString HealthPanel::summary() const {
  return state_->text();
}

}  // namespace foxhunt::ui
