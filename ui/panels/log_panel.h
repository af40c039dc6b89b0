// The program's log with a level filter and search.
#pragma once

#include <QSortFilterProxyModel>

#include "ui/models/log_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_parts.h"

namespace foxhunt::ui {

class LogFilter : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  using QSortFilterProxyModel::QSortFilterProxyModel;
  void setLeastLevel(int level);
  void setText(const QString& text);

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  int least_ = 0;
  QString text_;
};

class LogPanel : public Panel {
  Q_OBJECT
 public:
  LogPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void setData(RunData* data) override;
  void refresh() override;
  QString summary() const override;

 private:
  LogModel* model_;
  LogFilter* filter_;
  SortedTable table_;
};

}  // namespace foxhunt::ui
