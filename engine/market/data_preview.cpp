// Bucketing of a market table; see data_preview.h.
#include "engine/market/data_preview.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/market/features.h"

namespace foxhunt::market {
namespace {

PreviewBucket bucket(const MarketTable& table, std::int64_t begin, std::int64_t end) {
  const auto b = static_cast<std::size_t>(begin), e = static_cast<std::size_t>(end);
  PreviewBucket out;
  out.first_row = begin;
  out.rows = end - begin;
  out.open_time = table.open_time[b];
  out.close_time = table.close_time[e - 1];
  out.open = table.open[b];
  out.close = table.close[e - 1];
  out.high = table.high[b];
  out.low = table.low[b];
  double spreads = 0, books = 0;
  for (std::size_t t = b; t < e; ++t) {
    out.high = std::max(out.high, table.high[t]);
    out.low = std::min(out.low, table.low[t]);
    out.volume += table.volume[t];
    const float* row = table.features.data() + t * kMarketFeatures;
    for (int level = 0; level < kBookLevels; ++level) out.order_flow += row[f_ofi_1 + level];
    if (row[f_book_present] == 0) continue;
    books += 1;
    spreads += row[f_spread];
  }
  out.spread = books > 0 ? spreads / books : 0;
  out.with_book = books / static_cast<double>(out.rows);
  return out;
}

}  // namespace

DataPreview preview_of(const MarketTable& table, std::size_t most) {
  FH_CHECK(most > 0, "a preview of no bucket");
  DataPreview out;
  out.symbol = table.symbol;
  out.order_flow = table.order_flow;
  out.simulated = table.simulated;
  out.rows = table.rows();
  out.warm_up = table.warm_up;
  out.report = table.report;
  if (out.rows == 0) return out;
  out.first_open = table.open_time.front();
  out.last_close = table.close_time.back();
  out.lowest = *std::min_element(table.low.begin(), table.low.end());
  out.highest = *std::max_element(table.high.begin(), table.high.end());
  const auto buckets = static_cast<std::int64_t>(most);
  const std::int64_t each = (out.rows + buckets - 1) / buckets;
  for (std::int64_t begin = 0; begin < out.rows; begin += each)
    out.buckets.push_back(bucket(table, begin, std::min(begin + each, out.rows)));
  return out;
}

}  // namespace foxhunt::market
