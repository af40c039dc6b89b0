// Rows are inserted at the top as events come.
#include "ui/models/event_model.h"

#include <QDateTime>

#include "ui/charts/format.h"

namespace foxhunt::ui {

Lamp severityLamp(const QString& severity) {
  if (severity == QLatin1String("error")) return Lamp::bad;
  if (severity == QLatin1String("warning")) return Lamp::warning;
  return Lamp::idle;
}

QString clockText(double wall) {
  return QLocale().toString(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(wall * 1000)).time(),
                            QStringLiteral("HH:mm:ss"));
}

EventModel::EventModel(QObject* parent)
    : CellTableModel({{tr("Time"), tr("local time"), false},
                      {tr("Step"), tr("updates done in the run"), true},
                      {tr("Kind"), tr("command, guard, checkpoint, fold, epoch, setting, status or warning"), false},
                      {tr("By"), tr("who, or which rule"), false},
                      {tr("What"), tr("what happened and why"), false}},
                     parent) {}

void EventModel::setData(const RunData* data) {
  data_ = data;
  connect(data, &RunData::cleared, this, &EventModel::reload);
  connect(data, &RunData::eventsAdded, this, &EventModel::append);
  reload();
}

void EventModel::reload() {
  beginResetModel();
  rows_ = static_cast<int>(data_->events().size());
  endResetModel();
}

void EventModel::append() {
  const int now = static_cast<int>(data_->events().size());
  if (now <= rows_) return;
  beginInsertRows({}, 0, now - rows_ - 1);
  rows_ = now;
  endInsertRows();
}

int EventModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : rows_;
}

const EventView& EventModel::event(int row) const {
  return data_->events().at(static_cast<std::size_t>(rows_ - 1 - row));
}

TableCell EventModel::cell(int row, int column) const {
  const EventView& e = event(row);
  TableCell cell;
  switch (column) {
    case 0:
      cell.text = clockText(e.wall);
      cell.sort = e.wall;
      cell.tip = QLocale().toString(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(e.wall * 1000)));
      cell.lamp = severityLamp(e.severity);
      break;
    case 1:
      cell = countCell(static_cast<double>(e.step));
      break;
    case 2:
      cell.text = e.kind;
      cell.sort = e.kind;
      break;
    case 3:
      cell.text = e.source;
      cell.sort = e.source;
      cell.muted = true;
      break;
    default:
      cell.text = e.message;
      cell.sort = e.message;
      break;
  }
  return cell;
}

}  // namespace foxhunt::ui
