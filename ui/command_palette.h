// Ctrl+K: type some letters of a command, Enter runs it.
#pragma once

#include <QDialog>
#include <QList>

class QAction;
class QLineEdit;
class QListWidget;

namespace foxhunt::ui {

class CommandPalette : public QDialog {
  Q_OBJECT
 public:
  CommandPalette(const QList<QAction*>& actions, QWidget* parent);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void fill(const QString& text);
  void run();

  QList<QAction*> actions_;
  QLineEdit* search_;
  QListWidget* list_;
};

// An action's name without the mark of its mnemonic.
QString plainText(const QAction* action);

}  // namespace foxhunt::ui
