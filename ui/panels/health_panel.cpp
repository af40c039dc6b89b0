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

constexpr int narrow_width = 360, low_height = 250;  // pixels

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
      return QPointF(box.right() - step * static_cast<double>(values.size() - 1 - i),
                     box.bottom() - part * box.height());
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
  table_.view->sortByColumn(HealthModel::word, Qt::AscendingOrder);  // what is unhealthy comes first
  column->addWidget(table_.view, 1);
  QHBoxLayout* safety = controlRow(column);
  safety->setContentsMargins(8, 4, 8, 4);
  const auto lampLine = [&](QLabel*& lamp, QLabel*& text, const QString& name, int stretch) {
    lamp = new QLabel(this);
    text = mutedLabel({}, this);
    text->setAccessibleName(name);
    safety->addWidget(lamp);
    safety->addWidget(text, stretch);
  };
  lampLine(nan_lamp_, nan_, tr("NaN flags"), 3);
  lampLine(guard_lamp_, guard_, tr("Q-drift guard"), 5);
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
  for (const auto signal : {&RunData::cleared, &RunData::stepsAppended, &RunData::nameChanged})
    connect(data_, signal, this, [this] { stale_ = true; });
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
  showSafety();
  const int bad = model_->unhealthyCount();
  state_->setText(
      !any ? tr("No snapshot yet")
      : bad == 0
          ? tr("Step %1 · all within their healthy ranges").arg(formatCount(snapshot->health.step))
          : tr("Step %1 · %2 outside their healthy ranges").arg(formatCount(snapshot->health.step), formatCount(bad)));
}

void HealthPanel::showSafety() {
  const auto show = [](QLabel* lamp, QLabel* text, Lamp which, const QString& words, const QString& tip) {
    lamp->setPixmap(lampIcon(which).pixmap(12, 12));
    text->setText(words);
    text->setToolTip(tip.isEmpty() ? words : tip);
  };
  // The newest step knows more than the newest snapshot, which is of some steps before.
  const auto steps = data_->steps(kernels::step_word_nan_flags);
  std::uint32_t flags = steps->empty() ? 0 : static_cast<std::uint32_t>(steps->y_at(steps->size() - 1));
  if (data_->snapshot()) flags |= data_->snapshot()->health.nan_flags;
  const QString names = QString::fromStdString(telemetry::nan_flag_names(flags));
  show(nan_lamp_, nan_,
       data_->stepCount() == 0 ? Lamp::idle
       : flags                 ? Lamp::bad
                               : Lamp::ok,
       data_->stepCount() == 0 ? tr("NaN: not known")
       : flags                 ? tr("NaN: %1").arg(names)
                               : tr("NaN: none"),
       flags ? tr("Not finite: %1; the first of them says where it began").arg(names)
             : tr("Sixteen places of the step are searched; a value that is not finite halts training"));
  const GuardView guard = data_->guard();
  const bool off = guard.mode == QLatin1String("off"), warns = guard.mode == QLatin1String("warn");
  const bool over = guard.trip && guard.q > *guard.trip;
  const QString word = off ? tr("off") : warns ? tr("warns") : tr("armed");
  const QString level =
      guard.trip ? tr(" · %1 of %2").arg(formatValue(guard.q, 3), formatValue(*guard.trip, 3)) : QString();
  const QString ratio = guard.ratio ? tr(" · ratio %1").arg(formatValue(*guard.ratio, 2)) : QString();
  const bool known = data_->configuration().is_object();
  guard_words_ = known ? tr("Q-drift %1%2%3").arg(word, level, ratio) : tr("Q-drift: no run");
  show(guard_lamp_, guard_,
       !known || off ? Lamp::idle
       : over        ? Lamp::bad
       : warns       ? Lamp::warning
                     : Lamp::ok,
       known && width() < narrow_width ? word + level : guard_words_,
       tr("%1. Q-drift guard: |mean Q| now, its trip level, and its ratio to the epoch before").arg(guard_words_));
}

// A low dock has no room for a line that the lamps of the table say too.
void HealthPanel::resizeEvent(QResizeEvent* event) {
  Panel::resizeEvent(event);
  state_->setVisible(height() >= low_height);
  stale_ = true;
}

QString HealthPanel::summary() const {
  return QStringLiteral("%1\n%2\n%3").arg(state_->text(), nan_->text(), guard_words_);
}

}  // namespace foxhunt::ui
