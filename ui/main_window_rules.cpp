// Between the panel of the user's rules, the configuration and the message bar.
#include <QApplication>

#include "engine/base/error.h"
#include "ui/main_window.h"
#include "ui/panels/rules_panel.h"
#include "ui/panels/session_panel.h"

namespace foxhunt::ui {

void MainWindow::connectRules() {
  auto* rules = qobject_cast<RulesPanel*>(panel(QStringLiteral("rules")));
  FH_CHECK(rules != nullptr, "no rules panel in the table");
  const auto configured = [this, rules] {
    QStringList texts;
    for (const std::string& text : session_->config().rules) texts << QString::fromStdString(text);
    rules->setConfigured(texts);
  };
  connect(session_, &SessionPanel::configChanged, this, configured);
  configured();
  connect(rules, &RulesPanel::applied, this, [this](const QStringList& texts) {
    Config changed = session_->config();
    changed.rules.clear();
    for (const QString& text : texts) changed.rules.push_back(text.toStdString());
    session_->setConfig(changed);
  });
  connect(data_, &RunData::cleared, this, [this] { events_told_ = 0; });
  connect(data_, &RunData::eventsAdded, this, &MainWindow::tellOfRules);
}

void MainWindow::tellOfRules() {
  QString said;
  for (; events_told_ < data_->events().size(); ++events_told_) {
    const EventView& event = data_->events()[events_told_];
    if (event.kind == QLatin1String("rule") && event.severity != QLatin1String("info"))
      said = tr("Step %1: %2 (rule %3)").arg(event.step).arg(event.message, event.source);
  }
  if (said.isEmpty() || data_->source() != RunData::Source::live) return;
  showMessage(QStringLiteral("warning"), said);
  QApplication::alert(this);
}

}  // namespace foxhunt::ui
