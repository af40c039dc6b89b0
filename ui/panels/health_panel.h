// Health: all words of the newest HealthDiag, those outside their healthy range marked.
#pragma once

#include <QElapsedTimer>

#include "ui/models/health_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_parts.h"

class QLabel;

namespace foxhunt::ui {

class HealthFilter;

class HealthPanel : public Panel {
  Q_OBJECT
 public:
  HealthPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent);
  void setData(RunData* run) override;
  void refresh() override;
  QString summary() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  static constexpr int refresh_ms = 250;

  // NaN flags by name, and the drift guard.
  void showSafety();

  RunData* data_ = nullptr;
  HealthModel* model_;
  HealthFilter* filter_;
  SortedTable table_;
  QLabel *state_, *nan_lamp_, *nan_, *guard_lamp_, *guard_;
  QString guard_words_;
  QElapsedTimer since_;
  bool stale_ = true;
};

}  // namespace foxhunt::ui
