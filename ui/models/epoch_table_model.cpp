// Columns of the validation table and the words for metrics.
#include "ui/models/epoch_table_model.h"

#include <QLocale>
#include <array>
#include <cmath>

#include "ui/charts/format.h"

namespace foxhunt::ui {
namespace {

constexpr std::array<const char*, 10> metric_columns = {
    "net", "sharpe", "sortino", "max_drawdown", "trades", "hit_rate", "profit_factor", "exposure", "costs", "dsr"};

std::vector<TableColumn> epochColumns() {
  std::vector<TableColumn> out = {
      {EpochTableModel::tr("Fold"), EpochTableModel::tr("Fold, from 1"), true},
      {EpochTableModel::tr("Epoch"),
       EpochTableModel::tr("Epoch of the fold, from 1; the best one of its fold so far has a lamp"), true},
      {EpochTableModel::tr("Step"), EpochTableModel::tr("Step of the run at which the weights stood"), true},
  };
  for (const char* name : metric_columns) {
    const MetricText text = metricText(name);
    out.push_back({text.label,
                   text.unit.isEmpty() ? text.meaning : QStringLiteral("%1 (%2)").arg(text.meaning, text.unit), true});
  }
  out.push_back({EpochTableModel::tr("vs hold"),
                 EpochTableModel::tr("Net profit less that of buy-and-hold over the same window (currency)"), true});
  return out;
}

bool isShare(const std::string& name) {
  return name == "hit_rate" || name == "exposure" || name == "return" || name == "cost_share" || name == "psr" ||
         name == "dsr";
}

}  // namespace

MetricText metricText(const std::string& name) {
  const auto tr = [](const char* text) { return EpochTableModel::tr(text); };
  if (name == "net") return {tr("Net"), tr("currency"), tr("Net profit of the window after all costs")};
  if (name == "return") return {tr("Return"), tr("%"), tr("Net profit over the capital")};
  if (name == "max_drawdown")
    return {tr("Drawdown"), tr("currency"), tr("Largest fall of the equity from an earlier high")};
  if (name == "max_drawdown_bars")
    return {tr("Longest drawdown"), tr("bars"), tr("Longest time below an earlier high")};
  if (name == "trades") return {tr("Trades"), {}, tr("Round trips")};
  if (name == "hit_rate") return {tr("Hit rate"), tr("%"), tr("Share of round trips that earned")};
  if (name == "profit_factor") return {tr("Profit factor"), {}, tr("Gains over losses of the round trips")};
  if (name == "mean_hold") return {tr("Mean hold"), tr("bars"), tr("Mean length of a round trip")};
  if (name == "turnover") return {tr("Turnover"), {}, tr("Traded value over the capital")};
  if (name == "exposure") return {tr("Exposure"), tr("%"), tr("Share of bars with a position")};
  if (name == "costs") return {tr("Costs"), tr("currency"), tr("Commission, spread, walked levels and slippage")};
  if (name == "cost_share") return {tr("Cost share"), tr("%"), tr("Costs over the profit before them")};
  if (name == "bars_per_year") return {tr("Bars a year"), {}, tr("What annualising multiplies with")};
  if (name == "sharpe") return {tr("Sharpe"), {}, tr("Annualised Sharpe ratio of the returns of bars")};
  if (name == "sortino") return {tr("Sortino"), {}, tr("Annualised mean return over the deviation of losses")};
  if (name == "psr")
    return {tr("PSR"), tr("%"), tr("Probabilistic Sharpe ratio: confidence that the Sharpe ratio is above 0")};
  if (name == "dsr")
    return {tr("DSR"), tr("%"), tr("Deflated Sharpe ratio: the same after the models tried are allowed for")};
  return {QString::fromStdString(name), {}, {}};
}

QString formatMetric(const std::string& name, double value) {
  if (std::isnan(value)) return EpochTableModel::tr("n/a");
  if (std::isinf(value)) return formatValue(value);
  const QLocale locale;
  if (isShare(name)) return locale.toString(100 * value, 'f', 1) + QStringLiteral(" %");
  if (name == "net" || name == "max_drawdown" || name == "costs" || name == "trades" || name == "max_drawdown_bars")
    return locale.toString(value, 'f', 0);
  return locale.toString(value, 'f', 2);
}

EpochTableModel::EpochTableModel(QObject* parent) : CellTableModel(epochColumns(), parent) {}

void EpochTableModel::setEpochs(const std::vector<Epoch>& epochs) {
  const auto old = static_cast<std::ptrdiff_t>(epochs_.size());
  const auto same_place = [](const Epoch& a, const Epoch& b) { return a->fold == b->fold && a->epoch == b->epoch; };
  const bool grew =
      epochs.size() >= epochs_.size() && std::equal(epochs_.begin(), epochs_.end(), epochs.begin(), same_place);
  if (!grew) {
    beginResetModel();
    epochs_ = epochs;
    endResetModel();
    return;
  }
  std::copy(epochs.begin(), epochs.begin() + old, epochs_.begin());  // whether one is the best may have changed
  if (old > 0) Q_EMIT dataChanged(index(0, 0), index(static_cast<int>(old) - 1, columnCount() - 1));
  if (epochs.size() == epochs_.size()) return;
  beginInsertRows({}, static_cast<int>(old), static_cast<int>(epochs.size()) - 1);
  epochs_.insert(epochs_.end(), epochs.begin() + old, epochs.end());
  endInsertRows();
}

int EpochTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(epochs_.size());
}

TableCell EpochTableModel::cell(int row, int column) const {
  const EpochView& shown = *at(row);
  if (column == fold) return countCell(shown.fold + 1);
  if (column == step) return countCell(static_cast<double>(shown.step));
  if (column == epoch) {
    TableCell cell = countCell(shown.epoch + 1);
    if (shown.best) {
      cell.lamp = Lamp::ok;
      cell.strong = true;
      cell.tip = tr("best of its fold so far");
    }
    return cell;
  }
  const bool difference = column == against_hold;
  const std::string name = difference ? "net" : metric_columns[static_cast<std::size_t>(column - net)];
  double value = metricOf(shown.agent, name);
  if (difference) value -= metricOf(shown.buy_and_hold, name);
  TableCell cell{
      formatMetric(name, value), std::isnan(value) ? QVariant() : QVariant(value), {}, {}, shown.best && column == net,
      std::isnan(value)};
  return cell;
}

}  // namespace foxhunt::ui
