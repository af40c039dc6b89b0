// One rule as a form and as a line of text; both say the same, whichever is edited.
#pragma once

#include <QWidget>

#include "engine/telemetry/rules.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QSpinBox;
class QStackedWidget;

namespace foxhunt::ui {

class QuantityPicker;

class RuleEditor : public QWidget {
  Q_OBJECT
 public:
  explicit RuleEditor(QWidget* parent = nullptr);
  // Shows a rule; the form follows where the text is one.
  void setRule(const QString& text);
  QString text() const;
  // Shown under the text; `wrong`: as an error.
  void setSentence(const QString& sentence, bool wrong);

 Q_SIGNALS:
  void edited(const QString& text);

 private:
  void makeForm();
  void fill(const telemetry::Rule& rule);
  QString compose() const;
  void takeForm();

  QuantityPicker* quantity_;
  QComboBox *kind_, *direction_, *action_;
  QStackedWidget* condition_;
  QLineEdit *bound_, *sigmas_, *least_, *cool_down_, *text_;
  QSpinBox *rise_window_, *still_window_, *needed_, *of_;
  QLabel* sentence_;
  bool enabled_ = true, filling_ = false;
};

}  // namespace foxhunt::ui
