// Signals: curves of any slots of the signal bus, chosen from a searchable list in groups.
#pragma once

#include <set>

#include "ui/panels/curve_panel.h"

class QLineEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace foxhunt::ui {

class SignalsPanel : public CurvePanel {
  Q_OBJECT
 public:
  SignalsPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  const std::set<int>& chosen() const { return chosen_; }

 protected:
  void fill(RunData& run) override;

 private:
  void makeList();
  void search(const QString& text);
  void takeChoice();

  CurveChart* chart_;
  QTreeWidget* list_;
  std::set<int> chosen_;  // slots
};

}  // namespace foxhunt::ui
