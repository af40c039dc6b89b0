// Every command, guard, checkpoint, fold edge, setting and warning of the run, newest first.
#pragma once

#include "ui/models/event_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_parts.h"

namespace foxhunt::ui {

class EventsPanel : public Panel {
  Q_OBJECT
 public:
  EventsPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void setData(RunData* run) override;
  QString summary() const override;

 private:
  EventModel* model_;
  QSortFilterProxyModel* filter_;
  SortedTable table_;
};

}  // namespace foxhunt::ui
