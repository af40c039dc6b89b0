// Columns of lanes.
#include "ui/models/market_lanes.h"

#include <QCoreApplication>
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "kernels/environment_types.h"
#include "ui/charts/chart_types.h"

namespace foxhunt::ui {
namespace {

class LaneWords {
  Q_DECLARE_TR_FUNCTIONS(foxhunt::ui::LaneWords)
};

std::vector<double> seconds(const std::vector<market::Time>& times) {
  std::vector<double> out;
  out.reserve(times.size());
  for (const market::Time time : times) out.push_back(static_cast<double>(time) / 1e9);
  return out;
}

}  // namespace

const std::array<QStringList, 4>& actionWords() {
  static const std::array<QStringList, 4> words = {
      QStringList{LaneWords::tr("Short"), LaneWords::tr("Hold"), LaneWords::tr("Long"), LaneWords::tr("Flat")},
      QStringList{LaneWords::tr("Quarter"), LaneWords::tr("Half"), LaneWords::tr("Full")},
      QStringList{LaneWords::tr("Market"), LaneWords::tr("Limit"), LaneWords::tr("Pegged")},
      QStringList{LaneWords::tr("Patient"), LaneWords::tr("Normal"), LaneWords::tr("Urgent")}};
  return words;
}

QString fillWord(int kind) {
  switch (kind) {
    case kernels::fill_market:
      return LaneWords::tr("market order");
    case kernels::fill_limit:
      return LaneWords::tr("limit order");
    case kernels::fill_pegged:
      return LaneWords::tr("pegged order");
    case kernels::fill_pegged_at_close:
      return LaneWords::tr("pegged order, at the close");
    case kernels::fill_stop:
      return LaneWords::tr("trailing stop");
    case kernels::fill_window_end:
      return LaneWords::tr("end of window");
    default:
      return {};
  }
}

std::shared_ptr<const LaneContent> evaluationLanes(const ValidationTrace& trace) {
  const market::WindowBars& bars = *trace.bars;
  const std::size_t n = bars.size();
  LaneData data;
  data.times = seconds(bars.close_time);
  data.open = bars.open;
  data.high = bars.high;
  data.low = bars.low;
  data.close = bars.close;
  data.lanes.resize(3);
  const std::vector<double> empty(n, kNone);
  data.lanes[lane_position] = {LaneWords::tr("Position"),
                               LaneWords::tr("contracts"),
                               LaneWords::tr("After the bar; long above zero, short below"),
                               Lane::Kind::area,
                               empty,
                               2,
                               0};
  data.lanes[lane_reward] = {LaneWords::tr("Reward"),
                             LaneWords::tr("ATR"),
                             LaneWords::tr("Of the bar, weighted sum of its six parts"),
                             Lane::Kind::columns,
                             empty,
                             11,
                             5};
  data.lanes[lane_q_gap] = {LaneWords::tr("Q gap"),
                            {},
                            LaneWords::tr("Best less second Q of the direction, mean weights"),
                            Lane::Kind::line,
                            empty,
                            10,
                            10};
  data.strip_name = LaneWords::tr("decision");
  data.strip_names = actionWords()[0];
  data.strip_colors = {0, 1, 2, 3};
  data.strip.assign(n, LaneData::no_class);
  int window = -1;
  for (const BarTrace& bar : trace.trace) {
    const auto at = static_cast<std::size_t>(bar.bar - bars.rows.begin);
    if (at >= n) continue;
    data.lanes[lane_position].values[at] = bar.position * trace.lot;
    data.lanes[lane_reward].values[at] = static_cast<double>(bar.reward);
    data.lanes[lane_q_gap].values[at] = static_cast<double>(bar.q_gap);
    data.strip[at] = bar.action[0] < 4 ? bar.action[0] : LaneData::no_class;
    if (window >= 0 && bar.window != window) data.breaks.push_back(at);
    window = bar.window;
  }
  for (int kind = 0; kind <= kernels::fill_window_end; ++kind) data.marker_names << fillWord(kind);
  for (const FillRecord& fill : trace.fills) {
    const auto at = static_cast<std::size_t>(fill.bar - bars.rows.begin);
    if (at >= n) continue;
    data.markers.push_back(
        {at, fill.price, std::abs(fill.lots) * trace.lot, fill.lots > 0,
         static_cast<std::uint8_t>(std::clamp(fill.kind, 0, static_cast<int>(kernels::fill_window_end)))});
  }
  std::stable_sort(data.markers.begin(), data.markers.end(),
                   [](const LaneMarker& a, const LaneMarker& b) { return a.bar < b.bar; });
  return std::make_shared<LaneContent>(std::move(data));
}

std::shared_ptr<const LaneContent> previewLanes(const market::DataPreview& preview) {
  LaneData data;
  Lane flow{LaneWords::tr("Order flow"),
            LaneWords::tr("contracts"),
            LaneWords::tr("Imbalance of ten levels, summed over the bars; bids positive"),
            Lane::Kind::columns,
            {},
            2,
            0};
  Lane volume{LaneWords::tr("Volume"),
              LaneWords::tr("contracts"),
              LaneWords::tr("Sum over the bars"),
              Lane::Kind::columns,
              {},
              7,
              7};
  Lane spread{LaneWords::tr("Spread"),
              LaneWords::tr("points"),
              LaneWords::tr("Mean at the closes that have a usable book"),
              Lane::Kind::line,
              {},
              10,
              10};
  for (const market::PreviewBucket& bucket : preview.buckets) {
    data.times.push_back(static_cast<double>(bucket.close_time) / 1e9);
    data.open.push_back(bucket.open);
    data.high.push_back(bucket.high);
    data.low.push_back(bucket.low);
    data.close.push_back(bucket.close);
    flow.values.push_back(bucket.order_flow);
    volume.values.push_back(bucket.volume);
    spread.values.push_back(bucket.with_book > 0 ? bucket.spread : kNone);
  }
  if (preview.order_flow) data.lanes.push_back(std::move(flow));
  data.lanes.push_back(std::move(volume));
  if (preview.order_flow) data.lanes.push_back(std::move(spread));
  return std::make_shared<LaneContent>(std::move(data));
}

}  // namespace foxhunt::ui
