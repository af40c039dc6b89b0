// The style sheet: docks, buttons, tables, tabs, menus, inputs and progress bars in the theme's colours.
#include <QHash>
#include <QString>

#include "ui/theme.h"

namespace foxhunt::ui {
namespace {

// @name is replaced by the colour of that name, @tone by dark or light.
constexpr const char* sheet = R"(
QMainWindow, QDialog { background: @window; }
QMainWindow::separator { background: @window; width: 6px; height: 6px; }
QMainWindow::separator:hover { background: @accent; }
QMenuBar { background: @header; color: @text; padding: 1px 4px; border-bottom: 1px solid @border; }
QMenuBar::item { padding: 4px 10px; background: transparent; border-radius: 3px; }
QMenuBar::item:selected { background: @hover; }
QMenu { background: @header; color: @text; border: 1px solid @border; padding: 4px; }
QMenu::item { padding: 4px 24px 4px 22px; border-radius: 3px; }
QMenu::item:selected { background: @selection; }
QMenu::item:disabled { color: @faint; }
QMenu::separator { height: 1px; background: @border; margin: 4px 6px; }
QMenu::indicator { width: 12px; height: 12px; left: 5px; }
QToolTip { background: @header; color: @text; border: 1px solid @border; padding: 4px 6px; }
QToolBar { background: @header; border: none; border-bottom: 1px solid @border; padding: 6px; spacing: 6px; }
QStatusBar { background: @header; color: @muted; border-top: 1px solid @border; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: @muted; }
QDockWidget { color: @text; font-weight: 600; titlebar-close-icon: url(:/foxhunt/icons/close-@tone.svg);
  titlebar-normal-icon: url(:/foxhunt/icons/float-@tone.svg); }
QDockWidget::close-button, QDockWidget::float-button { border: none; background: transparent; border-radius: 3px;
  padding: 1px; }
QDockWidget::close-button:hover, QDockWidget::float-button:hover { background: @hover; }
QDockWidget::title { background: @header; border: 1px solid @border; border-top-left-radius: 4px;
  border-top-right-radius: 4px; padding: 4px 8px; text-align: left; }
QDockWidget > QWidget { font-weight: 400; }
QFrame[panel="true"], QWidget[panel="true"] { background: @panel; border: 1px solid @border; border-top: none;
  border-bottom-left-radius: 4px; border-bottom-right-radius: 4px; }
QLabel { background: transparent; color: @text; }
QLabel[muted="true"] { color: @muted; }
QLabel[title="true"] { font-weight: 600; }
QPushButton, QToolButton { background: @button; color: @text; border: 1px solid @border; border-radius: 4px;
  padding: 5px 12px; }
QToolButton { padding: 4px 8px; }
QPushButton:hover, QToolButton:hover { background: @hover; }
QPushButton:pressed, QToolButton:pressed, QPushButton:checked, QToolButton:checked { background: @selection;
  border-color: @accent; }
QPushButton:focus, QToolButton:focus { border-color: @accent; }
QPushButton:disabled, QToolButton:disabled { color: @faint; background: @panel; }
QPushButton:default { border-color: @accent; }
QPushButton[danger="true"] { color: @bad; }
QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox, QDateTimeEdit { background: @field;
  color: @text; border: 1px solid @border; border-radius: 4px; padding: 3px 6px; selection-background-color: @selection;
  selection-color: @text; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus {
  border-color: @accent; }
QLineEdit[invalid="true"] { border-color: @bad; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url(:/foxhunt/icons/down-@tone.svg); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: @header; color: @text; border: 1px solid @border;
  selection-background-color: @selection; selection-color: @text; }
QTableView, QTreeView, QListView { background: @panel; alternate-background-color: @field; color: @text;
  border: none; gridline-color: @grid; selection-background-color: @selection; selection-color: @text; outline: none; }
QTableView::item, QTreeView::item, QListView::item { padding: 2px 4px; border: none; }
QTableView::item:selected, QTreeView::item:selected, QListView::item:selected { background: @selection;
  color: @text; }
QHeaderView { background: @panel; }
QHeaderView::section { background: @panel; color: @muted; border: none; border-bottom: 1px solid @border;
  padding: 4px 6px; font-weight: 400; }
QTableCornerButton::section { background: @panel; border: none; }
QTabBar::tab { background: @window; color: @muted; border: 1px solid @border; padding: 4px 10px;
  border-top-left-radius: 4px; border-top-right-radius: 4px; margin-right: 2px; }
QTabBar::tab:selected { background: @header; color: @text; }
QTabBar::tab:hover { color: @text; }
QTabWidget::pane { border: 1px solid @border; background: @panel; }
QProgressBar { background: @grid; border: none; border-radius: 4px; min-height: 8px; max-height: 8px;
  text-align: center; color: transparent; }
QProgressBar::chunk { background: @accent; border-radius: 4px; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @axis; border-radius: 4px; min-height: 24px; min-width: 24px; margin: 1px; }
QScrollBar::handle:hover { background: @faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QScrollArea { background: transparent; border: none; }
QSplitter::handle { background: @window; }
QGroupBox { border: 1px solid @border; border-radius: 4px; margin-top: 14px; padding-top: 6px; }
QGroupBox::title { subcontrol-origin: margin; left: 8px; color: @muted; }
QCheckBox::indicator, QTableView::indicator, QTreeView::indicator, QListView::indicator { width: 12px; height: 12px;
  border: 1px solid @muted; border-radius: 2px; background: @field; }
QCheckBox::indicator:checked, QTableView::indicator:checked, QTreeView::indicator:checked,
  QListView::indicator:checked { border: 1px solid @accent; background: @accent;
  image: url(:/foxhunt/icons/check-@tone.svg); }
QCheckBox::indicator:disabled, QTableView::indicator:disabled { border-color: @faint; }
QCheckBox, QRadioButton { color: @text; background: transparent; spacing: 6px; }
)";

}  // namespace

QString styleSheetFor(const Theme& theme) {
  const QHash<QString, QColor> colors = {
      {"window", theme.window}, {"panel", theme.panel}, {"header", theme.header},      {"border", theme.border},
      {"field", theme.field},   {"text", theme.text},   {"muted", theme.muted},        {"faint", theme.faint},
      {"grid", theme.grid},     {"axis", theme.axis},   {"accent", theme.accent},      {"selection", theme.selection},
      {"button", theme.button}, {"bad", theme.bad},     {"hover", theme.button_hover},
  };
  QString text;
  const QString source = QString::fromLatin1(sheet);
  for (qsizetype i = 0; i < source.size(); ++i) {
    if (source[i] != QLatin1Char('@')) {
      text += source[i];
      continue;
    }
    QString name;
    while (i + 1 < source.size() && source[i + 1].isLetter()) name += source[++i];
    text += name == QLatin1String("tone") ? (theme.dark ? QStringLiteral("dark") : QStringLiteral("light"))
                                          : colors.value(name).name();
  }
  return text;
}

}  // namespace foxhunt::ui
