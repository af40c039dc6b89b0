// Columns of the run list.
#include "ui/models/run_list_model.h"

#include <QDateTime>
#include <QDir>
#include <QLocale>

#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

std::vector<TableColumn> runColumns() {
  return {
      {RunListModel::tr("Run"), RunListModel::tr("Name of the run's folder; semi-bold: shown now"), false},
      {RunListModel::tr("Status"), RunListModel::tr("How the run stands; a running one can be opened read-only"),
       false},
      {RunListModel::tr("Steps"), RunListModel::tr("Updates done"), true},
      {RunListModel::tr("Fold"), RunListModel::tr("Fold reached, from 1"), true},
      {RunListModel::tr("Best Sharpe"), RunListModel::tr("Of the best checkpoint's validation, annualised"), true},
      {RunListModel::tr("Best net"), RunListModel::tr("Net profit of the best checkpoint's validation, currency"),
       true},
      {RunListModel::tr("Market"), RunListModel::tr("Instrument, and whether the market was simulated"), false},
      {RunListModel::tr("Device"), RunListModel::tr("What trained it"), false},
      {RunListModel::tr("Started"), RunListModel::tr("Local time"), false},
  };
}

TableCell nothing() {
  return {QStringLiteral("–"), {}, {}, {}, false, true};
}

QString statusWord(const RunSummary& run) {
  const std::string& status = run.status;
  // A session that has trained what was asked for waits for more; its file has no word of its own for that.
  if (status == "preparing")
    return run.info && run.info->steps > 0 ? RunListModel::tr("Idle") : RunListModel::tr("Preparing");
  if (status == "training") return RunListModel::tr("Training");
  if (status == "paused") return RunListModel::tr("Paused");
  if (status == "validating") return RunListModel::tr("Validating");
  if (status == "stopping") return RunListModel::tr("Stopping");
  if (status == "finished") return RunListModel::tr("Finished");
  if (status == "stopped") return RunListModel::tr("Stopped");
  if (status == "halted") return RunListModel::tr("Halted");
  if (status == "failed") return RunListModel::tr("Failed");
  if (status == "interrupted") return RunListModel::tr("Interrupted");
  if (status == "unreadable") return RunListModel::tr("Unreadable");
  return QString::fromStdString(status);
}

Lamp statusLamp(const RunSummary& run) {
  if (run.running) return run.status == "paused" ? Lamp::warning : Lamp::active;
  if (run.status == "finished") return Lamp::ok;
  if (run.status == "halted" || run.status == "failed" || run.status == "unreadable") return Lamp::bad;
  if (run.status == "interrupted") return Lamp::warning;
  return Lamp::idle;
}

TableCell text(const QString& shown, const QString& tip = {}) {
  return {shown, shown, tip, {}, false, false};
}

TableCell bestCell(const RunInfo& info, const char* metric) {
  const auto at = info.best.find(metric);
  return at == info.best.end() ? nothing() : numberCell(at->second);
}

QString instrumentOf(const RunInfo& info) {
  const auto at = info.configuration.find("instrument");
  return at != info.configuration.end() && at->is_string() ? QString::fromStdString(at->get<std::string>()) : QString();
}

TableCell marketCell(const RunInfo& info) {
  const QString instrument = instrumentOf(info);
  if (!info.simulated) return text(instrument.isEmpty() ? RunListModel::tr("real") : instrument);
  TableCell cell =
      text(instrument.isEmpty() ? RunListModel::tr("simulated") : RunListModel::tr("%1 simulated").arg(instrument),
           RunListModel::tr("trained on the simulated market"));
  cell.muted = true;
  return cell;
}

TableCell startedCell(const RunInfo& info) {
  const QDateTime when = QDateTime::fromString(QString::fromStdString(info.created), Qt::ISODate);
  if (!when.isValid()) return nothing();
  const QString shown = QLocale().toString(when.toLocalTime(), QStringLiteral("yyyy-MM-dd HH:mm"));
  return {shown, when.toSecsSinceEpoch(), QString::fromStdString(info.created), {}, false, false};
}

}  // namespace

RunListModel::RunListModel(QObject* parent) : CellTableModel(runColumns(), parent) {}

void RunListModel::setRuns(std::vector<RunSummary> runs) {
  const auto same = [](const RunSummary& a, const RunSummary& b) { return a.folder == b.folder; };
  if (std::equal(runs.begin(), runs.end(), runs_.begin(), runs_.end(), same)) {
    runs_ = std::move(runs);
    if (!runs_.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    return;
  }
  beginResetModel();
  runs_ = std::move(runs);
  endResetModel();
}

void RunListModel::setCurrent(const QString& folder) {
  if (folder == current_) return;
  current_ = folder;
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, name), index(rowCount() - 1, name));
}

int RunListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(runs_.size());
}

QString RunListModel::searchText(int row) const {
  const RunSummary& shown = run(row);
  QStringList words{QString::fromStdString(shown.id), statusWord(shown), QString::fromStdString(shown.notes.notes)};
  for (const std::string& tag : shown.notes.tags) words << QString::fromStdString(tag);
  if (shown.info) words << QString::fromStdString(shown.info->device) << marketCell(*shown.info).text;
  return words.join(QLatin1Char(' ')).toLower();
}

TableCell RunListModel::cell(int row, int column) const {
  const RunSummary& shown = run(row);
  if (column == name) {
    TableCell cell = text(QString::fromStdString(shown.id), QDir::toNativeSeparators(folder(row)));
    cell.strong = !current_.isEmpty() && QDir(current_) == QDir(folder(row));
    return cell;
  }
  if (column == status) {
    TableCell cell = text(shown.running ? tr("%1 · running").arg(statusWord(shown)) : statusWord(shown));
    cell.lamp = statusLamp(shown);
    if (shown.info) cell.tip = QString::fromStdString(shown.info->reason);
    if (!shown.problem.empty()) cell.tip = QString::fromStdString(shown.problem);
    return cell;
  }
  if (!shown.info) return nothing();
  switch (column) {
    case steps:
      return countCell(static_cast<double>(shown.info->steps));
    case fold:
      return countCell(static_cast<double>(shown.info->fold) + 1);
    case sharpe:
      return bestCell(*shown.info, "sharpe");
    case net:
      return bestCell(*shown.info, "net");
    case market:
      return marketCell(*shown.info);
    case device:
      return text(QString::fromStdString(shown.info->device));
    default:
      return startedCell(*shown.info);
  }
}

}  // namespace foxhunt::ui
