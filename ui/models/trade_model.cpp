// Columns of the trade list.
#include "ui/models/trade_model.h"

#include <QDateTime>
#include <QLocale>
#include <QTimeZone>
#include <algorithm>
#include <cmath>

#include "kernels/environment_types.h"
#include "ui/charts/format.h"
#include "ui/models/market_lanes.h"

namespace foxhunt::ui {
namespace {

std::vector<TableColumn> tradeColumns() {
  const auto tr = [](const char* text) { return TradeModel::tr(text); };
  return {{tr("#"), tr("Number of the trade, by its entry"), true},
          {tr("Entry"), tr("Close of the bar in which it was opened, UTC"), true},
          {tr("Exit"), tr("Close of the bar in which it was closed, UTC"), true},
          {tr("Side"), tr("Long or short"), false},
          {tr("Size"), tr("Contracts bought to open a long, sold to open a short, in all"), true},
          {tr("Entry price"), tr("Average over its opening fills, all that was paid included (points)"), true},
          {tr("Exit price"), tr("Of its last fill, all that was paid included (points)"), true},
          {tr("Bars"), tr("Bars held"), true},
          {tr("Costs"), tr("Commission, spread, walked levels and slippage of its fills (currency)"), true},
          {tr("P&L"), tr("Net profit or loss, after costs (currency)"), true},
          {tr("Exit by"),
           tr("What closed it: the policy's signal and its order, the trailing stop, or the window's end"), false}};
}

QDateTime moment(double seconds) {
  return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(std::llround(seconds * 1000)), QTimeZone::utc());
}

QString priceText(double price) {
  return QLocale().toString(price, 'f', QLocale::FloatingPointShortest);
}

// Averages over fills have many digits.
QString shortPrice(double price) {
  const QString exact = priceText(price);
  return exact.size() > 12 ? QLocale().toString(price, 'f', 4) : exact;
}

}  // namespace

QString exitReason(int why) {
  switch (why) {
    case kernels::fill_none:
      return QStringLiteral("–");
    case kernels::fill_stop:
    case kernels::fill_window_end:
      return fillWord(why);
    default:
      return TradeModel::tr("signal, %1").arg(fillWord(why));
  }
}

TradeModel::TradeModel(QObject* parent) : CellTableModel(tradeColumns(), parent) {}

void TradeModel::setCurrency(const QString& currency) {
  if (currency == currency_) return;
  currency_ = currency;
  Q_EMIT headerDataChanged(Qt::Horizontal, costs, profit);
}

QVariant TradeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  const QVariant plain = CellTableModel::headerData(section, orientation, role);
  const bool money = orientation == Qt::Horizontal && (section == costs || section == profit);
  if (!money || role != Qt::DisplayRole || currency_.isEmpty()) return plain;
  return QStringLiteral("%1 (%2)").arg(plain.toString(), currency_);
}

void TradeModel::setTrades(std::vector<TradeView> trades) {
  std::stable_sort(trades.begin(), trades.end(),
                   [](const TradeView& a, const TradeView& b) { return a.entry_time < b.entry_time; });
  const auto minute = [](double seconds) { return std::fmod(seconds, 60) == 0; };
  beginResetModel();
  full_minutes_ = std::all_of(trades.begin(), trades.end(), [&](const TradeView& trade) {
    return minute(trade.entry_time) && minute(trade.exit_time);
  });
  trades_ = std::move(trades);
  endResetModel();
}

int TradeModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(trades_.size());
}

int TradeModel::find(const TradeView& trade) const {
  for (std::size_t i = 0; i < trades_.size(); ++i) {
    const TradeView& t = trades_[i];
    if (t.entry_time == trade.entry_time && t.exit_time == trade.exit_time && t.entry_price == trade.entry_price &&
        t.exit_price == trade.exit_price && t.contracts == trade.contracts)
      return static_cast<int>(i);
  }
  return -1;
}

TableCell TradeModel::cell(int row, int column) const {
  const TradeView& t = at(row);
  const auto time = [this](double seconds) {
    const QString whole = moment(seconds).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss.zzz")) + QStringLiteral(" UTC");
    const QString form = full_minutes_ ? QStringLiteral("yyyy-MM-dd HH:mm") : QStringLiteral("yyyy-MM-dd HH:mm:ss");
    return TableCell{moment(seconds).toString(form), seconds, whole, {}, false, false};
  };
  const auto money = [](double value) {
    TableCell cell{QLocale().toString(value, 'f', 2), value, {}, {}, false, false};
    if (std::isnan(value)) cell = {QStringLiteral("–"), {}, tr("not recorded by this run"), {}, false, true};
    return cell;
  };
  switch (column) {
    case number:
      return countCell(row + 1);
    case entry_time:
      return time(t.entry_time);
    case exit_time:
      return time(t.exit_time);
    case side: {
      const bool is_long = t.contracts >= 0;
      return {is_long ? tr("▲ long") : tr("▼ short"), is_long ? 1 : -1, {}, {}, false, false};
    }
    case contracts: {
      const double size = std::abs(t.contracts) / 2;
      return {QLocale().toString(size, 'f', QLocale::FloatingPointShortest), size, {}, {}, false, false};
    }
    case entry:
      return {shortPrice(t.entry_price), t.entry_price, priceText(t.entry_price), {}, false, false};
    case exit:
      return {shortPrice(t.exit_price), t.exit_price, priceText(t.exit_price), {}, false, false};
    case bars:
      return countCell(static_cast<double>(t.bars));
    case costs:
      return money(t.costs);
    case profit: {
      TableCell cell = money(t.net);
      cell.lamp = t.net > 0 ? Lamp::ok : t.net < 0 ? Lamp::bad : Lamp::idle;
      return cell;
    }
    default: {
      const QString words = exitReason(t.why);
      return {words, words, t.why == 0 ? tr("not recorded by this run") : words, {}, false, t.why == 0};
    }
  }
}

QString TradeModel::totals() const {
  if (trades_.empty()) return tr("no trade");
  double net = 0, paid = 0, gained = 0;
  for (const TradeView& t : trades_) {
    net += t.net;
    paid += t.costs;
    gained += t.net > 0;
  }
  const QLocale locale;
  QString text = tr("trades %1").arg(formatCount(static_cast<double>(trades_.size()))) + QStringLiteral(" · ") +
                 tr("net %1").arg(locale.toString(net, 'f', 2));
  if (std::isfinite(paid)) text += QStringLiteral(" · ") + tr("costs %1").arg(locale.toString(paid, 'f', 2));
  return text + QStringLiteral(" · ") +
         tr("%1 % gained").arg(locale.toString(100 * gained / static_cast<double>(trades_.size()), 'f', 0));
}

std::string TradeModel::csv() const {
  std::string text = "number,entry_time,exit_time,side,contracts,entry_price,exit_price,bars,costs,net,exit_by\n";
  for (std::size_t i = 0; i < trades_.size(); ++i) {
    const TradeView& t = trades_[i];
    const auto time = [](double seconds) {
      return moment(seconds).toString(QStringLiteral("yyyy-MM-dd'T'HH:mm:ss.zzz'Z'")).toStdString();
    };
    text += std::to_string(i + 1) + ',' + time(t.entry_time) + ',' + time(t.exit_time) + ',' +
            (t.contracts >= 0 ? "long" : "short") + ',' + plainNumber(std::abs(t.contracts) / 2) + ',' +
            plainNumber(t.entry_price) + ',' + plainNumber(t.exit_price) + ',' + std::to_string(t.bars) + ',' +
            plainNumber(t.costs) + ',' + plainNumber(t.net) + ',' +
            csvField(t.why == 0 ? QString() : exitReason(t.why)) + '\n';
  }
  return text;
}

}  // namespace foxhunt::ui
