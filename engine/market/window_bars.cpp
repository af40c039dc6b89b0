// Copying of a window's candles; see window_bars.h.
#include "engine/market/window_bars.h"

#include "engine/base/error.h"

namespace foxhunt::market {

WindowBars window_bars(const MarketTable& table, Range rows) {
  FH_CHECK(rows.begin >= 0 && rows.begin <= rows.end && rows.end <= table.rows(), "rows {} to {} of {}", rows.begin,
           rows.end, table.rows());
  WindowBars out;
  out.rows = rows;
  const auto copy = [&](const auto& from, auto& to) { to.assign(from.begin() + rows.begin, from.begin() + rows.end); };
  copy(table.open_time, out.open_time);
  copy(table.close_time, out.close_time);
  copy(table.open, out.open);
  copy(table.high, out.high);
  copy(table.low, out.low);
  copy(table.close, out.close);
  return out;
}

}  // namespace foxhunt::market
