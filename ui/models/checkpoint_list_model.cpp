// Rows of the checkpoint list and what a file's own metadata says.
#include "ui/models/checkpoint_list_model.h"

#include <QDateTime>
#include <QFileInfo>
#include <QLocale>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/checkpoint/safetensors.h"
#include "ui/charts/format.h"
#include "ui/models/epoch_table_model.h"

namespace foxhunt::ui {
namespace {

std::vector<TableColumn> checkpointColumns() {
  return {
      {CheckpointListModel::tr("Step"), CheckpointListModel::tr("Step of the run at which the weights stood"), true},
      {CheckpointListModel::tr("Fold"), CheckpointListModel::tr("Fold, from 1"), true},
      {CheckpointListModel::tr("Epoch"), CheckpointListModel::tr("Epochs done in the fold"), true},
      {CheckpointListModel::tr("Reason"),
       CheckpointListModel::tr("Why it was saved: best, periodic, manual, stop or rejected"), false},
      {CheckpointListModel::tr("Sharpe"), CheckpointListModel::tr("Annualised Sharpe ratio of the validation"), true},
      {CheckpointListModel::tr("Net"), CheckpointListModel::tr("Net profit of the validation, currency"), true},
      {CheckpointListModel::tr("Drawdown"), CheckpointListModel::tr("Largest drawdown of the validation, currency"),
       true},
      {CheckpointListModel::tr("Trades"), CheckpointListModel::tr("Round trips of the validation"), true},
      {CheckpointListModel::tr("Size"), CheckpointListModel::tr("Bytes of the file"), true},
      {CheckpointListModel::tr("File"), CheckpointListModel::tr("Name of the file; the tooltip has its folder"), false},
  };
}

std::optional<std::int64_t> numberIn(const std::map<std::string, std::string>& metadata, const char* key) {
  const auto at = metadata.find(key);
  if (at == metadata.end()) return {};
  bool good = false;
  const auto value = QString::fromStdString(at->second).toLongLong(&good);
  return good && value >= 0 ? std::optional<std::int64_t>(value) : std::nullopt;
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

MetricList checkpointMetrics(const std::string& json) {
  MetricList out;
  const auto parsed = nlohmann::ordered_json::parse(json, nullptr, false);
  if (!parsed.is_object()) return out;
  for (const auto& [name, value] : parsed.items()) {
    if (value.is_number()) out.emplace_back(name, value.get<double>());
  }
  return out;
}

QString checkpointName(const QString& file) {
  static const QRegularExpression form(QStringLiteral("^fold(\\d+)-step\\d+-[a-z]+\\.safetensors$"));
  const QString name = QFileInfo(file).fileName();
  const auto match = form.match(name);
  if (!match.hasMatch()) return name;
  return CheckpointListModel::tr("Fold %1 (file %2)").arg(match.captured(1).toInt() + 1).arg(name);
}

CheckpointItem checkpointItemOf(const QString& file) {
  CheckpointItem item;
  const QFileInfo info(file);
  CheckpointView& view = item.view;
  view.file = info.absoluteFilePath().toStdString();
  view.bytes = info.size();
  view.wall = info.exists() ? static_cast<double>(info.lastModified().toSecsSinceEpoch()) : 0;
  item.placed = false;
  try {
    const auto opened = SafetensorsFile::open(view.file);
    const auto& metadata = opened.metadata();
    const auto step = numberIn(metadata, "step"), fold = numberIn(metadata, "fold"),
               epoch = numberIn(metadata, "epoch");
    item.placed = step && fold && epoch;
    if (item.placed) {
      view.step = static_cast<std::uint64_t>(*step);
      view.fold = static_cast<int>(*fold);
      view.epoch = static_cast<int>(*epoch);
    }
    if (const auto at = metadata.find("reason"); at != metadata.end()) view.reason = QString::fromStdString(at->second);
    if (const auto at = metadata.find("metrics"); at != metadata.end()) view.metrics = checkpointMetrics(at->second);
    view.rejected = view.reason == QLatin1String("rejected");
  } catch (const Error& error) {
    view.problem = QString::fromStdString(error.sentence());
  } catch (const std::exception& error) {
    view.problem = QString::fromLocal8Bit(error.what());
  }
  return item;
}

CheckpointListModel::CheckpointListModel(QObject* parent) : CellTableModel(checkpointColumns(), parent) {}

void CheckpointListModel::setRun(const std::vector<CheckpointView>& checkpoints) {
  std::vector<CheckpointItem> items;
  for (const CheckpointView& view : checkpoints) items.push_back({view, true, false});
  std::stable_sort(items.begin(), items.end(), [](const CheckpointItem& a, const CheckpointItem& b) {
    return a.view.step != b.view.step ? a.view.step > b.view.step : a.view.wall > b.view.wall;
  });
  const auto same_file = [](const CheckpointItem& a, const CheckpointItem& b) { return a.view.file == b.view.file; };
  for (const CheckpointItem& old : items_) {
    const auto same = [&](const CheckpointItem& item) { return same_file(item, old); };
    if (old.added && std::none_of(items.begin(), items.end(), same)) items.push_back(old);
  }
  if (std::equal(items.begin(), items.end(), items_.begin(), items_.end(), same_file)) {
    items_ = std::move(items);
    if (!items_.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    return;
  }
  beginResetModel();
  items_ = std::move(items);
  endResetModel();
}

int CheckpointListModel::add(CheckpointItem item) {
  const int row = find(QString::fromStdString(item.view.file.string()));
  item.added = row < 0 || items_[static_cast<std::size_t>(row)].added;
  if (row >= 0) {
    items_[static_cast<std::size_t>(row)] = std::move(item);
    Q_EMIT dataChanged(index(row, 0), index(row, columnCount() - 1));
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

int CheckpointListModel::find(const QString& wanted) const {
  const std::filesystem::path path_wanted(wanted.toStdString());
  const auto at = std::find_if(items_.begin(), items_.end(),
                               [&path_wanted](const auto& item) { return item.view.file == path_wanted; });
  return at == items_.end() ? -1 : static_cast<int>(at - items_.begin());
}

TableCell CheckpointListModel::reasonCell(const CheckpointView& view) {
  TableCell cell{view.reason.isEmpty() ? tr("file") : wordFor(view.reason), view.reason, {}, {}, false, false};
  if (view.reason == QLatin1String("best")) cell.lamp = Lamp::ok;
  if (view.rejected) {
    cell.lamp = Lamp::bad;
    cell.tip = tr("A guard rejected these weights: they are kept to be looked at, not to go on from.");
  }
  if (!view.problem.isEmpty()) {
    cell.text = tr("cannot be used");
    cell.lamp = Lamp::warning;
    cell.tip = view.problem;
  }
  return cell;
}

TableCell CheckpointListModel::cell(int row, int column) const {
  const CheckpointItem& shown = item(row);
  const CheckpointView& view = shown.view;
  const TableCell nothing{QStringLiteral("–"), {}, {}, {}, false, true};
  const auto place = [&](std::uint64_t value) {
    return shown.placed ? countCell(static_cast<double>(value)) : nothing;
  };
  const auto metric = [&](const char* metric_name) {
    const double value = metricOf(view.metrics, metric_name);
    return std::isnan(value) ? nothing : TableCell{formatMetric(metric_name, value), value, {}, {}, false, false};
  };
  const auto name = [&view] { return QFileInfo(QString::fromStdString(view.file.string())).fileName(); };
  switch (column) {
    case step:
      return place(view.step);
    case fold:
      return place(static_cast<std::uint64_t>(view.fold) + 1);
    case epoch:
      return place(static_cast<std::uint64_t>(view.epoch) + 1);
    case reason:
      return reasonCell(view);
    case sharpe:
      return metric("sharpe");
    case net:
      return metric("net");
    case drawdown:
      return metric("max_drawdown");
    case trades:
      return metric("trades");
    case size:
      return {QLocale().formattedDataSize(view.bytes, 1),
              static_cast<qint64>(view.bytes),
              tr("%1 bytes").arg(formatCount(static_cast<double>(view.bytes))),
              {},
              false,
              false};
    default:
      return {name(), name(), path(row), {}, false, !view.problem.isEmpty()};
  }
}

}  // namespace foxhunt::ui
