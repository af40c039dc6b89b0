// At most four updates a second: numbers that change faster cannot be read.
#include "ui/panels/health_panel.h"

#include <QLabel>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QToolButton>

#include "ui/charts/format.h"

namespace foxhunt::ui {

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
  fitColumns(table_.view);
  table_.view->setColumnWidth(HealthModel::value, 90);
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
  model_->setHealth(any ? std::optional(snapshot->health) : std::nullopt);
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
