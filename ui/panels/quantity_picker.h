// A button that opens a searchable list of all that a rule can watch: words of the step ring, signals, words of
// HealthDiag, in their groups.
#pragma once

#include <QToolButton>

#include "engine/telemetry/rules.h"

class QLineEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace foxhunt::ui {

class QuantityPicker : public QToolButton {
  Q_OBJECT
 public:
  explicit QuantityPicker(QWidget* parent = nullptr);
  telemetry::RuleSource source() const { return source_; }
  const QString& column() const { return column_; }
  // Shows it without telling anybody.
  void setQuantity(telemetry::RuleSource source, const QString& column);
  void openList();
  bool listOpen() const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void picked();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void fillList();
  void search(const QString& text);
  void take(QTreeWidgetItem* item);
  QTreeWidgetItem* firstMatch() const;

  telemetry::RuleSource source_ = telemetry::RuleSource::signal;
  QString column_;
  QFrame* popup_;
  QLineEdit* search_;
  QTreeWidget* list_;
};

}  // namespace foxhunt::ui
