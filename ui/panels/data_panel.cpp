// Pages, reading of a stored run's files.
#include "ui/panels/data_panel.h"

#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QTreeView>

#include "engine/base/error.h"
#include "engine/config/load_config.h"
#include "engine/market/market_loader.h"
#include "ui/charts/format.h"
#include "ui/models/market_lanes.h"

namespace foxhunt::ui {
namespace {

// Of the panel, from which chart and tables are shown beside or above one another.
constexpr int both_width = 860, both_height = 360;
constexpr int words_width = 520;

}  // namespace

DataPanel::DataPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent), files_(new DataFilesModel(this)), anomalies_(new AnomalyModel(this)) {
  QVBoxLayout* column = panelColumn(this);
  makeControls(column);
  splitter_ = new QSplitter(Qt::Vertical, this);
  splitter_->setChildrenCollapsible(false);
  chart_ = new LaneChart(tr("Price and order flow"), this);
  tables_ = new QStackedWidget(this);
  tree_ = new QTreeView(this);
  tree_->setAccessibleName(tr("Files and what was inferred"));
  tree_->setModel(files_);
  tree_->setUniformRowHeights(true);
  tree_->setIndentation(14);
  tree_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  tree_->header()->setStretchLastSection(true);
  tree_->setColumnWidth(0, 190);
  tables_->addWidget(tree_);
  tables_->addWidget(makeCleaning());
  splitter_->addWidget(chart_);
  splitter_->addWidget(tables_);
  splitter_->setStretchFactor(0, 3);
  splitter_->setStretchFactor(1, 2);
  column->addWidget(splitter_, 1);
  connect(page_, &Switch::changed, this, [this] {
    page_asked_ = page_asked_ || !choosing_;
    showPage();
  });
  showPage();
}

void DataPanel::makeControls(QVBoxLayout* column) {
  QHBoxLayout* row = controlRow(column);
  page_ = new Switch({tr("Chart"), tr("Files"), tr("Cleaning")}, tr("Page"), this);
  state_ = mutedLabel({}, this);
  read_ = toolButton(tr("Read data"), tr("Reads the files that the run was trained on"), this);
  progress_ = new QProgressBar(this);
  progress_->setRange(0, 1000);
  progress_->setTextVisible(false);
  progress_->setMaximumWidth(160);
  progress_->setAccessibleName(tr("Progress of reading"));
  cancel_ = toolButton(tr("Cancel"), tr("Ends the reading"), this);
  row->addWidget(page_);
  row->addWidget(state_, 100);
  row->addStretch(1);
  row->addWidget(progress_);
  row->addWidget(cancel_);
  row->addWidget(read_);
  connect(read_, &QToolButton::clicked, this, &DataPanel::read);
  connect(cancel_, &QToolButton::clicked, this, [this] {
    task_.cancel();
    showState();
  });
}

QWidget* DataPanel::makeCleaning() {
  auto* page = new QSplitter(Qt::Vertical, this);
  page->setChildrenCollapsible(false);
  rules_ = sortedTable(anomalies_, tr("What cleaning found"), this);
  rules_.view->setMinimumHeight(60);
  keepColumnsInView(rules_.view, {AnomalyModel::example, AnomalyModel::done});
  examples_ = new QPlainTextEdit(this);
  examples_->setReadOnly(true);
  examples_->setAccessibleName(tr("First examples of the chosen rule"));
  examples_->setLineWrapMode(QPlainTextEdit::NoWrap);
  examples_->setMinimumHeight(44);
  page->addWidget(rules_.view);
  page->addWidget(examples_);
  page->setStretchFactor(0, 3);
  page->setStretchFactor(1, 2);
  connect(rules_.view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &DataPanel::showExamples);
  return page;
}

void DataPanel::setData(RunData* run) {
  if (data_ != nullptr) disconnect(data_, nullptr, this, nullptr);
  data_ = run;
  connect(data_, &RunData::planChanged, this, [this] { stale_ = true; });
  connect(data_, &RunData::nameChanged, this, [this] { stale_ = true; });
  connect(data_, &RunData::cleared, this, [this] {
    task_.cancel();
    own_.reset();
    stale_ = true;
  });
  showState();
}

void DataPanel::refresh() {
  if (data_ == nullptr || !stale_) return;
  stale_ = false;
  const Preview preview = data_->plan() ? data_->plan()->preview : own_;
  if (preview != shown_) showPreview(preview);
  showState();
}

void DataPanel::read() {
  Config config;
  try {
    if (!data_->configuration().is_object()) throw usage_error("no run is shown, so nothing says where its data are");
    config = parse_config(data_->configuration().dump(), "run.json", data_->folder());
  } catch (const Error& error) {
    Q_EMIT message(QStringLiteral("error"), QString::fromStdString(error.sentence()));
    return;
  }
  progress_->setValue(0);
  auto read = std::make_shared<Preview>();
  task_.start(
      [this, read, config](const BackgroundTask::Context& context) {
        market::Progress progress;
        progress.cancel = &context.cancelFlag();
        progress.report = [&](std::uint64_t done, std::uint64_t total, const std::string& what) {
          const int share =
              total > 0 ? static_cast<int>(1000.0 * static_cast<double>(done) / static_cast<double>(total)) : 0;
          context.post([this, share, name = QString::fromStdString(what)] {
            progress_->setValue(share);
            state_->setText(tr("reading %1").arg(name.section(QLatin1Char('/'), -1)));
          });
        };
        const market::MarketTable table = market::load_market(config.data, progress);
        *read = std::make_shared<market::DataPreview>(market::preview_of(table, kPreviewBuckets));
      },
      [this, read] {
        own_ = *read;
        showPreview(own_);
        showState();
      },
      [this](const QString& sentence) {
        showState();
        Q_EMIT message(QStringLiteral("error"), sentence);
      });
  showState();
}

void DataPanel::showPreview(const Preview& preview) {
  shown_ = preview;
  if (!preview) {
    files_->clearRows();
    anomalies_->setReport({});
    chart_->setContent(nullptr);
    chart_->setBadge({});
    examples_->clear();
    return;
  }
  std::optional<market::Contract> contract;
  try {
    if (data_->configuration().is_object()) {
      const Config config = parse_config(data_->configuration().dump(), "run.json", data_->folder());
      contract = market::contract_for(config.instrument, config.contract);
    }
  } catch (const Error&) {
    contract.reset();  // a run of another version: its contract is not shown
  }
  files_->setPreview(*preview, contract);
  tree_->expandAll();
  anomalies_->setReport(preview->report);
  if (anomalies_->rowCount() > 0) {
    fitColumns(rules_.view);
    selectSourceRow(rules_, 0);
  }
  showExamples();
  chart_->setContent(previewLanes(*preview));
  const std::int64_t each = preview->buckets.empty() ? 1 : preview->buckets.front().rows;
  chart_->setTitle(preview->simulated ? tr("Simulated market")
                                      : tr("%1, price").arg(QString::fromStdString(preview->symbol)));
  const QString bars = tr("%1 bars").arg(formatCount(static_cast<double>(preview->rows)));
  chart_->setBadge(each > 1 ? tr("%1, %2 a point").arg(bars, formatCount(static_cast<double>(each))) : bars);
}

void DataPanel::showExamples() {
  const int at = currentSourceRow(rules_);
  if (anomalies_->rowCount() == 0) {
    examples_->setPlainText(shown_ ? tr("Nothing odd was found: no cleaning rule applied.") : QString());
  } else {
    examples_->setPlainText(at >= 0 ? anomalies_->at(at).examples.join(QLatin1Char('\n')) : QString());
  }
}

void DataPanel::showState() {
  const bool running = task_.running();
  const bool stored = data_ != nullptr && data_->source() == RunData::Source::stored;
  read_->setVisible(stored && !running);
  read_->setText(own_ ? tr("Read again") : tr("Read data"));
  progress_->setVisible(running);
  cancel_->setVisible(running);
  QString words;
  if (running) {
    words = tr("reading …");
  } else if (shown_) {
    std::uint64_t odd = 0;
    for (int i = 0; i < anomalies_->rowCount(); ++i) odd += anomalies_->at(i).count;
    words =
        tr("oddities %1 · warnings %2").arg(formatCount(static_cast<double>(odd))).arg(shown_->report.warnings.size());
  }
  state_->setText(words);
  state_->setToolTip(words);
  QString empty;
  if (running) {
    empty = tr("Reading…");
  } else if (stored) {
    empty = tr("Press Read data: the files that the run was trained on are read, and shown here.");
  } else if (data_ != nullptr && data_->source() == RunData::Source::live) {
    empty = tr("The session reads its data…");
  } else {
    empty = tr("Choose data in the Session panel and read them (F4), or start a session (F5).");
  }
  chart_->setEmptyText(empty);
  page_->setEnabled(shown_ != nullptr);
  showPage();
}

bool DataPanel::both() const {
  return width() >= both_width || height() >= both_height;
}

// Until the user chooses: the files beside the chart where there is room, else the chart.
void DataPanel::choosePage() {
  if (page_asked_) return;
  choosing_ = true;
  page_->setCurrent(both() ? files_page : chart_page);
  choosing_ = false;
}

void DataPanel::showPage() {
  const int page = shown_ ? page_->current() : static_cast<int>(chart_page);
  splitter_->setOrientation(width() >= both_width ? Qt::Horizontal : Qt::Vertical);
  chart_->setVisible(page == chart_page || both());
  tables_->setVisible(page != chart_page);
  if (page != chart_page) tables_->setCurrentIndex(page - files_page);
}

void DataPanel::resizeEvent(QResizeEvent* event) {
  Panel::resizeEvent(event);
  state_->setVisible(width() >= words_width || task_.running());
  choosePage();
  showPage();
}

QString DataPanel::summary() const {
  QString text = chart_->summary();
  if (shown_) text += QLatin1Char('\n') + state_->text();
  return text;
}

}  // namespace foxhunt::ui
