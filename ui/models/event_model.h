// The run's events as a table, newest first.
#pragma once

#include "ui/models/cell_table_model.h"
#include "ui/models/run_data.h"

namespace foxhunt::ui {

class EventModel : public CellTableModel {
  Q_OBJECT
 public:
  explicit EventModel(QObject* parent = nullptr);
  void setData(const RunData* data);
  int rowCount(const QModelIndex& parent = {}) const override;
  const EventView& event(int row) const;

 protected:
  TableCell cell(int row, int column) const override;

 private:
  void reload();
  void append();

  const RunData* data_ = nullptr;
  int rows_ = 0;  // of the run's events, those that views know of
};

Lamp severityLamp(const QString& severity);
// "14:03:09" of seconds since 1970, in local time.
QString clockText(double wall);

}  // namespace foxhunt::ui
