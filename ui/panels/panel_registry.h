// The one table of panels: docks, the View menu, layouts and screenshots are made from it.
#pragma once

#include <span>

#include "ui/panels/panel.h"

namespace foxhunt::ui {

// Columns and rows of the default layout. Panels of one area share it as tabs, first of the table on top.
enum class PanelArea {
  left_top,
  left_middle,
  left_bottom,
  centre_top,
  centre_middle,
  centre_bottom,
  right_top,
  right_middle,
  right_bottom,
  edge_top,
  edge_middle,
  edge_bottom,  // narrow column at the far right
};

struct PanelEntry {
  const char* id;
  const char* title;  // context "Panels"; translated where it is shown
  PanelArea area;
  Panel* (*make)(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
};

// A row's factory for a panel class with that constructor.
template <class P>
Panel* makePanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent) {
  return new P(context, id, title, parent);
}

std::span<const PanelEntry> panelTable();

}  // namespace foxhunt::ui
