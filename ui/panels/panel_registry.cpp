// Rows of the table: one line a panel (id, title in QT_TRANSLATE_NOOP("Panels", ...), area, makePanel<Class>).
#include "ui/panels/panel_registry.h"

#include <QtGlobal>
#include <vector>

namespace foxhunt::ui {

std::span<const PanelEntry> panelTable() {
  static const std::vector<PanelEntry> rows = {
  };
  return rows;
}

}  // namespace foxhunt::ui
