// Pages of the session panel, reading of data, checking.
#include "ui/panels/session_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDateTime>
#include <QDragEnterEvent>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QTabWidget>
#include <QTimeZone>
#include <QTreeView>
#include <QTreeWidget>

#include "engine/base/error.h"
#include "engine/config/load_config.h"
#include "engine/market/folds.h"
#include "engine/market/market_loader.h"
#include "ui/charts/format.h"
#include "ui/panels/panel_parts.h"

namespace foxhunt::ui {
namespace {

// A list for fields with fixed choices, text for the others.
class ConfigDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const QStringList choices = index.data(ConfigModel::choices_role).toStringList();
    if (choices.isEmpty()) {
      QWidget* editor = QStyledItemDelegate::createEditor(parent, option, index);
      editor->setAccessibleName(index.data(ConfigModel::path_role).toString());
      return editor;
    }
    auto* box = new QComboBox(parent);
    box->setAccessibleName(index.data(ConfigModel::path_role).toString());
    box->addItems(choices);
    return box;
  }
  void setEditorData(QWidget* editor, const QModelIndex& index) const override {
    if (auto* box = qobject_cast<QComboBox*>(editor)) {
      box->setCurrentText(index.data(Qt::EditRole).toString());
    } else {
      QStyledItemDelegate::setEditorData(editor, index);
    }
  }
  void setModelData(QWidget* editor, QAbstractItemModel* model, const QModelIndex& index) const override {
    if (const auto* box = qobject_cast<QComboBox*>(editor)) {
      model->setData(index, box->currentText(), Qt::EditRole);
    } else {
      QStyledItemDelegate::setModelData(editor, model, index);
    }
  }
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return QStyledItemDelegate::sizeHint(option, index).expandedTo(QSize(0, 22));
  }
};

QString timeText(market::Time time) {
  const auto at = QDateTime::fromMSecsSinceEpoch(time / 1'000'000, QTimeZone::utc());
  return at.toString(QStringLiteral("yyyy-MM-dd HH:mm"));
}

std::shared_ptr<SessionPlan> readPlan(const Config& config, const market::Progress& progress,
                                      std::optional<Error>* problem) {
  const market::MarketTable table = market::load_market(config.data, progress);
  if (table.rows() == 0) throw usage_error("the data hold no bars", {.field = "data"});
  auto plan = std::make_shared<SessionPlan>();
  plan->symbol = table.symbol;
  plan->simulated = table.simulated;
  plan->order_flow = table.order_flow;
  plan->bars = table.rows();
  plan->first = table.open_time.front();
  plan->last = table.close_time.back();
  plan->report = table.report;
  plan->times = table.close_time;
  plan->preview = std::make_shared<market::DataPreview>(market::preview_of(table, kPreviewBuckets));
  try {
    plan->folds = market::make_folds(table, config.folds, config.environment.n_step);
  } catch (const Error& error) {
    *problem = error;  // the data are shown all the same
  }
  return plan;
}

QTreeWidgetItem* addRow(QTreeWidget* tree, QTreeWidgetItem* parent, const QString& name, const QString& value) {
  auto* item = parent ? new QTreeWidgetItem(parent) : new QTreeWidgetItem(tree);
  item->setText(0, name);
  item->setText(1, value);
  item->setToolTip(0, name);
  item->setToolTip(1, value);
  item->setForeground(0, theme().muted);
  return item;
}

}  // namespace

SessionPanel::SessionPanel(const PanelContext& context, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent), context_(context), model_(new ConfigModel(this)), filter_(new ConfigFilter(this)) {
  setAcceptDrops(true);
  filter_->setSourceModel(model_);
  QVBoxLayout* column = panelColumn(this);
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  tabs_->setObjectName(QStringLiteral("sessionTabs"));
  tabs_->addTab(makeDataPage(), tr("Data"));
  tabs_->addTab(makeConfigPage(), tr("Configuration"));
  column->addWidget(tabs_, 1);
  problem_ = new QLabel(this);
  problem_->setObjectName(QStringLiteral("sessionProblem"));
  problem_->setWordWrap(true);
  problem_->setMargin(8);
  problem_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  problem_->hide();
  column->addWidget(problem_);
  connect(files_, &DataFilesBox::edited, this, &SessionPanel::takeData);
  connect(model_, &ConfigModel::refused, this, &SessionPanel::showProblem);
  connect(model_, &ConfigModel::configChanged, this, [this] {
    problem_->hide();
    files_->setData(model_->config().data);
    tabs_->setTabText(1, model_->changedCount() > 0 ? tr("Configuration · %1 changed").arg(model_->changedCount())
                                                    : tr("Configuration"));
    Q_EMIT configChanged();
  });
  Config config;
  config.data.simulated = SimulatedConfig{};
  setConfig(config);
}

SessionPanel::~SessionPanel() = default;

QWidget* SessionPanel::makeDataPage() {
  auto* page = new QWidget(this);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  files_ = new DataFilesBox(page);
  column->addWidget(files_);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(8, 0, 8, 0);
  read_ = new QPushButton(tr("Read data"), page);
  read_->setObjectName(QStringLiteral("readData"));
  read_->setToolTip(tr("Reads the data once and shows what was inferred, before any run"));
  cancel_ = new QPushButton(tr("Cancel"), page);
  cancel_->setObjectName(QStringLiteral("cancelReading"));
  progress_ = new QProgressBar(page);
  progress_->setRange(0, 1000);
  progress_->setTextVisible(false);
  progress_->setAccessibleName(tr("Progress of reading"));
  row->addWidget(read_);
  row->addWidget(progress_, 1);
  row->addWidget(cancel_);
  column->addLayout(row);
  reading_ = mutedLabel({}, page);
  reading_->setMargin(8);
  column->addWidget(reading_);
  report_ = new QTreeWidget(page);
  report_->setObjectName(QStringLiteral("dataReport"));
  report_->setAccessibleName(tr("What was inferred about the data"));
  report_->setColumnCount(2);
  report_->setHeaderHidden(true);
  report_->setIndentation(10);
  column->addWidget(report_, 1);
  connect(read_, &QPushButton::clicked, this, &SessionPanel::readData);
  connect(cancel_, &QPushButton::clicked, this, [this] {
    task_.cancel();
    showReading(false);
    reading_->setText(tr("Reading was cancelled."));
    reading_->show();
  });
  showReading(false);
  return page;
}

QWidget* SessionPanel::makeConfigPage() {
  auto* page = new QWidget(this);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  QHBoxLayout* row = controlRow(column);
  auto* search = new QLineEdit(page);
  search->setObjectName(QStringLiteral("configSearch"));
  search->setPlaceholderText(tr("Search fields and help"));
  search->setAccessibleName(tr("Search the configuration"));
  search->setClearButtonEnabled(true);
  auto* changed = new QCheckBox(tr("changed"), page);
  changed->setObjectName(QStringLiteral("changedOnly"));
  changed->setToolTip(tr("Only fields that differ from their default"));
  row->addWidget(search, 1);
  row->addWidget(changed);
  tree_ = new QTreeView(page);
  tree_->setObjectName(QStringLiteral("configTree"));
  tree_->setAccessibleName(tr("Configuration"));
  tree_->setModel(filter_);
  tree_->setItemDelegate(new ConfigDelegate(tree_));
  tree_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed |
                         QAbstractItemView::SelectedClicked | QAbstractItemView::AnyKeyPressed);
  tree_->setUniformRowHeights(true);
  tree_->setIndentation(12);
  tree_->header()->setStretchLastSection(true);
  tree_->setColumnWidth(ConfigModel::name, 128);
  tree_->setColumnWidth(ConfigModel::value, 84);
  tree_->setColumnWidth(ConfigModel::unit, 56);
  column->addWidget(tree_, 1);
  connect(search, &QLineEdit::textChanged, this, [this](const QString& text) {
    filter_->setText(text);
    if (!text.isEmpty()) tree_->expandAll();
  });
  connect(changed, &QCheckBox::toggled, this, [this](bool on) {
    filter_->setChangedOnly(on);
    if (on) tree_->expandAll();
  });
  return page;
}

void SessionPanel::setData(RunData* run) {
  data_ = run;
}

void SessionPanel::setConfig(const Config& config) {
  model_->setConfig(config);
}

void SessionPanel::takeData() {
  Config changed = model_->config();
  files_->fill(changed.data);
  model_->setConfig(changed);
}

Config SessionPanel::checkedConfig() {
  try {
    check_config(config());
    check_training_config(config());
  } catch (const Error& error) {
    showProblem(QString::fromStdString(error.place().field), QString::fromStdString(error.sentence()));
    throw;
  }
  problem_->hide();
  return config();
}

void SessionPanel::openFiles(const QStringList& files) {
  files_->addFiles(files);
  tabs_->setCurrentIndex(0);
  readData();
}

void SessionPanel::setRunning(bool running) {
  model_->setReadOnly(running);
  files_->setEnabled(!running);
  read_->setEnabled(!running);
}

void SessionPanel::showProblem(const QString& field, const QString& sentence) {
  problem_->setText(sentence);
  problem_->setStyleSheet(QStringLiteral("color: %1").arg(theme().bad.name()));
  problem_->show();
  const QModelIndex index = filter_->mapFromSource(model_->indexOf(field));
  if (!index.isValid()) return;
  tabs_->setCurrentIndex(1);
  tree_->expand(index.parent());
  tree_->setCurrentIndex(index);
  tree_->scrollTo(index);
}

void SessionPanel::showReading(bool on) {
  read_->setVisible(!on);
  progress_->setVisible(on);
  cancel_->setVisible(on);
  reading_->setVisible(on);
}

void SessionPanel::readData() {
  problem_->hide();
  report_->clear();
  progress_->setValue(0);
  reading_->setText(tr("reading …"));
  showReading(true);
  auto plan = std::make_shared<std::shared_ptr<SessionPlan>>();
  auto field = std::make_shared<std::string>();
  auto folds_problem = std::make_shared<std::optional<Error>>();
  task_.start(
      [this, plan, field, folds_problem, config = config()](const BackgroundTask::Context& context) {
        std::atomic<bool> cancel{false};
        market::Progress progress;
        progress.cancel = &cancel;
        progress.report = [&](std::uint64_t done, std::uint64_t total, const std::string& what) {
          cancel.store(context.cancelled(), std::memory_order_relaxed);
          const int share =
              total ? static_cast<int>(1000.0 * static_cast<double>(done) / static_cast<double>(total)) : 0;
          context.post([this, share, name = QString::fromStdString(what)] {
            progress_->setValue(share);
            reading_->setText(tr("reading %1").arg(name.section(QLatin1Char('/'), -1)));
          });
        };
        try {
          *plan = readPlan(config, progress, folds_problem.get());
        } catch (const Error& error) {
          *field = error.place().field;
          throw std::runtime_error(error.sentence());
        }
      },
      [this, plan, folds_problem] {
        showReading(false);
        showPlan(**plan);
        if (*folds_problem) {
          const QString sentence = QString::fromStdString((*folds_problem)->sentence());
          showProblem(QString::fromStdString((*folds_problem)->place().field), sentence);
          Q_EMIT message(QStringLiteral("error"), sentence);
        }
        Q_EMIT preview(*plan);
      },
      [this, field](const QString& sentence) {
        showReading(false);
        showProblem(QString::fromStdString(*field), sentence);
        Q_EMIT message(QStringLiteral("error"), sentence);
      });
}

void SessionPanel::showPlan(const SessionPlan& plan) {
  report_->clear();
  addRow(report_, nullptr, tr("Symbol"),
         plan.simulated ? tr("simulated market") : QString::fromStdString(plan.symbol.empty() ? "–" : plan.symbol));
  addRow(report_, nullptr, tr("Bars"), formatCount(static_cast<double>(plan.bars)));
  addRow(report_, nullptr, tr("Span"), tr("%1 to %2 UTC").arg(timeText(plan.first), timeText(plan.last)));
  addRow(report_, nullptr, tr("Order flow"), plan.order_flow ? tr("book and trades") : tr("absent: bars alone"));
  addRow(report_, nullptr, tr("Folds"), formatCount(static_cast<double>(plan.folds.size())));
  if (!plan.report.warnings.empty()) {
    auto* parent =
        addRow(report_, nullptr, tr("Warnings"), formatCount(static_cast<double>(plan.report.warnings.size())));
    parent->setForeground(1, theme().warning);
    for (const market::Warning& warning : plan.report.warnings) {
      addRow(report_, parent, QString::fromStdString(warning.message), {})->setFirstColumnSpanned(true);
    }
    parent->setExpanded(true);
  }
  if (!plan.report.anomalies.empty()) {
    auto* parent = addRow(report_, nullptr, tr("Oddities"),
                          tr("%n kind(s)", nullptr, static_cast<int>(plan.report.anomalies.size())));
    for (const auto& [kind, anomaly] : plan.report.anomalies) {
      auto* row =
          addRow(report_, parent, QString::fromStdString(kind), formatCount(static_cast<double>(anomaly.count)));
      for (const std::string& example : anomaly.examples) {
        addRow(report_, row, QString::fromStdString(example), {})->setFirstColumnSpanned(true);
      }
    }
    parent->setExpanded(true);
  }
  if (!plan.report.inferred.empty()) {
    auto* parent = addRow(report_, nullptr, tr("Inferred"),
                          tr("%n thing(s)", nullptr, static_cast<int>(plan.report.inferred.size())));
    for (const auto& [what, value] : plan.report.inferred) {
      addRow(report_, parent, QString::fromStdString(what), QString::fromStdString(value));
    }
  }
  report_->setColumnWidth(0, 96);
}

void SessionPanel::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && read_->isEnabled()) event->acceptProposedAction();
}

void SessionPanel::dropEvent(QDropEvent* event) {
  QStringList files;
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) files << url.toLocalFile();
  }
  if (files.isEmpty()) return;
  event->acceptProposedAction();
  openFiles(files);
}

QString SessionPanel::summary() const {
  const DataConfig& chosen = config().data;
  return chosen.simulated ? tr("simulated market of %1 bars, %n field(s) changed", nullptr, model_->changedCount())
                                .arg(formatCount(static_cast<double>(chosen.simulated->bars)))
                          : tr("%1 files of market data, %n field(s) changed", nullptr, model_->changedCount())
                                .arg(chosen.ohlcv.size() + chosen.mbp10.size() + chosen.trades.size());
}

}  // namespace foxhunt::ui
