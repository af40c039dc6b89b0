// Cells of the fold table; rows change in place while their number stays.
#include "ui/models/fold_model.h"

#include <QDateTime>
#include <QTimeZone>

#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

QDateTime utc(double seconds) {
  return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(seconds * 1000), QTimeZone::utc());
}

// "Jan 2–12", "Jan 2–Feb 12"; clock times where both lie on one day.
QString spanText(double first, double last) {
  if (first <= 0 || last <= 0) return QStringLiteral("–");
  const QLocale locale;
  const QDateTime a = utc(first), b = utc(last);
  const QString days = QStringLiteral("MMM d"), minutes = QStringLiteral("HH:mm");
  const QString& form = a.date() == b.date() ? minutes : days;
  const bool month = a.date() != b.date() && a.date().month() == b.date().month() && a.date().year() == b.date().year();
  return QStringLiteral("%1–%2").arg(locale.toString(a, form), locale.toString(b, month ? QStringLiteral("d") : form));
}

QString stateText(FoldState state) {
  switch (state) {
    case FoldState::waiting:
      return FoldModel::tr("–");
    case FoldState::running:
      return FoldModel::tr("running");
    case FoldState::done:
      return FoldModel::tr("done");
    case FoldState::partial:
      return FoldModel::tr("partial");
  }
  return {};
}

}  // namespace

FoldModel::FoldModel(QObject* parent)
    : CellTableModel({{tr("#"), tr("fold"), true},
                      {tr("Train"), tr("training window, UTC"), false},
                      {tr("Valid."), tr("validation window after the gap, UTC"), false},
                      {tr("Rows"), tr("bars of training and validation"), false},
                      {tr("Sharpe"), tr("best validation Sharpe ratio so far, annualised"), true},
                      {tr("State"), tr("how far the fold is"), false}},
                     parent) {}

void FoldModel::setData(const RunData* data) {
  data_ = data;
  connect(data, &RunData::cleared, this, &FoldModel::reload);
  connect(data, &RunData::foldsChanged, this, &FoldModel::reload);
  reload();
}

void FoldModel::reload() {
  if (data_->folds().size() != folds_.size()) {
    beginResetModel();
    folds_ = data_->folds();
    endResetModel();
    return;
  }
  folds_ = data_->folds();
  if (!folds_.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int FoldModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(folds_.size());
}

QString FoldModel::describe(int row) const {
  const FoldView& fold = folds_.at(static_cast<std::size_t>(row));
  return tr("fold %1: trains on %2, validates on %3; %4")
      .arg(row + 1)
      .arg(spanText(fold.train_first, fold.train_last), spanText(fold.validation_first, fold.validation_last),
           stateText(fold.state));
}

TableCell FoldModel::cell(int row, int column) const {
  const FoldView& fold = folds_.at(static_cast<std::size_t>(row));
  TableCell cell;
  switch (column) {
    case number:
      cell = countCell(row + 1);
      cell.lamp = fold.state == FoldState::running ? Lamp::active
                  : fold.state == FoldState::done  ? Lamp::ok
                                                   : Lamp::idle;
      cell.tip = describe(row);
      break;
    case train:
      cell.text = spanText(fold.train_first, fold.train_last);
      cell.tip = describe(row);
      cell.sort = fold.train_first;
      break;
    case validation:
      cell.text = spanText(fold.validation_first, fold.validation_last);
      cell.tip = describe(row);
      cell.sort = fold.validation_first;
      break;
    case rows: {
      const auto count = [](const market::Range& r) { return formatCount(static_cast<double>(r.size())); };
      cell.text = fold.rows.train.empty() ? QStringLiteral("–")
                                          : tr("%1 + %2").arg(count(fold.rows.train), count(fold.rows.validation));
      cell.sort = static_cast<qlonglong>(fold.rows.train.size());
      cell.tip = tr("training and validation bars; %1 bars of gap between them").arg(count(fold.rows.gap));
      break;
    }
    case sharpe:
      cell = numberCell(fold.best_sharpe, 3);
      if (!fold.best_sharpe) cell.text = QStringLiteral("–");
      break;
    default:
      cell.text = stateText(fold.state);
      cell.sort = static_cast<int>(fold.state);
      break;
  }
  return cell;
}

}  // namespace foxhunt::ui
