// Runs are read one after another; what is known is shown while the rest is being read.
#include "ui/panels/rule_back_test_page.h"

#include <QDir>
#include <QLabel>
#include <QProgressBar>
#include <QSortFilterProxyModel>
#include <QToolButton>

#include "engine/telemetry/rule_text.h"
#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

constexpr int progress_parts = 1000;

}  // namespace

RuleBackTestPage::RuleBackTestPage(const PanelContext& context, QWidget* parent)
    : QWidget(parent), folder_(QString::fromStdString(context.runs_folder.string())), model_(new RuleTestModel(this)) {
  QVBoxLayout* column = panelColumn(this);
  QHBoxLayout* row = controlRow(column);
  test_ = toolButton(tr("Back-test"), tr("Runs the chosen rule over the checked runs"), this);
  cancel_ = toolButton(tr("Cancel"), tr("Ends the test; what is known stays"), this);
  all_ = toolButton(tr("All / none"), tr("Checks all runs, or none"), this);
  progress_ = new QProgressBar(this);
  progress_->setRange(0, progress_parts);
  progress_->setTextVisible(false);
  progress_->setAccessibleName(tr("Progress of the back-test"));
  watched_ = mutedLabel({}, this);
  row->addWidget(test_);
  row->addWidget(cancel_);
  row->addWidget(watched_, 1);
  row->addWidget(progress_, 1);
  row->addWidget(all_);
  table_ = sortedTable(model_, tr("Back-tested runs"), this);
  keepColumnsInView(table_.view, {RuleTestModel::outcome, RuleTestModel::at, RuleTestModel::samples});
  column->addWidget(table_.view, 1);
  state_ = mutedLabel(tr("Reading runs…"), this);
  state_->setContentsMargins(8, 3, 8, 4);
  column->addWidget(state_);
  connect(test_, &QToolButton::clicked, this, &RuleBackTestPage::test);
  connect(cancel_, &QToolButton::clicked, this, &RuleBackTestPage::cancel);
  connect(all_, &QToolButton::clicked, this, [this] { model_->choose(model_->chosen().empty()); });
  connect(model_, &RuleTestModel::choiceChanged, this, &RuleBackTestPage::updateState);
  connect(table_.view, &QTableView::activated, this, [this](const QModelIndex& index) {
    const QModelIndex source = table_.proxy->mapToSource(index);
    Q_EMIT openRunRequested(source.siblingAtColumn(RuleTestModel::run).data(Qt::ToolTipRole).toString());
  });
  showRunning(false);
}

void RuleBackTestPage::setRule(const QString& text, const QString& problem) {
  if (text == rule_ && problem == problem_) return;
  if (text != rule_) {
    cancel();
    model_->clearResults();
  }
  rule_ = text;
  problem_ = problem;
  watched_->setText(rule_.isEmpty() ? tr("choose a rule first") : rule_);
  watched_->setToolTip(rule_);
  updateState();
}

void RuleBackTestPage::refresh() {
  if (listing_.running() || task_.running() || (since_.isValid() && since_.elapsed() < reload_ms)) return;
  since_.start();
  const auto runs = std::make_shared<std::vector<RunSummary>>();
  listing_.start([runs, folder = folder_.toStdString()](const BackgroundTask::Context&) { *runs = list_runs(folder); },
                 [this, runs] {
                   const int before = model_->rowCount();
                   model_->setRuns(*runs);
                   if (before == 0 && model_->rowCount() > 0) fitColumns(table_.view);
                   updateState();
                 },
                 [this](const QString& sentence) { state_->setText(sentence); });
}

void RuleBackTestPage::showRunning(bool on) {
  test_->setVisible(!on);
  cancel_->setVisible(on);
  progress_->setVisible(on);
  watched_->setVisible(!on);
  all_->setEnabled(!on);
}

void RuleBackTestPage::test() {
  const auto folders = model_->chosen();
  if (rule_.isEmpty() || !problem_.isEmpty() || folders.empty()) return;
  model_->clearResults();
  progress_->setValue(0);
  showRunning(true);
  state_->setText(tr("Testing %n run(s)…", nullptr, static_cast<int>(folders.size())));
  task_.start(
      [this, folders, rule = telemetry::parse_rule(rule_.toStdString())](const BackgroundTask::Context& context) {
        for (std::size_t i = 0; i < folders.size() && !context.cancelled(); ++i) {
          std::optional<RuleBackTest> result;
          QString problem;
          try {
            result = back_test(RunReader::open(folders[i]), rule, [&](double share) {
              const double done = (static_cast<double>(i) + share) / static_cast<double>(folders.size());
              context.post([this, done] { progress_->setValue(static_cast<int>(done * progress_parts)); });
              return !context.cancelled();
            });
          } catch (const Error& error) {
            problem = QString::fromStdString(error.sentence());
          }
          if (!result || result->whole)
            context.post([this, folder = folders[i], result, problem] { model_->setResult(folder, result, problem); });
        }
      },
      [this] {
        showRunning(false);
        fitColumns(table_.view);
        updateState();
      },
      [this](const QString& sentence) {
        showRunning(false);
        state_->setText(sentence);
      });
}

void RuleBackTestPage::cancel() {
  if (!task_.running()) return;
  task_.cancel();
  showRunning(false);
  updateState();
  state_->setText(tr("Cancelled. %1").arg(state_->text()));
}

void RuleBackTestPage::updateState() {
  const auto [tested, fired] = model_->tested();
  const int chosen = static_cast<int>(model_->chosen().size());
  test_->setEnabled(!rule_.isEmpty() && problem_.isEmpty() && chosen > 0);
  if (task_.running()) return;
  state_->setText(!problem_.isEmpty()       ? tr("The rule is not valid: %1").arg(problem_)
                  : model_->rowCount() == 0 ? tr("No runs in %1 yet").arg(QDir::toNativeSeparators(folder_))
                  : tested > 0              ? tr("It would have fired in %1 of %2 runs tested").arg(fired).arg(tested)
                                            : tr("%1 of %2 runs checked").arg(chosen).arg(model_->rowCount()));
  state_->setToolTip(state_->text());
}

QString RuleBackTestPage::summary() const {
  return state_->text();
}

}  // namespace foxhunt::ui
