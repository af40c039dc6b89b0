// The list is a draft until Apply; what the session has comes back through its configuration.
#include "ui/panels/rules_panel.h"

#include <QLabel>
#include <QScrollArea>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>

#include "ui/charts/format.h"
#include "ui/panels/rule_back_test_page.h"
#include "ui/panels/rule_editor.h"
#include "ui/session_bridge.h"

namespace foxhunt::ui {
namespace {

constexpr int side_by_side_width = 1000;  // pixels in which table and editor stand side by side
constexpr int low = 330;                  // pixels below which they do not stand one above the other

QStringList rulesOf(const nlohmann::ordered_json& configuration) {
  QStringList texts;
  if (!configuration.is_object() || !configuration.contains("rules")) return texts;
  for (const auto& text : configuration.at("rules")) texts << QString::fromStdString(text.get<std::string>());
  return texts;
}

}  // namespace

RulesPanel::RulesPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent), context_(context), model_(new RuleListModel(this)) {
  QVBoxLayout* column = panelColumn(this);
  QHBoxLayout* row = controlRow(column);
  page_ = new Switch({tr("Rules"), tr("Back-test")}, tr("Page of the rules"), this);
  add_ = toolButton(tr("Add"), tr("Adds a rule to the list"), this);
  remove_ = toolButton(tr("Remove"), tr("Takes the chosen rule from the list"), this);
  apply_ =
      toolButton(tr("Apply"), tr("Sets the list to work in the session that runs, and keeps it for the next"), this);
  revert_ = toolButton(tr("Revert"), tr("Back to the rules that are at work"), this);
  edit_ = toolButton(tr("Edit"), tr("Shows the chosen rule in place of the list"), this);
  edit_->setCheckable(true);
  row->addWidget(page_);
  row->addStretch(1);
  for (QToolButton* button : {edit_, add_, remove_}) row->addWidget(button);
  pages_ = new QStackedWidget(this);
  test_page_ = new RuleBackTestPage(context, pages_);
  pages_->addWidget(makeListPage());
  pages_->addWidget(test_page_);
  column->addWidget(pages_, 1);
  row = controlRow(column);
  state_ = mutedLabel({}, this);
  row->addWidget(state_, 1);
  row->addWidget(revert_);
  row->addWidget(apply_);
  connectAll();
  showCurrent();
  updateState();
}

QWidget* RulesPanel::makeListPage() {
  splitter_ = new QSplitter(Qt::Vertical, pages_);
  list_ = new QWidget(splitter_);
  QVBoxLayout* column = panelColumn(list_);
  table_ = sortedTable(model_, tr("Rules"), list_);
  keepColumnsInView(table_.view,
                    {RuleListModel::now, RuleListModel::last, RuleListModel::action, RuleListModel::fired});
  empty_ = new QLabel(tr("No rules yet. A rule watches one value of the run and marks, notifies, saves a checkpoint, "
                         "pauses or stops when it goes where it should not. Add makes one."),
                      list_);
  empty_->setWordWrap(true);
  empty_->setMargin(12);
  empty_->setProperty("muted", true);
  empty_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  column->addWidget(table_.view, 1);
  column->addWidget(empty_, 1);
  editor_area_ = new QScrollArea(splitter_);
  editor_area_->setWidgetResizable(true);
  editor_area_->setFrameShape(QFrame::NoFrame);
  editor_area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  editor_ = new RuleEditor(editor_area_);
  editor_area_->setWidget(editor_);
  editor_->setAutoFillBackground(false);
  editor_area_->viewport()->setAutoFillBackground(false);
  splitter_->addWidget(list_);
  splitter_->addWidget(editor_area_);
  splitter_->setStretchFactor(0, 3);
  splitter_->setStretchFactor(1, 2);
  splitter_->setChildrenCollapsible(false);
  return splitter_;
}

void RulesPanel::connectAll() {
  connect(page_, &Switch::changed, this, [this](int page) {
    pages_->setCurrentIndex(page);
    for (QToolButton* button : {add_, remove_, revert_, apply_}) button->setVisible(page == 0);
    state_->setVisible(page == 0);
    arrange();
    refresh();
  });
  connect(edit_, &QToolButton::toggled, this, &RulesPanel::arrange);
  connect(add_, &QToolButton::clicked, this, &RulesPanel::addRule);
  connect(remove_, &QToolButton::clicked, this, &RulesPanel::removeRule);
  connect(apply_, &QToolButton::clicked, this, &RulesPanel::apply);
  connect(revert_, &QToolButton::clicked, this, &RulesPanel::revert);
  connect(test_page_, &RuleBackTestPage::openRunRequested, this, &Panel::openRunRequested);
  connect(model_, &RuleListModel::edited, this, [this] {
    showCurrent();
    updateState();
  });
  connect(table_.view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] { showCurrent(); });
  connect(model_, &QAbstractItemModel::modelReset, this, [this] {
    if (model_->rowCount() > 0) selectSourceRow(table_, 0);
    fitColumns(table_.view);
  });
  connect(editor_, &RuleEditor::edited, this, [this](const QString& text) {
    answer_.clear();
    model_->setText(currentSourceRow(table_), text);
  });
  if (context_.bridge != nullptr) {
    connect(context_.bridge, &SessionBridge::commandChanged, this, &RulesPanel::watchCommand);
    connect(context_.bridge, &SessionBridge::ended, this, &RulesPanel::takeApplied);
    connect(context_.bridge, &SessionBridge::started, this, &RulesPanel::takeApplied);
  }
}

void RulesPanel::setData(RunData* run) {
  if (data_ != nullptr) disconnect(data_, nullptr, this, nullptr);
  data_ = run;
  model_->setData(run);
  connect(data_, &RunData::nameChanged, this, &RulesPanel::takeApplied);
  takeApplied();
}

bool RulesPanel::live() const {
  return context_.bridge != nullptr && context_.bridge->live() && data_ != nullptr &&
         data_->source() == RunData::Source::live;
}

void RulesPanel::setConfigured(const QStringList& texts) {
  configured_ = texts;
  takeApplied();
}

void RulesPanel::takeApplied() {
  const bool edited = model_->changed() && model_->texts() != of_run_;
  const bool stored = data_ != nullptr && data_->source() == RunData::Source::stored;
  const QStringList now = live() ? rulesOf(data_->configuration()) : configured_;
  of_run_ = stored ? rulesOf(data_->configuration()) : QStringList();
  model_->setApplied(now);
  model_->setOfRun(of_run_);
  if (!edited) model_->setTexts(stored && now.isEmpty() ? of_run_ : now);
  updateState();
}

void RulesPanel::refresh() {
  if (pages_->currentWidget() == test_page_) return test_page_->refresh();
  if (since_.isValid() && since_.elapsed() < refresh_ms) return;
  since_.start();
  model_->refresh();
}

void RulesPanel::addRule() {
  QString text = QStringLiteral("step loss.total rises 6 sigma over 500, notify");
  for (int bound = 6; model_->texts().contains(text); ++bound)
    text = QStringLiteral("step loss.total rises %1 sigma over 500, notify").arg(bound + 1);
  answer_.clear();
  model_->add(text);
  selectSourceRow(table_, model_->rowCount() - 1);
  fitColumns(table_.view);
  showCurrent();
  edit_->setChecked(true);
}

void RulesPanel::removeRule() {
  answer_.clear();
  model_->remove(currentSourceRow(table_));
}

void RulesPanel::revert() {
  answer_.clear();
  model_->setTexts(model_->applied());
}

void RulesPanel::apply() {
  if (!model_->valid()) return;
  const QStringList texts = model_->texts();
  if (live()) {
    nlohmann::json list = nlohmann::json::array();
    for (const QString& text : texts) list.push_back(text.toStdString());
    answer_ = tr("Applying…");
    answer_bad_ = false;
    command_ = context_.bridge->setValue(QStringLiteral("rules"), QString::fromStdString(list.dump()));
    if (command_ == 0) answer_ = tr("The session has ended.");
    watchCommand(command_);  // which may have been answered before its number was known here
  } else {
    answer_ = tr("Kept for the next session.");
    answer_bad_ = false;
  }
  Q_EMIT applied(texts);
  setConfigured(texts);
}

// The session's answer to the last Apply.
void RulesPanel::watchCommand(quint64 number) {
  if (number != command_ || command_ == 0) return;
  const CommandRecord& record = context_.bridge->commands().at(number - 1);
  answer_bad_ = record.stage == CommandRecord::Stage::refused;
  if (answer_bad_) {
    answer_ = tr("Refused: %1").arg(QString::fromStdString(record.message));
  } else if (record.stage == CommandRecord::Stage::done) {
    answer_ = tr("At work since step %1.").arg(formatCount(static_cast<double>(record.step)));
    takeApplied();
  }
  updateState();
}

void RulesPanel::showCurrent() {
  const int row = currentSourceRow(table_);
  const bool any = row >= 0 && row < model_->rowCount();
  table_.view->setVisible(model_->rowCount() > 0);
  empty_->setVisible(model_->rowCount() == 0);
  remove_->setEnabled(any);
  edit_->setEnabled(any);
  if (!any) edit_->setChecked(false);
  arrange();
  if (!any) return test_page_->setRule({}, {});
  const QString text = model_->texts()[row], problem = model_->problem(row);
  editor_->setRule(text);
  editor_->setSentence(problem.isEmpty()
                           ? tr("A sample is %1.")
                                 .arg(text.startsWith(QLatin1String("step"))     ? tr("every step")
                                      : text.startsWith(QLatin1String("signal")) ? tr("a recorded row of the "
                                                                                      "signals, five a second")
                                                                                 : tr("a health snapshot"))
                           : problem,
                       !problem.isEmpty());
  test_page_->setRule(text, problem);
}

void RulesPanel::updateState() {
  const bool changed = model_->changed(), valid = model_->valid();
  apply_->setEnabled(changed && valid);
  revert_->setEnabled(changed);
  QString text;
  if (!valid) {
    text = tr("A rule is not valid: nothing is applied.");
  } else if (!answer_.isEmpty() && (!changed || answer_bad_)) {
    text = answer_;
  } else if (changed && model_->texts() == of_run_) {
    text = tr("The rules of the run that is shown");
  } else if (changed) {
    text = live() ? tr("Not applied yet.") : tr("Not kept yet.");
  } else if (model_->rowCount() > 0) {
    text = live() ? tr("%n rule(s) in the session", nullptr, model_->rowCount())
                  : tr("%n rule(s) for the next session", nullptr, model_->rowCount());
  } else {
    text = tr("No rules");
  }
  state_->setText(text);
  state_->setToolTip(text);
}

void RulesPanel::resizeEvent(QResizeEvent* event) {
  Panel::resizeEvent(event);
  splitter_->setOrientation(width() >= side_by_side_width ? Qt::Horizontal : Qt::Vertical);
  arrange();
}

void RulesPanel::arrange() {
  const bool together = height() >= low || width() >= side_by_side_width, any = currentSourceRow(table_) >= 0;
  edit_->setVisible(!together && page_->current() == 0);
  list_->setVisible(together || !edit_->isChecked());
  editor_area_->setVisible(any && (together || edit_->isChecked()));
}

QString RulesPanel::summary() const {
  if (pages_->currentWidget() == test_page_) return test_page_->summary();
  QStringList lines{state_->text()};
  for (int row = 0; row < model_->rowCount(); ++row) {
    lines << QStringLiteral("%1: %2, %3 %4")
                 .arg(model_->index(row, RuleListModel::rule).data().toString(),
                      model_->index(row, RuleListModel::state).data().toString(), tr("fired"),
                      model_->index(row, RuleListModel::fired).data().toString());
  }
  return lines.join(QStringLiteral("\n"));
}

}  // namespace foxhunt::ui
