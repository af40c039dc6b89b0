// Widgets of the top bar and the words in them.
#include "ui/top_bar.h"

#include <QAction>
#include <QBoxLayout>
#include <QDateTime>
#include <QGridLayout>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QPainter>
#include <QProgressBar>
#include <QRegularExpression>
#include <QToolButton>

#include "engine/base/clock.h"
#include "ui/charts/format.h"
#include "ui/models/health_model.h"
#include "ui/session_bridge.h"

namespace foxhunt::ui {
namespace {

QLabel* label(const char* property, QWidget* parent, const QString& name) {
  auto* made = new QLabel(parent);
  if (property != nullptr) made->setProperty(property, true);
  made->setObjectName(name);
  return made;
}

QProgressBar* thinBar(QWidget* parent, const QString& name) {
  auto* bar = new QProgressBar(parent);
  bar->setRange(0, 1000);
  bar->setTextVisible(false);
  bar->setFixedHeight(8);
  bar->setMinimumWidth(70);
  bar->setAccessibleName(name);
  return bar;
}

QString commandTitle(CommandKind kind) {
  switch (kind) {
    case CommandKind::start_folds:
      return TopBar::tr("Start folds");
    case CommandKind::pause:
      return TopBar::tr("Pause");
    case CommandKind::resume:
      return TopBar::tr("Resume");
    case CommandKind::one_step:
      return TopBar::tr("One step");
    case CommandKind::save_checkpoint:
      return TopBar::tr("Save checkpoint");
    case CommandKind::stop_and_save:
      return TopBar::tr("Stop and save");
    case CommandKind::stop_now:
      return TopBar::tr("Stop now");
    case CommandKind::set_value:
      return TopBar::tr("Setting");
  }
  return {};
}

int permille(double done, double all) {
  return all > 0 ? static_cast<int>(std::clamp(1000 * done / all, 0.0, 1000.0)) : 0;
}

void lampAndTwoLines(QWidget* box, int left, LampWidget* lamp, QLabel* first, QLabel* second) {
  auto* grid = new QGridLayout(box);
  grid->setContentsMargins(left, 0, 2, 0);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(0);
  grid->addWidget(lamp, 0, 0, 2, 1);
  grid->addWidget(first, 0, 1);
  grid->addWidget(second, 1, 1);
}

}  // namespace

QString shortRunName(const QString& name) {
  static const QRegularExpression form(QStringLiteral("^(\\d{8}T\\d{6})Z-(.+)$"));
  const auto match = form.match(name);
  if (!match.hasMatch()) return name;
  QDateTime created = QDateTime::fromString(match.captured(1), QStringLiteral("yyyyMMddTHHmmss"));
  created.setTimeSpec(Qt::UTC);
  if (!created.isValid()) return name;
  return QStringLiteral("%1 · %2").arg(QLocale().toString(created.toLocalTime(), QStringLiteral("MMM d HH:mm")),
                                       match.captured(2));
}

void setElided(QLabel* label, const QString& text, const QString& tip) {
  label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  label->setToolTip(tip.isEmpty() ? text : tip);
  label->setAccessibleName(text);
  label->setText(label->fontMetrics().elidedText(text, Qt::ElideRight, std::max(20, label->width() - 2)));
}

LampWidget::LampWidget(QWidget* parent) : QWidget(parent) {
  setFixedSize(14, 14);
  connect(&themeNotifier(), &ThemeNotifier::changed, this, qOverload<>(&QWidget::update));
}

void LampWidget::setLamp(Lamp lamp) {
  if (lamp == lamp_) return;
  lamp_ = lamp;
  update();
}

void LampWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  drawLamp(painter, QRectF(rect()).adjusted(1, 1, -1, -1), lamp_);
}

Lamp stateLamp(SessionState state) {
  switch (state) {
    case SessionState::idle:
    case SessionState::stopped:
      return Lamp::idle;
    case SessionState::preparing:
    case SessionState::validating:
    case SessionState::stopping:
      return Lamp::active;
    case SessionState::training:
    case SessionState::finished:
      return Lamp::ok;
    case SessionState::paused:
      return Lamp::warning;
    case SessionState::halted:
    case SessionState::failed:
      return Lamp::bad;
  }
  return Lamp::idle;
}

QString commandText(const CommandRecord& record, double now) {
  const QString step = formatCount(static_cast<double>(record.step));
  switch (record.stage) {
    case CommandRecord::Stage::requested: {
      const double waited = now - record.requested;
      return waited > 1 ? TopBar::tr("requested, no answer for %1").arg(formatDuration(waited))
                        : TopBar::tr("requested …");
    }
    case CommandRecord::Stage::acknowledged:
      return TopBar::tr("acknowledged at step %1 …").arg(step);
    case CommandRecord::Stage::done:
      return TopBar::tr("done at step %1 in %2 ms").arg(step, formatValue(1000 * (record.done - record.requested), 2));
    case CommandRecord::Stage::refused:
      return TopBar::tr("refused: %1").arg(QString::fromStdString(record.message));
  }
  return {};
}

TopBar::TopBar(const QList<QAction*>& actions, QAction* stop, QAction* more, QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("topBar"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(6, 2, 6, 2);
  row->setSpacing(6);
  auto* state_box = new QWidget(this);
  state_box->setMinimumWidth(150);
  state_box->setMaximumWidth(190);
  state_box->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  addState(state_box);
  row->addWidget(state_box, 3);
  const auto button = [&](QAction* action) {
    auto* made = new QToolButton(this);
    made->setDefaultAction(action);
    made->setToolButtonStyle(Qt::ToolButtonTextOnly);
    made->setObjectName(QStringLiteral("button.") + action->objectName());
    made->setAccessibleName(action->text());
    made->setMinimumHeight(28);
    connect(action, &QAction::changed, made, [made, action] { made->setAccessibleName(action->text()); });
    row->addWidget(made);
    return made;
  };
  for (QAction* action : actions) button(action);
  QToolButton* stopping = button(stop);
  auto* menu = new QMenu(stopping);
  menu->addAction(more);
  stopping->setMenu(menu);
  stopping->setPopupMode(QToolButton::MenuButtonPopup);
  stopping->setStyleSheet(QStringLiteral("QToolButton { padding-right: 18px; }"));
  row->addSpacing(6);
  addProgress();
  row->addStretch(0);
  addGuard();
  addHealth();
}

void TopBar::addState(QWidget* parent) {
  auto* grid = new QGridLayout(parent);
  grid->setContentsMargins(2, 0, 0, 0);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(0);
  lamp_ = new LampWidget(parent);
  state_ = label("title", parent, QStringLiteral("stateWord"));
  run_ = label("muted", parent, QStringLiteral("runName"));
  grid->addWidget(lamp_, 0, 0, 2, 1);
  grid->addWidget(state_, 0, 1);
  grid->addWidget(run_, 1, 1);
  grid->setColumnStretch(1, 1);
}

void TopBar::addProgress() {
  auto* row = static_cast<QHBoxLayout*>(layout());
  auto* box = new QWidget(this);
  box->setMinimumWidth(200);
  box->setMaximumWidth(460);
  auto* grid = new QGridLayout(box);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(10);
  grid->setVerticalSpacing(0);
  fold_ = label(nullptr, box, QStringLiteral("foldProgress"));
  step_ = label("muted", box, QStringLiteral("stepProgress"));
  fold_bar_ = thinBar(box, tr("Progress of the fold"));
  epoch_bar_ = thinBar(box, tr("Progress of the epoch"));
  grid->addWidget(fold_, 0, 0);
  grid->addWidget(step_, 1, 0);
  grid->addWidget(fold_bar_, 0, 1);
  grid->addWidget(epoch_bar_, 1, 1);
  grid->setColumnStretch(0, 3);
  grid->setColumnStretch(1, 2);
  row->addWidget(box, 3);
  command_box_ = new QWidget(this);
  command_box_->setMinimumWidth(120);
  command_box_->setMaximumWidth(240);
  auto* column = new QVBoxLayout(command_box_);
  column->setContentsMargins(6, 0, 0, 0);
  column->setSpacing(0);
  command_ = label("muted", command_box_, QStringLiteral("lastCommand"));
  command_->setWordWrap(true);
  column->addWidget(command_);
  row->addWidget(command_box_, 2);
}

void TopBar::addGuard() {
  auto* row = static_cast<QHBoxLayout*>(layout());
  guard_box_ = new QWidget(this);
  guard_box_->setToolTip(tr("The guard stops training when the mean Q runs away from one epoch to the next"));
  guard_lamp_ = new LampWidget(guard_box_);
  guard_ = label(nullptr, guard_box_, QStringLiteral("guardMode"));
  trip_ = label("muted", guard_box_, QStringLiteral("guardTrip"));
  trip_->setFont(theme().number_font);
  lampAndTwoLines(guard_box_, 14, guard_lamp_, guard_, trip_);
  row->addWidget(guard_box_);
}

void TopBar::addHealth() {
  health_box_ = new QWidget(this);
  health_box_->setToolTip(tr("Words of HealthDiag outside their healthy ranges; the Health panel lists them first"));
  health_lamp_ = new LampWidget(health_box_);
  health_ = label(nullptr, health_box_, QStringLiteral("unhealthyCount"));
  auto* word = label("muted", health_box_, QStringLiteral("unhealthyWord"));
  word->setText(tr("unhealthy"));
  lampAndTwoLines(health_box_, 6, health_lamp_, health_, word);
  layout()->addWidget(health_box_);
}

void TopBar::showHealth(const RunData& run_data) {
  const auto& snapshot = run_data.snapshot();
  const bool any = snapshot && snapshot->health_snapshots > 0;
  health_box_->setVisible(run_data.source() != RunData::Source::none);
  const int bad = any ? HealthModel::unhealthyCount(snapshot->health) : 0;
  health_lamp_->setLamp(!any ? Lamp::idle : bad > 0 ? Lamp::warning : Lamp::ok);
  health_->setText(any ? formatCount(bad) : QStringLiteral("–"));
  health_->setAccessibleName(any ? tr("%n word(s) unhealthy", nullptr, bad) : tr("health not known yet"));
}

void TopBar::show(const RunData& run_data, const SessionBridge& bridge) {
  const SessionStatus& status = run_data.status();
  const bool live = run_data.source() == RunData::Source::live;
  lamp_->setLamp(stateLamp(status.state));
  QString word = run_data.stateWord();
  const bool why = status.state == SessionState::halted || status.state == SessionState::failed;
  if (why && !status.reason.empty()) word += QStringLiteral(": ") + QString::fromStdString(status.reason);
  setElided(state_, word);
  const QString mode = run_data.source() == RunData::Source::stored ? tr(" · read only") : QString();
  const QString run = run_data.name().isEmpty() ? tr("no run") : shortRunName(run_data.name());
  setElided(run_, run + mode, run_data.name() + mode);
  showProgress(status, live);
  showGuard(run_data);
  showHealth(run_data);
  if (bridge.commands().empty()) {
    command_->clear();
    last_command_.clear();
    return;
  }
  const CommandRecord& last = bridge.commands().back();
  const QString said = commandText(last, wall_seconds());
  const QString text = commandTitle(last.command.kind) + QLatin1Char('\n') + said;
  last_command_ = commandTitle(last.command.kind) + QStringLiteral(": ") + said;
  if (command_->text() != text) {
    command_->setText(text);
    command_->setToolTip(text);
    command_->setAccessibleName(text);
  }
}

void TopBar::showProgress(const SessionStatus& status, bool live) {
  const bool preparing = status.state == SessionState::preparing && !status.activity.empty();
  const auto per_epoch = static_cast<double>(status.steps_per_epoch);
  if (preparing) {
    setElided(fold_, QString::fromStdString(status.activity));
    step_->clear();
    fold_bar_->setValue(permille(status.progress, 1));
    epoch_bar_->setValue(0);
    return;
  }
  if (status.folds == 0 || status.step == 0) {
    const bool collecting = live && status.state == SessionState::training;
    setElided(fold_, collecting ? tr("collecting experience for the first steps")
                     : live     ? tr("waiting for a command")
                                : tr("no progress yet"));
    step_->clear();
    fold_bar_->setValue(0);
    epoch_bar_->setValue(0);
    return;
  }
  setElided(fold_, tr("Fold %1 of %2 · epoch %3 of %4")
                       .arg(status.fold + 1)
                       .arg(status.folds)
                       .arg(std::min(status.epoch + 1, std::max(1, status.epochs)))
                       .arg(status.epochs));
  QString step = tr("step %1").arg(formatCount(static_cast<double>(status.step)));
  if (status.seconds_left > 0 && status.state == SessionState::training) {
    step += tr(" · %1 left").arg(formatDuration(status.seconds_left));
  }
  setElided(step_, step);
  const double in_epoch = is_terminal(status.state) && !live ? per_epoch : static_cast<double>(status.epoch_step);
  fold_bar_->setValue(permille(status.epoch * per_epoch + in_epoch, status.epochs * per_epoch));
  epoch_bar_->setValue(permille(in_epoch, per_epoch));
}

void TopBar::showGuard(const RunData& run_data) {
  const GuardView guard = run_data.guard();
  guard_box_->setVisible(run_data.source() != RunData::Source::none);
  const bool off = guard.mode == QLatin1String("off"), warn = guard.mode == QLatin1String("warn");
  guard_->setText(off ? tr("Q-drift guard off") : warn ? tr("Q-drift guard warns") : tr("Q-drift guard armed"));
  const bool over = guard.trip && guard.q > *guard.trip;
  guard_lamp_->setLamp(over ? Lamp::bad : off ? Lamp::idle : warn ? Lamp::warning : Lamp::ok);
  const QLocale locale;
  trip_->setText(guard.trip
                     ? tr("|Q| %1 %2 %3 trip")
                           .arg(locale.toString(guard.q, 'f', 2), over ? QStringLiteral(">") : QStringLiteral("<"),
                                locale.toString(*guard.trip, 'f', 2))
                     : tr("|Q| %1 · first epoch").arg(locale.toString(guard.q, 'f', 2)));
}

bool TopBar::showsCommand() const {
  return !command_box_->isHidden();
}

QSize TopBar::minimumSizeHint() const {
  int width = layout()->contentsMargins().left() + layout()->contentsMargins().right();
  int height = 0;
  for (int i = 0; i < layout()->count(); ++i) {
    QWidget* widget = layout()->itemAt(i)->widget();
    if (widget == nullptr || widget == command_box_) continue;
    const QSize least = widget->minimumSizeHint().expandedTo(widget->minimumSize());
    width += least.width() + layout()->spacing();
    height = std::max(height, least.height());
  }
  return {width + layout()->spacing(),
          height + layout()->contentsMargins().top() + layout()->contentsMargins().bottom()};
}

void TopBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  command_box_->setVisible(width() >= 1440);
}

}  // namespace foxhunt::ui
