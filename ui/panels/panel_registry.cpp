// Rows of the table: one line a panel (id, title in QT_TRANSLATE_NOOP("Panels", ...), area, makePanel<Class>).
#include "ui/panels/panel_registry.h"

#include <QtGlobal>
#include <vector>

#include "ui/panels/actions_panel.h"
#include "ui/panels/checkpoints_panel.h"
#include "ui/panels/data_panel.h"
#include "ui/panels/events_panel.h"
#include "ui/panels/folds_panel.h"
#include "ui/panels/health_panel.h"
#include "ui/panels/log_panel.h"
#include "ui/panels/losses_panel.h"
#include "ui/panels/market_panel.h"
#include "ui/panels/optimiser_panel.h"
#include "ui/panels/q_panel.h"
#include "ui/panels/rules_panel.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/session_panel.h"
#include "ui/panels/signals_panel.h"
#include "ui/panels/system_panel.h"
#include "ui/panels/trades_panel.h"
#include "ui/panels/validation_panel.h"

namespace foxhunt::ui {

std::span<const PanelEntry> panelTable() {
  static const std::vector<PanelEntry> rows = {
      {"session", QT_TRANSLATE_NOOP("Panels", "Session"), PanelArea::left_top, makePanel<SessionPanel>},
      {"folds", QT_TRANSLATE_NOOP("Panels", "Folds"), PanelArea::left_middle, makePanel<FoldsPanel>},
      {"q", QT_TRANSLATE_NOOP("Panels", "Q"), PanelArea::centre_top, makePanel<QPanel>},
      {"losses", QT_TRANSLATE_NOOP("Panels", "Losses"), PanelArea::right_top, makePanel<LossesPanel>},
      {"signals", QT_TRANSLATE_NOOP("Panels", "Signals"), PanelArea::right_middle, makePanel<SignalsPanel>},
      {"optimiser", QT_TRANSLATE_NOOP("Panels", "Optimiser"), PanelArea::right_middle, makePanel<OptimiserPanel>},
      {"actions", QT_TRANSLATE_NOOP("Panels", "Actions"), PanelArea::centre_middle, makePanel<ActionsPanel>},
      {"data", QT_TRANSLATE_NOOP("Panels", "Data"), PanelArea::centre_middle, makePanel<DataPanel>},
      {"validation", QT_TRANSLATE_NOOP("Panels", "Validation"), PanelArea::centre_bottom, makePanel<ValidationPanel>},
      {"market", QT_TRANSLATE_NOOP("Panels", "Market"), PanelArea::centre_bottom, makePanel<MarketPanel>},
      {"health", QT_TRANSLATE_NOOP("Panels", "Health"), PanelArea::left_bottom, makePanel<HealthPanel>},
      {"checkpoints", QT_TRANSLATE_NOOP("Panels", "Checkpoints"), PanelArea::edge_top, makePanel<CheckpointsPanel>},
      {"runs", QT_TRANSLATE_NOOP("Panels", "Runs"), PanelArea::edge_bottom, makePanel<RunsPanel>},
      {"events", QT_TRANSLATE_NOOP("Panels", "Events"), PanelArea::right_bottom, makePanel<EventsPanel>},
      {"trades", QT_TRANSLATE_NOOP("Panels", "Trades"), PanelArea::right_bottom, makePanel<TradesPanel>},
      {"rules", QT_TRANSLATE_NOOP("Panels", "Rules"), PanelArea::right_bottom, makePanel<RulesPanel>},
      {"system", QT_TRANSLATE_NOOP("Panels", "System"), PanelArea::right_bottom, makePanel<SystemPanel>},
      {"log", QT_TRANSLATE_NOOP("Panels", "Log"), PanelArea::right_bottom, makePanel<LogPanel>},
  };
  return rows;
}

}  // namespace foxhunt::ui
