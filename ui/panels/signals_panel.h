// Signals: curves of any slots of the signal bus, chosen from a searchable list in groups.
#pragma once

#include <set>

#include "ui/panels/curve_panel.h"

class QLabel;
class QSplitter;
class QToolButton;
class QTreeWidget;

namespace foxhunt::ui {

class SignalsPanel : public CurvePanel {
  Q_OBJECT
 public:
  SignalsPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  const std::set<int>& chosen() const { return chosen_; }

 protected:
  void fill(RunData& run) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeList();
  void search(const QString& text);
  void takeChoice();
  // Where chart and list do not fit side by side one of them is shown, the list while its button is down.
  void arrange();

  CurveChart* chart_;
  QSplitter* splitter_;
  QWidget* side_;
  QWidget* narrow_row_;
  QToolButton* choose_;
  QLabel* count_;
  QTreeWidget* list_;
  std::set<int> chosen_;  // slots
};

}  // namespace foxhunt::ui
