// Rows of the checkpoint list and what a file's own metadata says.
#include "ui/models/checkpoint_list_model.h"

#include <QDateTime>
#include <QFileInfo>
#include <QLocale>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/checkpoint/safetensors.h"
#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

std::vector<TableColumn> checkpointColumns() {
  return {
      {CheckpointListModel::tr("Step"), CheckpointListModel::tr("Step of the run at which the weights stood"), true},
      {CheckpointListModel::tr("Fold"), CheckpointListModel::tr("Fold, from 1"), true},
      {CheckpointListModel::tr("Epoch"), CheckpointListModel::tr("Epochs done in the fold"), true},
      {CheckpointListModel::tr("Reason"), CheckpointListModel::tr("Why it was saved: best, periodic, manual, stop or rejected"), false},
      {CheckpointListModel::tr("Sharpe"), CheckpointListModel::tr("Annualised Sharpe ratio of the validation"), true},
      {CheckpointListModel::tr("Net"), CheckpointListModel::tr("Net profit of the validation, currency"), true},
      {CheckpointListModel::tr("Drawdown"), CheckpointListModel::tr("Largest drawdown of the validation, currency"), true},
      {CheckpointListModel::tr("Trades"), CheckpointListModel::tr("Round trips of the validation"), true},
      {CheckpointListModel::tr("Size"), CheckpointListModel::tr("Bytes of the file"), true},
      {CheckpointListModel::tr("File"), CheckpointListModel::tr("Name of the file; the tooltip has its folder"), false},
  };
}

template <class Number>
std::optional<Number> numberIn(const std::map<std::string, std::string>& metadata, const char* key) {
  const auto at = metadata.find(key);
  if (at == metadata.end()) return {};
  bool good = false;
  const auto value = QString::fromStdString(at->second).toLongLong(&good);
  if (!good || value < 0 || value > std::numeric_limits<Number>::max()) return {};
  return static_cast<Number>(value);
}

TableCell wholeCell(std::optional<qint64> value) {
  if (!value) return {QStringLiteral("–"), {}, {}, {}, false, true};
  return countCell(static_cast<double>(*value));
}

QString wordFor(const QString& reason) {
  if (reason == QLatin1String("best")) return CheckpointListModel::tr("best");
  if (reason == QLatin1String("periodic")) return CheckpointListModel::tr("periodic");
  if (reason == QLatin1String("manual")) return CheckpointListModel::tr("manual");
  if (reason == QLatin1String("stop")) return CheckpointListModel::tr("stop");
  if (reason == QLatin1String("rejected")) return CheckpointListModel::tr("rejected");
  return reason;
}

}  // namespace

std::map<std::string, double> checkpointMetrics(const std::string& json) {
  std::map<std::string, double> out;
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object()) return out;
  for (const auto& [name, value] : parsed.items()) {
    if (value.is_number()) out[name] = value.get<double>();
  }
  return out;
}

CheckpointItem checkpointItemOf(const QString& file) {
  CheckpointItem item;
  const QFileInfo info(file);
  item.file = info.absoluteFilePath();
  item.bytes = info.size();
  item.wall = info.exists() ? static_cast<double>(info.lastModified().toSecsSinceEpoch()) : 0;
  try {
    const auto opened = SafetensorsFile::open(item.file.toStdString());
    const auto& metadata = opened.metadata();
    item.step = numberIn<qint64>(metadata, "step");
    item.fold = numberIn<int>(metadata, "fold");
    item.epoch = numberIn<int>(metadata, "epoch");
    if (const auto at = metadata.find("reason"); at != metadata.end()) item.reason = QString::fromStdString(at->second);
    if (const auto at = metadata.find("metrics"); at != metadata.end()) item.metrics = checkpointMetrics(at->second);
    item.rejected = item.reason == QLatin1String("rejected");
  } catch (const Error& error) {
    item.problem = QString::fromStdString(error.what());
  } catch (const std::exception& error) {
    item.problem = QString::fromLocal8Bit(error.what());
  }
  return item;
}

CheckpointListModel::CheckpointListModel(QObject* parent) : CellTableModel(checkpointColumns(), parent) {}

void CheckpointListModel::setRun(std::vector<CheckpointItem> items) {
  std::stable_sort(items.begin(), items.end(), [](const CheckpointItem& a, const CheckpointItem& b) {
    return a.step.value_or(0) != b.step.value_or(0) ? a.step.value_or(0) > b.step.value_or(0) : a.wall > b.wall;
  });
  for (const CheckpointItem& old : items_) {
    const auto same = [&old](const CheckpointItem& item) { return item.file == old.file; };
    if (old.added && std::none_of(items.begin(), items.end(), same)) items.push_back(old);
  }
  if (items == items_) return;
  emit layoutAboutToBeChanged();
  const QModelIndexList before = persistentIndexList();
  QModelIndexList after;
  std::vector<CheckpointItem> old = std::move(items_);
  items_ = std::move(items);
  for (const QModelIndex& index : before) {
    const int row = index.row() < static_cast<int>(old.size()) ? find(old[static_cast<std::size_t>(index.row())].file) : -1;
    after << (row < 0 ? QModelIndex() : createIndex(row, index.column()));
  }
  changePersistentIndexList(before, after);
  emit layoutChanged();
}

int CheckpointListModel::add(CheckpointItem item) {
  item.added = true;
  const int row = find(item.file);
  if (row >= 0) {
    item.added = items_[static_cast<std::size_t>(row)].added;
    items_[static_cast<std::size_t>(row)] = std::move(item);
    emit dataChanged(index(row, 0), index(row, columnCount() - 1));
    return row;
  }
  const int end = rowCount();
  beginInsertRows({}, end, end);
  items_.push_back(std::move(item));
  endInsertRows();
  return end;
}

int CheckpointListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(items_.size());
}

int CheckpointListModel::find(const QString& file) const {
  const auto at = std::find_if(items_.begin(), items_.end(), [&file](const auto& item) { return item.file == file; });
  return at == items_.end() ? -1 : static_cast<int>(at - items_.begin());
}

TableCell CheckpointListModel::cell(int row, int column) const {
  const CheckpointItem& shown = item(row);
  const auto metric = [&shown](const char* metric_name) -> TableCell {
    const auto at = shown.metrics.find(metric_name);
    if (at == shown.metrics.end()) return {QStringLiteral("–"), {}, {}, {}, false, true};
    return numberCell(at->second);
  };
  switch (column) {
    case step:
      return wholeCell(shown.step);
    case fold:
      return wholeCell(shown.fold ? std::optional<qint64>(*shown.fold + 1) : std::nullopt);
    case epoch:
      return wholeCell(shown.epoch);
    case reason: {
      TableCell cell{wordFor(shown.reason), shown.reason, {}, {}, false, false};
      if (shown.reason.isEmpty()) cell.text = tr("file");
      if (shown.reason == QLatin1String("best")) cell.lamp = Lamp::ok;
      if (shown.rejected) {
        cell.lamp = Lamp::bad;
        cell.tip = tr("A guard rejected these weights; training goes on from them only when asked to twice.");
      }
      if (!shown.problem.isEmpty()) {
        cell.text = tr("cannot be used");
        cell.lamp = Lamp::warning;
        cell.tip = shown.problem;
      }
      return cell;
    }
    case sharpe:
      return metric("sharpe");
    case net:
      return metric("net");
    case drawdown:
      return metric("max_drawdown");
    case trades:
      return metric("trades");
    case size:
      return {QLocale().formattedDataSize(shown.bytes, 1), shown.bytes, tr("%1 bytes").arg(formatCount(static_cast<double>(shown.bytes))), {}, false, false};
    default:
      return {QFileInfo(shown.file).fileName(), QFileInfo(shown.file).fileName(), shown.file, {}, false, !shown.problem.isEmpty()};
  }
}

}  // namespace foxhunt::ui
