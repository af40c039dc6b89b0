// The trades of an evaluation as a table, in the order of their entries.
#pragma once

#include "ui/models/cell_table_model.h"
#include "ui/models/run_types.h"

namespace foxhunt::ui {

class TradeModel : public CellTableModel {
  Q_OBJECT
 public:
  enum Column { number, entry_time, exit_time, side, contracts, entry, exit, bars, costs, profit, reason };

  explicit TradeModel(QObject* parent = nullptr);
  // Named in the headers of money; empty: none.
  void setCurrency(const QString& currency);
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void setTrades(std::vector<TradeView> trades);
  int rowCount(const QModelIndex& parent = {}) const override;
  const TradeView& at(int row) const { return trades_[static_cast<std::size_t>(row)]; }
  // Row of the trade with these times and prices; -1 when it is not among them.
  int find(const TradeView& trade) const;
  // "trades 34 · net 1,234.00 · costs 210.00 · 62 % gained"
  QString totals() const;
  // Plain numbers, times as ISO 8601.
  std::string csv() const;

 protected:
  TableCell cell(int row, int column) const override;

 private:
  std::vector<TradeView> trades_;
  QString currency_;
  bool full_minutes_ = true;  // all of their times are: seconds are not shown
};

// What ended a trade: "signal, limit order", "trailing stop"; "–" where the run does not say.
QString exitReason(int why);

}  // namespace foxhunt::ui
