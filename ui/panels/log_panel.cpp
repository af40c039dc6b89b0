// Lines are moved into the model while the panel is visible; until then the sink keeps the newest of them.
#include "ui/panels/log_panel.h"

#include <spdlog/common.h>

#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QScrollBar>

namespace foxhunt::ui {

void LogFilter::setLeastLevel(int level) {
  least_ = level;
  invalidateFilter();
}

void LogFilter::setText(const QString& text) {
  text_ = text;
  invalidateFilter();
}

bool LogFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  Q_UNUSED(parent);
  const LogLine& line = static_cast<const LogModel*>(sourceModel())->line(row);
  return line.level >= least_ && (text_.isEmpty() || line.text.contains(text_, Qt::CaseInsensitive));
}

LogPanel::LogPanel(const PanelContext&, const QString& id, const QString& title, QWidget* parent)
    : Panel(id, title, parent), model_(new LogModel(this)), filter_(new LogFilter(this)) {
  QVBoxLayout* column = panelColumn(this);
  QHBoxLayout* row = controlRow(column);
  auto* level = new QComboBox(this);
  level->setObjectName(QStringLiteral("logLevel"));
  level->setAccessibleName(tr("Least level"));
  level->setToolTip(tr("Hides lines below this level"));
  level->addItem(tr("All"), static_cast<int>(spdlog::level::trace));
  level->addItem(tr("Info and above"), static_cast<int>(spdlog::level::info));
  level->addItem(tr("Warnings and errors"), static_cast<int>(spdlog::level::warn));
  level->addItem(tr("Errors"), static_cast<int>(spdlog::level::err));
  auto* search = new QLineEdit(this);
  search->setObjectName(QStringLiteral("logSearch"));
  search->setPlaceholderText(tr("Search the log"));
  search->setAccessibleName(tr("Search the log"));
  search->setClearButtonEnabled(true);
  row->addWidget(level);
  row->addWidget(search, 1);
  table_ = sortedTable(model_, tr("Lines of the log"), this, filter_);
  table_.view->setSortingEnabled(false);
  table_.view->horizontalHeader()->setStretchLastSection(true);
  column->addWidget(table_.view, 1);
  showWhenEmpty(table_.view, [this] {
    return model_->rowCount() > 0
               ? tr("No line has these words at this level: clear the search, or choose \"All\".")
               : tr("What the program logs appears here: sessions, files, warnings. It has logged nothing yet.");
  });
  connect(level, &QComboBox::currentIndexChanged, this,
          [this, level] { filter_->setLeastLevel(level->currentData().toInt()); });
  connect(search, &QLineEdit::textChanged, filter_, &LogFilter::setText);
}

void LogPanel::setData(RunData*) {
  refresh();
}

// Stays at the end unless the user has scrolled up.
void LogPanel::refresh() {
  QScrollBar* bar = table_.view->verticalScrollBar();
  const bool at_end = bar->value() >= bar->maximum() - 2;
  if (model_->drain() == 0) return;
  fitColumns(table_.view);
  if (at_end) table_.view->scrollToBottom();
}

QString LogPanel::summary() const {
  return tr("%n line(s) of the log", nullptr, model_->rowCount());
}

}  // namespace foxhunt::ui
