// One row a run folder.
#include "ui/models/rule_test_model.h"

#include <QDateTime>
#include <algorithm>

#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

std::vector<TableColumn> testColumns() {
  return {
      {RuleTestModel::tr("Run"), RuleTestModel::tr("Checked: the rule is tested over it"), false},
      {RuleTestModel::tr("Fired"), RuleTestModel::tr("How often the rule would have fired"), true},
      {RuleTestModel::tr("First step"), RuleTestModel::tr("Where it would have fired first"), true},
      {RuleTestModel::tr("At"), RuleTestModel::tr("When that was, local time"), true},
      {RuleTestModel::tr("Samples"), RuleTestModel::tr("Rows that the rule saw"), true},
      {RuleTestModel::tr("Outcome"), RuleTestModel::tr("Why it fired first, or why the run cannot be read"), false},
  };
}

}  // namespace

RuleTestModel::RuleTestModel(QObject* parent) : CellTableModel(testColumns(), parent) {}

int RuleTestModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

Qt::ItemFlags RuleTestModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = CellTableModel::flags(index);
  if (index.isValid() && index.column() == run) flags |= Qt::ItemIsUserCheckable;
  return flags;
}

QVariant RuleTestModel::data(const QModelIndex& index, int role) const {
  if (role != Qt::CheckStateRole) return CellTableModel::data(index, role);
  if (!index.isValid() || index.column() != run) return {};
  return rows_[static_cast<std::size_t>(index.row())].chosen ? Qt::Checked : Qt::Unchecked;
}

bool RuleTestModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::CheckStateRole || !index.isValid() || index.column() != run) return false;
  rows_[static_cast<std::size_t>(index.row())].chosen = value.toInt() == Qt::Checked;
  Q_EMIT dataChanged(index, index);
  Q_EMIT choiceChanged();
  return true;
}

void RuleTestModel::setRuns(const std::vector<RunSummary>& runs) {
  std::vector<Row> rows;
  for (const RunSummary& summary : runs) {
    if (!summary.info) continue;
    const auto known =
        std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.folder == summary.folder; });
    rows.push_back(known != rows_.end() ? *known : Row{summary.folder, true, {}, {}});
  }
  const bool same = std::equal(rows.begin(), rows.end(), rows_.begin(), rows_.end(),
                               [](const Row& a, const Row& b) { return a.folder == b.folder; });
  if (same) return;
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
  Q_EMIT choiceChanged();
}

void RuleTestModel::choose(bool on) {
  if (rows_.empty()) return;
  for (Row& row : rows_) row.chosen = on;
  Q_EMIT dataChanged(index(0, run), index(rowCount() - 1, run));
  Q_EMIT choiceChanged();
}

std::vector<std::filesystem::path> RuleTestModel::chosen() const {
  std::vector<std::filesystem::path> folders;
  for (const Row& row : rows_)
    if (row.chosen) folders.push_back(row.folder);
  return folders;
}

void RuleTestModel::clearResults() {
  if (rows_.empty()) return;
  for (Row& row : rows_) {
    row.result.reset();
    row.problem.clear();
  }
  Q_EMIT dataChanged(index(0, run), index(rowCount() - 1, outcome));
}

void RuleTestModel::setResult(const std::filesystem::path& folder, const std::optional<RuleBackTest>& result,
                              const QString& problem) {
  for (int i = 0; i < rowCount(); ++i) {
    Row& row = rows_[static_cast<std::size_t>(i)];
    if (row.folder != folder) continue;
    row.result = result;
    row.problem = problem;
    Q_EMIT dataChanged(index(i, run), index(i, outcome));
  }
}

std::pair<int, int> RuleTestModel::tested() const {
  int all = 0, firing = 0;
  for (const Row& row : rows_) {
    all += row.result || !row.problem.isEmpty();
    firing += row.result && !row.result->events.empty();
  }
  return {all, firing};
}

TableCell RuleTestModel::cell(int row, int column) const {
  const Row& r = rows_[static_cast<std::size_t>(row)];
  const TableCell none{QStringLiteral("–"), {}, {}, {}, false, true};
  const telemetry::RuleEvent* first_event = r.result && !r.result->events.empty() ? &r.result->events.front() : nullptr;
  switch (column) {
    case run: {
      const QString name = QString::fromStdString(r.folder.filename().string());
      return {name, name, QString::fromStdString(r.folder.string()), {}, first_event != nullptr, false};
    }
    case fired:
      if (!r.result) return none;
      return countCell(static_cast<double>(r.result->events.size()));
    case first:
      return first_event ? countCell(static_cast<double>(first_event->step)) : none;
    case at: {
      if (!first_event) return none;
      const QDateTime time = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(first_event->wall * 1000));
      return {QLocale().toString(time, QStringLiteral("MMM d HH:mm:ss")),
              first_event->wall,
              QLocale().toString(time),
              {},
              false,
              false};
    }
    case samples:
      return r.result ? countCell(static_cast<double>(r.result->samples)) : none;
    default: {
      if (!r.problem.isEmpty()) return {r.problem, r.problem, {}, Lamp::bad, false, false};
      if (!r.result) return {};
      const QString reason = first_event ? QString::fromStdString(first_event->reason) : tr("never fires");
      return {reason, reason, QString::fromStdString(r.result->sentence()), {}, false, first_event == nullptr};
    }
  }
}

}  // namespace foxhunt::ui
